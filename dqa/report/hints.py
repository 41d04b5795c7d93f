"""The commands that messages name: to see more of a run, to resume it, and what to do next.

They begin as this user starts the command (`own_command`), so that they can be pasted.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.distribution import shell_command as command
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.location import RunLocation
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.models.registry import is_scripted

__all__ = ["command", "next_steps", "resume_command", "trace_command"]


def trace_command(place: RunLocation, key: DecisionKey, *, repeated: bool = False) -> str:
    """Return the command that shows one decision; `repeated` if its run has several epochs."""
    named = ["--decider", key.decider, "--database", key.database]
    named += [] if key.epoch == 1 and not repeated else ["--epoch", str(key.epoch)]
    return command("show", str(place), key.question, *named)


def resume_command(place: RunLocation | str, *, games: bool = False) -> str:
    """Return the command that resumes a run of questions or of games."""
    return command(*(("games", "play") if games else ("eval",)), "--resume", str(place))


def next_steps(place: RunLocation, results: Sequence[Result], *, games: bool) -> list[str]:
    """Return the next steps after a run of questions or of games, each with its command below it.

    Parameters
    ----------
    place
        Where the run is stored.
    results
        Its results, at least one. A wrong one is the example, if there is one.
    """
    shown = next((r for r in results if r.outcome is Outcome.WRONG), results[0])
    trace = trace_command(place, shown.key, repeated=any(r.epoch > 1 for r in results))
    steps = {"All runs near this one": command("runs", place.around)}
    if games:
        steps = {"One game, move by move": trace} | steps
    else:
        wrong = command("show", str(place), "--wrong")
        steps = {"The wrong answers; without --wrong the table again": wrong} | steps
        steps["One decision, step by step"] = trace
        steps["Retrievals, re-plannings and classes of failures"] = command("analyse", str(place))
    lines = (line for what, how in steps.items() for line in (f"  {what}:", f"    {how}"))
    asked = {result.model for result in results}
    if games or not all(model == NO_MODEL or is_scripted(model) for model in asked):
        return ["What next?", *lines]
    model = "the same command with --model openai:gpt-5 and another --out"
    return [
        "What next?",
        *lines,
        "  A language model instead of the scripted program (OPENAI_API_KEY, or --base-url):",
        f"    {model}",
    ]
