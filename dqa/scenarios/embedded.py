"""Load situations into databases in memory, and run statements of scenarios on them."""

from __future__ import annotations

import threading
import weakref

from dqa.core.database import Database, Kind, Limits, Rows
from dqa.core.display import candidate_name, cell_of
from dqa.core.errors import DataError, QueryError, UsageError
from dqa.core.question import MOST_CANDIDATES, Candidate
from dqa.core.situation import Cell, Situation

_MOST = Limits(rows=1_000_000, bytes=200_000_000, seconds=600.0, cell=20_000_000)
LISTING = Limits(rows=MOST_CANDIDATES, bytes=64_000_000, seconds=60.0, cell=20_000_000)
"""The limits of statements that list candidates or values of parameters."""
_CALLED = "The statement of the scenario"

_databases: dict[tuple[int, Kind], Database] = {}
_lock = threading.RLock()


def embedded(situation: Situation, kind: Kind) -> Database:
    """Return a database in memory with a situation. Deleting the situation closes the database."""
    key = id(situation), kind
    with _lock:
        if key not in _databases:
            _databases[key] = _load(situation, kind)
            # A later object may get the same id, so the entry is removed together with the
            # situation.
            weakref.finalize(situation, _close, key).atexit = False
        return _databases[key]


def _close(key: tuple[int, Kind]) -> None:
    with _lock:
        database = _databases.pop(key, None)
    if database is not None:
        database.close()


def _load(situation: Situation, kind: Kind) -> Database:
    from dqa.databases.backends import BUILT_IN

    backend = BUILT_IN["sqlite" if kind == "relational" else "ladybug"]
    return backend.load(situation, isolation="none")


def whole_rows(
    database: Database, statement: str, limits: Limits = _MOST, called: str = _CALLED
) -> Rows:
    """Run a statement, and return all rows of its result.

    Parameters
    ----------
    database, statement
        The database, and the statement that runs on it.
    limits
        Limits of the result.
    called
        The words that name the statement in error messages, for example its file.

    Raises
    ------
    DataError
        The statement cannot run, or its result exceeds the limits.
    InfrastructureError
        The database failed.
    """
    try:
        rows = database.query(statement, limits)
    except QueryError as error:
        raise DataError(f"{called} cannot run: {error}") from error
    if rows.cut is not None:
        raise DataError(
            f"{called} returns more than {len(rows.rows):,} rows: narrow it, or use DISTINCT."
        )
    return rows


def first_column(
    database: Database, statement: str, limits: Limits = _MOST, called: str = _CALLED
) -> tuple[Cell, ...]:
    """Return the distinct values of a statement's first column, without NULL.

    `whole_rows` explains the parameters and the errors.
    """
    rows = whole_rows(database, statement, limits, called).rows
    return tuple(dict.fromkeys(cell_of(row[0]) for row in rows if row and row[0] is not None))


def listed_candidates(
    statement: str, database: Database, called: str = "The query of the candidates"
) -> tuple[Candidate, ...]:
    """Return the distinct values in the first column of a statement, without NULL.

    Parameters
    ----------
    statement
        SQL or Cypher.
    database
        The database.
    called
        The name of the statement in errors.

    Raises
    ------
    UsageError
        The statement fails, or returns more than `dqa.core.question.MOST_CANDIDATES` rows.
    InfrastructureError
        The database failed.
    """
    try:
        cells = first_column(database, statement, LISTING, called)
    except DataError as error:
        # The user wrote the statement, so its failure is wrong usage.
        raise UsageError(str(error)) from error
    return tuple(dict.fromkeys(map(candidate_name, cells)))
