"""Runs that tests make without a spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dqa.evaluation.decide import Worker
from dqa.evaluation.executors import thread_executor
from dqa.evaluation.location import RunLocation
from dqa.evaluation.options import DEFAULT_RUN, RunOptions
from dqa.evaluation.prepare import Setup
from dqa.evaluation.record import RunRecord, versions
from dqa.evaluation.results import Result
from dqa.evaluation.runner import run_tasks
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.store import RunStore
from dqa.loaders.sources import PassedQuestions


def run_record(**fields: Any) -> RunRecord:
    """Return the record of a run of given questions."""
    questions = PassedQuestions(name="made", content_hash="0" * 64)
    spec = RunSpec(questions=questions, deciders=("one",), **fields)
    return RunRecord(spec=spec, content_hash="0" * 64, versions=versions())


def open_store(folder: Path | None = None, *, retry_failed: bool = False) -> RunStore:
    """Open the store of such a run: in a folder, or temporary."""
    location = None if folder is None else RunLocation.of_folder(folder)
    return RunStore(location, run_record(), retry_failed=retry_failed)


def decide_all(
    setup: Setup, store: RunStore, options: RunOptions = DEFAULT_RUN
) -> tuple[Result, ...]:
    """Make every decision of a setup that a store lacks, and close the store."""
    worker = Worker(setup, options.workers)
    try:
        return run_tasks(
            setup.tasks, thread_executor(worker, options.workers), store, lambda _: None
        )
    finally:
        store.close()
        store.write_lines()
