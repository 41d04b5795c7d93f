"""The commands that a message names: what to type to see more of a run, or to go on with it.

They begin as this user starts the command (`own_command`), so that they can be pasted.
"""

from __future__ import annotations

from dqa.core.distribution import shell_command
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.location import RunLocation


def command(*words: str) -> str:
    """Return a command of ours as it can be pasted into a shell."""
    return shell_command(*words)


def trace_command(place: RunLocation, key: DecisionKey, *, repeated: bool = False) -> str:
    """Return the command that shows one decision; `repeated` where its run has several epochs."""
    named = ["--decider", key.decider, "--database", key.database]
    named += [] if key.epoch == 1 and not repeated else ["--epoch", str(key.epoch)]
    return command("trace", str(place), key.question, *named)


def results_command(place: RunLocation, *options: str) -> str:
    """Return the command that shows a run's results."""
    return command("results", str(place), *options)


def resume_command(place: RunLocation | str, *, games: bool = False) -> str:
    """Return the command that goes on with a run, of questions or of games."""
    return command("play" if games else "eval", "--resume", str(place))
