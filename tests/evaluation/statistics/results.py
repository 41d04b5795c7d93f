"""Results made by hand, for statistics."""

from __future__ import annotations

from typing import Any

from dqa.evaluation.results import Outcome, Result


def result(number: int, right: bool | Outcome, **fields: Any) -> Result:
    """Return a decision on a question, right or wrong, or ended otherwise."""
    outcome = right
    if isinstance(right, bool):
        outcome = Outcome.CORRECT if right else Outcome.WRONG
    known: dict[str, Any] = {
        "question": f"locating/{number}",
        "scenario": "locating",
        "database": "sqlite",
        "kind": "relational",
        "decider": "d",
        "model": "none",
        "outcome": outcome,
        "answer": "",
        "choice": "a",
        "official": "a",
        "ties": ("a",),
        "regret": None,
        "relative_regret": None,
        "rank": None,
        "value": None,
        "best_value": None,
        "baseline": None,
        "goal": None,
        "steps": 1,
        "statements": 0,
        "plans": 0,
        "error": None,
        "input_tokens": 10,
        "output_tokens": 2,
        "situation": f"world-{number}",
    }
    return Result(**(known | fields))
