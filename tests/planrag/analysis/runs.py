"""Handwritten runs: a result, its trace, and both as a case."""

from __future__ import annotations

from typing import Any

from dqa.core.decision import Ending, Usage
from dqa.core.events import PlanEvent, PromptEvent
from dqa.core.evidence import Evidence
from dqa.evaluation.findings import Case
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace


def ran(
    statement: str, *rows: str, header: str = '["x"]', tool: str = "query_database"
) -> Evidence:
    """Return a statement that returned rows, one by default."""
    lines = [header, *(rows or ("[1]",)), f"({len(rows) or 1} rows)"]
    return Evidence(statement, "\n".join(lines), len(rows) or 1, tool=tool)


def empty(statement: str) -> Evidence:
    """Return a statement that returned no row."""
    return Evidence(statement, '["x"]\n(0 rows)')


def failed(statement: str, tool: str = "query_database") -> Evidence:
    """Return a statement that failed."""
    return Evidence(statement, "Error: no", error="StatementError", tool=tool)


def make_case(*evidence: Evidence, plans: tuple[str, ...] = (), **of_result: Any) -> Case:
    """Return a model's wrong answer to a Locating question; other fields may be set."""
    fields: dict[str, Any] = {
        "question": "locating/1",
        "scenario": "locating",
        "database": "mysql",
        "kind": "relational",
        "decider": "iterrag",
        "model": "openai:m",
        "outcome": Outcome.WRONG,
        "answer": "a",
        "choice": "a",
        "official": "b",
        "ties": ("b",),
        "regret": 1.0,
        "relative_regret": 0.5,
        "rank": 2,
        "value": 1.5,
        "best_value": 2.0,
        "baseline": 1.0,
        "goal": "maximise",
        "error": None,
    } | of_result
    result = Result(**fields, steps=1, statements=len(evidence), plans=len(plans))
    trace = Trace(
        **{name: fields[name] for name in ("question", "database", "kind", "decider", "model")},
        ending=Ending.ANSWERED,
        answer=result.answer,
        choice=result.choice,
        steps=1,
        seconds=0.0,
        usage=Usage(),
        error=None,
        outage=None,
        plans=plans,
        evidence=evidence,
        events=(
            PromptEvent(),
            *(PlanEvent(kind="replan" if k else "plan", text=p) for k, p in enumerate(plans)),
        ),
    )
    return Case(result, trace)
