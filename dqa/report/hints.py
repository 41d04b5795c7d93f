"""The commands that a message names: what to type to see more of a run, or to go on with it."""

from __future__ import annotations

import shlex
from pathlib import Path


def trace_command(folder: Path, key: tuple[str, str, str]) -> str:
    """Return the command that shows one decision; `key` is question, database and decider."""
    question, database, decider = key
    named = ("--database", database, "--decider", decider)
    return shlex.join(["dqa", "trace", str(folder), question, *named])


def results_command(folder: Path, *options: str) -> str:
    """Return the command that shows a run's results."""
    return shlex.join(["dqa", "results", str(folder), *options])


def resume_command(folder: Path) -> str:
    """Return the command that goes on with a run."""
    return shlex.join(["dqa", "eval", "--resume", str(folder)])
