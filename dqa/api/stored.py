"""Finding the runs that were written down: what was evaluated, and how far each one is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from dqa.api.figures import RunCounts, count_decisions
from dqa.core.errors import DqaError
from dqa.core.files import read_json, require_folder
from dqa.core.records import Record
from dqa.evaluation.folders import RUN, AnySpec
from dqa.evaluation.playing.spec import PlaySpec
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.stores.places import (
    STORE_SUFFIXES,
    FolderPlace,
    RunPlace,
    StorePlace,
    place_of,
)
from dqa.evaluation.stores.reading import FolderReader, StoreReader, open_reader

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

    Hidden folders are passed over, and so is what lies more than five folders deep. A run that
    cannot be read is listed with the reason.

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
        A folder that was named is none.
    """
    places = [place_of(folder) for folder in folders or ("runs", ".")]
    for place in places if folders else ():
        if isinstance(place, FolderPlace):
            require_folder(place.path, "Name folders in which to look for runs, or stores.")
    found: dict[Path | str, StoredRun] = {}
    for place in places:
        if isinstance(place, StorePlace):
            _list_store(place, found)
            continue
        for path in _kept(place.path):
            if path.is_dir() and path.resolve() not in found:
                found[path.resolve()] = _stored(FolderReader(FolderPlace(path)))
            elif not path.is_dir():
                _list_found_store(path, found)
    return tuple(sorted(found.values(), key=lambda run: (-run.began.timestamp(), run.folder)))


def copy_run(run: RunPlace | Path | str, out: RunPlace | Path | str) -> RunPlace:
    """Copy a run from a folder into a store, from a store into a folder, or into another one.

    Nothing is lost: results, traces, prompts, settings and what was used are the same there, and
    so is the hash of its content; the copy can be gone on with.

    Parameters
    ----------
    run
        The run.
    out
        Where to: a new folder, or a store with the name of a new run; without one the copy is
        called as the run, by its own name in a store, or by its folder's.

    Returns
    -------
    FolderPlace or StorePlace
        Where the copy is.

    Raises
    ------
    UsageError
        There is no such run, it is of an older form, or a run is there already.
    """
    from dqa.evaluation.stores.copying import copy

    return copy(open_reader(place_of(run)), place_of(out))


def _list_store(place: RunPlace, found: dict[Path | str, StoredRun]) -> None:
    """List a store's runs, each once; what is no store is passed over unless it was named."""
    from dqa.evaluation.stores.runs import reading, run_names

    if not isinstance(place, StorePlace):
        return
    with reading(place) as connection:
        names = [place.name] if place.name else run_names(connection)
    where = str(place.store if place.file is None else place.file.resolve())
    for name in names:
        if f"{where}#{name}" not in found:
            found[f"{where}#{name}"] = _stored(StoreReader(place.named(name)))


def _list_found_store(file: Path, found: dict[Path | str, StoredRun]) -> None:
    """List the runs of a store that was not named, or why they cannot be."""
    try:
        _list_store(place_of(file), found)
    except DqaError as error:
        found[file.resolve()] = _unreadable(str(file), _changed(file), error)


def _kept(top: Path) -> Iterator[Path]:
    """Yield the folders of runs, and the files that are stores."""
    for path, below, files in os.walk(top):
        folder = Path(path)
        if RUN in files and _is_ours(folder):
            below.clear()
            yield folder
            continue
        if len(folder.relative_to(top).parts) >= _DEEPEST:
            below.clear()
        yield from (folder / name for name in sorted(files) if _is_store(folder / name))
        below[:] = sorted(n for n in below if not n.startswith(".") and n not in _SKIPPED)


def _is_store(file: Path) -> bool:
    """Whether a file is a store, of any version: most databases beside runs are none."""
    if file.suffix.lower() not in STORE_SUFFIXES or file.name.startswith("."):
        return False
    from dqa.evaluation.stores.runs import holds_store

    try:
        place = place_of(file)
        return isinstance(place, StorePlace) and holds_store(place)
    except (DqaError, OSError):
        return False


def _is_ours(folder: Path) -> bool:
    """Whether a ``run.json`` is of a run: other programs write files of that name, too."""
    try:
        return "dqa" in read_json(folder / RUN, home=folder)["versions"]
    except (DqaError, KeyError, TypeError):
        return False


def _stored(reader: FolderReader | StoreReader) -> StoredRun:
    written = datetime.fromtimestamp(0, UTC)
    try:
        if isinstance(reader, FolderReader):
            written = _changed(reader.place.path / RUN)
        record, results = reader.record(), reader.results()
    except (DqaError, OSError) as error:
        return _unreadable(str(reader.place), written, error)
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
        folder=str(reader.place),
        began=record.began or written,
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
