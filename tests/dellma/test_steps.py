"""The four steps, each replaced by one that asks nobody: the decision has its tree all the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dqa.core.decision import Decision, Ending
from dqa.core.errors import DataError
from dqa.deciders.base import Settings
from dqa.evaluation.traces import Trace
from dqa.models.conversation import Conversation
from dqa_dellma import (
    Beliefs,
    Dellma,
    DellmaSettings,
    Factors,
    FactorsEvent,
    ForecastEvent,
    Maximised,
    Pairs,
    Problem,
    RankingEvent,
    Steps,
    judge,
    maximise,
    problem_decider,
    read_tree,
)
from dqa_dellma.scripted.analyst import reply_to_step
from dqa_dellma.tree.decision_tree import DecisionTree
from tests.dellma.talking import analyst_but, noted, ranking, world

Replacing = Callable[[DellmaSettings], Steps]


class Luck:
    """One factor, whatever the problem."""

    def enumerate(self, problem: Problem, conversation: Conversation) -> FactorsEvent:
        """Name it."""
        del problem, conversation
        return FactorsEvent(factors={"luck": ("good", "bad")})


class Even:
    """Everything is as likely as everything else."""

    def forecast(
        self, problem: Problem, factors: Factors, conversation: Conversation
    ) -> ForecastEvent:
        """Judge every value alike."""
        del problem, conversation
        even = {factor: dict.fromkeys(values, "likely") for factor, values in factors.items()}
        return ForecastEvent(beliefs=judge(even))


class LastFirst:
    """The last action is the best in every state."""

    def rank(
        self,
        problem: Problem,
        beliefs: Beliefs,
        pairs: Pairs,
        batch: Sequence[int],
        conversation: Conversation,
    ) -> RankingEvent:
        """Rank by the action's number."""
        del problem, beliefs, conversation
        return ranking(sorted(batch, key=lambda item: -int(pairs.action_of[item])), batch)


def worst(
    pairs: Pairs, rankings: Sequence[RankingEvent], actions: int, settings: DellmaSettings
) -> Maximised:
    """Take the action of the smallest expected utility."""
    found = maximise(pairs, rankings, actions, settings)
    return replace(found, best=int(np.nanargmin(found.expected)))


def insoluble(*given: object) -> Maximised:
    """Find nothing."""
    raise DataError("No scores are found.")


def with_step(**step: Any) -> Replacing:
    """Replace a step of the paper's."""
    return lambda settings: replace(Steps.asked(settings), **step)


def judged(text: str) -> str:
    """Judge as the analyst does, who knows nothing of luck."""
    if "luck" not in text.rpartition("# Step: ")[2]:
        return reply_to_step(text, "analyst", 0)
    return json.dumps({"beliefs": {"luck": {"good": "likely", "bad": "unlikely"}}})


def decided(steps: Replacing) -> tuple[Decision, list[str]]:
    """Decide a generated question by a decider of one's own; return the steps that were asked."""
    question, database = world()
    mine = problem_decider("mine", "of my own", lambda own: Dellma(own, steps(own)), DellmaSettings)
    model = analyst_but(judge=judged)
    own = Settings(options={"mine.samples": "4"})
    decision = mine(model, own).decide(question, database)
    database.close()
    return decision, [text.rpartition("# Step: ")[2].split()[0] for text in model.prompts]


def tree_of(decision: Decision) -> DecisionTree:
    """Read the tree from the trace alone."""
    run = {"question": "q", "database": "d", "kind": "relational", "decider": "mine", "model": "m"}
    kept = ("ending", "answer", "choice", "steps", "seconds", "usage", "error", "outage")
    told = {name: getattr(decision, name) for name in (*kept, "plans", "evidence")}
    return read_tree(Trace(**run, **told, events=decision.trace))  # type: ignore[arg-type]


def test_the_tree_tells_what_the_replaced_steps_found() -> None:
    """All four at once: no model is asked at all."""
    steps = Steps(Luck(), Even(), LastFirst(), worst)
    decision, asked = decided(lambda settings: steps)
    assert (asked, decision.steps) == ([], 0)
    tree = tree_of(decision)
    (luck,) = tree.factors
    assert [(value.name, value.probability) for value in luck.values] == [
        ("good", 0.5),
        ("bad", 0.5),
    ]
    (context,) = noted(decision.trace, "context")
    assert decision.choice == context["actions"][0]
    assert noted(decision.trace, "factors")[0]["asked"] == {"factors": 0, "values": 0}


def test_a_fourth_step_without_figures_ends_the_run_with_its_trace() -> None:
    """No exception stops the other questions, and what was paid for can be read."""
    decision, _ = decided(with_step(maximisation=insoluble))
    assert (decision.ending, decision.choice) == (Ending.UNPARSABLE, None)
    assert "No scores are found" in str(decision.error)
    assert len(tree_of(decision).rankings) == len(noted(decision.trace, "ranking")) > 0
