"""Schemas as a model reads them."""

from __future__ import annotations

from dqa import plugins
from dqa.core.schema import (
    DatabaseSchema,
    EdgeInfo,
    Field,
    NodeInfo,
    TableInfo,
    describe,
)


def table(name: str, *columns: str) -> TableInfo:
    """A table of integer columns."""
    return TableInfo(name, tuple(Field(column, "INTEGER") for column in columns))


def test_names_are_quoted_only_where_a_statement_has_to_quote_them() -> None:
    """What a model copies from the schema runs."""
    schema = DatabaseSchema((table("order", "id", 'na"me', "plain_name"), table("tab le", "group")))
    assert schema.to_text() == (
        '"order"(id: INTEGER, "na""me": INTEGER, plain_name: INTEGER)\n"tab le"("group": INTEGER)'
    )


def test_every_database_quotes_in_its_own_way() -> None:
    """MySQL takes backticks, and so does Cypher whatever the tables take."""
    assert DatabaseSchema((table("order"),), quote="`").to_text() == "`order`()"
    graph = DatabaseSchema(
        nodes=(NodeInfo("Order", (Field("to", "STRING"),), "to"),),
        edges=(EdgeInfo("PART OF", "Order", "Place", ()),),
    )
    assert graph.to_text() == "(:`Order` {`to`: STRING key})\n(:`Order`)-[:`PART OF` {}]->(:Place)"


def test_keys_and_references_are_shown() -> None:
    """They say how tables join."""
    shown = TableInfo("a", (Field("b", ""),), ("b",), (("b", "c", "d"),))
    assert DatabaseSchema((shown,)).to_text() == "a(b) key (b) b -> c.d"


def test_a_scenario_is_described_in_both_readings() -> None:
    """The tables by their columns, the graph by labels, types and properties."""
    text = describe(plugins.scenario("locating").schema).to_text()
    assert "flow(source: text, dest: text, flow: float) key (source, dest)" in text
    assert "(:Trade_node)-[:source {flow: float}]->(:Trade_node)" in text
