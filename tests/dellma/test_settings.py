"""DeLLMa's settings: the paper's defaults, and what cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import BaseModel

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.deciders.base import DeciderFactory, Settings
from dqa.models.scripted import scripted_model
from dqa_dellma.factories import DELLMA_NAIVE, DELLMA_PAIRS, DELLMA_TOP1
from dqa_dellma.settings import DellmaSettings, NaiveSettings, Top1Settings
from tests.dellma.talking import noted, saying, world


def made_of(factory: DeciderFactory, **options: str) -> BaseModel:
    """Return the settings that a decider is made with, from options by name."""
    seen: list[Settings] = []

    def make(model: object, settings: Settings) -> Any:
        seen.append(settings)
        return factory.make(model, settings)

    given = {f"dellma.{name}": value for name, value in options.items()}
    spied = DeciderFactory(
        factory.name,
        factory.description,
        make,
        settings=factory.settings,
        family=factory.family,
        fixed=factory.fixed,
        apart=factory.apart,
    )
    spied(saying("x"), Settings(options=given))
    assert seen[0].own is not None
    return seen[0].own


def test_the_paper_s_settings_are_the_defaults() -> None:
    """64 samples an action in minibatches of 32 that share 25 %; naive has one batch of 50."""
    pairs, top1, naive = DellmaSettings(), Top1Settings(), NaiveSettings()
    assert (pairs.samples, pairs.batch, pairs.overlap, pairs.values) == (64, 32, 0.25, 3)
    assert (pairs.elicitation, pairs.alpha, pairs.shared) == ("pairs", 2e-3, True)
    assert (top1.elicitation, top1.alpha, top1.samples) == ("top1", 1e-3, 64)
    assert (naive.shared, naive.samples) == (False, 50)


def test_options_change_settings_by_name() -> None:
    """Numbers are read from texts; the others keep the variant's own defaults."""
    given = {"samples": "8", "overlap": "0.5", "draws": "independent"}
    assert made_of(DELLMA_PAIRS, **given) == DellmaSettings(
        samples=8, overlap=0.5, draws="independent"
    )
    assert made_of(DELLMA_TOP1, **given) == Top1Settings(
        samples=8, overlap=0.5, draws="independent"
    )


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("samples", "0", "a whole number, 1 or more, not '0'"),
        ("samples", "many", "a whole number, 1 or more, not 'many'"),
        ("samples", "1.5", "a whole number"),
        ("batch", "1", "2 or more"),
        ("overlap", "1", "0 or more, below 1"),
        ("overlap", "nan", "a number, 0 or more, below 1, not 'nan'"),
        ("alpha", "0", "at most 1000"),
        ("alpha", "1e-300", "1e-10 or more"),
        ("alpha", "1e308", "at most 1000"),
        ("alpha", "nan", "at most 1000"),
        ("temperature", "inf", "0.001 or more, at most 1000"),
        ("temperature", "1e-9", "0.001 or more, at most 1000"),
        ("aversion", "1e-300", "1e-06 or more, at most 1000"),
        ("aversion", "inf", "1e-06 or more, at most 1000"),
        ("context", "10", "1000 or more"),
        ("factors", "0", "1 or more"),
        ("general", "-1", "0 or more"),
        ("ties", "maybe", "true or false"),
        ("draws", "even", "There is no value of dellma.draws 'even'"),
        ("values", "1", "2 or more"),
        ("seed", "-1", "0 or more"),
        ("attitude", "bold", "There is no value of dellma.attitude 'bold'"),
        ("scale", "al", "Did you mean 'all'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(option: str, value: str, problem: str) -> None:
    """Before anything is asked, with the value and what it could be."""
    with pytest.raises(UsageError, match=rf"dellma\.{option}") as refused:
        DELLMA_PAIRS(saying("x"), Settings(options={f"dellma.{option}": value}))
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"attitude": "cvar", "aversion": "1.5"}, "an aversion of at most 1"),
        ({"attitude": "cvar", "scale": "action"}, "attitude=cvar needs scale=all"),
        ({"general": "0", "own": "0"}, "ask for no factor"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, str], problem: str) -> None:
    """With the decider, and why."""
    given = {f"dellma.{name}": value for name, value in options.items()}
    with pytest.raises(UsageError, match=f"'dellma-pairs' do not go together: .*{problem}"):
        DELLMA_PAIRS(saying("x"), Settings(options=given))


def overlaps(
    scenario: str,
    given: Mapping[str, str] = MappingProxyType({}),
    own: DellmaSettings | None = None,
) -> set[int]:
    """Return by how many items the minibatches overlap with which a question is decided."""
    question, database = world(scenario)
    usual = {"dellma.samples": "12", "dellma.batch": "8"}
    settings = Settings(options={**usual, **given}, own=own)
    decider = plugins.decider("dellma-pairs")(scripted_model("analyst"), settings)
    decision = decider.decide(question, database)
    database.close()
    shown = [set(event["shown"]) for event in noted(decision.trace, "elicitation")]
    # The last minibatch has what is left, and overlaps with more.
    return {len(one & other) for one, other in pairwise(shown[:-1])}


def test_a_scenario_has_settings_of_its_own_that_given_ones_override() -> None:
    """The paper has minibatches of stocks share a half, and others a quarter."""
    assert overlaps("agriculture") == {2}
    assert overlaps("stocks") == {4}
    assert overlaps("stocks", {"dellma.overlap": "0.25"}) == {2}
    assert overlaps("stocks", {"dellma-pairs.overlap": "0.0"}) == {0}


def test_the_settings_of_scenarios_are_those_of_deciders() -> None:
    """A name that nobody accepts would never be told."""
    found = {name: plugins.scenario(name).settings for name in plugins.names("scenario")}
    assert found["stocks"] == {
        "dellma.overlap": "0.5",
        "dellma.general": "5",
        "dellma.own": "5",
        "dellma.factors": "40",
    }
    accepted = {o for name in plugins.names("decider") for o in plugins.decider(name).options}
    assert all(set(settings) <= accepted for settings in found.values())


def test_a_setting_may_be_for_one_decider_only() -> None:
    """It overrides the one for all, in whichever order they are given."""
    given = {"dellma-pairs.overlap": "0.0", "dellma.overlap": "0.5"}
    for options in (given, dict(reversed(given.items()))):
        assert overlaps("agriculture", options) == {0}
    with pytest.raises(UsageError, match=r"dellma-naive\.samples has to be a whole number"):
        DELLMA_NAIVE(saying("x"), Settings(options={"dellma-naive.samples": "x"}))
