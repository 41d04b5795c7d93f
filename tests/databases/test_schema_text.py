"""Schemas as a model reads them."""

from __future__ import annotations

from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, TableInfo


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
