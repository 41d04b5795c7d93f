"""State forecasting: verbal likelihoods and invalid ones (section 3.2)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dqa_dellma.findings import Forecast, Likelihood
from tests.dellma.talking import PROBLEM, conversation, dellma, prompts_of

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


@pytest.mark.parametrize("words", [" very  likely.", "VERY_LIKELY"])
def test_spelling_does_not_matter(words: str) -> None:
    """For words and names; the outer field may be missing."""
    rain = {"RAIN ": {" Little": words, "much": "unlikely"}}
    result, _ = forecast(json.dumps({**GOOD, **rain} | {"Rain": rain["RAIN "]}))
    assert words_of(result) == ("very likely", "unlikely")


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
