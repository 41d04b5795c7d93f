"""Finding the runs that were written down: what was evaluated, and how far each one is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from dqa.api.figures import RunCounts, count_decisions
from dqa.core.errors import DqaError
from dqa.core.files import require_folder
from dqa.core.records import Record
from dqa.evaluation.copying import copy, read_content
from dqa.evaluation.location import DATABASE, FOLDER_RUN, STORE_SUFFIXES, RunLocation, locate_run
from dqa.evaluation.old_runs import read_old
from dqa.evaluation.playing.spec import PlaySpec
from dqa.evaluation.record import AnySpec
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.run_files import require_writable
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.stored_runs import RunReader, is_store, run_names

_DEEPEST = 5
"""Folders below the one that is looked through."""

_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__"})


class StoredRun(Record):
    """A run that was kept, as ``dqa runs`` lists it.

    Attributes
    ----------
    folder
        Where it is: its folder, or ``STORE#NAME``.
    began
        When it began; of a run of an older version, when its settings were written.
    questions
        Where its questions come from, in a few words.
    deciders, databases
        What took part, in the order of the run.
    model
        The chat model that answered, of several all; None where none was asked.
    epochs
        How often each question is asked.
    labelled
        Of several models that have labels, each as ``label (name)``.
    games
        Whether games were played; `deciders` are then who played.
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
    epochs: int = Field(default=1, ge=1)
    labelled: tuple[str, ...] = ()
    games: bool = False
    counts: RunCounts
    problem: str | None = Field(default=None)


def find_runs(*folders: Path | str) -> tuple[StoredRun, ...]:
    """Find the runs in folders and below them, and in the stores there.

    Hidden folders, and folders more than five levels deep, are skipped. A run that cannot be read
    is listed with the reason.

    Parameters
    ----------
    *folders
        Where to look, or stores; by default ``runs`` and the current folder.

    Returns
    -------
    tuple of StoredRun
        The latest first.

    Raises
    ------
    UsageError
        A named folder does not exist.
    """
    found: dict[str, StoredRun] = {}
    for named in folders or ("runs", "."):
        location = locate_run(named)
        if location.folder is None:
            _list_store(location, found)
            continue
        if folders:
            require_folder(location.folder, "Name folders in which to look for runs, or stores.")
        for path in _candidates(location.folder):
            if path.is_dir():
                found[str(path.resolve())] = _stored(RunLocation.of_folder(path))
            else:
                _list_file(path, found)
    return tuple(sorted(found.values(), key=lambda run: (-run.began.timestamp(), run.folder)))


def copy_run(run: RunLocation | Path | str, out: RunLocation | Path | str) -> RunLocation:
    """Copy a run to another location, or import a run of an older version.

    The copy has the same results, traces, prompts, settings and usage, and it can be resumed.

    Parameters
    ----------
    run
        The run.
    out
        A new folder, or a store; without a name the copy has the name of the run or its folder.

    Returns
    -------
    RunLocation
        The copy.

    Raises
    ------
    UsageError
        There is no such run, or a run at `out` exists already.
    """
    source, target = locate_run(run), locate_run(out)
    require_writable(target)
    old = read_old(source)
    if source.folder is None and source.name is None and old is None:
        source = RunReader(source).location
    name = source.folder.resolve().name if source.folder else source.name
    target = target.named(target.name or name or "copy")
    return copy(old or read_content(source), target)


def _list_store(location: RunLocation, found: dict[str, StoredRun]) -> None:
    """List the runs of a store, each once."""
    names = [location.name] if location.name else run_names(location)
    where = str(location.file.resolve()) if location.file else location.store
    for name in names:
        found.setdefault(f"{where}#{name}", _stored(location.named(name)))


def _list_file(file: Path, found: dict[str, StoredRun]) -> None:
    """List the runs of a file that may be a store, or why they cannot be read."""
    location = RunLocation.of_file(file)
    try:
        if not is_store(location):
            return
    except DqaError:  # other databases may lie next to runs
        return
    try:
        if file.name == DATABASE and run_names(location) == [FOLDER_RUN]:
            location = RunLocation.of_folder(file.parent)
        _list_store(location, found)
    except DqaError as error:
        shown = file.parent if file.name == DATABASE else file
        found[str(file.resolve())] = _unreadable(str(shown), _changed(file), error)


def _candidates(top: Path) -> Iterator[Path]:
    """Yield the files that may be stores, and the folders of older runs."""
    for path, below, files in os.walk(top):
        folder = Path(path)
        if {"run.json", "traces.jsonl"} <= {*files} and DATABASE not in files:
            yield folder
        if len(folder.relative_to(top).parts) >= _DEEPEST:
            below.clear()
        for name in sorted(files):
            if Path(name).suffix.lower() in STORE_SUFFIXES and not name.startswith("."):
                yield folder / name
        below[:] = sorted(n for n in below if not n.startswith(".") and n not in _SKIPPED)


def _stored(location: RunLocation) -> StoredRun:
    try:
        reader = RunReader(location)
        record, results = reader.record, reader.results()
    except DqaError as error:
        return _unreadable(str(location), datetime.fromtimestamp(0, UTC), error)
    spec = record.spec
    asked = spec if isinstance(spec, RunSpec) else None
    deciders = [result.decider for result in results] if asked is None else asked.deciders
    if isinstance(spec, PlaySpec):
        deciders = spec.contestants
    # Those that are asked where they are, a question names, and the run's settings do not.
    named = () if asked is None else asked.databases
    databases = named or [result.database for result in results]
    models = [result.model for result in results if result.model != NO_MODEL]
    return StoredRun(
        folder=str(location),
        began=record.began or datetime.fromtimestamp(0, UTC),
        questions=_questions(spec, [result.scenario for result in results]),
        deciders=tuple(dict.fromkeys(deciders)),
        databases=tuple(dict.fromkeys(databases)),
        model=", ".join(dict.fromkeys(models)) or None,
        epochs=1 if spec is None else spec.epochs,
        labelled=() if asked is None else tuple(m.told for m in asked.models if m.label),
        games=isinstance(spec, PlaySpec),
        counts=count_decisions(results, record.planned),
    )


def _changed(file: Path) -> datetime:
    return datetime.fromtimestamp(int(file.stat().st_mtime), UTC)


def _unreadable(where: str, written: datetime, error: Exception) -> StoredRun:
    return StoredRun(
        folder=where,
        began=written,
        questions="",
        deciders=(),
        databases=(),
        model=None,
        counts=count_decisions((), None),
        problem=str(error),
    )


def _questions(spec: AnySpec | None, decided: list[str]) -> str:
    """Return where questions come from: a folder's name, a set's, or how many were generated."""
    scenarios = ", ".join(dict.fromkeys(decided))
    if spec is None:
        return scenarios
    if isinstance(spec, PlaySpec):
        return spec.told
    told = spec.questions.told
    return f"{told}: {scenarios}" if scenarios else told
