"""Define the tables of a store of runs, and read its runs.

A row contains a decision with its result and its trace. The result is JSON in ASCII, so that every
server can store every text. Other columns repeat parts of the result, so that SQL can query them.
The trace is compressed JSON.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import sqlalchemy as sa
from pydantic import ValidationError

from dqa.core.decision import Usage
from dqa.core.distribution import shell_command
from dqa.core.errors import DataError, UnknownNameError, UsageError
from dqa.core.files import open_private, require_folder
from dqa.core.records import problem_of
from dqa.core.run_stores import TABLE_PREFIX, VERSION_TABLE, is_store_table
from dqa.databases.store_locations import (
    LONG_BLOB,
    LONG_TEXT,
    NUMBER,
    TABLE_OPTIONS,
    lock_schema,
    open_store,
    translate_errors,
    write,
)
from dqa.evaluation.location import DATABASE, RunLocation
from dqa.evaluation.record import RunRecord
from dqa.evaluation.results import DecisionKey, Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.traces import Trace
from dqa.evaluation.workers import is_dead

VERSION: Final = "0005"
"""Version of the tables."""
IMPORTED: Final = "0003"
"""The version of the newest stores that can be imported: those of dqa 0.4."""
RESULTS_FILE, TRACES_FILE = "results.jsonl", "traces.jsonl"
"""Files that a run writes into its folder, next to its database, when it ends."""
_LOCK: Final = 7_136_452
_SHOWN: Final = 5

USAGE: Final = tuple(part.name for part in fields(Usage))
"""The columns of tokens and calls."""

METADATA = sa.MetaData()


def _key_columns() -> tuple[sa.Column[Any], ...]:
    """Return new columns that identify a decision, for the definition of one table."""
    return (
        sa.Column("run_id", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("question", sa.String(200), primary_key=True),
        sa.Column("database", sa.String(280), primary_key=True),
        sa.Column("decider", sa.String(200), primary_key=True),
        sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
    )


def _usage_columns() -> tuple[sa.Column[Any], ...]:
    """Return new columns for tokens and calls, for the definition of one table."""
    return tuple(sa.Column(name, sa.BigInteger, nullable=False) for name in USAGE)


STORE = sa.Table(VERSION_TABLE, METADATA, sa.Column("version_num", sa.String(32), primary_key=True))
RUNS = sa.Table(
    f"{TABLE_PREFIX}runs",
    METADATA,
    sa.Column("id", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    sa.Column("record", LONG_TEXT, nullable=False),
    sa.Column("shortcuts", LONG_TEXT),
    **TABLE_OPTIONS,
)
RESULTS = sa.Table(
    f"{TABLE_PREFIX}results",
    METADATA,
    *_key_columns(),
    sa.Column("position", sa.Integer),  # in the plan
    sa.Column("scenario", sa.String(200), nullable=False),
    sa.Column("model", LONG_TEXT, nullable=False),
    sa.Column("outcome", sa.String(40), nullable=False, index=True),
    sa.Column("regret", sa.Double),
    sa.Column("value", sa.Double),
    *_usage_columns(),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("result", LONG_TEXT, nullable=False),
    sa.Column("trace", LONG_BLOB, nullable=False),
    **TABLE_OPTIONS,
)
LOST = sa.Table(
    f"{TABLE_PREFIX}lost",
    METADATA,
    sa.Column("id", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("run_id", NUMBER, nullable=False, index=True),
    *_usage_columns(),
    sa.Column("trace", LONG_BLOB),  # of the first attempt at a repeated decision
    **TABLE_OPTIONS,
)
CLAIMS = sa.Table(
    f"{TABLE_PREFIX}claims",
    METADATA,
    *_key_columns(),
    sa.Column("worker", sa.String(40), nullable=False, index=True),
    sa.Column("expires", sa.Double, nullable=False),
    **TABLE_OPTIONS,
)
KEY: Final = DecisionKey._fields
"""The columns that identify a decision within its run."""


def key_of(table: sa.Table) -> list[sa.Column[Any]]:
    """Return the columns of a table that contain the key of a decision."""
    return [table.c[name] for name in KEY]


def has_key(table: sa.Table, run: int, key: DecisionKey) -> sa.ColumnElement[bool]:
    """Return the SQL condition that selects the row of one decision."""
    condition = table.c.run_id == run
    for name, value in zip(KEY, key, strict=True):
        condition &= table.c[name] == value
    return condition


def pack(trace: Trace) -> bytes:
    """Return the compressed JSON of a trace."""
    return zlib.compress(trace.to_line().encode(), 1)


def create_tables(engine: sa.Engine, location: RunLocation) -> None:
    """Create the tables in an empty database. Raise `UsageError` if it contains other tables."""
    with write(engine) as connection, lock_schema(connection, _LOCK, "dqa_store"):
        if version_of(connection) is None:
            require_free(connection, location)
            METADATA.create_all(connection)
            connection.execute(sa.insert(STORE).values(version_num=VERSION))
        require_version(connection, location)


def require_version(connection: sa.Connection, location: RunLocation) -> None:
    """Raise `UsageError` if a database is not a store that this version of dqa reads."""
    found = version_of(connection)
    if found is None:
        raise UsageError(
            f"{location.store} does not contain runs. Give the location of a run from 'dqa eval "
            "--out'."
        )
    if found <= IMPORTED:
        raise _old(location)
    if found != VERSION:
        raise UsageError(
            f"{location.store} is a store of version {found}, but this dqa reads version "
            f"{VERSION}: use the dqa that wrote the store."
        )


def require_free(connection: sa.Connection, location: RunLocation) -> None:
    """Raise `UsageError` if a database contains tables that do not belong to a store."""
    others = sorted(n for n in sa.inspect(connection).get_table_names() if not is_store_table(n))
    if others:
        instead = "a new file, such as runs.db" if location.file else "an empty database or schema"
        raise UsageError(
            f"{location.store} contains other tables ({', '.join(others[:_SHOWN])}), so it cannot "
            f"store runs: choose {instead}."
        )


def version_of(connection: sa.Connection) -> str | None:
    """Return the version of a store; None if the database is not a store."""
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(sa.select(STORE.c.version_num)).scalar()


@contextmanager
def connected(location: RunLocation, *, writing: bool = False) -> Iterator[sa.Connection]:
    """Open a connection to a database that may be a store. Errors are those of `open_store`."""
    with translate_errors(location):
        engine = open_store(location, writing=writing)
        try:
            with engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()


def is_store(location: RunLocation) -> bool:
    """Whether a database is a store of runs, of any version."""
    with connected(location) as connection:
        return version_of(connection) is not None


@contextmanager
def reading(location: RunLocation) -> Iterator[sa.Connection]:
    """Open a connection for reading. Raise `UsageError` if this dqa cannot read the store."""
    with connected(location) as connection:
        require_version(connection, location)
        yield connection


def run_names(location: RunLocation) -> list[str]:
    """Return the names of the runs in a store, the oldest first."""
    with reading(location) as connection:
        return list(connection.execute(_NAMES).scalars())


_NAMES = sa.select(RUNS.c.name).order_by(RUNS.c.id)


def parse_record(written: str, where: RunLocation) -> RunRecord:
    """Read the record of a run. If it is not valid, raise `UsageError` with the run's location."""
    try:
        return RunRecord(**json.loads(written))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


class RunReader:
    """Reads one run of a store. Each call opens and closes its own connection.

    Parameters
    ----------
    location
        The store, and the name of the run if the store contains several.

    Attributes
    ----------
    location
        The location with the name of the run.
    record
        The record of the run.

    Raises
    ------
    UsageError
        The store does not exist, it contains no run, or it contains several runs and the location
        names none of them.
    UnknownNameError
        The store does not contain a run of this name.
    """

    def __init__(self, location: RunLocation) -> None:
        if location.folder is not None:
            _require_folder_run(location, location.folder)
        with reading(location) as connection:
            names = list(connection.execute(_NAMES).scalars())
            self.location = location.named(_choose_name(location, names))
            run = sa.select(RUNS).where(RUNS.c.name == self.location.name)
            self._row = connection.execute(run).one()
        self._id: int = self._row.id
        self.record = parse_record(self._row.record, self.location)

    def _rows(self, statement: sa.Select[Any]) -> list[Any]:
        with reading(self.location) as connection:
            return list(connection.execute(statement))

    def results(self) -> list[Result]:
        """Return the results in the order of the plan."""
        with reading(self.location) as connection:
            return read_results(connection, self._id)

    def counts(self) -> list[sa.Row[Any]]:
        """Count the decisions by decider, model, database, scenario and outcome.

        Each row contains these five values and the number of decisions (`decisions`). The rows are
        in the plan's order.
        """
        names = ("decider", "model", "database", "scenario", "outcome")
        columns = [RESULTS.c[name] for name in names]
        counted = sa.select(*columns, sa.func.count().label("decisions"))
        counted = counted.where(RESULTS.c.run_id == self._id).group_by(*columns)
        return self._rows(counted.order_by(sa.func.min(RESULTS.c.position), *columns))

    def is_running(self) -> bool:
        """Return whether a living process holds a valid claim to decisions of the run."""
        valid = (CLAIMS.c.run_id == self._id) & (CLAIMS.c.expires >= time.time())
        workers = self._rows(sa.select(CLAIMS.c.worker).where(valid).distinct())
        return not all(is_dead(row.worker) for row in workers)

    def traces(self, question: str | None = None) -> Iterator[Trace]:
        """Yield the traces of all questions or of one question, in the order of the plan."""
        found = sa.select(*key_of(RESULTS), RESULTS.c.trace).where(RESULTS.c.run_id == self._id)
        if question is not None:
            found = found.where(RESULTS.c.question == question)
        found = found.order_by(*_ORDER).execution_options(yield_per=20)
        with reading(self.location) as connection:
            for *key, body in connection.execute(found):
                try:
                    yield Trace.from_json(json.loads(zlib.decompress(body)))
                except (zlib.error, ValueError) as error:
                    raise _unreadable(f"{self.location}: the trace", key, error) from error

    def seconds(self) -> Mapping[DecisionKey, float]:
        """Return the duration of each decision in seconds."""
        found = sa.select(*key_of(RESULTS), RESULTS.c.seconds).where(RESULTS.c.run_id == self._id)
        return {DecisionKey(*key): took for *key, took in self._rows(found)}

    def shortcuts(self) -> tuple[ShortcutChoices, ...]:
        """Return the choices of the heuristics."""
        written = json.loads(self._row.shortcuts or "[]")
        return tuple(ShortcutChoices.model_validate(one) for one in written)

    def lost_rows(self) -> list[tuple[Usage, bytes | None]]:
        """Return the usage of each attempt without a decision, and its compressed trace."""
        found = sa.select(*(LOST.c[name] for name in USAGE), LOST.c.trace).order_by(LOST.c.id)
        found = found.where(LOST.c.run_id == self._id)
        return [(Usage(*used), body) for *used, body in self._rows(found)]

    def lost(self, *, recorded: bool = False) -> Usage:
        """Return the sum of tokens and calls of attempts that led to no decision.

        Parameters
        ----------
        recorded
            Whether a cassette recorded the run. If so, a repeated decision replays the replies of
            its first attempt, so the usage of the first attempt is not lost.
        """
        only = (LOST.c.trace.is_(None),) if recorded else ()
        with reading(self.location) as connection:
            return sum_usage(connection, LOST, self._id, *only)

    def write_lines(self, folder: Path) -> None:
        """Write the results and the traces as JSON lines into a folder."""
        results = (result.to_line() for result in self.results())
        traces = (trace.to_line() for trace in self.traces())
        for name, lines in ((RESULTS_FILE, results), (TRACES_FILE, traces)):
            # Other processes may write the same files at the same time.
            unfinished = folder / f"{name}.{uuid4().hex[:8]}"
            try:
                with open(unfinished, "x", encoding="utf-8", opener=open_private) as file:
                    file.writelines(f"{line}\n" for line in lines)
                unfinished.replace(folder / name)
            finally:
                unfinished.unlink(missing_ok=True)


_ORDER = (RESULTS.c.position.is_(None), RESULTS.c.position, *key_of(RESULTS))
sa.Index(f"{TABLE_PREFIX}results_in_order", RESULTS.c.run_id, RESULTS.c.position)


def read_results(connection: sa.Connection, run: int) -> list[Result]:
    """Return the results of a run in the order of the plan."""
    found = sa.select(*key_of(RESULTS), RESULTS.c.result).where(RESULTS.c.run_id == run)
    results = []
    for *key, written in connection.execute(found.order_by(*_ORDER)):
        try:
            results.append(Result.from_json(json.loads(written)))
        except ValueError as error:
            raise _unreadable("The result", key, error) from error
    return results


def _unreadable(what: str, key: Sequence[Any], error: Exception) -> DataError:
    problem = problem_of(error) if isinstance(error, ValidationError) else error
    return DataError(
        f"{what} of {DecisionKey(*key)} is damaged, or another version of dqa wrote it: {problem}."
    )


def sum_usage(
    connection: sa.Connection, table: sa.Table, run: int, *only: sa.ColumnElement[bool]
) -> Usage:
    """Return the total tokens and calls in the rows of a run."""
    sums = sa.select(*(sa.func.coalesce(sa.func.sum(table.c[name]), 0) for name in USAGE))
    return Usage(*map(int, connection.execute(sums.where(table.c.run_id == run, *only)).one()))


def _require_folder_run(location: RunLocation, folder: Path) -> None:
    require_folder(folder, "Name the folder of 'dqa eval --out', or the file of 'dqa ask --trace'.")
    if (folder / DATABASE).exists():
        return
    if (folder / TRACES_FILE).exists():
        raise _old(location)
    raise UsageError(
        f"{folder} does not contain a run. Give the folder of a run ('dqa runs' lists all runs)."
    )


def _old(location: RunLocation) -> UsageError:
    how = shell_command("export", str(location), "--format", "run", "--out", "NEW")
    return UsageError(f"{location} was written by an older dqa: import it with '{how}'.")


def _choose_name(location: RunLocation, names: Sequence[str]) -> str:
    """Return the name of the run at a location. `names` contains all runs of the store."""
    store = location.store
    if location.name in names or (location.name is None and len(names) == 1):
        return location.name or names[0]
    if location.name is not None and location.folder is None:
        raise UnknownNameError(f"run in {store}", location.name, names)
    if not names:
        how = shell_command("eval", "--out", store)
        raise UsageError(f"{store} does not contain runs. To store one, use '{how}'.")
    shown = ", ".join(f"{store}#{name}" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    raise UsageError(f"{store} contains {len(names)} runs: choose one of {shown}{more}.")
