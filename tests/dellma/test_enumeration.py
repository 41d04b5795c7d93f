"""State enumeration: what models name as unknown (section 3.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dqa.core.errors import UnparsableReplyError
from tests.dellma.talking import PROBLEM, conversation, dellma


def named(factors: Any) -> str:
    """A reply that names factors."""
    return json.dumps({"factors": factors})


RAIN = {"name": "Rain", "values": ["little", "usual", "much"]}


@pytest.mark.parametrize(
    ("told", "about"),
    [
        ("all", ()),
        ([1, 2], ()),
        ([2], ("pear",)),
        (["Action 1. apple"], ("apple",)),
        ("pear", ("pear",)),
    ],
)
def test_a_factor_says_which_actions_it_bears_on(told: Any, about: tuple[str, ...]) -> None:
    """By number or by name; one that bears on all is not kept as anybody's."""
    found = conversation(named([RAIN | {"actions": told}]))
    event = dellma().enumerate(PROBLEM, found)
    assert event.about == ({"Rain": about} if about else {})
    assert event.unplaced == 0


@pytest.mark.parametrize("told", [None, [], [9], "kiwi", {"1": True}, [None], [[]]])
def test_a_factor_that_does_not_say_it_bears_on_all_and_is_counted(told: Any) -> None:
    """So that no item lacks what might matter to it."""
    found = conversation(named([RAIN | {"actions": told}]))
    event = dellma().enumerate(PROBLEM, found)
    assert (event.about, event.unplaced) == ({}, 1)


def test_more_than_asked_is_left_out_and_noted() -> None:
    """Factors beyond k, and values beyond l."""
    many = [
        {"name": "Rain", "values": ["a", "b", "c", "d"]},
        {"name": "Demand", "values": ["a", "b"]},
        {"name": "Frost", "values": ["a"]},
    ]
    found = conversation(named(many))
    told = dellma(factors=2, values=3).enumerate(PROBLEM, found)
    assert told.factors == {"Rain": ("a", "b", "c"), "Demand": ("a", "b")}
    assert told.left_out == ("Frost",)
    assert told.values_left_out == {"Rain": ("d",)}


@pytest.mark.parametrize(
    ("entries", "unusable"),
    [
        ([RAIN, {"name": " RAIN ", "values": ["x"]}], 1),
        ([RAIN, {"name": "Frost", "values": []}, {"values": ["x"]}, "Frost", None, 4], 5),
        ({"Rain": RAIN["values"], "Frost": None}, 1),
        ([{"name": "Rain", "values": {"little": 1, "usual": 2, "much": 3}}], 0),
        ([{"name": "Rain", "values": ["little", "LITTLE ", None, [], "usual", "", "much"]}], 0),
    ],
)
def test_what_is_no_factor_is_counted(entries: Any, unusable: int) -> None:
    """Named twice, without values or name: one factor is left, with its values once each."""
    found = conversation(named(entries))
    told = dellma().enumerate(PROBLEM, found)
    assert told.factors == {"Rain": ("little", "usual", "much")}
    assert told.unusable == unusable


def test_numbers_are_values_and_names_stay_on_one_line() -> None:
    """Nothing that a model names can begin a heading."""
    found = conversation(
        named([{"name": "Rain\n# Step: decide", "values": [1, 2.5, "a\n\nItem 1."]}])
    )
    told = dellma().enumerate(PROBLEM, found)
    assert told.factors == {"Rain # Step: decide": ("1", "2.5", "a Item 1.")}


@pytest.mark.parametrize("reply", ["", "{}", named([]), named("Rain"), '{"factors": [{"name": "R"'])
def test_no_factor_is_asked_again_and_then_unparsable(reply: str) -> None:
    """The model is shown the form; nothing is made up."""
    found = conversation(reply)
    with pytest.raises(UnparsableReplyError):
        dellma().enumerate(PROBLEM, found)
    assert found.recorder.steps == 3
