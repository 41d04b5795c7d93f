"""The commands that a message names: what to type to see more of a run, or to go on with it.

They begin as this user starts the command (`own_command`), so that they can be pasted.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from dqa.core.distribution import own_command


def command(*words: str) -> str:
    """Return a command of ours as it can be pasted into a shell."""
    return f"{own_command()} {shlex.join(words)}"


def trace_command(folder: Path, key: tuple[str, str, str]) -> str:
    """Return the command that shows one decision; `key` is question, database and decider."""
    question, database, decider = key
    named = ("--decider", decider, "--database", database)
    return command("trace", str(folder), question, *named)


def results_command(folder: Path, *options: str) -> str:
    """Return the command that shows a run's results."""
    return command("results", str(folder), *options)


def resume_command(folder: Path) -> str:
    """Return the command that goes on with a run."""
    return command("eval", "--resume", str(folder))
