"""A run in a store: every decision at once, in a transaction, by as many processes as one likes.

What is decided counts as soon as its transaction is committed, which a killed process cannot undo.
So going on needs no settling: the same command finds its run and makes what is missing.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, astuple
from functools import partial
from typing import Any, Final, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from dqa.core.decision import Usage
from dqa.core.errors import DqaError
from dqa.core.records import dump_line
from dqa.evaluation.folder_lines import is_lost, lost_line
from dqa.evaluation.folders import RunRecord, compare_records, require_resumable
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.plan import Task
from dqa.evaluation.prompts import Prompts, hash_of
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.store import RunStore
from dqa.evaluation.stores import runs
from dqa.evaluation.stores.claims import Claims, Workers, number_of_new
from dqa.evaluation.stores.engine import is_transient, open_engine, told, write
from dqa.evaluation.stores.places import StorePlace
from dqa.evaluation.stores.rows import pack, row_of, task_of, unpack
from dqa.evaluation.stores.schema import require_schema
from dqa.evaluation.stores.tables import (
    CLAIMS,
    LOST,
    PROMPTS,
    RESULTS,
    RUN_PROMPTS,
    RUNS,
    SHORTCUTS,
    TRACES,
    WORKERS,
)
from dqa.evaluation.traces import Trace

_Made = TypeVar("_Made")

_BEAT_SECONDS: Final = 10.0
_PATIENCE_SECONDS: Final = 60.0
"""How long a server that went away is waited for before a run is given up."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0

_CONFLICTS: Final = 100
"""How often a transaction is made again as another process was faster."""

_UNMADE: Final = (Outcome.BUDGET, Outcome.STOPPED)
_FAILED: Final = (Outcome.INFRASTRUCTURE, Outcome.CRASHED)


_UNCLAIM: Final = delete(CLAIMS).where(
    CLAIMS.c.run_id == bindparam("run"), CLAIMS.c.task == bindparam("name")
)


class DatabaseStore(RunStore):
    """A run in a store, which any number of processes may write at once.

    Parameters
    ----------
    place
        The store, and the run's name; without one it is named by what is evaluated
        (`runs.name_of`), so the same command goes on with its own run.
    record
        What is run.
    retry_failed
        Whether what a failing server or a bug ended is asked again. What a spent budget or a person
        ended was not decided, and is asked again anyway.

    Attributes
    ----------
    fresh
        Whether the run began with this process.

    Raises
    ------
    UsageError
        The run has other settings, or its questions have changed since; or the store may not be
        written, or is of a newer version.
    """

    def __init__(self, place: StorePlace, record: RunRecord, *, retry_failed: bool = False) -> None:
        super().__init__()
        self.place: StorePlace = place.named(place.name or runs.name_of(record))
        self._engine = open_engine(self.place, writing=True)
        self._stopped = threading.Event()
        self._patience = 0.0  # who mistypes a URL need not wait
        self._positions: dict[str, int] = {}
        self._claims: Claims | None = None
        self._workers: Workers | None = None
        self._added = self._elsewhere = Usage()
        self._before = self._made_elsewhere = 0
        self._telling = threading.Lock()
        try:
            self._open(record, retry_failed=retry_failed)
        except BaseException:
            self.close()
            raise
        self._patience = _PATIENCE_SECONDS

    def _open(self, record: RunRecord, *, retry_failed: bool) -> None:
        with told(self.place):
            require_schema(self._engine, self.place, making=True)
        self.fresh, self._run, workers = self._transact(lambda made: self._enter(made, record))
        self._workers = workers
        self._transact(lambda made: self._settle(made, workers, retry_failed=retry_failed))
        with told(self.place):
            with self._engine.connect() as connection:
                found = runs.read_results(connection, self._run)
            self._before = len(found)
            self._count()
        self._results = {result.key: result for result in found.values()}
        heart = threading.Thread(target=self._beat, args=(workers,), name="dqa-store", daemon=True)
        heart.start()

    @property
    def used_elsewhere(self) -> Usage:
        """What the run has used outside of this process, as of the last heartbeat."""
        return self._elsewhere

    def keep_shortcuts(self, choices: Sequence[ShortcutChoices]) -> None:
        """Keep what the heuristics answer to the run's questions."""
        rows = [
            {"run_id": self._run, "position": place, "body": json.dumps(found.to_json())}
            for place, found in enumerate(choices)
        ]

        def keep(connection: Connection) -> None:
            if not self._has(connection, SHORTCUTS) and rows:
                connection.execute(insert(SHORTCUTS), rows)

        self._transact(keep)

    def keep_prompts(self, prompts: Prompts) -> None:
        """Keep in which words the deciders ask; each text once in a store."""

        def keep(connection: Connection) -> None:
            if self._has(connection, RUN_PROMPTS):
                return
            for decider, texts in prompts.items():
                for name, text in texts.items():
                    row = {"run_id": self._run, "decider": decider, "name": name}
                    connection.execute(insert(RUN_PROMPTS).values(hash=hash_of(text), **row))
            texts = {hash_of(text): text for of in prompts.values() for text in of.values()}
            known = select(PROMPTS.c.hash).where(PROMPTS.c.hash.in_(list(texts)))
            there = set(connection.execute(known).scalars())
            new = [{"hash": h, "text": t} for h, t in texts.items() if h not in there]
            if new:
                connection.execute(insert(PROMPTS), new)

        self._transact(keep)

    def keep_abandoned(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Keep what was used elsewhere on the way to the run's decisions, as a folder's lines."""
        for line in lines:
            kind = runs.LOST_KIND if is_lost(line) else runs.TRACE_KIND
            row = {
                "run_id": self._run,
                "kind": kind,
                "body": pack(dump_line(line)),
                **line["usage"],
            }
            self._transact(partial(_insert, LOST, row))

    def begin(self, tasks: Sequence[Task]) -> int:
        """Take down the plan, before the first claim, and return how much of it is left."""
        left = [task for task in tasks if task.key not in self._results]
        self._claims = Claims(self._run, left)
        self.order([task.key for task in tasks])
        return len(left)

    def order(self, keys: Sequence[DecisionKey]) -> None:
        """Give the decisions their places in the plan, those that are there and those to come."""
        self._positions = {task_of(key): place for place, key in enumerate(keys)}

        def move(connection: Connection) -> None:
            known = select(RESULTS.c.task, RESULTS.c.position).where(RESULTS.c.run_id == self._run)
            for task, position in connection.execute(known).all():
                place = self._positions.get(task)
                if place is not None and place != position:
                    moved = update(RESULTS).where(self._at(RESULTS, task))
                    connection.execute(moved.values(position=place))

        self._transact(move)

    def claim(self, most: int) -> Sequence[Task]:
        """Claim decisions of one situation and database; none where all are made or claimed."""
        claims = self._claims
        workers = self._workers
        if claims is None or workers is None or self._stopped.is_set():
            return ()
        taken = self._transact(lambda made: claims.take(made, workers.own, most))
        claims.claimed(taken)
        return taken

    def is_finished(self) -> bool:
        """Whether every decision was made; what dead processes had claimed is free from now on."""
        claims = self._claims
        workers = self._workers
        if claims is None or workers is None or self._stopped.is_set():
            return True
        with self._told():
            made = self._attempt(claims.refresh, opened=self._engine.connect)
        self._tell_elsewhere(made)
        if not claims.is_empty:
            self._transact(workers.bury)
        return claims.is_empty

    def add(self, result: Result, trace: Trace, lost: Usage = Usage()) -> None:  # noqa: B008  (frozen)
        """Keep one decision, and what was `lost` on the way to it, in one transaction.

        Where another process has made it meanwhile, that one's stays, and this one's usage counts
        as lost.
        """
        workers = self._workers
        if workers is None or self._stopped.is_set():
            return
        super().add(result, trace, lost)
        task = task_of(result.key)
        at = {"run_id": self._run, "task": task}
        row = {
            **at,
            "position": self._positions.get(task),
            "worker_id": workers.own,
            **row_of(result.to_json(), trace.seconds),
        }
        body = pack(trace.to_line())

        def keep(connection: Connection) -> None:
            connection.execute(insert(RESULTS), row)
            connection.execute(insert(TRACES), {**at, "body": body})
            self._lose(connection, result, lost)
            connection.execute(_UNCLAIM, {"run": self._run, "name": task})

        with self._told():
            try:
                self._attempt(keep, conflicts=0)
            except IntegrityError as error:
                self._attempt(partial(self._keep_usage, result, lost, body, error))
        self._added += result.usage + lost

    def finish(self, tasks: Sequence[Task]) -> tuple[Result, ...]:
        """Return the results of all processes in the order of the plan."""
        with self._told(), self._engine.connect() as connection:
            found = runs.read_results(connection, self._run)
        self._engine.dispose()
        self._results = {result.key: result for result in found.values()}
        self._tell_elsewhere(len(found))
        return super().finish(tasks)

    def discard(self) -> None:
        """Take a new run out of the store in which nothing was decided."""
        if self.fresh and not self._stopped.is_set():
            self._transact(self._take_out)
        self.close()

    def withdraw(self) -> None:
        """Take a new run out of the store with all that it holds."""
        if self.fresh and not self._stopped.is_set():
            self._transact(self._delete)
        self.close()

    def close(self) -> None:
        """Give back what was claimed and not made; what was added stays."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        if self._workers is not None:
            self._patience = 0.0
            with suppress(DqaError):  # a store that is gone frees them itself, when it is back
                self._transact(self._workers.leave)
            self._workers.end()
        self._engine.dispose()

    def _told(self) -> AbstractContextManager[None]:
        return told(self.place, under_way=self._patience > 0)

    def _transact(self, work: Callable[[Connection], _Made]) -> _Made:
        """Do something in a transaction, again where others were faster or a server went away."""
        with self._told():
            return self._attempt(work)

    def _attempt(
        self,
        work: Callable[[Connection], _Made],
        conflicts: int = _CONFLICTS,
        opened: Callable[[], AbstractContextManager[Connection]] | None = None,
    ) -> _Made:
        opened = opened or partial(write, self._engine)
        until = time.monotonic() + self._patience
        pause = _FIRST_PAUSE
        while True:
            try:
                with self._emptying(), opened() as connection:
                    return work(connection)
            except IntegrityError:
                if not conflicts:
                    raise
                conflicts -= 1
            except SQLAlchemyError as error:
                if not is_transient(error) or time.monotonic() >= until:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    @contextmanager
    def _emptying(self) -> Iterator[None]:
        """Leave no connection open if another thread closes the store meanwhile."""
        pool = self._engine.pool
        try:
            yield
        finally:
            if self._stopped.is_set():
                self._engine.dispose()
            if pool is not self._engine.pool:  # another thread has disposed of the engine
                pool.dispose()

    def _enter(self, connection: Connection, record: RunRecord) -> tuple[bool, int, Workers]:
        """Find the run, or begin it, and take part; return whether it is new, and its number."""
        # In one transaction, and locked on a server: whoever takes the run out again waits for it.
        name = select(RUNS.c.name).where(RUNS.c.name == self.place.name).with_for_update()
        fresh = connection.execute(name).first() is None
        if fresh:
            row = {"name": self.place.name, **runs.run_row(record)}
            number = number_of_new(connection, RUNS, row)
        else:
            found = runs.find_run(connection, self.place)
            earlier, spec = require_resumable(found.record, found.spec_version, str(self.place))
            record = compare_records(earlier, spec, record, str(self.place))
            number = found.id
            connection.execute(update(RUNS).where(RUNS.c.id == number).values(runs.run_row(record)))
        self.record = record
        workers = Workers(number)
        workers.enter(connection)
        return fresh, number, workers

    def _settle(self, connection: Connection, workers: Workers, *, retry_failed: bool) -> None:
        """Take out what is decided again, unless a process that lives has just ended it so."""
        living = workers.bury(connection)
        outcomes = (*_UNMADE, *(_FAILED if retry_failed else ()))
        found = (
            select(RESULTS.c.task, RESULTS.c.worker_id, TRACES.c.body)
            .select_from(RESULTS.join(TRACES, _same(RESULTS, TRACES)))
            .where(RESULTS.c.run_id == self._run, RESULTS.c.outcome.in_(outcomes))
        )
        for task, worker, body in connection.execute(found).all():
            if worker in living:
                continue
            line = unpack(body)
            row = {"run_id": self._run, "kind": runs.TRACE_KIND, "body": body}
            connection.execute(insert(LOST).values(**row, **line["usage"]))
            for table in (RESULTS, TRACES):
                connection.execute(delete(table).where(self._at(table, task)))

    def _lose(self, connection: Connection, result: Result, lost: Usage) -> None:
        if lost != Usage():
            body = pack(dump_line(lost_line(result.key, lost)))
            row = {"run_id": self._run, "kind": runs.LOST_KIND, "body": body, **asdict(lost)}
            connection.execute(insert(LOST).values(row))

    def _keep_usage(
        self,
        result: Result,
        lost: Usage,
        body: bytes,
        error: IntegrityError,
        connection: Connection,
    ) -> None:
        """Count what was used for a decision that is there already."""
        task = task_of(result.key)
        there = connection.execute(select(TRACES.c.body).where(self._at(TRACES, task))).scalar()
        if there is None:
            raise error
        if there != body:  # else it was this one, and the server went away behind it
            self._lose(connection, result, result.usage + lost)
        connection.execute(delete(CLAIMS).where(self._at(CLAIMS, task)))

    def _take_out(self, connection: Connection) -> None:
        connection.execute(select(RUNS.c.id).where(RUNS.c.id == self._run).with_for_update())
        others = select(WORKERS.c.id).where(WORKERS.c.run_id == self._run)
        if self._has(connection, RESULTS) or len(connection.execute(others).all()) > 1:
            return
        self._delete(connection)

    def _delete(self, connection: Connection) -> None:
        for table in (RESULTS, TRACES, RUN_PROMPTS, SHORTCUTS, CLAIMS, LOST):
            connection.execute(delete(table).where(table.c.run_id == self._run))
        connection.execute(delete(RUNS).where(RUNS.c.id == self._run))

    def _has(self, connection: Connection, table: Table) -> bool:
        found = select(table.c.run_id).where(table.c.run_id == self._run).limit(1)
        return connection.execute(found).first() is not None

    def _at(self, table: Table, task: str) -> ColumnElement[bool]:
        return and_(table.c.run_id == self._run, table.c.task == task)

    def _beat(self, workers: Workers) -> None:
        while not self._stopped.wait(_BEAT_SECONDS):
            # A beat that fails is made up for by the next; what is added says what is wrong.
            with suppress(SQLAlchemyError), self._emptying():
                with write(self._engine) as connection:
                    workers.beat(connection)
                self._count()

    def _count(self) -> None:
        """Look what other processes, and this run before, have used and made."""
        before = self._added
        with self._engine.connect() as connection:
            used = runs.usage_so_far(connection, self._run)
            made = runs.count_made(connection, self._run)
        self._tell_elsewhere(made)
        self._elsewhere = Usage(
            *(max(0, a - b) for a, b in zip(astuple(used), astuple(before), strict=True))
        )

    def _tell_elsewhere(self, made: int) -> None:
        """Tell what others have made, of all that was made so far; it never gets less."""
        with self._telling:
            # What this process adds counts as added before it is there.
            elsewhere = max(self._made_elsewhere, made - self._before - self.added)
            if elsewhere:
                self._made_elsewhere = elsewhere
                self.on_elsewhere(elsewhere)


def _insert(table: Table, row: Mapping[str, Any], connection: Connection) -> None:
    connection.execute(insert(table).values(row))


def _same(one: Table, other: Table) -> ColumnElement[bool]:
    return and_(one.c.run_id == other.c.run_id, one.c.task == other.c.task)
