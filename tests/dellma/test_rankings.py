"""Rankings and other objects as models write them, and the valid part of each."""

from __future__ import annotations

from typing import Any

import pytest

from dqa_dellma.utilities.rankings import rank_places, read_places
from tests.dellma.talking import ranking


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ([3, [1, 4], 2], [3, [1, 4], 2]),
        ([[3, "Item 1"], [{"item": 2}, [4]], [[1, 2]], []], [[3, 1], [2, 4], [0], 0]),
        (["State-Action Pair 5", "Item 2", "item #3", "pair: 4"], [5, 2, 3, 4]),
        (["Item 3. State: Rain: 2 in. Action 1. pear", "5. Action 2"], [3, 5]),
        ([{"item": 2, "score": 9}, {"rank": 1, "pair": "Item 3"}, {"n": 4}], [2, 3, 4]),
        ([{"rank": 1, "n": 4}, {}, None, True, "apple", 1.5, [1, 2], [7]], [0] * 6 + [[1, 2], 7]),
        (["9" * 5_000, 10**400, float("inf"), float("nan")], [0, 10**400, 0, 0]),
        ("3 > 1 = Item 4 > 2", [3, [1, 4], 2]),
        ("The best of all 3 is 1, then 2", []),
        (None, []),
    ],
)
def test_numbers_are_read_from_lists_and_texts(reply: Any, places: list[int | list[int]]) -> None:
    """An entry without a number is 0; an object is ambiguous and ranks nothing."""
    assert read_places(reply) == [one if isinstance(one, list) else [one] for one in places]


def test_equal_items_share_a_rank() -> None:
    """Items after a tie have the rank that they would have without it."""
    found = rank_places([[3], [1, 4], [2]], (10, 20, 30, 40))
    assert found == ranking((30, 10, 40, 20), (10, 20, 30, 40), tied=((10, 40),))
    assert found.ranks == (1, 2, 2, 4)
    assert ranking((30, 10)).ranks == (1, 2)


def test_of_equal_items_each_counts_once() -> None:
    """Repeated and unknown items are not part of a tie."""
    found = rank_places([[3], [3, 1, 9], [1, 2, 4, 4]], (10, 20, 30, 40))
    shown = (10, 20, 30, 40)
    assert found == ranking((30, 10, 20, 40), shown, tied=((20, 40),), repeated=3, invented=1)


def test_long_texts_are_read_in_linear_time() -> None:
    for text in (
        "1" + " " * 100_000,
        "1," * 50_000 + "x",
        "1=" * 50_000 + "x",
        "\n" * 100_000,
        "item " * 30_000,
    ):
        assert read_places(text) == []
