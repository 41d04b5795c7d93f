"""Results are cut in rows and bytes, and hold plain values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from time import perf_counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dqa.core.database import Limits
from dqa.databases.rows import collect, plain


def test_rows_beyond_the_limit_are_not_fetched() -> None:
    """One row more than the limit is enough to know of a cut."""
    fetched = []

    def rows() -> Iterator[tuple[int]]:
        for number in range(1_000):
            fetched.append(number)
            yield (number,)

    result = collect(["n"], rows(), Limits(rows=3), perf_counter())
    assert result.rows == ((0,), (1,), (2,))
    assert result.cut == "rows"
    assert len(fetched) == 4
    assert "3 rows shown, more were cut by the limit on rows" in result.to_text()


def test_a_result_as_long_as_the_limit_is_whole() -> None:
    """Exactly as many rows as allowed are no cut."""
    result = collect(["n"], [(1,), (2,)], Limits(rows=2), perf_counter())
    assert result.cut is None
    assert result.to_text().endswith("(2 rows)")


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


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (2**70, 2**70),
        (Decimal(36893488147419103228), 36893488147419103228),
        (Decimal("1.25"), 1.25),
        (Decimal("0.1234567890123456789012"), "0.1234567890123456789012"),
        (Decimal("NaN"), "NaN"),
        (b"\x00\xff", "0x00ff"),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (dt.datetime(2020, 1, 2, 3, 4, tzinfo=dt.UTC), "2020-01-02T03:04:00+00:00"),
        (dt.timedelta(days=1), "1 day, 0:00:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ([1, None, float("nan"), "é"], '[1, null, "nan", "é"]'),
        ({"b": Decimal(2), "a": [b"\x01"]}, '{"b": 2, "a": ["0x01"]}'),
    ],
)
def test_any_value_becomes_a_cell(value: Any, cell: object) -> None:
    """Numbers stay numbers where nothing is lost; the rest is text that says it all."""
    assert plain(value) == cell
    assert type(plain(value)) is type(cell)
