"""Situations: immutable tables."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dqa.core.errors import DataError
from dqa.core.situation import Column, EdgeSchema, NodeSchema, Schema, Situation, Table, TableSchema

PLACES = TableSchema(
    "place",
    (
        Column("name", "text"),
        Column("size", "float"),
        Column("n", "integer"),
        Column("on", "boolean"),
    ),
    ("name",),
)
ROADS = TableSchema(
    "road",
    (Column("start", "text"), Column("end", "text"), Column("km", "float")),
    ("start", "end"),
)
TYPES = (str, float, int, bool)
SCHEMA = Schema(
    "roads",
    (PLACES, ROADS),
    (NodeSchema("Place", "place", "name", (("name", "name"), ("size", "size"))),),
    (EdgeSchema("ROAD", "road", ("Place", "start"), ("Place", "end"), (("km", "km"),)),),
)


def situation(size: float = 1.5, name: str = "here") -> Situation:
    """Return two places and a road."""
    places = Table.from_rows(PLACES, [("a", size, 1, True), ("b", 2.0, 2, False)])
    roads = Table.from_rows(ROADS, [("a", "b", 7.0)])
    return Situation(SCHEMA, name, {"road": roads, "place": places})


def test_columns_cannot_be_written() -> None:
    """Threads and caches share a situation, so it is immutable."""
    with pytest.raises(ValueError, match="read-only"):
        situation()["place"]["size"][0] = 9.0
    with pytest.raises(TypeError):
        situation().tables["place"] = situation()["road"]  # type: ignore[index]


def test_equality_and_hash_look_at_every_value_but_not_at_the_name() -> None:
    """Two databases with the same content are one situation."""
    assert situation(name="x") == situation(name="y")
    assert hash(situation(name="x")) == hash(situation(name="y"))
    assert situation(1.5) != situation(math.nextafter(1.5, 2))
    assert situation(1.5).content_hash != situation(math.nextafter(1.5, 2)).content_hash
    assert situation(-0.0).content_hash == situation(0.0).content_hash
    assert situation(math.nan).content_hash == situation(-math.nan).content_hash


def test_row_order_is_content() -> None:
    """The published ground truth depends on the order of rows."""
    one = situation()
    turned = Table.from_rows(PLACES, list(one["place"].rows())[::-1])
    assert one.replace(place=turned) != one


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([("a", 1.0, 1)], "has 3 values, but the table has 4"),
        ([("a", "big", 1, True)], "not float"),
        ([("a", 1.0, None, True)], "not integer"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows: list[tuple[object, ...]], problem: str) -> None:
    """The message names the table and the problem."""
    with pytest.raises(DataError, match=problem):
        Table.from_rows(PLACES, rows)  # type: ignore[arg-type]


@given(
    st.lists(
        st.tuples(st.text(), st.floats(), st.integers(-(2**63), 2**63 - 1), st.booleans()),
        max_size=8,
    )
)
def test_any_rows_survive_the_way_through_columns(rows: list[tuple[str, float, int, bool]]) -> None:
    """Storage by column keeps every value, and equal content has equal hashes."""
    table = Table.from_rows(PLACES, rows)
    again = Table.from_rows(PLACES, list(table.rows()))
    assert [type(value) for row in list(table.rows())[:1] for value in row] == [*TYPES] * bool(rows)
    assert table == again
    roads = Table.from_rows(ROADS, [])
    one, two = (Situation(SCHEMA, "s", {"place": t, "road": roads}) for t in (table, again))
    assert one.content_hash == two.content_hash
