"""Settling a run's folder before the run goes on: what was decided stays, and stands there once.

A decision is kept in two lines, first its trace and then its result, and counts from its result on.
A process that is killed in between leaves a trace without a result. That decision is made again, as
are those that a failing server, a spent budget or a bug ended: their lines would stand there twice.
So they are taken out before anything is added. What they used counts against a budget all the same,
and a crash keeps its traceback: their traces go to ``abandoned.jsonl``.

Every file is replaced as a whole, and settling can be repeated: whenever the process is killed, the
next one finds what was there before, or what is there afterwards.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dqa.core.errors import ParseError
from dqa.core.files import open_private, parse_json, whole_lines
from dqa.evaluation.folder_lines import cut_half_line
from dqa.evaluation.folders import ABANDONED, PROMPTS, RESULTS, RUN, SHORTCUTS, TRACES
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Outcome


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that whoever reads it finds all of it, or what was there before.

    A new one is its owner's alone; one that is there keeps its mode.
    """
    fresh = path.with_name(unfinished_name(path.name))
    fresh.unlink(missing_ok=True)  # it may be a link to somewhere
    try:
        with open(fresh, "xb", opener=open_private) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file() and not path.is_symlink():
            fresh.chmod(stat.S_IMODE(path.stat().st_mode))
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def unfinished_name(name: str) -> str:
    """Return what a file is called while `write_whole` writes it."""
    return f"{name}.new"


def settle(folder: Path) -> None:
    """Take out of a run's folder what will be decided again; what is left stands there once.

    Parameters
    ----------
    folder
        Of a run that no other process writes.

    Raises
    ------
    ParseError
        A whole line is damaged; nothing was changed but a half-written last line.
    """
    for name in (RUN, RESULTS, TRACES, SHORTCUTS, PROMPTS, ABANDONED):
        (folder / unfinished_name(name)).unlink(missing_ok=True)
    cut_half_line(folder / RESULTS)
    cut_half_line(folder / TRACES)
    results = list(_lines(folder / RESULTS, "result"))
    # Of a decision that an earlier version kept twice, the later lines hold.
    latest = {DecisionKey.of_line(written): (line, written) for line, written in results}
    made = {k: line for k, (line, w) in latest.items() if not Outcome(w["outcome"]).repeated}
    last = {
        DecisionKey.of_line(written): number
        for number, (_, written) in enumerate(_lines(folder / TRACES, "trace"))
        if DecisionKey.of_line(written) in made
    }
    kept, dropped = _parted(folder / TRACES, set(last.values()))
    # In this order: a trace that is taken out is in the other file before, and what has a result
    # has its trace.
    _abandon(folder / ABANDONED, dropped)
    if len(made) != len(results):
        write_whole(folder / RESULTS, b"".join(made.values()))
    if dropped:
        write_whole(folder / TRACES, b"".join(kept))


def _parted(path: Path, wanted: set[int]) -> tuple[list[bytes], list[bytes]]:
    """Return the lines of these numbers, and the others."""
    kept: list[bytes] = []
    dropped: list[bytes] = []
    for number, line in enumerate(whole_lines(path, home=path.parent)):
        (kept if number in wanted else dropped).append(line)
    return kept, dropped


def _abandon(path: Path, lines: list[bytes]) -> None:
    """Add to the file of what counts no more; what a killed process added is not added again."""
    there = list(whole_lines(path, home=path.parent))
    known = set(there)
    new = [line for line in lines if line not in known]
    if new:
        write_whole(path, b"".join([*there, *new]))


def _lines(path: Path, what: str) -> Iterator[tuple[bytes, Any]]:
    for number, line in enumerate(whole_lines(path, home=path.parent), start=1):
        try:
            written = parse_json(line)
            DecisionKey.of_line(written)
        except (KeyError, TypeError, ValueError) as error:
            raise ParseError(path, number, f"this is no {what}: {error!r}") from error
        yield line, written
