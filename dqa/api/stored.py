"""Finding the runs that were written down: what was evaluated, and how far each one is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from dqa.api.figures import RunCounts, count_decisions
from dqa.core.errors import DqaError
from dqa.core.files import parse_json, read_text
from dqa.core.paths import require_folder
from dqa.core.records import Record
from dqa.evaluation.folders import RUN, read_record, read_results
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.spec import RunSpec

_DEEPEST = 5
"""Folders below the one that is looked through."""

_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__"})


class StoredRun(Record):
    """A run in a folder, as ``dqa runs`` lists it.

    Attributes
    ----------
    folder
        Where it is.
    began
        When it began; of a run of an older version, when its settings were written.
    questions
        Where its questions come from, in a few words.
    deciders, databases
        What took part, in the order of the run.
    model
        The chat model that answered, of several all; None where none was asked.
    counts
        How far it is.
    problem
        Why nothing more is known of it, e.g. as a newer version wrote it; else None.
    """

    folder: str
    began: datetime
    questions: str
    deciders: tuple[str, ...]
    databases: tuple[str, ...]
    model: str | None
    counts: RunCounts
    problem: str | None = Field(default=None)


def find_runs(*folders: Path | str) -> tuple[StoredRun, ...]:
    """Find the runs in folders and below them.

    Hidden folders are passed over, and so is what lies more than five folders deep. A run that
    cannot be read is listed with the reason.

    Parameters
    ----------
    *folders
        Where to look; by default ``runs`` and the current folder.

    Returns
    -------
    tuple of StoredRun
        The latest first.

    Raises
    ------
    UsageError
        A folder that was named is none.
    """
    for folder in folders:
        require_folder(Path(folder), "Name folders in which to look for runs.")
    wanted = [Path(folder) for folder in folders or ("runs", ".")]
    found: dict[Path, StoredRun] = {}
    for run in (run for folder in wanted for run in _folders(folder)):
        if run.resolve() not in found:
            found[run.resolve()] = _stored(run)
    return tuple(sorted(found.values(), key=lambda run: (-run.began.timestamp(), run.folder)))


def _folders(top: Path) -> Iterator[Path]:
    for path, below, files in os.walk(top):
        folder = Path(path)
        if RUN in files and _is_ours(folder):
            below.clear()
            yield folder
        elif len(folder.relative_to(top).parts) >= _DEEPEST:
            below.clear()
        below[:] = sorted(n for n in below if not n.startswith(".") and n not in _SKIPPED)


def _is_ours(folder: Path) -> bool:
    """Whether a ``run.json`` is of a run: other programs write files of that name, too."""
    try:
        return "dqa" in parse_json(read_text(folder / RUN, home=folder))["versions"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _stored(folder: Path) -> StoredRun:
    written = datetime.fromtimestamp(int((folder / RUN).stat().st_mtime), UTC)
    try:
        record, results = read_record(folder), read_results(folder)
    except (DqaError, OSError) as error:
        return StoredRun(
            folder=str(folder),
            began=written,
            questions="",
            deciders=(),
            databases=(),
            model=None,
            counts=count_decisions((), None),
            problem=str(error),
        )
    spec = record.spec
    deciders = [result.decider for result in results] if spec is None else spec.deciders
    # Those that are asked where they are, a question names, and the run's settings do not.
    named = () if spec is None else spec.databases
    databases = named or [result.database for result in results]
    models = [result.model for result in results if result.model != NO_MODEL]
    return StoredRun(
        folder=str(folder),
        began=record.began or written,
        questions=_questions(spec, [result.scenario for result in results]),
        deciders=tuple(dict.fromkeys(deciders)),
        databases=tuple(dict.fromkeys(databases)),
        model=", ".join(dict.fromkeys(models)) or None,
        counts=count_decisions(results, record.planned),
    )


def _questions(spec: RunSpec | None, decided: list[str]) -> str:
    """Return where questions come from: a folder's name, a set's, or how many were generated."""
    scenarios = ", ".join(dict.fromkeys(decided))
    if spec is None:
        return scenarios
    told = spec.questions.told
    return f"{told}: {scenarios}" if scenarios else told
