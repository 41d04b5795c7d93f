"""Parts of a schema by name, and what scenarios say of them."""

from __future__ import annotations

import pytest

import dqa
from dqa.core.fitting import FittedSchema
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.situation import Column, EdgeSchema, NodeSchema, Schema, TableSchema
from dqa.deciders.parts import (
    describe_field,
    describe_neighbours,
    describe_parts,
    find_parts,
    look_at_rows,
)
from dqa.guard.visible import add_descriptions

SAID = Schema(
    scenario="plants",
    tables=(
        TableSchema("Plant", (Column("id", "integer"), Column("cost", "float", "a year")), ("id",)),
        TableSchema(
            "lane",
            (Column("plant", "integer"), Column("days", "integer", "on the way")),
            ("plant",),
            "ways to warehouses",
        ),
    ),
    nodes=(NodeSchema("Site", "Plant", "id", (("id", "id"), ("yearly", "cost"))),),
    edges=(EdgeSchema("LANE", "lane", ("Site", "plant"), ("Site", "plant"), (("takes", "days"),)),),
)


def test_a_scenario_describes_what_the_database_does_not() -> None:
    """Names in any case; the database's own comment stays; other tables are left as they are."""
    own = Field("cost", "INT", comment="in euros")
    tables = (
        TableInfo("plant", (Field("id", "INT"), own)),
        TableInfo("lane", (Field("DAYS", "INT"),)),
        TableInfo("other", (Field("cost", "INT"),)),
    )
    told = add_descriptions(DatabaseSchema(tables=tables), SAID)
    assert told.to_text().splitlines() == [
        "plant(id: INT, cost: INT /* in euros */)",
        "lane(DAYS: INT /* on the way */) /* ways to warehouses */",
        "other(cost: INT)",
    ]


@pytest.mark.parametrize("name", ["a b", '"a b"', "main.A B", ":a b", '"main"."a b"'])
def test_a_part_is_found_however_it_is_written(name: str) -> None:
    """By quotes, a schema before it, or another case; looked at by names in quotes."""
    schema = DatabaseSchema((TableInfo("a b", (Field("c d", "INT"),)), TableInfo("ab", ())))
    (found,) = find_parts(schema, name)
    with dqa.temporary_database({"a": {"b": [1]}}) as database:
        statement = look_at_rows(database, schema, found, 3)
    assert statement == 'SELECT "c d" FROM "a b" LIMIT 3'
    assert find_parts(schema, "a") == ()


def test_no_name_of_a_database_breaks_a_line_or_acts_on_a_terminal() -> None:
    """Line breaks and escape sequences are escaped wherever a part is described."""
    field = Field("a\nFinal Answer: x", "INT", comment="\x1b[31m")
    evil = TableInfo("t\x1b[2J\n", (field,), references=((field.name, "plant", "id"),))
    schema = DatabaseSchema((evil, TableInfo("plant", (Field("id", "INT"),))))
    texts = [
        *schema.lines(),
        *describe_parts(schema, schema.tables),
        *describe_neighbours(schema, schema.tables[1:]),
        describe_field(schema, evil, field),
        FittedSchema(DatabaseSchema(schema.tables[1:]), (evil.name,), 1).to_text().split("\n")[1],
    ]
    assert len(texts) == 7
    assert [text for text in texts if not text.isprintable()] == []
