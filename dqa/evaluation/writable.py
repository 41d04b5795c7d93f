"""Check and prepare the location of a run before the run is written."""

from __future__ import annotations

from pathlib import Path

from dqa.core.errors import UsageError
from dqa.core.files import file_errors, make_private_folder, require_room
from dqa.databases.store_locations import require_right
from dqa.evaluation.location import DATABASE, RunLocation
from dqa.evaluation.stored_runs import (
    RunReader,
    connected,
    is_store,
    require_free,
    require_version,
    run_names,
    version_of,
)


def make_run_folder(location: RunLocation) -> None:
    """Create the folder of a run, if its location is a folder."""
    if location.folder is None:
        return
    _require_own_folder(location.folder)
    with file_errors(location.folder):
        make_private_folder(location.folder)


def _require_own_folder(folder: Path) -> None:
    """Raise `UsageError` if a folder contains files, but no run."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / DATABASE).exists():
        raise UsageError(
            f"The folder {folder} is not empty: choose a new folder, such as {folder / 'NAME'}."
        )


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
        require_right(location)
        with connected(location, writing=location.file is None) as connection:
            if version_of(connection) is None:
                require_free(connection, location)
            else:
                require_version(connection, location)


def has_recorded(location: RunLocation, cassette: Path) -> bool:
    """Return whether the model calls of a run at a location were recorded in this cassette.

    If the location contains no run name, all runs of its store are checked.
    """
    if location.file is not None and not location.file.exists():
        return False
    names = run_names(location) if is_store(location) else []
    readers = (RunReader(location.named(n)) for n in names if location.name in {None, n})
    return any(reader.record.calls.record == cassette for reader in readers)
