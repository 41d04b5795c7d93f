"""The four steps, replaced by steps without a model: the decision still has its tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dqa.core.decision import Decision, Ending
from dqa.core.errors import DataError
from dqa.deciders.base import Settings
from dqa.deciders.method import Asking, method
from dqa.evaluation.traces import Trace
from dqa.testing.models import Request
from dqa_dellma.findings import Forecast, NamedFactors, Ranking
from dqa_dellma.problem import Problem
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.steps.dellma import Dellma
from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.utilities.beliefs import Beliefs, Factors, judge
from dqa_dellma.utilities.maximisation import Maximised
from dqa_dellma.utilities.pairs import Pairs
from tests.dellma.talking import analyst_but, analyst_reply, data_of, ranking, step_of, world


class Mine(Dellma):
    """All four steps without a model: the last action ranks first, and the worst is chosen."""

    def enumerate(self, problem: Problem, asking: Asking) -> NamedFactors:
        """Name one factor."""
        return NamedFactors(factors={"luck": ("good", "bad")})

    def forecast(self, problem: Problem, factors: Factors, asking: Asking) -> Forecast:
        """Judge every value equally likely."""
        even = {factor: dict.fromkeys(values, "likely") for factor, values in factors.items()}
        return Forecast(beliefs=judge(even))

    def rank(
        self, problem: Problem, beliefs: Beliefs, pairs: Pairs, batch: Sequence[int], asking: Asking
    ) -> Ranking:
        """Rank by the action's number."""
        return ranking(sorted(batch, key=lambda item: -int(pairs.action_of[item])), batch)

    def maximise(self, pairs: Pairs, rankings: Sequence[Ranking], actions: int) -> Maximised:
        """Take the action of the smallest expected utility."""
        found = super().maximise(pairs, rankings, actions)
        return replace(found, best=int(np.nanargmin(found.expected)))


class Insoluble(Dellma):
    """A decider whose fourth step fails."""

    def maximise(self, pairs: Pairs, rankings: Sequence[Ranking], actions: int) -> Maximised:
        """Raise an error."""
        raise DataError("No scores are found.")


def judged(request: Request) -> str:
    """Judge luck, and everything else as the analyst does."""
    if "luck" not in step_of(request):
        return analyst_reply(request)
    return json.dumps({"beliefs": {"luck": {"good": "likely", "bad": "unlikely"}}})


def decided(kind: type[Dellma], **options: str) -> tuple[Decision, list[str]]:
    """Decide a generated question with a custom decider; return the steps that were requested."""
    question, database = world()
    mine = method("mine", "of my own", kind, DellmaSettings)
    model = analyst_but(judge=judged)
    merged = {"samples": "4"} | options
    own = Settings(options={f"mine.{name}": value for name, value in merged.items()})
    decision = mine(model, own).decide(question, database)
    database.close()
    return decision, [step_of(request).split()[0] for request in model.requests]


def tree_of(decision: Decision) -> DecisionTree:
    """Read the tree from the trace alone."""
    run = {"question": "q", "database": "d", "kind": "relational", "decider": "mine", "model": "m"}
    copied = ("ending", "answer", "choice", "steps", "seconds", "usage", "error", "outage")
    result = {name: getattr(decision, name) for name in (*copied, "plans", "evidence")}
    return DecisionTree.of(Trace(**run, **result, events=decision.trace))  # type: ignore[arg-type]


def test_the_tree_holds_the_results_of_replaced_steps() -> None:
    """No model is called."""
    decision, asked = decided(Mine)
    assert (asked, decision.steps) == ([], 0)
    tree = tree_of(decision)
    assert tree.forecast is not None
    luck = tree.forecast.beliefs["luck"]
    assert [(name, value.probability) for name, value in luck.items()] == [
        ("good", 0.5),
        ("bad", 0.5),
    ]
    (context,) = data_of(decision.trace, "context")
    assert decision.choice == context["actions"][0]
    assert data_of(decision.trace, "enumeration")[0]["asked"] == {"factors": 0, "values": 0}


def test_a_failed_fourth_step_ends_the_run_with_its_trace() -> None:
    """No exception stops the other questions, and the trace is readable."""
    decision, _ = decided(Insoluble)
    assert (decision.ending, decision.choice) == (Ending.UNPARSABLE, None)
    assert "No scores are found" in str(decision.error)
    assert len(tree_of(decision).rankings) == len(data_of(decision.trace, "elicitation")) > 0


def test_states_of_their_own_are_ranked_in_one_batch() -> None:
    """No state links two actions, so two batches could not be compared (Algorithm 2)."""
    batches = [
        [len(found["shown"]) for found in data_of(decided(Mine, **options)[0].trace, "elicitation")]
        for options in ({"shared": "false", "samples": "20", "batch": "8"}, {"batch": "8"})
    ]
    assert batches[0] == [20]
    assert len(batches[1]) > 1
