"""Scoring statements by execution: what was decided and what is right run, rows are compared.

Both run on the same database, read-only and behind the guard. A right statement that cannot run is
a fault of the data: nothing is scored then, and the result says what is wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from dqa.core.database import Database, Limits, Rows
from dqa.core.errors import QueryError, UsageError
from dqa.core.question import Question
from dqa.core.truth import Truth
from dqa.evaluation.matching import rows_match, sorts_rows
from dqa.evaluation.targets import Place

SCORING = Limits(rows=200_000, bytes=128_000_000, seconds=30.0, cell=16_000_000)
"""What each of the two statements may cost; BIRD's evaluation gives both together 30 seconds."""


@dataclass(frozen=True, slots=True)
class Match:
    """What came of comparing two statements.

    Attributes
    ----------
    right
        Whether their rows match; None where the right statement gave no rows to compare with.
    problem
        Why one of them gave none.
    """

    right: bool | None
    problem: str | None = None


class Executor:
    """Runs statements to score them; safe to use from several threads.

    Parameters
    ----------
    places
        The databases, by name.
    """

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places
        self._open: dict[str, Database] = {}
        self._lock = threading.Lock()

    def compare(self, question: Question, truth: Truth, statement: str) -> Match:
        """Compare the rows of a statement with those of the right one.

        Raises
        ------
        InfrastructureError
            The database failed, which says nothing about either.
        """
        if truth.match is None or truth.official is None:
            raise UsageError(f"Question '{question.key}' has no statement to compare with.")
        gold = str(truth.official)
        database = self._database_of(question)
        where = f" ({truth.source})" if truth.source else ""
        right = _rows_of(database, gold)
        if isinstance(right, str):
            return Match(None, f"The gold statement of '{question.key}'{where} {right}")
        if statement.strip() == gold.strip():
            return Match(right=True)
        given = _rows_of(database, statement)
        if isinstance(given, str):
            return Match(right=False, problem=f"The statement that was decided {given}")
        ordered = sorts_rows(gold)
        return Match(rows_match(given.rows, right.rows, truth.match, ordered=ordered))

    def close(self) -> None:
        """Close the databases."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    def _database_of(self, question: Question) -> Database:
        with self._lock:
            found = self._open.get(question.situation)
            if found is None:
                found = self._open[question.situation] = self._places[question.situation].open()
            return found


def _rows_of(database: Database, statement: str) -> Rows | str:
    """Return all rows of a statement, or in a few words why there are none to compare."""
    try:
        rows = database.query(statement, SCORING)
    except QueryError as error:
        return f"cannot run: {error}"
    if rows.cut is not None:
        return f"returns more than is compared (a limit on {rows.cut})."
    return rows
