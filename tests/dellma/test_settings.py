"""DeLLMa's settings: the paper's defaults, and what cannot be."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.deciders.base import Settings
from dqa.models.scripted import scripted_model
from dqa_dellma.factories import (
    DELLMA_NAIVE,
    DELLMA_PAIRS,
    DELLMA_TOP1,
    SELF_CONSISTENCY,
)
from dqa_dellma.settings import OPTIONS, DellmaSettings, changed
from dqa_dellma.steps.direct import SelfConsistency
from tests.dellma.talking import noted, saying, world


def test_the_paper_s_settings_are_the_defaults() -> None:
    """64 samples an action in minibatches of 32 that share 25 %; naive has one batch of 50."""
    pairs, top1, naive = (made.settings for made in (DELLMA_PAIRS, DELLMA_TOP1, DELLMA_NAIVE))
    assert (pairs.samples, pairs.batch, pairs.overlap, pairs.values) == (64, 32, 0.25, 3)
    assert (pairs.elicitation, pairs.alpha, pairs.shared) == ("pairs", 2e-3, True)
    assert (top1.elicitation, top1.alpha, top1.samples) == ("top1", 1e-3, 64)
    assert (naive.shared, naive.samples) == (False, 50)
    assert all(made.confidence == 1.0 for made in (pairs, top1, naive))


def test_options_change_settings_by_name() -> None:
    """Those of other deciders are let be."""
    given = {"dellma.samples": "8", "dellma.overlap": "0.5", "dellma.rule": "posterior", "x.y": "1"}
    settings = changed(DellmaSettings(), given, OPTIONS)
    assert settings == DellmaSettings(samples=8, overlap=0.5, rule="posterior")
    assert len(OPTIONS) == len(set(OPTIONS)) == 15


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("samples", "0", "1 or more"),
        ("samples", "many", "a whole number"),
        ("samples", "1.5", "a whole number"),
        ("batch", "1", "2 or more"),
        ("overlap", "1", "from 0 to below 1"),
        ("overlap", "nan", "from 0 to below 1"),
        ("alpha", "0", "to 1000"),
        ("alpha", "1e-300", "to 1000"),
        ("alpha", "1e308", "to 1000"),
        ("alpha", "nan", "to 1000"),
        ("temperature", "inf", "from 0.001 to 1000"),
        ("temperature", "1e-9", "from 0.001 to 1000"),
        ("aversion", "1e-300", "from 1e-6 to 1000"),
        ("aversion", "inf", "from 1e-6 to 1000"),
        ("confidence", "0", "above 0, at most 1"),
        ("confidence", "1.1", "above 0, at most 1"),
        ("context", "10", "1000 or more"),
        ("factors", "-1", "0 or more"),
        ("values", "1", "2 or more"),
        ("seed", "-1", "0 or more"),
        ("attitude", "bold", "There is no value of dellma.attitude 'bold'"),
        ("elicitation", "top2", "Did you mean 'top1'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(option: str, value: str, problem: str) -> None:
    """Before anything is asked, with what it could be."""
    with pytest.raises(UsageError, match=problem):
        changed(DellmaSettings(), {f"dellma.{option}": value}, OPTIONS)


@pytest.mark.parametrize(
    "options",
    [
        {"attitude": "cvar", "aversion": "1.5"},
        {"attitude": "cvar", "scale": "action"},
        {"attitude": "exponential", "scale": "action"},
        {"rule": "posterior", "scale": "action"},
    ],
)
def test_settings_that_contradict_each_other_are_refused(options: dict[str, str]) -> None:
    """They would only come to light after every ranking was paid for, or never."""
    with pytest.raises(UsageError, match=r"dellma\."):
        changed(DellmaSettings(), {f"dellma.{n}": value for n, value in options.items()}, OPTIONS)


@pytest.mark.parametrize("settings", [{"confidence": 0.9}, {"samples": 1}])
def test_states_of_their_own_are_ranked_in_one_batch(settings: dict[str, Any]) -> None:
    """So there are no rounds, and no batch of one."""
    with pytest.raises(UsageError, match=r"dellma\."):
        replace(DELLMA_NAIVE.settings, **settings)


def test_deciders_let_each_other_s_settings_be() -> None:
    """What a name means is no setting of it."""
    given = {"dellma.confidence": "0.9", "dellma.samples": "10", "dellma-top1.samples": "5"}
    for name in ("dellma-naive", "zero-shot", "dellma-pairs", "self-consistency"):
        plugins.decider(name)(saying("x"), Settings(options=given))
    naive = {name.partition(".")[2] for name in DELLMA_NAIVE.options}
    assert naive.isdisjoint({"batch", "overlap", "shared", "confidence"})
    for made in (DELLMA_PAIRS, DELLMA_TOP1):
        heeded = {name.partition(".")[2] for name in made.options}
        assert heeded.isdisjoint({"elicitation", "shared"})
        assert heeded.issuperset({"batch", "overlap", "confidence"})


@pytest.mark.parametrize(
    ("decider", "option", "instead"),
    [
        ("dellma-pairs", "dellma.sampels", "dellma.samples"),
        ("dellma-naive", "dellma.shared", "dellma.samples"),
        ("dellma-naive", "dellma-naive.batch", "dellma-naive.samples"),
        ("dellma-pairs", "dellma-pairs.elicitation", "dellma-pairs.samples"),
        ("zero-shot", "zero-shot.votes", "zero-shot.context"),
    ],
)
def test_a_setting_that_nobody_has_is_told(decider: str, option: str, instead: str) -> None:
    """With those there are."""
    with pytest.raises(UnknownNameError, match=option) as told:
        plugins.decider(decider)(saying("x"), Settings(options={option: "1"}))
    assert instead in str(told.value)


def test_a_setting_may_be_for_one_decider_only() -> None:
    """It overrides the one for all, in whichever order they are given."""
    given = {"dellma-naive.samples": "50", "dellma.samples": "8"}
    taken = {}
    for made in (DELLMA_NAIVE, DELLMA_PAIRS):
        taken[made.name] = changed(made.settings, given, made.options).samples
    assert taken == {"dellma-naive": 50, "dellma-pairs": 8}
    with pytest.raises(UsageError, match=r"dellma-naive\.samples is a whole number"):
        changed(DELLMA_NAIVE.settings, {"dellma-naive.samples": "x"}, DELLMA_NAIVE.options)


def overlaps(scenario: str, **given: str) -> set[int]:
    """Return by how many items the minibatches overlap with which a question is decided."""
    question, database = world(scenario)
    usual = {"dellma.samples": "12", "dellma.batch": "8"}
    settings = Settings(options=usual | {f"dellma{name}": value for name, value in given.items()})
    decider = plugins.decider("dellma-pairs")(scripted_model("analyst"), settings)
    decision = decider.decide(question, database)
    database.close()
    shown = [set(event["shown"]) for event in noted(decision.trace, "ranking")]
    # The last minibatch has what is left, and overlaps with more.
    return {len(one & other) for one, other in pairwise(shown[:-1])}


def test_a_scenario_has_settings_of_its_own_that_given_ones_override() -> None:
    """The paper has minibatches of stocks share a half, and others a quarter."""
    assert overlaps("agriculture") == {2}
    assert overlaps("stocks") == {4}
    assert overlaps("stocks", **{".overlap": "0.25"}) == {2}
    assert overlaps("stocks", **{"-pairs.overlap": "0.0"}) == {0}


def test_the_settings_of_scenarios_are_those_of_deciders() -> None:
    """A name that nobody heeds would never be told."""
    found = {name: plugins.scenario(name).settings for name in plugins.names("scenario")}
    assert found["stocks"] == {"dellma.overlap": "0.5"}
    assert all(set(settings) <= set(OPTIONS) for settings in found.values())


def test_votes_and_their_temperature_can_be_set() -> None:
    """Of self-consistency, by its name."""
    own = {"self-consistency.votes": "3", "self-consistency.temperature": "0.9"}
    assert set(own) < set(SELF_CONSISTENCY.options)
    method = changed(SELF_CONSISTENCY.method, own, SELF_CONSISTENCY.options)
    assert method == SelfConsistency(votes=3, temperature=0.9)
    for name, value in (("votes", "0"), ("votes", "x"), ("temperature", "-1")):
        with pytest.raises(UsageError, match=rf"self-consistency\.{name}"):
            SELF_CONSISTENCY(saying("x"), Settings(options={f"self-consistency.{name}": value}))


def test_without_a_model_none_of_them_is_made() -> None:
    """They say how to name one."""
    for name in ("dellma-pairs", "self-consistency"):
        with pytest.raises(UsageError, match="--model"):
            plugins.decider(name)(None, Settings())
