"""DeLLMa's settings: the paper's defaults, and what cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.deciders.base import DeciderFactory, Settings, share_options
from dqa.models.scripted import scripted_model
from dqa_dellma.factories import DELLMA_NAIVE, DELLMA_PAIRS, DELLMA_TOP1, SELF_CONSISTENCY
from dqa_dellma.settings import DellmaSettings, NaiveSettings, Top1Settings, VotingSettings
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
    assert all(made.confidence == 1.0 for made in (pairs, top1, naive))


def test_options_change_settings_by_name() -> None:
    """Numbers are read from texts; the others keep the variant's own defaults."""
    given = {"samples": "8", "overlap": "0.5", "rule": "posterior"}
    assert made_of(DELLMA_PAIRS, **given) == DellmaSettings(
        samples=8, overlap=0.5, rule="posterior"
    )
    assert made_of(DELLMA_TOP1, **given) == Top1Settings(samples=8, overlap=0.5, rule="posterior")


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
        ("confidence", "0", "above 0, at most 1"),
        ("confidence", "1.1", "above 0, at most 1"),
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
        ({"rule": "posterior", "scale": "action"}, "rule=posterior needs scale=all"),
        ({"general": "0", "own": "0"}, "ask for no factor"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, str], problem: str) -> None:
    """With the decider, and why."""
    given = {f"dellma.{name}": value for name, value in options.items()}
    with pytest.raises(UsageError, match=f"'dellma-pairs' do not go together: .*{problem}"):
        DELLMA_PAIRS(saying("x"), Settings(options=given))


@pytest.mark.parametrize("settings", [{"confidence": 0.9}, {"samples": 1}])
def test_states_of_their_own_are_ranked_in_one_batch(settings: dict[str, Any]) -> None:
    """So there are no rounds, and no batch of one."""
    with pytest.raises(ValidationError, match="shared"):
        NaiveSettings(**settings)


def test_what_a_name_means_is_no_setting() -> None:
    """Nor is what the variant has no use for."""
    naive = {name.partition(".")[2] for name in DELLMA_NAIVE.options}
    assert naive.isdisjoint({"batch", "overlap", "shared", "confidence"})
    assert "elicitation" in naive
    for made in (DELLMA_PAIRS, DELLMA_TOP1):
        accepted = {name.partition(".")[2] for name in made.options}
        assert accepted.isdisjoint({"elicitation", "shared"})
        assert accepted.issuperset({"batch", "overlap", "confidence"})


def test_each_decider_gets_the_settings_that_it_accepts() -> None:
    """Of several; what none of them accepts is refused."""
    names = ("dellma-naive", "zero-shot", "dellma-pairs", "self-consistency", "first")
    made = [plugins.decider(name) for name in names]
    given = {"dellma.confidence": "0.9", "dellma.context": "9000", "dellma-naive.samples": "5"}
    shared = share_options(made, given)
    assert shared == {
        "dellma-naive": {"dellma.context": "9000", "dellma-naive.samples": "5"},
        "zero-shot": {"dellma.context": "9000"},
        "dellma-pairs": {"dellma.confidence": "0.9", "dellma.context": "9000"},
        "self-consistency": {"dellma.context": "9000"},
        "first": {},
    }
    with pytest.raises(UnknownNameError, match=r"dellma-top1\.samples.*Did you mean"):
        share_options(made, {"dellma-top1.samples": "5"})


@pytest.mark.parametrize(
    ("decider", "option", "instead"),
    [
        ("dellma-pairs", "dellma.sampels", "dellma.samples"),
        ("dellma-naive", "dellma.shared", "dellma.alpha"),
        ("dellma-naive", "dellma-naive.batch", "dellma-naive.samples"),
        ("dellma-pairs", "dellma-pairs.elicitation", "dellma-pairs.samples"),
        ("zero-shot", "zero-shot.votes", "zero-shot.context"),
        ("self-consistency", "dellma.temperature", "self-consistency.temperature"),
        ("first", "first.of", "none"),
    ],
)
def test_a_setting_that_nobody_has_is_told(decider: str, option: str, instead: str) -> None:
    """With those there are."""
    with pytest.raises(UnknownNameError, match=option) as told:
        plugins.decider(decider)(saying("x"), Settings(options={option: "1"}))
    assert instead in str(told.value)


def test_settings_are_listed_with_what_they_accept() -> None:
    """Each once: by the family's name where several deciders have it, and with its default."""
    listed = {info.name: info for info in DELLMA_NAIVE.setting_infos}
    assert len(listed) == len(NaiveSettings.model_fields) - len(DELLMA_NAIVE.fixed)
    samples = listed["dellma.samples"]
    assert (samples.default, samples.accepts) == (50, "a whole number, 1 or more")
    assert listed["dellma.elicitation"].choices == ("pairs", "top1")
    assert all(info.description for info in listed.values())
    votes = [info.name for info in SELF_CONSISTENCY.setting_infos]
    assert votes == ["dellma.context", "self-consistency.votes", "self-consistency.temperature"]
    assert plugins.decider("first").setting_infos == ()


def test_a_python_caller_may_give_them_typed() -> None:
    """What it set goes before the scenario's, and options before that."""
    assert overlaps("stocks", own=DellmaSettings(overlap=0.0)) == {0}
    assert overlaps("stocks", own=DellmaSettings(seed=1)) == {4}
    assert overlaps("stocks", {"dellma.overlap": "0.25"}, DellmaSettings(overlap=0.0)) == {2}
    with pytest.raises(UsageError, match="has other settings than VotingSettings"):
        DELLMA_PAIRS(saying("x"), Settings(own=VotingSettings()))


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
    shown = [set(event["shown"]) for event in noted(decision.trace, "ranking")]
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


def test_votes_and_their_temperature_can_be_set() -> None:
    """Of self-consistency, by its name."""
    question, database = world()
    model = saying('{"decision": "1"}')
    options = {"self-consistency.votes": "3", "self-consistency.temperature": "0.9"}
    SELF_CONSISTENCY(model, Settings(options=options)).decide(question, database)
    database.close()
    assert model.temperatures == [0.9] * 3
    for name, value in (("votes", "0"), ("votes", "x"), ("temperature", "-1")):
        with pytest.raises(UsageError, match=rf"self-consistency\.{name}"):
            SELF_CONSISTENCY(saying("x"), Settings(options={f"self-consistency.{name}": value}))


def test_without_a_model_none_of_them_is_made() -> None:
    """They say how to name one."""
    for name in ("dellma-pairs", "self-consistency"):
        with pytest.raises(UsageError, match="--model"):
            plugins.decider(name)(None, Settings())
