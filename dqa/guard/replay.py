"""A statement that was asked before a pause: what came back then is given again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dqa.core.database import Limits, Rows
from dqa.core.errors import (
    NotUnderstoodError,
    QueryError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
)
from dqa.core.journal import Journal
from dqa.core.summaries import ColumnSummary, Summary

_ERRORS: dict[str, type[QueryError]] = {
    error.__name__: error
    for error in (
        QueryError,
        RefusedStatementError,
        StatementError,
        NotUnderstoodError,
        StatementTimeoutError,
    )
}


def query_once(
    journal: Journal,
    database: str,
    statement: str,
    limits: Limits,
    query: Callable[[str, Limits], Rows],
) -> Rows:
    """Return what a statement gave before the pause, or run it and keep what it gives.

    Parameters
    ----------
    journal
        What is kept.
    database
        The name of the database that is asked.
    statement, limits
        What it is asked.
    query
        Asks it.

    Raises
    ------
    QueryError
        It gave no rows, now or then; a failing database is not kept, and raises as ever.
    """

    def act() -> dict[str, Any]:
        try:
            rows = query(statement, limits)
        except QueryError as error:
            return {"error": type(error).__name__, "message": str(error)}
        return {"came": asdict(rows)}

    allowed = asdict(limits)
    allowed.pop("whole", None)  # how much of a limit is gone is nothing that was asked
    came = journal.once("statement", [database, statement, allowed], act)
    if "came" in came:
        return _rows(**came["came"])
    raise _ERRORS.get(came["error"], StatementError)(came["message"])


def _rows(  # the values themselves are what JSON made of them: numbers stay as they were
    columns: list[str],
    rows: list[list[Any]],
    summary: dict[str, Any] | None,
    **rest: Any,  # noqa: ANN401
) -> Rows:
    told = None if summary is None else _summary(**summary)
    return Rows(tuple(columns), tuple(map(tuple, rows)), summary=told, **rest)


def _summary(columns: list[dict[str, Any]], **rest: Any) -> Summary:  # noqa: ANN401
    made = (ColumnSummary(**{**one, "often": tuple(map(tuple, one["often"]))}) for one in columns)
    return Summary(columns=tuple(made), **rest)
