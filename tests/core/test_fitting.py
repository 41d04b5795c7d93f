"""Schemas that are too long for a prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa.core.fitting import fit_schema
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, TableInfo
from dqa.core.text import estimate_tokens


def table(name: str, *columns: str, joins: str | None = None) -> TableInfo:
    """Return a table of integer columns."""
    references = () if joins is None else ((f"{joins}_id", joins, "id"),)
    return TableInfo(name, tuple(Field(column, "INTEGER") for column in columns), (), references)


def wide(count: int = 300) -> DatabaseSchema:
    """Return many tables of ten columns. The three relevant tables are the last in the alphabet."""
    columns = [f"measure_{number}" for number in range(10)]
    others = [table(f"archive_{number:03}", "id", *columns) for number in range(count - 3)]
    plants = table("plants", "id", "name", "annual_cost")
    orders = table("zz_order_lines", "id", "plants_id", *columns, joins="plants")
    weather = table("zz_weather", "id", "rainfall", *columns)
    return DatabaseSchema((*others, plants, orders, weather))


def test_named_tables_come_first_and_then_related_tables() -> None:
    """The alphabetical order does not decide which tables are described."""
    fitted = fit_schema(wide(), "Which plant do we stop, given its rainfall?", most=1_000)
    described = [one.name for one in fitted.schema.tables]
    assert described[-3:] == ["plants", "zz_order_lines", "zz_weather"]
    assert fit_schema(wide(), "", most=1_000).schema.tables[0].name != "plants"


def test_nothing_is_left_out_silently() -> None:
    """Every table is described or named, and the text fits into the limit."""
    fitted = fit_schema(wide(), "plants", most=4_400)
    text = fitted.to_text()
    assert estimate_tokens(text) <= 4_400
    assert fitted.total == 300
    assert len(fitted.schema.tables) + len(fitted.left_out) == 300
    assert fitted.named == len(fitted.left_out)
    assert all(one.name in text for one in wide().tables)
    left = len(fitted.left_out)
    assert not fitted.is_whole
    assert f"({left} of the 300 tables are not described for lack of room: " in text


@pytest.mark.parametrize("most", [300, 10_000])
def test_names_without_room_are_counted(most: int) -> None:
    """The text counts the names that do not fit."""
    fitted = fit_schema(wide(2_000), "plants", most=most)
    assert estimate_tokens(fitted.to_text()) <= most
    assert 0 < fitted.named < len(fitted.left_out)
    unnamed = len(fitted.left_out) - fitted.named
    assert f" and {unnamed:,} more. " in fitted.to_text()
    assert fitted.schema.tables[-1].name in {"plants", "zz_order_lines", "zz_weather"}


def test_a_graph_is_cut_by_its_labels_and_relationship_types() -> None:
    """A relationship type is described with the labels that it connects."""
    some = tuple(Field(f"p{number}", "STRING") for number in range(10))
    nodes = tuple(NodeInfo(f"L{number:03}", some) for number in range(100))
    edges = (EdgeInfo("FEEDS", "L099", "L098", some),)
    fitted = fit_schema(DatabaseSchema(nodes=nodes, edges=edges), "the best L099", 600)
    assert "L099" in {node.label for node in fitted.schema.nodes}
    assert [edge.label for edge in fitted.schema.edges] == ["FEEDS"]
    text = fitted.to_text()
    assert estimate_tokens(text) <= 600
    left = len(fitted.left_out)
    assert f"({left} of the 101 labels and relationship types are not described" in text
    # No node has a relationship's type, so a look for one would show nothing.
    for look in ("MATCH (n:NAME) RETURN n LIMIT 1", "MATCH ()-[r:NAME]->() RETURN r LIMIT 1"):
        assert look in text


def test_a_schema_that_grows_by_samples_is_cut_again_in_the_same_order() -> None:
    """The most relevant tables stay."""
    fitted = fit_schema(wide(), "plants", most=1_000)
    longer = replace(
        fitted.schema, tables=tuple(replace(one, comment="x" * 100) for one in fitted.schema.tables)
    )
    again = fit_schema(longer, "plants", 1_000, before=fitted)
    assert estimate_tokens(again.to_text()) <= 1_000
    assert again.total == fitted.total
    assert {"plants", "zz_order_lines"} <= {one.name for one in again.schema.tables}
    assert fit_schema(fitted.schema, "plants", 1_000, before=fitted) == fitted
