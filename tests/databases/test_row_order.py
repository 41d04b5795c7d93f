"""The order of rows is kept apart from them, and found again whatever order they come in."""

from __future__ import annotations

import random

import pytest

from dqa.core.situation import Cell
from dqa.databases.row_order import pack_order, restore_order

ROWS: list[tuple[Cell, ...]] = [
    ("b", 2, None, True),
    ("a", 1, 0.5, False),
    ("b", 2, 0.5, True),
    ("b", 2, None, True),
    ("", -(2**63), float("inf"), False),
    ("a", 1, 5e-324, False),
]


@pytest.mark.parametrize("seed", range(5))
def test_rows_come_back_in_the_order_they_had(seed: int) -> None:
    """Missing values and rows that are alike among them."""
    shuffled = list(ROWS)
    random.Random(seed).shuffle(shuffled)  # noqa: S311
    assert restore_order(shuffled, pack_order(ROWS)) == ROWS


def test_no_rows_have_an_order_too() -> None:
    """Nothing is packed for them."""
    assert pack_order([]) == b""
    assert restore_order([], b"") == []


def test_another_number_of_rows_is_an_error() -> None:
    """It says how many there are and were."""
    with pytest.raises(ValueError, match="5 rows where there were 6"):
        restore_order(ROWS[:5], pack_order(ROWS))
