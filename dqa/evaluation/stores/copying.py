"""Copying a run from one place to another, a folder or a store, without losing anything."""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.errors import DataError, UsageError
from dqa.core.files import add_line, open_to_add
from dqa.core.records import dump_line
from dqa.evaluation.folders import ABANDONED, RESULTS, TRACES, RunRecord
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.store import FolderStore, is_used
from dqa.evaluation.stores.database import DatabaseStore
from dqa.evaluation.stores.places import FolderPlace, RunPlace, StorePlace
from dqa.evaluation.stores.reading import RunReader
from dqa.evaluation.stores.runs import check_writable, name_of, reading_or_new, run_names


def copy(run: RunReader, place: RunPlace) -> RunPlace:
    """Copy a run to a place where there is none yet, and return that place.

    Raises
    ------
    UsageError
        A run is there already, or what is copied does not say what it is.
    DataError
        A result has no trace, which a store keeps together. Of a copy that failed nothing is left.
    """
    record = run.record()
    if record.spec is None:
        raise UsageError(
            f"{run.place} was written by dqa {record.written_by} in an older form, which can be "
            "read but not copied."
        )
    if isinstance(place, FolderPlace):
        return _into_folder(run, record, place)
    return _into_store(run, record, place)


def _into_folder(run: RunReader, record: RunRecord, place: FolderPlace) -> RunPlace:
    if is_used(place.path):
        raise UsageError(f"{place} is not empty: a run is copied into a new folder, name another.")
    store = FolderStore(place.path, record)
    try:
        store.keep_prompts(run.prompts())
        store.keep_shortcuts(run.shortcuts())
        lines = list(run.abandoned_lines())
        if lines:
            with open_to_add(place.path / ABANDONED) as file:
                for line in lines:
                    add_line(file, dump_line(line))
        with open_to_add(place.path / TRACES) as file:
            for trace in run.traces():
                add_line(file, trace.to_line())
        with open_to_add(place.path / RESULTS) as file:
            for result in run.results():
                add_line(file, result.to_line())
    except BaseException:
        store.discard()
        raise
    finally:
        store.close()
    return place


def _into_store(run: RunReader, record: RunRecord, place: StorePlace) -> RunPlace:
    check_writable(place)
    place = place.named(place.name or _name_of(run, record))
    with reading_or_new(place) as connection:
        taken = [] if connection is None else run_names(connection)
    if place.name in taken:
        raise _taken(place)
    store = DatabaseStore(place, record)
    if not store.fresh:
        store.close()
        raise _taken(store.place)
    try:
        store.keep_prompts(run.prompts())
        store.keep_shortcuts(run.shortcuts())
        results = {result.key: result for result in run.results()}
        store.order(tuple(results))
        for trace in run.traces():
            result = results.get(trace.key)
            if result is not None:
                store.add(result, trace)
        _require_traces(run.place, [key for key in results if key not in store.results])
        store.keep_abandoned(run.abandoned_lines())
    except BaseException:
        store.withdraw()
        raise
    finally:
        store.close()
    return store.place


def _name_of(run: RunReader, record: RunRecord) -> str:
    """Return what a copy is called that nobody named: as the run in its store, or its folder."""
    place = run.place
    own = place.name if isinstance(place, StorePlace) else place.path.resolve().name
    return own if own and "#" not in own else name_of(record)


def _taken(place: StorePlace) -> UsageError:
    return UsageError(f"{place} is there already: give the copy another name ({place.store}#NAME).")


def _require_traces(place: RunPlace, without: Sequence[DecisionKey]) -> None:
    """Raise `DataError` where results have no traces."""
    if without:
        raise DataError(
            f"{place} cannot be copied into a store, which keeps each result with its trace: "
            f"{len(without)} without one, as that of {without[0]}."
        )
