"""Which actions rows name: by column, and never one too few."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dqa.core.database import Rows
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate
from dqa.deciders.candidates import MOST_COMPARED
from dqa.deciders.context import find_named_actions


def table(columns: str, *rows: tuple[object, ...]) -> Evidence:
    """Return the evidence of a statement."""
    return Evidence.of("SELECT", Rows(tuple(columns.split()), rows))  # type: ignore[arg-type]


def named(actions: tuple[Candidate, ...], tables: Sequence[Evidence]) -> tuple[Candidate, ...]:
    """Return the actions that are compared."""
    return find_named_actions(actions, tables) or actions


@pytest.mark.parametrize("actions", [(1, 2, 3, 4, 5), ("1", "2", "3", "4", "5")])
def test_a_quantity_that_equals_an_id_names_nobody(actions: tuple[Candidate, ...]) -> None:
    """Numbers are compared as numbers, and a column is taken as a whole."""
    rows = table("id qty", (1.0, 3), (2.0, 7), (3.0, 4), (4.0, 9), (4.0, 8))
    assert named(actions, [rows]) == actions[:4]
    fractions = ("0.123456789", "1.123456789", "2.5")
    assert named(fractions, [table("id", (0.123456789,), (1.123456789,))]) == fractions[:2]


def test_where_no_column_lists_actions_all_of_them_stay() -> None:
    """Two of four quantities that equal an id say nothing of the others."""
    actions = (1, 2, 3, 4)
    assert named(actions, [table("qty", (3,), (7,), (4,), (9,))]) == actions
    assert named(actions, [table("orders mean", (3, 2.0))]) == actions
    assert named(actions, [table("id")]) == actions
    assert named(actions, [table("id", (None,), (None,))]) == actions


def test_columns_of_one_name_list_actions_together() -> None:
    """A statement for each action, one row each."""
    tables = [table("id level", (2, 12.5)), table("id level", (4, 11.5))]
    assert named((1, 2, 3, 4), tables) == (2, 4)


def test_whoever_stands_in_a_column_that_is_mostly_actions_is_kept() -> None:
    """A few rows of something else do not lose the actions of the others."""
    rows = table("id level", (1, 1), (2, 2), (3, 1), (4, 2), ("all", 1))
    assert named((1, 2, 3, 4, 5), [rows]) == (1, 2, 3, 4)


def test_null_and_a_stray_row_do_not_hide_a_column() -> None:
    """Outer joins leave NULL, and one cell in ten may be something else."""
    cells = [*range(1, 10), "all", None, None, None]
    rows = table("id", *((cell,) for cell in cells))
    assert named(tuple(range(1, 12)), [rows]) == tuple(range(1, 10))


def test_lists_belong_to_their_column_and_objects_have_columns_of_their_own() -> None:
    """What graphs return: collected names, and whole nodes."""
    lists = table("goods makers", ("fish", ["a", "b"]), ("wool", [["c"], []]))
    assert named(("a", "b", "c", "d"), [lists]) == ("a", "b", "c")
    nodes = table("n", ({"id": 1, "level": 3},), ({"id": 2, "level": 7},))
    assert named((1, 2, 3), [nodes]) == (1, 2)


@pytest.mark.parametrize("odd", ["NaN", "inf", "1e9999", "0x1", "1_0", "\u0663", "", "true"])
def test_names_that_look_like_numbers_are_names(odd: str) -> None:
    """And none of them is lost, or taken for another."""
    rows = table("name", (odd,), ("b",))
    assert named((odd, "b", "c", "10", "1"), [rows]) == (odd, "b")


def test_each_table_decides_about_its_own_columns() -> None:
    """Columns of other tables with the same name neither hide actions nor add any."""
    suppliers = tuple(f"s{number}" for number in range(200))
    first = table("name", *((name,) for name in suppliers[:5]))
    other = table("name", *((f"person {number}",) for number in range(50)))
    assert named(suppliers, [first, other]) == suppliers[:5]


def test_a_long_list_takes_the_first_listing_column_of_each_table() -> None:
    """In the order of the rows."""
    products = tuple(f"p{number}" for number in range(MOST_COMPARED + 1))
    tables = [
        table("id", ("p2",), ("p0",)),
        table("id", *((f"person {number}",) for number in range(9))),
        table("partner id", ("p7", "p1"), ("p5", "p3")),
    ]
    assert named(products, tables) == ("p2", "p0", "p7", "p5")
