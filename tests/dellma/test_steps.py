"""The four steps, each replaced by one that asks nobody: the decision has its tree all the same."""

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
from dqa_dellma.findings import Forecast, NamedFactors, Ranking
from dqa_dellma.problem import Problem
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.steps.dellma import Dellma
from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.utilities.beliefs import Beliefs, Factors, judge
from dqa_dellma.utilities.maximisation import Maximised
from dqa_dellma.utilities.pairs import Pairs
from tests.dellma.talking import analyst_but, analyst_reply, noted, ranking, world


class Mine(Dellma):
    """All four steps without a model: the last action is ranked first, and the worst is taken."""

    def enumerate(self, problem: Problem, asking: Asking) -> NamedFactors:
        """Name one factor."""
        return NamedFactors(factors={"luck": ("good", "bad")})

    def forecast(self, problem: Problem, factors: Factors, asking: Asking) -> Forecast:
        """Judge every value alike."""
        even = {factor: dict.fromkeys(values, "likely") for factor, values in factors.items()}
        return Forecast(beliefs=judge(even))

    def rank(
        self,
        problem: Problem,
        beliefs: Beliefs,
        pairs: Pairs,
        batch: Sequence[int],
        asking: Asking,
    ) -> Ranking:
        """Rank by the action's number."""
        return ranking(sorted(batch, key=lambda item: -int(pairs.action_of[item])), batch)

    def maximise(self, pairs: Pairs, rankings: Sequence[Ranking], actions: int) -> Maximised:
        """Take the action of the smallest expected utility."""
        found = super().maximise(pairs, rankings, actions)
        return replace(found, best=int(np.nanargmin(found.expected)))


class Insoluble(Dellma):
    """The fourth step finds nothing."""

    def maximise(self, pairs: Pairs, rankings: Sequence[Ranking], actions: int) -> Maximised:
        """Find nothing."""
        raise DataError("No scores are found.")


def judged(text: str) -> str:
    """Judge as the analyst does, who knows nothing of luck."""
    if "luck" not in text.rpartition("# Step: ")[2]:
        return analyst_reply()
    return json.dumps({"beliefs": {"luck": {"good": "likely", "bad": "unlikely"}}})


class Unreadable(Mine):
    """No minibatch is ranked."""

    def rank(
        self,
        problem: Problem,
        beliefs: Beliefs,
        pairs: Pairs,
        batch: Sequence[int],
        asking: Asking,
    ) -> Ranking:
        """Rank nothing."""
        return ranking((), batch, omitted=len(batch))


def decided(kind: type[Dellma], **options: str) -> tuple[Decision, list[str]]:
    """Decide a generated question by a decider of one's own; return the steps that were asked."""
    question, database = world()
    mine = method("mine", "of my own", kind, DellmaSettings)
    model = analyst_but(judge=judged)
    given = {"samples": "4"} | options
    own = Settings(options={f"mine.{name}": value for name, value in given.items()})
    decision = mine(model, own).decide(question, database)
    database.close()
    return decision, [text.rpartition("# Step: ")[2].split()[0] for text in model.prompts]


def tree_of(decision: Decision) -> DecisionTree:
    """Read the tree from the trace alone."""
    run = {"question": "q", "database": "d", "kind": "relational", "decider": "mine", "model": "m"}
    kept = ("ending", "answer", "choice", "steps", "seconds", "usage", "error", "outage")
    told = {name: getattr(decision, name) for name in (*kept, "plans", "evidence")}
    return DecisionTree.of(Trace(**run, **told, events=decision.trace))  # type: ignore[arg-type]


def test_the_tree_tells_what_the_replaced_steps_found() -> None:
    """All four at once: no model is asked at all."""
    decision, asked = decided(Mine)
    assert (asked, decision.steps) == ([], 0)
    tree = tree_of(decision)
    assert tree.forecast is not None
    luck = tree.forecast.beliefs["luck"]
    assert [(name, value.probability) for name, value in luck.items()] == [
        ("good", 0.5),
        ("bad", 0.5),
    ]
    (context,) = noted(decision.trace, "context")
    assert decision.choice == context["actions"][0]
    assert noted(decision.trace, "enumeration")[0]["asked"] == {"factors": 0, "values": 0}


def test_a_fourth_step_without_figures_ends_the_run_with_its_trace() -> None:
    """No exception stops the other questions, and what was paid for can be read."""
    decision, _ = decided(Insoluble)
    assert (decision.ending, decision.choice) == (Ending.UNPARSABLE, None)
    assert "No scores are found" in str(decision.error)
    assert len(tree_of(decision).rankings) == len(noted(decision.trace, "elicitation")) > 0


def test_without_a_ranking_there_is_no_choice() -> None:
    """No figure is invented."""
    decision, _ = decided(Unreadable)
    assert (decision.ending, decision.choice) == (Ending.UNPARSABLE, None)


def test_states_of_their_own_are_ranked_in_one_batch() -> None:
    """No state links two actions, so two batches could not be compared (Algorithm 2)."""
    batches = [
        [len(found["shown"]) for found in noted(decided(Mine, **options)[0].trace, "elicitation")]
        for options in ({"shared": "false", "samples": "20", "batch": "8"}, {"batch": "8"})
    ]
    assert batches[0] == [20]
    assert len(batches[1]) > 1


def test_the_same_seed_draws_the_same_states() -> None:
    """Another seed draws others."""
    runs = [
        noted(decided(Mine, seed=seed, samples="32")[0].trace, "pairs") for seed in ("1", "1", "2")
    ]
    assert runs[0] == runs[1] != runs[2]
