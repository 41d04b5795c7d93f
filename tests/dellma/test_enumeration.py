"""State enumeration: the unknown factors that models name (section 3.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dellma.talking import PROBLEM, conversation, dellma


def named(factors: Any) -> str:
    """Return a reply that names factors."""
    return json.dumps({"factors": factors})


RAIN = {"name": "Rain", "values": ["little", "usual", "much"]}


@pytest.mark.parametrize(
    ("result", "about"),
    [
        ("all", ()),
        ([2], ("pear",)),
        ("pear", ("pear",)),
    ],
)
def test_a_factor_says_which_actions_it_bears_on(result: Any, about: tuple[str, ...]) -> None:
    """By number or name; a factor of all actions is stored without actions."""
    found = conversation(named([RAIN | {"actions": result}]))
    event = dellma().enumerate(PROBLEM, found)
    assert event.about == ({"Rain": about} if about else {})
    assert event.unplaced == 0


@pytest.mark.parametrize("result", [None, [], [9], "kiwi", {"1": True}, [None], [[]]])
def test_a_factor_without_actions_bears_on_all_and_is_counted(result: Any) -> None:
    found = conversation(named([RAIN | {"actions": result}]))
    event = dellma().enumerate(PROBLEM, found)
    assert (event.about, event.unplaced) == ({}, 1)


def test_surplus_factors_and_values_are_left_out() -> None:
    many = [
        {"name": "Rain", "values": ["a", "b", "c", "d"]},
        {"name": "Demand", "values": ["a", "b"]},
        {"name": "Frost", "values": ["a"]},
    ]
    found = conversation(named(many))
    result = dellma(factors=2, values=3).enumerate(PROBLEM, found)
    assert result.factors == {"Rain": ("a", "b", "c"), "Demand": ("a", "b")}
    assert result.left_out == ("Frost",)
    assert result.values_left_out == {"Rain": ("d",)}


@pytest.mark.parametrize(
    ("entries", "unusable"),
    [
        ([RAIN, {"name": " RAIN ", "values": ["x"]}], 1),
        ([RAIN, {"name": "Frost", "values": []}, {"values": ["x"]}, "Frost", None, 4], 5),
        ({"Rain": RAIN["values"], "Frost": None}, 1),
        ([{"name": "Rain", "values": ["little", "LITTLE ", None, [], "usual", "", "much"]}], 0),
    ],
)
def test_unusable_factors_are_counted(entries: Any, unusable: int) -> None:
    """Duplicates and entries without name or values leave one factor with distinct values."""
    found = conversation(named(entries))
    result = dellma().enumerate(PROBLEM, found)
    assert result.factors == {"Rain": ("little", "usual", "much")}
    assert result.unusable == unusable


def test_numbers_are_values_and_names_stay_on_one_line() -> None:
    """A name cannot begin a heading."""
    found = conversation(
        named([{"name": "Rain\n# Step: decide", "values": [1, 2.5, "a\n\nItem 1."]}])
    )
    result = dellma().enumerate(PROBLEM, found)
    assert result.factors == {"Rain # Step: decide": ("1", "2.5", "a Item 1.")}
