"""Situations in memory as databases in memory, for what a scenario tells by statements."""

from __future__ import annotations

import threading
import weakref

from dqa.core.database import Database, Kind, Limits, Rows
from dqa.core.display import cell_of
from dqa.core.errors import DataError, QueryError
from dqa.core.question import MOST_CANDIDATES
from dqa.core.situation import Cell, Situation

_MOST = Limits(rows=1_000_000, bytes=200_000_000, seconds=600.0, cell=20_000_000)
LISTING = Limits(rows=MOST_CANDIDATES, bytes=64_000_000, seconds=60.0, cell=20_000_000)
"""The most that may be listed: of what can be chosen, and of what a question may be about."""
_CALLED = "The statement of the scenario"


class _Loaded:
    """The databases of situations that are alive, each loaded once."""

    def __init__(self) -> None:
        self._databases: dict[tuple[int, Kind], Database] = {}
        self._lock = threading.RLock()

    def database(self, situation: Situation, kind: Kind) -> Database:
        """Return the database of a situation, told apart by identity."""
        key = id(situation), kind
        with self._lock:
            if key not in self._databases:
                self._databases[key] = _load(situation, kind)
                # The number of an object is another's once it is gone, so the entry goes with it.
                weakref.finalize(situation, self._forget, key).atexit = False
            return self._databases[key]

    def _forget(self, key: tuple[int, Kind]) -> None:
        with self._lock:
            database = self._databases.pop(key, None)
        if database is not None:
            database.close()


_loaded = _Loaded()


def embedded(situation: Situation, kind: Kind) -> Database:
    """Return a database in memory that holds a situation; it lives as long as the situation."""
    return _loaded.database(situation, kind)


def _load(situation: Situation, kind: Kind) -> Database:
    if kind == "relational":
        from dqa.databases.sqlite.backend import BACKEND as SQLITE

        return SQLITE.load(situation, isolation="none")
    from dqa.databases.ladybug.backend import BACKEND as LADYBUG

    return LADYBUG.load(situation, isolation="none")


def whole_rows(
    database: Database, statement: str, limits: Limits = _MOST, called: str = _CALLED
) -> Rows:
    """Return every row of a statement.

    Parameters
    ----------
    database, statement
        What is asked, and what runs on it.
    limits
        The most that may come back.
    called
        What errors call the statement, such as its file.

    Raises
    ------
    DataError
        It cannot run, or returns more than can be read.
    InfrastructureError
        The database failed.
    """
    try:
        rows = database.query(statement, limits)
    except QueryError as error:
        raise DataError(f"{called} cannot run: {error}") from error
    if rows.cut is not None:
        raise DataError(f"{called} returns more than {len(rows.rows):,} rows: narrow it.")
    return rows


def first_column(
    database: Database, statement: str, limits: Limits = _MOST, called: str = _CALLED
) -> tuple[Cell, ...]:
    """Return what a statement lists in its first column, each once and NULL never.

    The parameters, and what it raises, are those of `whole_rows`.
    """
    rows = whole_rows(database, statement, limits, called).rows
    return tuple(dict.fromkeys(cell_of(row[0]) for row in rows if row and row[0] is not None))
