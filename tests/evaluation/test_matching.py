"""When the rows of two statements match: BIRD's rule and Spider's."""

from __future__ import annotations

import random

import pytest

from dqa.core.display import Value
from dqa.core.truth import MatchRule
from dqa.evaluation.execution import rows_match, sorts_rows

_Rows = list[tuple[Value, ...]]


@pytest.mark.parametrize(
    ("given", "right", "by_set", "by_table"),
    [
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")], True, True),
        ([(1,), (1,), (2,)], [(1,), (2,)], True, False),
        ([("a", 1), ("b", 2)], [(1, "a"), (2, "b")], False, True),
        ([(1, 2), (3, 4)], [(1, 4), (3, 2)], False, False),
        ([(1.0,)], [(1,)], True, True),
        ([(0.1 + 0.2,)], [(0.3,)], False, False),
        ([("1",)], [(1,)], False, False),
        ([("a",)], [("A",)], False, False),
        ([(None, 1)], [(None, 1)], True, True),
        ([(None,)], [(0,)], False, False),
        ([], [], True, True),
        ([], [(None,)], False, False),
        ([(1, 1)], [(1,)], False, False),
        ([([1, {"a": 2}],)], [([1, {"a": 2}],)], True, True),
    ],
)
def test_each_form_has_its_own_rule(
    given: _Rows, right: _Rows, by_set: bool, by_table: bool
) -> None:
    """How often a row comes counts for Spider alone, the order of columns for BIRD alone."""
    assert rows_match(given, right, "set") is by_set
    assert rows_match(given, right, "table") is by_table
    assert rows_match(right, given, "table") is by_table, "it is symmetric"


def test_the_order_of_rows_counts_only_where_the_gold_statement_sorts() -> None:
    """Under Spider's rule; under BIRD's it never does."""
    given: _Rows = [("b", 2), ("a", 1)]
    right: _Rows = [(1, "a"), (2, "b")]
    assert rows_match(given, right, "table")
    assert not rows_match(given, right, "table", ordered=True)
    assert rows_match(given[::-1], right, "table", ordered=True), "columns may still be swapped"
    assert rows_match(right[::-1], right, "set", ordered=True)
    assert sorts_rows("SELECT a FROM t\nORDER  BY a")
    assert not sorts_rows("SELECT border, by1 FROM t")


def test_any_order_of_columns_and_rows_is_found_and_any_other_cell_is_not() -> None:
    """Also where columns look alike, so that many orders have to be tried."""
    drawn = random.Random(1)  # noqa: S311  (no secret)
    rules: tuple[MatchRule, ...] = ("set", "table")
    for _ in range(20):
        width, height = drawn.randint(1, 8), drawn.randint(1, 30)
        right: _Rows = [tuple(drawn.randint(0, 1) for _ in range(width)) for _ in range(height)]
        places = drawn.sample(range(width), width)
        given: _Rows = [tuple(row[place] for place in places) for row in right]
        drawn.shuffle(given)
        assert rows_match(given, right, "table")
        place, column = drawn.randrange(height), drawn.randrange(width)
        given[place] = tuple(2 if n == column else cell for n, cell in enumerate(given[place]))
        assert not any(rows_match(given, right, rule) for rule in rules)


def test_many_equal_columns_are_compared_at_once() -> None:
    """Twelve columns that are all alike have half a billion orders, of which one is tried."""
    right: _Rows = [tuple([n] * 12) for n in range(50)]
    other: _Rows = [*right[:-1], (*([49] * 11), 48)]
    assert rows_match(right[::-1], right, "table")
    assert not rows_match(other, right, "table")
