"""Write a run into a database: the claims, results and traces of all its processes.

A process stores a decision in one transaction, so there is nothing to repair after a crash. A
process claims decisions for a limited time and renews its claims. After the death of a process, its
claims expire, and other processes can claim the same decisions. The same command resumes a run. If
the dead process ran on the same machine, the command need not wait until the claims expire.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple
from functools import partial
from itertools import islice
from math import ceil, isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from dqa.core.decision import Usage
from dqa.core.errors import DqaError
from dqa.databases.store_locations import is_transient, open_store, translate_errors, write
from dqa.evaluation.location import DATABASE, RunLocation
from dqa.evaluation.prepare import Task
from dqa.evaluation.record import RunRecord, name_run, resume_record
from dqa.evaluation.results import DecisionKey, Outcome, Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.stored_runs import (
    CLAIMS,
    LOST,
    RESULTS,
    RUNS,
    USAGE,
    RunReader,
    create_tables,
    has_key,
    key_of,
    pack,
    parse_record,
    read_results,
    sum_usage,
)
from dqa.evaluation.traces import Trace
from dqa.evaluation.workers import is_dead, name_worker
from dqa.evaluation.writable import make_run_folder

_Made = TypeVar("_Made")

LEASE_SECONDS: Final = 20.0
"""Time after which a claim expires. The clocks of machines must agree within a few seconds."""
_RENEW_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 60.0
"""Maximum time that a run waits for a store that does not answer."""
_PAUSE_SECONDS: Final = 0.25
_CONFLICTS: Final = 100


class RunStore:
    """The store of a run in progress.

    Parameters
    ----------
    location
        Where to store the run; None for a temporary file. If the location has no run name, the name
        is a hash of the spec and the data. The same command then resumes the run.
    record
        The record of the run.
    retry_failed
        Whether to repeat decisions that failed because of a server or a bug. Decisions are always
        repeated if a spent budget or a person ended them.
    may_change
        See `resume_record`.

    Attributes
    ----------
    location
        Where the run is stored; None for a run that is not stored.
    record
        The record of the run. In a resumed run, the record has the start time and the versions of
        the run's first start.
    is_new
        Whether this process created the run.
    done
        Number of decisions that were stored before this process started.
    crashed
        The traces of decisions that crashed in this process.
    lost
        The tokens and calls of this process for attempts that led to no decision.
    added
        Number of decisions that this process has stored.
    patience
        Number of seconds to wait for a store that does not answer.
    on_elsewhere
        A function that is called with the number of decisions that other processes have made since
        this process started. Any thread may call it.

    Raises
    ------
    UsageError
        The stored run has other settings or questions, or the location cannot be written.
    """

    def __init__(
        self,
        location: RunLocation | None,
        record: RunRecord,
        *,
        retry_failed: bool = False,
        may_change: bool = False,
    ) -> None:
        self._temporary = TemporaryDirectory(prefix="dqa-") if location is None else None
        folder = Path() if self._temporary is None else Path(self._temporary.name)
        target = location or RunLocation.of_file(folder / DATABASE)
        self._target = target.named(target.name or name_run(record))
        self.location = None if location is None else self._target
        self.crashed: list[Trace] = []
        self.lost = Usage()
        self.added = 0
        self.on_elsewhere: Callable[[int], object] | None = None
        self.used_elsewhere = Usage()
        self._own = Usage()
        self._worker = name_worker()
        self._tasks: dict[DecisionKey, Task] = {}
        self._remaining: dict[DecisionKey, Task] = {}
        self._positions: dict[DecisionKey, int] = {}
        self._adding = threading.Lock()
        self._stopped = threading.Event()
        self.patience = 0.0  # a mistyped URL fails at once
        file = self._target.file
        is_new_file = file is not None and not file.exists()
        make_run_folder(self._target)
        self._engine = open_store(self._target, writing=True)
        self.is_new, self._run, self.record = False, 0, record
        try:
            with translate_errors(self._target):
                create_tables(self._engine, self._target)
            enter = partial(self._enter, record, retry_failed, may_change)
            self.done = self._transact(enter)
            self.look_elsewhere()
        except BaseException:
            self._dispose(remove=is_new_file)
            raise
        self.patience = _PATIENCE_SECONDS
        threading.Thread(target=self._renew_claims, name="dqa-store", daemon=True).start()

    def _enter(
        self, record: RunRecord, retry_failed: bool, may_change: bool, connection: Connection
    ) -> int:
        """Find or create the run. Return the number of stored decisions that are not repeated."""
        known = select(RUNS.c.id, RUNS.c.record).where(RUNS.c.name == self._target.name)
        row = connection.execute(known.with_for_update()).first()
        self.is_new = row is None
        if row is None:
            values = {"name": self._target.name, "record": json.dumps(record.to_json())}
            connection.execute(insert(RUNS).values(values))
            self._run = connection.execute(known).one().id
            return 0
        self._run, earlier = row.id, parse_record(row.record, self._target)
        self.record = resume_record(earlier, record, str(self._target), may_change=may_change)
        written = json.dumps(self.record.to_json())
        connection.execute(update(RUNS).where(RUNS.c.id == row.id).values(record=written))
        self._drop_unfinished(connection, retry_failed=retry_failed)
        return self._count(connection)[1]

    def _drop_unfinished(self, connection: Connection, *, retry_failed: bool) -> None:
        """Remove the claims of dead processes, and the decisions that must be repeated."""
        again = [Outcome.BUDGET, Outcome.STOPPED]
        again += [Outcome.INFRASTRUCTURE, Outcome.CRASHED] if retry_failed else []
        claimed = CLAIMS.c.run_id == self._run
        workers = connection.execute(select(CLAIMS.c.worker).where(claimed).distinct()).scalars()
        dead = [worker for worker in workers if is_dead(worker)]
        connection.execute(delete(CLAIMS).where(claimed & CLAIMS.c.worker.in_(dead)))
        here = RESULTS.c.run_id == self._run
        failed = here & RESULTS.c.outcome.in_(again)
        names = ["run_id", *USAGE, "trace"]
        lost = select(*(RESULTS.c[name] for name in names)).where(failed)
        connection.execute(insert(LOST).from_select(names, lost))
        connection.execute(delete(RESULTS).where(failed))

    def add_shortcuts(self, choices: Sequence[ShortcutChoices]) -> None:
        """Store the choices of the heuristics."""
        written = json.dumps([one.to_json() for one in choices])
        changed = update(RUNS).where(RUNS.c.id == self._run).values(shortcuts=written)
        self._transact(lambda connection: connection.execute(changed))

    def plan(self, tasks: Sequence[Task]) -> None:
        """Set the tasks of the run. This method must be called before the first `claim`."""
        self._tasks = {task.key: task for task in tasks}
        self._positions = {key: position for position, key in enumerate(self._tasks)}
        self._update_remaining()

    @property
    def is_closed(self) -> bool:
        """Whether the store is closed, or its run was removed."""
        return self._stopped.is_set()

    @property
    def used(self) -> Usage:
        """The usage of the whole run. The usage of other processes may be some seconds old."""
        return self.used_elsewhere + self._own

    def is_finished(self) -> bool:
        """Return whether all tasks are done.

        Call this method only while this process works on no task.
        """
        self._update_remaining()
        return not self._remaining

    def claim(self, most: int, workers: int = 1) -> list[list[Task]]:
        """Claim tasks that are not done and not claimed, in one transaction.

        Tasks are claimed in the order of the plan, so the tasks of a database follow each other.

        Parameters
        ----------
        most
            Maximum number of tasks in a batch.
        workers
            Number of free workers.

        Returns
        -------
        list of list of Task
            At most one batch for each worker. If few tasks remain, the batches are smaller.
        """
        most = max(1, min(most, ceil(len(self._remaining) / workers)))
        claimed = self._transact(partial(self._claim, most=most * workers))
        self._drop(task.key for task in claimed)
        return [claimed[start : start + most] for start in range(0, len(claimed), most)]

    def _claim(self, connection: Connection, most: int) -> list[Task]:
        now = time.time()
        here = CLAIMS.c.run_id == self._run
        connection.execute(delete(CLAIMS).where(here & (CLAIMS.c.expires < now)))
        claims = select(*key_of(CLAIMS), CLAIMS.c.worker).where(here)
        worker_of = {DecisionKey(*key): name for *key, name in connection.execute(claims)}
        busy = {*worker_of}
        for key, name in worker_of.items():
            if name == self._worker and key in self._remaining:
                # This claim was committed, but the connection broke before the reply.
                connection.execute(delete(CLAIMS).where(has_key(CLAIMS, self._run, key)))
                busy.remove(key)

        def free() -> list[Task]:
            found = (task for key, task in self._remaining.items() if key not in busy)
            return list(islice(found, most))

        while claimed := free():
            stored = self._stored(connection, claimed)
            if not stored:
                row = {"run_id": self._run, "worker": self._worker, "expires": now + LEASE_SECONDS}
                connection.execute(insert(CLAIMS), [row | task.key._asdict() for task in claimed])
                return claimed
            self._drop(stored)
        return []

    def _update_remaining(self) -> None:
        """Set the remaining tasks: all tasks without a stored decision."""
        self._remaining = dict(self._tasks)
        self._drop(self._transact(partial(self._stored, tasks=self._tasks.values())))

    def _drop(self, keys: Iterable[DecisionKey]) -> None:
        for key in keys:
            self._remaining.pop(key, None)

    def _stored(self, connection: Connection, tasks: Collection[Task]) -> set[DecisionKey]:
        """Return the keys of the tasks whose decisions are stored."""
        found = select(*key_of(RESULTS)).where(RESULTS.c.run_id == self._run)
        if len(tasks) < len(self._tasks):
            found = found.where(RESULTS.c.question.in_({task.question.key for task in tasks}))
        stored = {DecisionKey(*key) for key in connection.execute(found)}
        return stored & {task.key for task in tasks}

    def add(self, result: Result, trace: Trace, lost: Usage = Usage()) -> None:  # noqa: B008  (frozen)
        """Store one decision, and the usage of its abandoned attempts, in one transaction.

        If another process has already stored this decision, the stored decision remains. Of the new
        decision, only the usage is then stored.
        """
        if result.outcome is Outcome.CRASHED:
            self.crashed.append(trace)
        row = self._row(result, trace, self._positions.get(result.key))

        def store(connection: Connection) -> bool:
            connection.execute(delete(CLAIMS).where(has_key(CLAIMS, self._run, result.key)))
            known = select(RESULTS.c.trace).where(has_key(RESULTS, self._run, result.key))
            stored = connection.execute(known).first()
            if stored is not None and bytes(stored.trace) == row["trace"]:
                return True  # the connection broke after the commit
            if stored is not None:
                self._add_lost(connection, lost + result.usage)
                return False
            connection.execute(insert(RESULTS), row)
            self._add_lost(connection, lost)
            return True

        with self._adding:
            self.added += self._transact(store)
            self.lost += lost
            self._own += result.usage + lost

    def add_all(
        self,
        decisions: Iterable[tuple[Result, Trace]],
        lost: Iterable[tuple[Usage, bytes | None]],
        shortcuts: Sequence[ShortcutChoices],
    ) -> None:
        """Store all decisions of another run in their order, in one transaction.

        `lost` contains the usage of each attempt without a decision, and the compressed trace of
        the attempt.
        """
        rows = [self._row(*pair, position) for position, pair in enumerate(decisions)]

        def store(connection: Connection) -> None:
            if rows:
                connection.execute(insert(RESULTS), rows)
            for usage, trace in lost:
                self._add_lost(connection, usage, trace)

        self.add_shortcuts(shortcuts)
        self._transact(store)
        self.added = len(rows)

    def _row(self, result: Result, trace: Trace, position: int | None) -> dict[str, Any]:
        return {
            "run_id": self._run,
            **result.key._asdict(),
            "position": position,
            "scenario": result.scenario,
            "model": result.model,
            "outcome": result.outcome.value,
            "regret": _finite(result.regret),
            "value": _finite(result.value),
            **asdict(result.usage),
            "seconds": trace.seconds,
            "result": json.dumps(result.to_json()),
            "trace": pack(trace),
        }

    def _add_lost(self, connection: Connection, lost: Usage, trace: bytes | None = None) -> None:
        if lost != Usage():
            row = {"run_id": self._run, "trace": trace, **asdict(lost)}
            connection.execute(insert(LOST), row)

    def results(self) -> tuple[Result, ...]:
        """Return the results of all processes in the order of the plan."""
        return tuple(self._transact(lambda connection: read_results(connection, self._run)))

    def close(self, *, discard: bool = False) -> None:
        """Release the claims and close the store. Stored decisions remain.

        With `discard`, also remove a new run that has no decisions and no claims of other
        processes.
        """
        if self.is_closed:
            return
        self.patience, is_gone = 0.0, False
        own = delete(CLAIMS).where(CLAIMS.c.worker == self._worker)
        with suppress(DqaError):  # without a connection, the claims expire later
            self._transact(lambda connection: connection.execute(own))
            if discard and self.is_new and not self.added:
                is_gone = self._transact(self._delete)
        self._dispose(remove=is_gone)

    def write_lines(self) -> None:
        """If the run has a folder, write the run there as JSON lines.

        Must be called after `close`.
        """
        if self.location is not None and self.location.folder is not None:
            RunReader(self.location).write_lines(self.location.folder)

    def _dispose(self, *, remove: bool = False) -> None:
        self._stopped.set()
        self._engine.dispose()
        if self._temporary is not None:
            self._temporary.cleanup()
        if remove and self._target.folder is not None and self._target.file is not None:
            for suffix in ("", "-wal", "-shm"):
                path = self._target.file.with_name(f"{self._target.file.name}{suffix}")
                path.unlink(missing_ok=True)
            with suppress(OSError):  # the folder contains other files
                self._target.folder.rmdir()

    def _delete(self, connection: Connection) -> bool:
        """Delete the run if it has no decisions and no claims. Return whether it was deleted."""
        connection.execute(select(RUNS.c.id).where(RUNS.c.id == self._run).with_for_update())
        for table in (RESULTS, CLAIMS):
            here = select(table.c.run_id).where(table.c.run_id == self._run)
            if connection.execute(here.limit(1)).first() is not None:
                return False
        connection.execute(delete(LOST).where(LOST.c.run_id == self._run))
        connection.execute(delete(RUNS).where(RUNS.c.id == self._run))
        return True

    def _renew_claims(self) -> None:
        """Renew the claims of this process and count other processes' decisions."""
        own = update(CLAIMS).where(CLAIMS.c.worker == self._worker)
        while not self._stopped.wait(_RENEW_SECONDS):
            renewed = own.values(expires=time.time() + LEASE_SECONDS)
            with suppress(DqaError):  # `add` reports an unreachable store
                self._transact(partial(Connection.execute, statement=renewed))
                self.look_elsewhere()

    def look_elsewhere(self) -> None:
        """Read from the store how many decisions and how much usage other processes have added."""
        with self._adding:
            used, count = self._transact(self._count)
            totals = zip(astuple(used), astuple(self._own), strict=True)
            self.used_elsewhere = Usage(*(total - own for total, own in totals))
            elsewhere = count - self.done - self.added
        if elsewhere > 0 and self.on_elsewhere is not None:
            with suppress(Exception):  # a caller's error must not end the renewal of claims
                self.on_elsewhere(elsewhere)

    def _count(self, connection: Connection) -> tuple[Usage, int]:
        used = sum_usage(connection, RESULTS, self._run) + sum_usage(connection, LOST, self._run)
        count = select(func.count()).select_from(RESULTS).where(RESULTS.c.run_id == self._run)
        return used, connection.execute(count).scalar_one()

    def _transact(self, work: Callable[[Connection], _Made]) -> _Made:
        """Run a transaction. Repeat it after a conflict or a lost connection."""
        until, conflicts = time.monotonic() + self.patience, _CONFLICTS
        with translate_errors(self._target, under_way=self.patience > 0):
            while True:
                try:
                    with write(self._engine) as connection:
                        return work(connection)
                except IntegrityError:
                    conflicts -= 1
                    if not conflicts:
                        raise
                except SQLAlchemyError as error:
                    if not is_transient(error) or time.monotonic() >= until:
                        raise
                    time.sleep(_PAUSE_SECONDS)


def _finite(value: float | None) -> float | None:
    """Return the number, or None for an infinity, which a server cannot store."""
    return value if value is not None and isfinite(value) else None
