"""Copies of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dqa.core.decision import Usage
from dqa.core.errors import DataError, UsageError
from dqa.evaluation.location import RunLocation
from dqa.evaluation.prompts import Prompts
from dqa.evaluation.record import RunRecord
from dqa.evaluation.results import Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.store import RunStore
from dqa.evaluation.stored_runs import RunReader, is_store, run_names
from dqa.evaluation.traces import Trace


@dataclass(frozen=True, slots=True)
class RunContent:
    """All that a run contains.

    Attributes
    ----------
    record, results, traces, prompts, shortcuts
        As `RunReader` returns them.
    lost
        Each usage that led to no decision, with the packed trace of a decision made again.
    """

    record: RunRecord
    results: Sequence[Result]
    traces: Iterable[Trace]
    prompts: Prompts
    shortcuts: Sequence[ShortcutChoices]
    lost: Sequence[tuple[Usage, bytes | None]]


def read_content(location: RunLocation) -> RunContent:
    """Read a run of this version."""
    run = RunReader(location)
    prompts, shortcuts = run.prompts(), run.shortcuts()
    return RunContent(run.record, run.results(), run.traces(), prompts, shortcuts, run.lost_rows())


def copy(run: RunContent, location: RunLocation) -> RunLocation:
    """Copy a run to a new location, and return that.

    Raises
    ------
    UsageError
        A run is there already.
    DataError
        A result has no trace. Nothing is left of a copy that failed.
    """
    is_there = location.file is None or location.file.exists()
    if is_there and is_store(location) and location.name in run_names(location):
        raise UsageError(f"{location} exists already: name another location for the copy.")
    store = RunStore(location, run.record)
    try:
        store.add_context(run.prompts, run.shortcuts)
        left = {result.key: result for result in run.results}
        store.order(list(left))
        for trace in run.traces:
            if (result := left.pop(trace.key, None)) is not None:
                store.add(result, trace)
        if left:
            raise DataError(f"The run cannot be copied: {next(iter(left))} has no trace.")  # noqa: TRY301
        for usage, body in run.lost:
            store.add_lost(usage, body)
    except BaseException:
        store.withdraw()
        raise
    store.close()
    store.write_lines()
    return location
