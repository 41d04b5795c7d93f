"""A database describes itself."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from dqa import plugins
from dqa.core.database import Database
from dqa.core.schema import Field


def test_a_relational_schema_has_types_keys_and_references(relational: Database) -> None:
    """Everything a model needs for a join is there."""
    schema = relational.schema()
    assert [table.name for table in schema.tables] == [
        "country",
        "flow",
        "node_country",
        "trade_node",
    ]
    flow = schema.tables[1]
    assert flow.columns[2] == Field("flow", "DOUBLE")
    assert flow.key == ("source", "dest")
    assert set(flow.references) == {
        ("source", "trade_node", "trade_node"),
        ("dest", "trade_node", "trade_node"),
    }
    assert "is_home: BOOLEAN" in schema.to_text()


def test_a_graph_schema_has_labels_types_and_directions(graph: Database) -> None:
    """Labels with their keys, relationship types with what they connect."""
    schema = graph.schema()
    assert [(node.label, node.key) for node in schema.nodes] == [
        ("Trade_node", "name"),
        ("Country", "name"),
    ]
    assert schema.nodes[0].properties[:3] == (
        Field("name", "STRING"),
        Field("local_value", "DOUBLE"),
        Field("is_inland", "BOOL"),
    )
    assert [(edge.source, edge.label, edge.target) for edge in schema.edges] == [
        ("Trade_node", "source", "Trade_node"),
        ("Country", "NodeCountry", "Trade_node"),
    ]
    assert "(:Trade_node)-[:source {flow: DOUBLE}]->(:Trade_node)" in schema.to_text()


def test_the_schema_is_read_once(database: Database) -> None:
    """Asking again costs nothing."""
    assert database.schema() is database.schema()


def test_a_broken_view_hides_no_other_table(tmp_path: Path) -> None:
    """Only its own columns are unknown."""
    file = tmp_path / "broken.db"
    connection = sqlite3.connect(file)
    connection.executescript(
        "CREATE TABLE gone(x INT); CREATE VIEW seen AS SELECT x FROM gone;"
        "CREATE TABLE kept(y INT); PRAGMA legacy_alter_table = ON; DROP TABLE gone;"
    )
    connection.close()
    database = plugins.backend("sqlite").open(str(file))
    assert database.schema().to_text() == "kept(y: INT)\nseen()"
    database.close()


def test_a_virtual_table_that_cannot_be_read_hides_no_other_table(tmp_path: Path) -> None:
    """A full-text index beside the tables takes none of them away."""
    file = tmp_path / "indexed.db"
    connection = sqlite3.connect(file)
    connection.executescript(
        "CREATE TABLE kept(y INT); CREATE VIRTUAL TABLE sought USING fts5(body);"
    )
    connection.close()
    database = plugins.backend("sqlite").open(str(file))
    told = database.schema().to_text().split("\n")
    assert {"kept(y: INT)", "sought()"} <= set(told)
    assert database.query("SELECT count(*) FROM kept").rows == ((0,),)
    database.close()
