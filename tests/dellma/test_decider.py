"""DeLLMa and its baselines end to end: equal decisions on all databases, and endings of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from dqa.core.decision import Decision, Ending
from dqa.core.errors import ModelUnavailableError
from dqa.models.scripted import scripted_model
from dqa.testing.models import PreparedReplies
from tests.dellma.talking import analyst_but, data_of, decide, replying, world

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


def decide_in(scenario: str, backend: str, name: str, options: Mapping[str, object]) -> Decision:
    """Decide a generated question with the scripted analyst."""
    question, database = world(scenario, backend)
    decision = decide(name, scripted_model("analyst"), question, database, options)
    database.close()
    return decision


@pytest.mark.parametrize("scenario", ["locating", "building", "agriculture", "stocks"])
def test_every_scenario_is_decided_alike_on_tables_and_graphs(scenario: str) -> None:
    """Every belief, ranking and figure of the trace is equal."""
    cases: tuple[tuple[str, dict[str, object]], ...] = (
        ("dellma-pairs", {"samples": 4}),
        ("self-consistency", {}),
    )
    for name, options in cases:
        tables, graph = (
            decide_in(scenario, backend, name, options) for backend in ("sqlite", "ladybug")
        )
        assert tables.ending is Ending.ANSWERED
        assert tables.choice is not None
        assert tables.choice == graph.choice
        for kind in ("enumeration", "forecasting", "pairs", "elicitation", "utilities", "votes"):
            assert data_of(tables.trace, kind) == data_of(graph.trace, kind)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_decides_and_counts(name: str) -> None:
    """Steps and calls equal the replies, and the answer names the choice."""
    options: dict[str, object] = {"samples": 8} if name.startswith("dellma") else {}
    decision = decide_in("agriculture", "sqlite", name, options)
    assert decision.ending is Ending.ANSWERED
    assert str(decision.choice) in decision.answer
    assert decision.steps == decision.usage.calls == len(data_of(decision.trace, "reply"))
    assert len(decision.evidence) == len(data_of(decision.trace, "retrieval")) == 2
    kinds = {event.kind for event in decision.trace}
    kinds |= {getattr(event, "purpose", "") for event in decision.trace}
    if name.startswith("dellma"):
        assert kinds.issuperset(STEPS)
        why = data_of(decision.trace, "utilities")[0]["why"]
        assert str(decision.choice) in why


@pytest.mark.parametrize("name", NAMES)
def test_a_single_action_is_chosen_without_a_model(name: str) -> None:
    question, database = world()
    database.close()
    one = replace(question, candidates=(question.candidates or ())[:1])
    decision = decide(name, replying(RuntimeError("asked")), one, database)
    assert (decision.ending, decision.choice) == (Ending.ANSWERED, (one.candidates or ())[0])
    assert decision.steps == 0
    assert [getattr(event, "purpose", event.kind) for event in decision.trace] == [
        *("context", "only_action", "answer")
    ]


def failing_at(step: str, error: Exception) -> PreparedReplies:
    """Return an analyst whose provider fails at a step."""
    return analyst_but(**{step: lambda _: error})


@pytest.mark.parametrize(
    ("name", "step", "before"),
    [
        ("dellma-pairs", "name", 0),
        ("dellma-pairs", "judge", 1),
        ("dellma-pairs", "rank", 2),
        ("chain-of-thought", "judge how", 1),
        ("chain-of-thought", "decide", 2),
        ("self-consistency", "decide", 0),
    ],
)
def test_a_provider_that_fails_ends_the_run_as_infrastructure(
    name: str, step: str, before: int
) -> None:
    """Earlier replies and rows stay in the trace."""
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
