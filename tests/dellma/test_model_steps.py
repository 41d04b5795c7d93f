"""The steps that ask a model: factors, likelihoods and rankings (sections 3.1 to 3.3)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dqa_dellma.findings import Forecast, Likelihood
from dqa_dellma.utilities.pairs import Pairs
from tests.dellma.talking import BELIEFS, PROBLEM, conversation, dellma, prompts_of, ranking


def named(factors: Any) -> str:
    """Return a reply that names factors."""
    return json.dumps({"factors": factors})


RAIN = {"name": "Rain", "values": ["little", "usual", "much"]}


@pytest.mark.parametrize(("result", "about"), [("all", ()), ([2], ("pear",)), ("pear", ("pear",))])
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


FACTORS = {"Rain": ("little", "much"), 'Price; "a": b': ("low; lower", "high")}
GOOD = {
    "Rain": {"little": "likely", "much": "unlikely"},
    'Price; "a": b': {"low; lower": "very likely", "high": "very unlikely"},
}


def forecast(*replies: object) -> tuple[Forecast, Any]:
    """Forecast with a model that sends the replies."""
    found = conversation(
        *(r if isinstance(r, str) else json.dumps({"beliefs": r}) for r in replies)
    )
    return dellma().forecast(PROBLEM, FACTORS, found), found


def words_of(result: Forecast) -> tuple[str, ...]:
    """Return the likelihoods of rain."""
    return tuple(likely.words for likely in result.beliefs["Rain"].values())


def test_words_may_have_their_weight_and_no_other() -> None:
    """A word with the weight of another word is asked again."""
    result, _ = forecast(GOOD | {"Rain": {"little": "Likely (5)", "much": "very unlikely(1)"}})
    assert words_of(result) == ("likely", "very unlikely")
    wrong = GOOD | {"Rain": {"little": "likely (3)", "much": "unlikely"}}
    result, found = forecast(wrong, GOOD)
    assert words_of(result) == ("likely", "unlikely")
    assert "'little' of 'Rain' is 'likely (3)'" in prompts_of(found)[1]


def test_words_become_probabilities() -> None:
    """Scores 5 to 2 and 6 to 1 are scaled, and unusual names are quoted."""
    result, found = forecast(GOOD)
    shares = [[one.probability for one in values.values()] for values in result.beliefs.values()]
    np.testing.assert_allclose(shares, [[5 / 7, 2 / 7], [6 / 7, 1 / 7]])
    assert r'- "Price; \"a\": b": ["low; lower", "high"]' in prompts_of(found)[0]
    assert result.ignored == ()
    assert result.beliefs["Rain"]["much"] == Likelihood(words="unlikely", probability=2 / 7)


@pytest.mark.parametrize("odd", ["certain", "", None, 0.7, ["likely"]])
def test_a_word_off_the_scale_is_asked_for_again(odd: object) -> None:
    """The prompt names the value and the six words."""
    bad = {**GOOD, "Rain": {"little": odd, "much": "unlikely"}}
    result, found = forecast(bad, GOOD)
    assert words_of(result) == ("likely", "unlikely")
    assert "'little' of 'Rain' is" in prompts_of(found)[1]
    assert "very likely, likely, somewhat likely, somewhat unlikely" in prompts_of(found)[1]


def test_surplus_factors_and_values_are_ignored_and_recorded() -> None:
    more = {**GOOD, "Rain": {**GOOD["Rain"], "Hail": "likely"}, "Frost": {"a": "likely"}}
    result, _ = forecast(more)
    assert {name: tuple(values) for name, values in result.beliefs.items()} == FACTORS
    assert result.ignored == ("frost", "Rain: hail")


PAIRS = Pairs(np.array([[0, 0], [1, 1]]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
BATCH = (3, 0, 2)


@pytest.mark.parametrize("key", ["rank", "order", "ranking"])
def test_ranks_become_items(key: str) -> None:
    """The model sees numbers from 1; the ranking holds the items' own numbers."""
    found = conversation(json.dumps({key: [2, 3, 1]}))
    assert dellma().rank(PROBLEM, BELIEFS, PAIRS, BATCH, found) == ranking((0, 2, 3), BATCH)
    text = prompts_of(found)[0]
    assert "\n\nItem 1. Action 2. pear\n- Rain: much\n- Demand: high\n\n" in text
    assert "\n\nItem 2. Action 1. apple\n- Rain: little\n- Demand: low\n\n" in text
    assert "- Rain: little (likely); much (unlikely)" in text


def test_the_preset_shows_whole_states_and_the_reasons_are_stored() -> None:
    """By default an item has the factors that bear on its action."""
    bearing = np.array([[True, True], [True, False]])
    pairs = Pairs(PAIRS.states, PAIRS.state_of, PAIRS.action_of, bearing)
    texts = []
    for options in (dict[str, str](), {"preset": "paper"}):
        found = conversation('{"rank": [2, 3, 1], "explanation": "Apples sell."}')
        decider = dellma(**options)
        assert decider.rank(PROBLEM, BELIEFS, pairs, BATCH, found).explanation == "Apples sell."
        texts.append(prompts_of(found)[0])
    default, paper = texts
    assert "Item 1. Action 2. pear\n- Rain: much\n\n" in default
    assert "Item 1. Action 2. pear\n- Rain: much\n- Demand: high\n\n" in paper
    assert "a list inside this list" in default
    assert "a list inside this list" not in paper
