"""Create the folder of a run, and check that a run can be stored at a location."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from dqa.core.errors import UsageError
from dqa.core.files import make_private_folder, open_private, problem_of_path, require_room
from dqa.databases.store_locations import (
    require_right,
)
from dqa.evaluation.location import DATABASE, RunLocation
from dqa.evaluation.stored_runs import (
    RunReader,
    connected,
    is_store,
    require_free,
    require_version,
    run_names,
    store_of,
    version_of,
)

RESULTS_FILE, TRACES_FILE = "results.jsonl", "traces.jsonl"
"""Files that a run writes into its folder, next to its database, when it ends."""


def write_lines(run: RunReader, folder: Path) -> None:
    """Write the results and the traces of a run as JSON lines into a folder."""
    results = (result.to_line() for result in run.results())
    traces = (trace.to_line() for trace in run.traces())
    for name, lines in ((RESULTS_FILE, results), (TRACES_FILE, traces)):
        unfinished = (
            folder / f"{name}.{uuid4().hex[:8]}"
        )  # other processes may write at the same time
        try:
            with open(unfinished, "x", encoding="utf-8", opener=open_private) as file:
                file.writelines(f"{line}\n" for line in lines)
            unfinished.replace(folder / name)
        finally:
            unfinished.unlink(missing_ok=True)


def require_writable(location: RunLocation | None) -> None:
    """Raise `UsageError` if a run cannot be stored at a location."""
    if location is None:
        return
    if location.folder is not None:
        require_room(location.folder)
        _require_own_folder(location.folder)
    elif location.file is not None and not location.file.exists():
        require_room(location.file)
    else:
        require_right(store_of(location))
        with connected(location, writing=location.file is None) as connection:
            if version_of(connection) is None:
                require_free(connection, location)
            else:
                require_version(connection, location)


def _require_own_folder(folder: Path) -> None:
    """Raise `UsageError` if a folder contains files, but no run."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / DATABASE).exists():
        raise UsageError(f"{folder} is not empty: name a new folder, such as {folder / 'NAME'}.")


def make_folder(location: RunLocation) -> None:
    """Create the folder of a run, if its location is a folder."""
    if location.folder is None:
        return
    _require_own_folder(location.folder)
    try:
        make_private_folder(location.folder)
    except OSError as error:
        raise UsageError(f"{problem_of_path(location.folder, error)}.") from error


def refuse_asked(location: RunLocation | None, asked: Iterable[str]) -> None:
    """Raise `UsageError` if a run would be stored in a database of its questions.

    Models would see the tables of the store, and the runs would be lost with the database.

    Parameters
    ----------
    location
        Location of the run.
    asked
        Locations of the databases of the questions.
    """
    if location is not None and any(map(location.is_same_database, asked)):
        raise UsageError(
            f"{location.store} is a database of the questions, so no run can be stored in it: "
            "name another database, or a file such as runs.db (--out)."
        )


def has_recorded(location: RunLocation, cassette: Path) -> bool:
    """Return whether a run at a location recorded a cassette.

    If the location names no run, all runs of its store are checked.
    """
    if location.file is not None and not (location.file.exists() and location.file.stat().st_size):
        return False
    if not is_store(location):
        return False
    names = run_names(location)
    wanted = names if location.name is None else [n for n in names if n == location.name]
    records = (RunReader(location.named(name)).record for name in wanted)
    return any(record.calls.record == cassette for record in records)
