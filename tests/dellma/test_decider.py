"""DeLLMa and its baselines end to end: same decision everywhere, and how runs end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from dqa.core.database import Database
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import DatabaseUnavailableError, ModelUnavailableError
from dqa.deciders.base import Settings
from dqa.models.budget import Budget
from dqa.models.policy import CallPolicy
from dqa.models.scripted import scripted_model
from tests.dellma.talking import Talking, analyst_but, analyst_reply, decide, noted, saying, world

NAMES = (
    "dellma-pairs",
    "dellma-top1",
    "dellma-naive",
    "zero-shot",
    "self-consistency",
    "chain-of-thought",
)
STEPS = {
    *("prompt", "reply", "enumeration", "forecasting", "pairs", "elicitation", "utilities"),
    "answer",
}


def on(scenario: str, backend: str, name: str, options: Mapping[str, object]) -> Decision:
    """Decide a generated question with the scripted analyst."""
    question, database = world(scenario, backend)
    decision = decide(name, scripted_model("analyst"), question, database, options)
    database.close()
    return decision


@pytest.mark.parametrize("scenario", ["locating", "building", "agriculture", "stocks"])
def test_every_scenario_is_decided_alike_on_tables_and_graphs(scenario: str) -> None:
    """Down to every belief, ranking and figure of the trace."""
    cases: tuple[tuple[str, dict[str, object]], ...] = (
        ("dellma-pairs", {"samples": 4}),
        ("self-consistency", {}),
    )
    for name, options in cases:
        tables, graph = (on(scenario, backend, name, options) for backend in ("sqlite", "ladybug"))
        assert tables.ending is Ending.ANSWERED
        assert tables.choice is not None
        assert tables.choice == graph.choice
        for kind in ("enumeration", "forecasting", "pairs", "elicitation", "utilities", "votes"):
            assert noted(tables.trace, kind) == noted(graph.trace, kind)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_decides_and_counts(name: str) -> None:
    """Steps and calls are the replies; the answer is the choice's name; evidence is kept."""
    options: dict[str, object] = {"samples": 8} if name.startswith("dellma") else {}
    decision = on("agriculture", "sqlite", name, options)
    assert decision.ending is Ending.ANSWERED
    assert str(decision.choice) in decision.answer
    assert decision.steps == decision.usage.calls == len(noted(decision.trace, "reply"))
    assert len(decision.evidence) == len(noted(decision.trace, "retrieval")) == 2
    kinds = {event.kind for event in decision.trace}
    kinds |= {getattr(event, "purpose", "") for event in decision.trace}
    if name.startswith("dellma"):
        assert kinds.issuperset(STEPS)
        why = noted(decision.trace, "utilities")[0]["why"]
        assert str(decision.choice) in why


@pytest.mark.parametrize("name", NAMES)
def test_one_action_is_chosen_without_asking(name: str) -> None:
    """No model, no query: there is nothing to compare."""
    question, database = world()
    database.close()
    one = replace(question, candidates=(question.candidates or ())[:1])
    decision = decide(name, saying(RuntimeError("asked")), one, database)
    assert (decision.ending, decision.choice) == (Ending.ANSWERED, (one.candidates or ())[0])
    assert decision.steps == 0
    assert [getattr(event, "purpose", event.kind) for event in decision.trace] == [
        *("context", "only_action", "answer")
    ]


def failing_at(step: str, error: Exception) -> Talking:
    """An analyst whose provider fails for good once a step comes."""

    def program(text: str, number: int) -> object:
        del number
        here = text.rpartition("\n# Step: ")[2].startswith(step)
        return error if here else analyst_reply()

    return Talking(program=program)


@pytest.mark.parametrize(
    ("name", "step", "before"),
    [
        ("dellma-pairs", "name", 0),
        ("dellma-pairs", "judge", 1),
        ("dellma-pairs", "rank", 2),
        ("chain-of-thought", "think of how", 1),
        ("chain-of-thought", "decide", 2),
        ("self-consistency", "decide", 0),
    ],
)
def test_a_provider_that_fails_ends_the_run_as_infrastructure(
    name: str, step: str, before: int
) -> None:
    """In whichever step; nothing is answered, and what was said and read so far is kept."""
    question, database = world()
    error = ModelUnavailableError("The model is gone.")
    decision = decide(name, failing_at(step, error), question, database)
    database.close()
    assert (decision.ending, decision.outage) == (Ending.INFRASTRUCTURE, "model")
    assert (decision.answer, decision.choice) == ("", None)
    assert decision.steps == decision.usage.calls == before
    assert len(decision.evidence) == 2
    assert decision.trace[-1].kind == "infrastructure"
    assert "The model is gone." in str(decision.error)


@pytest.mark.parametrize("calls", [1, 2, 3, 4])
def test_a_spent_budget_keeps_what_was_done(calls: int) -> None:
    """The run ends as such after as many replies as were paid for."""
    question, database = world()
    policy = CallPolicy(budget=Budget(tokens=12 * calls))
    decision = decide(
        "dellma-pairs", analyst_but(), question, database, settings=Settings(calls=policy)
    )
    database.close()
    assert decision.ending is Ending.BUDGET
    assert (decision.steps, decision.choice) == (calls, None)
    assert decision.usage == Usage(10 * calls, 2 * calls, calls)
    assert decision.trace[-1].kind == "budget"
    assert len(decision.evidence) == 2


class Failing:
    """A database that gives way after some statements."""

    def __init__(self, database: Database, after: int) -> None:
        self._database, self._left = database, after
        self.kind, self.name = database.kind, database.name

    def query(self, *given: object) -> object:
        """Run a statement, while there are any left."""
        self._left -= 1
        if self._left < 0:
            raise DatabaseUnavailableError("The server is gone.")
        return self._database.query(*given)  # type: ignore[arg-type]


@pytest.mark.parametrize("after", [0, 1])
def test_a_database_that_fails_ends_the_run_as_infrastructure(after: int) -> None:
    """With what was read before."""
    question, database = world()
    decision = decide("zero-shot", saying("x"), question, Failing(database, after))  # type: ignore[arg-type]
    database.close()
    assert (decision.ending, decision.outage) == (Ending.INFRASTRUCTURE, "database")
    assert len(decision.evidence) == after
    assert decision.steps == 0
