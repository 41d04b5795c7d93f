"""State forecasting: verbalised likelihoods, and what is none (section 3.2)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dqa.core.errors import UnparsableReplyError
from dqa_dellma.findings import Forecast, Likelihood
from tests.dellma.talking import PROBLEM, conversation, dellma, said_to

FACTORS = {"Rain": ("little", "much"), 'Price; "a": b': ("low; lower", "high")}
GOOD = {
    "Rain": {"little": "likely", "much": "unlikely"},
    'Price; "a": b': {"low; lower": "very likely", "high": "very unlikely"},
}


def forecast(*replies: object) -> tuple[Forecast, Any]:
    """Forecast with a model that says the replies."""
    found = conversation(
        *(r if isinstance(r, str) else json.dumps({"beliefs": r}) for r in replies)
    )
    return dellma().forecast(PROBLEM, FACTORS, found), found


def words_of(told: Forecast) -> tuple[str, ...]:
    """Return what is said of rain."""
    return tuple(likely.words for likely in told.beliefs["Rain"].values())


def test_words_may_have_their_weight_and_no_other() -> None:
    """As the prompt lists them; a weight of another word leaves open which was meant."""
    told, _ = forecast(GOOD | {"Rain": {"little": "Likely (5)", "much": "very unlikely(1)"}})
    assert words_of(told) == ("likely", "very unlikely")
    wrong = GOOD | {"Rain": {"little": "likely (3)", "much": "unlikely"}}
    told, found = forecast(wrong, GOOD)
    assert words_of(told) == ("likely", "unlikely")
    assert "'little' of 'Rain' is 'likely (3)'" in said_to(found)[1]


def test_words_become_margins() -> None:
    """Scores 5 to 2 and 6 to 1, scaled; odd names are written so that they can be told apart."""
    told, found = forecast(GOOD)
    shares = [[one.probability for one in said.values()] for said in told.beliefs.values()]
    np.testing.assert_allclose(shares, [[5 / 7, 2 / 7], [6 / 7, 1 / 7]])
    assert r'- "Price; \"a\": b": ["low; lower", "high"]' in said_to(found)[0]
    assert told.ignored == ()
    assert told.beliefs["Rain"]["much"] == Likelihood(words="unlikely", probability=2 / 7)


@pytest.mark.parametrize("words", [" very  likely.", "VERY_LIKELY"])
def test_spelling_does_not_matter(words: str) -> None:
    """Neither of the words nor of the names; the object may lack its outer name."""
    rain = {"RAIN ": {" Little": words, "much": "unlikely"}}
    told, _ = forecast(json.dumps({**GOOD, **rain} | {"Rain": rain["RAIN "]}))
    assert words_of(told) == ("very likely", "unlikely")


@pytest.mark.parametrize("odd", ["certain", "", None, 0.7, ["likely"]])
def test_a_word_off_the_scale_is_asked_for_again(odd: object) -> None:
    """The model is told which value, and the six words."""
    bad = {**GOOD, "Rain": {"little": odd, "much": "unlikely"}}
    told, found = forecast(bad, GOOD)
    assert words_of(told) == ("likely", "unlikely")
    assert "'little' of 'Rain' is" in said_to(found)[1]
    assert "very likely, likely, somewhat likely, somewhat unlikely" in said_to(found)[1]


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {**GOOD, "Rain": {"little": "likely"}},
        '{"beliefs": {"Rain": {"little": "likely", "much": "unlikely"}, "Price',
        "I cannot judge that.",
    ],
)
def test_nothing_is_made_up_for_what_is_missing(bad: object) -> None:
    """After as many replies as settings allow, the run ends."""
    found = conversation(bad if isinstance(bad, str) else json.dumps({"beliefs": bad}))
    with pytest.raises(UnparsableReplyError):
        dellma().forecast(PROBLEM, FACTORS, found)
    assert found.recorder.steps == 3


def test_what_nobody_asked_about_is_ignored_and_noted() -> None:
    """Further factors and values have no part in the states."""
    more = {**GOOD, "Rain": {**GOOD["Rain"], "Hail": "likely"}, "Frost": {"a": "likely"}}
    told, _ = forecast(more)
    assert {name: tuple(values) for name, values in told.beliefs.items()} == FACTORS
    assert told.ignored == ("frost", "Rain: hail")
