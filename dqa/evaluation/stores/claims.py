"""Sharing a run's decisions out among the processes that write it.

A process claims a few decisions of one situation and database at a time, in a transaction, so no
two have the same. It says by its heartbeat that it lives. What a dead one had claimed is free: one
of this machine is known to be dead at once, another machine's by a heart that has not beaten for a
while, counted by the clock of whoever waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from weakref import WeakSet

from sqlalchemy import Connection, Table, delete, insert, select, update

from dqa.evaluation.plan import Task
from dqa.evaluation.stores.processes import Process
from dqa.evaluation.stores.rows import task_of
from dqa.evaluation.stores.tables import CLAIMS, RESULTS, WORKERS

LEASE_SECONDS: Final = 60.0
"""How long another machine's process may be silent."""

_Group = tuple[str, str]


_OPEN: WeakSet[Workers] = WeakSet()
"""Those of this process that take part in a run: it may go on long after it has left one, and a
server that was away then still lists it."""
_OPENING = threading.Lock()


class Workers:
    """The processes that write a run, of which this is one.

    Parameters
    ----------
    run
        The run's number.
    clock
        Seconds that only ever go on.

    Attributes
    ----------
    run
        The run's number.
    own
        This one's number; 0 before it has entered.
    """

    def __init__(self, run: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.run = run
        self._clock = clock
        self._process = Process.current()
        self._seen: dict[int, tuple[int, float]] = {}
        self.own = 0

    def enter(self, connection: Connection) -> None:
        """Take part."""
        row = {"run_id": self.run, "beats": 0, **self._told()}
        self.own = number_of_new(connection, WORKERS, row)
        with _OPENING:
            _OPEN.add(self)

    def beat(self, connection: Connection) -> None:
        """Say that this process lives; one that was taken for dead takes part again."""
        beaten = update(WORKERS).where(WORKERS.c.id == self.own)
        if not connection.execute(beaten.values(beats=WORKERS.c.beats + 1)).rowcount:
            row = {"id": self.own, "run_id": self.run, "beats": 1, **self._told()}
            connection.execute(insert(WORKERS).values(row))

    def leave(self, connection: Connection) -> None:
        """Give back what was claimed and not decided."""
        _remove(connection, [self.own])

    def end(self) -> None:
        """Take no part any more, whether or not the store could be told."""
        with _OPENING:
            _OPEN.discard(self)

    def bury(self, connection: Connection) -> set[int]:
        """Free what dead processes had claimed, and return the others that live."""
        found = connection.execute(select(WORKERS).where(WORKERS.c.run_id == self.run))
        others = [row for row in found if row.id != self.own]
        dead = [row.id for row in others if not self._lives(row)]
        _remove(connection, dead)
        return {row.id for row in others} - set(dead)

    def _told(self) -> dict[str, Any]:
        process = self._process
        return {"host": process.host, "pid": process.pid, "started": process.started}

    def _lives(self, row: Any) -> bool:  # noqa: ANN401  (a row)
        process = Process(row.host, row.pid, row.started)
        if process == self._process:
            with _OPENING:
                return any((one.own, one.run) == (row.id, self.run) for one in _OPEN)
        alive = process.is_alive()
        if alive is not None:
            return alive
        now = self._clock()
        beats, since = self._seen.get(row.id, (None, now))
        if beats != row.beats:
            self._seen[row.id] = (row.beats, now)
            return True
        return now - since < LEASE_SECONDS


def number_of_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> int:
    """Insert a row, and return the number that it was given."""
    key = connection.execute(insert(table).values(row)).inserted_primary_key
    if key is None:
        raise AssertionError("a row that is inserted alone has its key")
    return int(key[0])


def _remove(connection: Connection, workers: Sequence[int]) -> None:
    if workers:
        connection.execute(delete(CLAIMS).where(CLAIMS.c.worker_id.in_(workers)))
        connection.execute(delete(WORKERS).where(WORKERS.c.id.in_(workers)))


class Claims:
    """The decisions of a plan that nobody is known to have made or claimed.

    Parameters
    ----------
    run
        The run's number.
    left
        Those that were not made when this process began, in the order of the plan.
    """

    def __init__(self, run: int, left: Iterable[Task]) -> None:
        self._run = run
        self._left: dict[_Group, dict[str, Task]] = {}
        self._group_of: dict[str, _Group] = {}
        for task in left:
            name = task_of(task.key)
            self._left.setdefault(task.group, {})[name] = task
            self._group_of[name] = task.group
        self._latest: _Group | None = None

    def take(self, connection: Connection, worker: int, most: int) -> Sequence[Task]:
        """Claim decisions of one group, in a transaction; none where all are made or claimed.

        Raises
        ------
        sqlalchemy.exc.IntegrityError
            Another process was faster: the transaction is to be made again.
        """
        while True:
            claimed = set(
                connection.execute(
                    select(CLAIMS.c.task).where(CLAIMS.c.run_id == self._run)
                ).scalars()
            )
            batch = self._choose(claimed, most)
            if not batch:
                return ()
            rows = [{"run_id": self._run, "task": t, "worker_id": worker} for t in batch]
            connection.execute(insert(CLAIMS), rows)
            # After the claim: whoever made one meanwhile gave it up in the same transaction.
            made = self._made(connection, batch)
            if not made:
                self._latest = self._group_of[next(iter(batch))]
                return tuple(batch.values())
            mine = (CLAIMS.c.run_id == self._run) & CLAIMS.c.task.in_(list(batch))
            connection.execute(delete(CLAIMS).where(mine))
            self.refresh(connection)  # there may be many more

    def claimed(self, tasks: Sequence[Task]) -> None:
        """Take down that the claim of these has been committed."""
        self.forget({task_of(task.key) for task in tasks})

    def refresh(self, connection: Connection) -> int:
        """Look what others have made, and return how many decisions of the run are made by now."""
        made = self._made(connection)
        self.forget(made)
        return len(made)

    def forget(self, made: Iterable[str]) -> None:
        """Drop decisions that need no claim any more."""
        for name in made:
            group = self._group_of.get(name)
            if group in self._left:
                self._left[group].pop(name, None)
                if not self._left[group]:
                    del self._left[group]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left that another process might not finish."""
        return not self._left

    def _choose(self, claimed: set[str], most: int) -> dict[str, Task]:
        """Return the next decisions: of the group at hand, else of one that nobody has open."""
        taken = {self._group_of[name] for name in claimed if name in self._group_of}
        fresh = next((group for group in self._left if group not in taken), None)
        for group in (self._latest, fresh, *self._left):
            if group is None:
                continue
            free = [found for found in self._left.get(group, {}).items() if found[0] not in claimed]
            if free:
                return dict(free[:most])
        return {}

    def _made(self, connection: Connection, among: Iterable[str] | None = None) -> set[str]:
        found = select(RESULTS.c.task).where(RESULTS.c.run_id == self._run)
        if among is not None:
            found = found.where(RESULTS.c.task.in_(list(among)))
        return set(connection.execute(found).scalars())
