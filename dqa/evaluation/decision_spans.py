"""Spans of runs and decisions that follow OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from dqa.core.decision import Decision, Ending
from dqa.core.provenance import CurrentDecision, while_deciding
from dqa.core.question import Question
from dqa.core.spans import Span, start_span
from dqa.evaluation.results import NO_MODEL, Outcome

if TYPE_CHECKING:
    from dqa.evaluation.keys import DecisionKey
    from dqa.evaluation.prepare import Setup
    from dqa.evaluation.results import Result

_FAILED = frozenset({Ending.INFRASTRUCTURE, Ending.BUDGET, Ending.STOPPED, Ending.CRASHED})


def run_span(setup: Setup) -> AbstractContextManager[Span]:
    """Return a context manager that opens the span of a run."""
    name = setup.questions.name
    return start_span(
        f"invoke_workflow {name}",
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.agent.name": name,
            "gen_ai.workflow.name": name,  # so earlier conventions call it
            "dqa.run.deciders": tuple(setup.deciders[0]),
            "dqa.run.databases": tuple(setup.targets) or tuple(setup.places),
            "dqa.run.epochs": len(setup.deciders),
            "dqa.run.decisions": setup.size,
        },
        {},
    )


@contextmanager
def decision_span(
    key: DecisionKey,
    question: Question,
    situation: str | None = None,
    *,
    decision: str | None = None,
    model: str | None = None,
) -> Iterator[Span]:
    """Open the span of a decision. The records of its statements then contain its id."""
    text = "\n\n".join(part for part in (question.text, question.rules) if part)
    named = decision or key.id
    span = start_span(
        f"invoke_agent {key.decider}",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": key.decider,
            "dqa.question": key.question,
            "dqa.scenario": question.scenario,
            "dqa.database": key.database,
            "dqa.epoch": key.epoch,
            "dqa.situation": situation,
        },
        {"gen_ai.input.messages": lambda: [_message("user", text)]},
    )
    with while_deciding(CurrentDecision(named, key.question, key.decider, model)), span as opened:
        yield opened


def _message(role: str, text: str) -> dict[str, object]:
    """Return a message in the format of the conventions."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def describe_decision(span: Span, decision: Decision, result: Result | None = None) -> None:
    """Add the ending, the usage and the outcome of a decision to a span."""
    if not span:
        return
    span.set(
        {
            "dqa.ending": decision.ending.value,
            "dqa.steps": decision.steps,
            "dqa.statements": len(decision.evidence),
            "dqa.plans": len(decision.plans),
            "gen_ai.usage.input_tokens": decision.usage.input_tokens,
            "gen_ai.usage.output_tokens": decision.usage.output_tokens,
        }
    )
    if decision.answer:
        span.say("gen_ai.output.messages", lambda: [_message("assistant", decision.answer)])
    if decision.ending in _FAILED:
        span.fail(decision.ending.value, decision.error)
    if result is None:
        return
    if result.model != NO_MODEL:
        span.set({"gen_ai.request.model": result.model})
    if result.outcome.judged:
        span.add_event(
            "gen_ai.evaluation.result",
            {
                "gen_ai.evaluation.name": "decision",
                "gen_ai.evaluation.score.value": float(result.outcome is Outcome.CORRECT),
                "gen_ai.evaluation.score.label": result.outcome.value,
            },
        )
