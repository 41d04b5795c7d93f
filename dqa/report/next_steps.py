"""What to do after a run: its results, a decision of it, a model, a database of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from dqa.evaluation.location import RunLocation
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.models.registry import is_scripted
from dqa.report.hints import command, results_command, trace_command

_MODEL = "openai:gpt-5"
_QUESTIONS = ("--generate", "2")


def next_steps(
    place: RunLocation, results: Sequence[Result], questions: Sequence[str] | None = None
) -> list[str]:
    """Return what can be done next, each thing with its command below it.

    Parameters
    ----------
    place
        Where the run is kept.
    results
        Its results, at least one. A wrong one is shown as the example, where there is one.
    questions
        The options that name its questions.
    """
    shown = next((r for r in results if r.outcome is Outcome.WRONG), results[0])
    steps = [
        (
            "The wrong answers; without --wrong the table again",
            results_command(place, "--wrong"),
        ),
        ("All runs beside this one", command("runs", place.around)),
        (
            "One decision, step by step",
            trace_command(place, shown.key, repeated=any(r.epoch > 1 for r in results)),
        ),
        ("Retrievals, re-plannings and classes of failures", command("analyse", str(place))),
    ]
    if all(is_scripted(result.model) or result.model == NO_MODEL for result in results):
        steps += _first_steps(place.beside("-model"), questions or _QUESTIONS)
    return [
        "What next?",
        *(line for what, how in steps for line in (f"  {what}:", f"    {how}")),
    ]


def _first_steps(place: RunLocation, questions: Sequence[str]) -> list[tuple[str, str]]:
    """Return the next steps of a user who has asked no language model yet."""
    evaluate = ("eval", *questions, "--model", _MODEL, "--out", str(place))
    ask = ("ask", "--database", "sales.db", "--model", _MODEL)
    question = ("--question", "Which warehouse should we close?")
    candidates = ("--candidates", "SELECT name FROM warehouse")
    return [
        (
            "A language model instead of the scripted program (OPENAI_API_KEY, or --base-url)",
            command(*evaluate),
        ),
        (
            "A question about your own database: name your file or URL, question and candidates",
            command(*ask, *question, *candidates),
        ),
    ]
