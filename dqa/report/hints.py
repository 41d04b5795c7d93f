"""Commands that messages suggest to the user.

Each suggestion begins with the command that started dqa (`own_command`), so that the user can paste
the suggestion into the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.distribution import shell_command
from dqa.evaluation.location import RunLocation
from dqa.evaluation.results import NO_MODEL, DecisionKey, Outcome, Result
from dqa.models.registry import is_scripted


def trace_command(location: RunLocation, key: DecisionKey, *, repeated: bool = False) -> str:
    """Return the command that shows one decision.

    If the run has several epochs (`repeated`), the command also contains the epoch.
    """
    named = ["--decider", key.decider, "--database", key.database]
    named += [] if key.epoch == 1 and not repeated else ["--epoch", str(key.epoch)]
    return shell_command("show", str(location), key.question, *named)


def resume_command(location: RunLocation | str, *, games: bool = False, own: bool = False) -> str:
    """Return the command that resumes a run; for `own` deciders, the call in Python."""
    if own:
        return f'dqa.{"play" if games else "evaluate"}(..., out="{location}", resume=True)'
    return shell_command(*(("games", "play") if games else ("eval",)), "--resume", str(location))


def next_steps(location: RunLocation, results: Sequence[Result], *, games: bool) -> list[str]:
    """Return lines that suggest next steps after a run, each with its command.

    Parameters
    ----------
    location
        Location of the run.
    results
        Results of the run, at least one. If there is a wrong decision, the suggested commands use
        it as an example.
    games
        Whether the run plays games.
    """
    shown = next((r for r in results if r.outcome is Outcome.WRONG), results[0])
    trace = trace_command(location, shown.key, repeated=any(r.epoch > 1 for r in results))
    runs = {"List all runs next to this one": shell_command("runs", location.around)}
    wrong = "List the wrong answers (without --wrong: print the tables again)"
    steps = {"Show one game, move by move": trace} | runs
    if not games:
        steps = {wrong: shell_command("show", str(location), "--wrong")} | runs
        steps["Show one decision, step by step"] = trace
        measures = "Count retrievals, re-planning and classes of failures"
        steps[measures] = shell_command("analyse", str(location))
        if all(r.model == NO_MODEL or is_scripted(r.model) for r in results):
            chat = "Use a language model instead of the program (OPENAI_API_KEY or --base-url)"
            steps[chat] = "the same command with --model openai:gpt-5 and another --out"
    lines = (line for what, how in steps.items() for line in (f"  {what}:", f"    {how}"))
    return ["What next?", *lines]
