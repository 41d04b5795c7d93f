"""What to do after a run: its results, a decision of it, a model, a database of one's own."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from dqa.core.distribution import own_command
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.models.registry import is_scripted

_MODEL = "openai:gpt-5"


def next_steps(folder: Path, results: Sequence[Result]) -> list[str]:
    """Return what can be done next, each thing with its command below it.

    Parameters
    ----------
    folder
        Where the run is kept.
    results
        Its results, at least one. A wrong one is shown as the example, where there is one.
    """
    shown = next((r for r in results if r.outcome is Outcome.WRONG), results[0])
    steps = [
        ("The wrong answers; without --wrong the table again", ("results", str(folder), "--wrong")),
        ("All runs beside this one", ("runs", str(folder.parent))),
        (
            "One decision, step by step",
            (
                *("trace", str(folder), shown.question),
                *("--decider", shown.decider, "--database", shown.database),
            ),
        ),
        ("Retrievals, re-plannings and classes of failures", ("analyse", str(folder))),
    ]
    if all(is_scripted(result.model) or result.model == NO_MODEL for result in results):
        steps += _first_steps(folder.with_name(f"{folder.name}-model"))
    told = [(what, shlex.join(words)) for what, words in steps]
    return [
        "What next?",
        *(line for what, words in told for line in (f"  {what}:", f"    {own_command()} {words}")),
    ]


def _first_steps(folder: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Return what those can do next who have asked no language model yet."""
    return [
        (
            "A language model instead of the scripted program (OPENAI_API_KEY, or --base-url)",
            ("eval", "--generate", "2", "--model", _MODEL, "--out", str(folder)),
        ),
        (
            "A question about your own database: name your file or URL, question and candidates",
            (
                *("ask", "--database", "sales.db", "--model", _MODEL),
                *("--question", "Which warehouse should we close?"),
                *("--candidates", "SELECT name FROM warehouse"),
            ),
        ),
    ]
