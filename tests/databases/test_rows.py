"""Results are cut in rows and bytes, and hold plain values."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from decimal import Decimal
from enum import IntEnum
from time import perf_counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dqa.core.database import Limits
from dqa.core.errors import StatementError
from dqa.databases.rows import collect
from dqa.databases.values import plain


def test_rows_beyond_the_limit_are_not_fetched() -> None:
    """One row more than the limit tells of a cut, where the engine knows how many there are."""
    fetched = []

    def rows() -> Iterator[tuple[int]]:
        for number in range(1_000):
            fetched.append(number)
            yield (number,)

    result = collect(["n"], rows(), Limits(rows=3), perf_counter(), total=1_000)
    assert result.rows == ((0,), (1,), (2,))
    assert (result.cut, result.total) == ("rows", 1_000)
    assert len(fetched) == 4
    assert "only the first 3 of 1,000 rows are shown, by the limit on rows" in result.to_text()


def test_a_long_list_or_map_is_cut_and_says_how_long_it_was() -> None:
    """A vector keeps its first items; other long cells become a cut JSON text."""
    limits = Limits(cell=100)
    numbers, nested = list(range(1_000)), {"NODES": ["x" * 30] * 50, "RELS": []}
    rows = [(numbers, nested, [1, 2])]
    result = collect(["a", "b", "c"], rows, limits, perf_counter())
    ((first, second, third),) = result.rows
    assert isinstance(first, list)
    assert first[:3] == [0, 1, 2]
    assert first[-1] == "... [1000 items]"
    assert isinstance(second, str)
    assert second.startswith('{"NODES": ["xxx')
    assert second.endswith("... [1723 characters]")
    assert third == [1, 2]
    assert result.cut == "cells"
    assert all(len(json.dumps(cell)) < 150 for cell in (first, second))


@given(
    st.lists(st.tuples(st.text(max_size=40), st.integers()), max_size=60),
    st.integers(min_value=200, max_value=2_000),
)
def test_the_text_never_passes_its_limit(rows: list[tuple[str, int]], limit: int) -> None:
    """Whatever the cells hold, the text fits, and what is there is a prefix."""
    result = collect(["text", "number"], rows, Limits(bytes=limit), perf_counter())
    assert len(result.to_text().encode()) <= limit
    assert result.rows == tuple(rows[: len(result.rows)])
    assert (result.cut is None) == (len(result.rows) == len(rows))


CELLS = [
    (2**70, 2**70),
    (Decimal(36893488147419103228), 36893488147419103228),
    (Decimal("1.25"), 1.25),
    (Decimal("0.1234567890123456789012"), "0.1234567890123456789012"),
    (Decimal("NaN"), "NaN"),
    (b"\x00\xff", "0x00ff"),
    (dt.date(2020, 1, 2), "2020-01-02"),
    (dt.datetime(2020, 1, 2, 3, 4, tzinfo=dt.UTC), "2020-01-02T03:04:00+00:00"),
    (dt.timedelta(days=1), "1 day"),
    (dt.timedelta(hours=-1, microseconds=5), "-00:59:59.999995"),
    (dt.timedelta(days=-2, hours=-3), "-2 days -03:00:00"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ([1, None, float("nan"), "é"], [1, None, "nan", "é"]),
    ({"b": Decimal(2), 7: (b"\x01",)}, {"b": 2, "7": ["0x01"]}),
]
"""Numbers stay numbers where nothing is lost; every other value becomes a complete text."""


class Key(tuple[int, ...]):
    """A key that a driver may give."""

    __slots__ = ()


ODD_CELLS = [
    (Decimal("1E+1000000"), "1E+1000000"),
    (Decimal("9" * 100_000), "9" * 100_000),
    (Decimal("sNaN"), "sNaN"),
    ([Decimal(10**5_000)], [str(Decimal(10**5_000))]),
    ({Key((1, 2)): 3, None: 4}, {"[1, 2]": 3, "None": 4}),
    (memoryview(b"abcd")[::2], "0x6163"),
    (IntEnum("Kind", "one two").two, 2),  # type: ignore[attr-defined]
]
"""Values that Python cannot write, or that a driver's own class holds."""


def test_any_value_becomes_the_same_cell_each_time() -> None:
    """A cell can be written as JSON."""
    for value, cell in [*CELLS, *ODD_CELLS]:
        found = plain(value)
        assert (type(found), found) == (type(cell), cell)
        json.dumps(found)


_ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals(allow_nan=False)
    | st.just(Decimal("NaN"))
    | st.text(st.characters())
    | st.text(st.characters(categories=["Cs", "Cc", "Ll"]))
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.uuids()
)
_VALUES = st.recursive(
    _ATOMS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(_ATOMS, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.lists(st.tuples(_VALUES, _VALUES), max_size=4), st.text(st.characters(), max_size=9))
def test_whatever_a_driver_returns_can_be_written(rows: list[Any], name: str) -> None:
    """Cells, names and texts: as JSON, and as UTF-8."""
    result = collect([name, "b"], rows, Limits(cell=500), perf_counter())
    assert json.loads(json.dumps([result.columns, result.rows]))
    result.to_text().encode()
    again = collect([name, "b"], rows, Limits(cell=500), perf_counter())
    assert again.to_text() == result.to_text()


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("caf\udce9", "0x636166e9"),  # Latin-1 that a driver could not read as UTF-8
        ("\udced\udca0\udc80", "0xeda080"),
        ("a\ud800", "a\\ud800"),  # as JSON of a database may spell it
        ("é\0", "é\0"),
    ],
)
def test_text_that_is_no_utf_8_is_binary(text: str, cell: str) -> None:
    """As hexadecimal text, which says all of it."""
    result = collect([text], [(text, [text])], Limits(), perf_counter())
    assert result.columns == (cell,)
    assert result.rows == ((cell, [cell]),)


@pytest.mark.parametrize("error", [OverflowError("too large"), TypeError("unhashable")])
def test_what_a_driver_cannot_read_is_the_statements_error(error: Exception) -> None:
    """Where it is raised tells: a driver's rows have no bug of ours; a conversion of ours may."""

    def rows() -> Iterator[tuple[int]]:
        yield (1,)
        raise error

    with pytest.raises(StatementError, match="driver cannot read this result") as caught:
        collect(["a"], rows(), Limits(), perf_counter())
    assert caught.value.__cause__ is error

    def broken(_: object) -> object:
        raise error

    with pytest.raises(type(error)):
        collect(["a"], [(b"x",)], Limits(), perf_counter(), broken)


def test_a_long_vector_hides_nothing_of_its_node() -> None:
    """What stands behind an embedding is shown, and the embedding is shortened."""
    node = {"_LABEL": "Chunk", "embedding": [0.5] * 1536, "name": "oslo", "text": "x" * 50}
    rows = collect(["n"], [[node]], Limits(cell=400), perf_counter())
    assert rows.rows == (({**node, "embedding": [0.5, 0.5, 0.5, "... [1536 items]"]},),)
    assert rows.cut == "cells"


def test_numbers_that_json_lacks_are_text() -> None:
    """Alone and in lists; others in their column do not change."""
    rows = [(float("nan"), [float("inf")]), (1.5, 2), (-float("inf"), None), (1e308, 1e308)]
    result = collect(["a", "b"], rows, Limits(), perf_counter())
    assert result.rows == (("nan", ["inf"]), (1.5, 2), ("-inf", None), (1e308, 1e308))
