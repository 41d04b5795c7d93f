"""A statement that ran before a pause: return the same result again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dqa.core import errors
from dqa.core.database import Limits, Rows
from dqa.core.journal import Journal
from dqa.core.summaries import ColumnSummary, Summary


def query_once(
    journal: Journal, database: str, statement: str, limits: Limits, query: Callable[[], Rows]
) -> Rows:
    """Return the recorded result of a statement, or run it and record the result.

    Raises
    ------
    QueryError
        It gave no rows, now or then. A failure of the database is not recorded.
    """

    def act() -> dict[str, Any]:
        try:
            return {"came": asdict(query())}
        except errors.QueryError as error:
            return {"error": type(error).__name__, "message": str(error)}

    allowed = asdict(limits)
    allowed.pop("whole", None)  # how much of a limit is used is not part of the request
    came = journal.replay("statement", [database, statement, allowed], act)
    if "came" not in came:
        kind = getattr(errors, came["error"], errors.StatementError)
        if kind is errors.UnknownReferenceError:
            kind = errors.StatementError
        raise kind(came["message"])
    rows = came["came"]
    summary = rows.pop("summary")
    if summary is not None:
        columns = [{**c, "often": tuple(map(tuple, c["often"]))} for c in summary.pop("columns")]
        summary = Summary(columns=tuple(ColumnSummary(**c) for c in columns), **summary)
    rows |= {"columns": tuple(rows["columns"]), "rows": tuple(map(tuple, rows["rows"]))}
    return Rows(**rows, summary=summary)
