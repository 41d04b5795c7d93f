"""A statement that ran before a pause: return the same result again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, astuple
from typing import Any

from dqa.core import errors
from dqa.core.database import Limits, Rows, decode_rows
from dqa.core.journal import Journal


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
            return {"rows": astuple(query())}
        except errors.QueryError as error:
            return {"error": type(error).__name__, "message": str(error)}

    reply = journal.replay("statement", [database, statement, asdict(limits)], act)
    if "rows" not in reply:
        kind = getattr(errors, reply["error"], errors.StatementError)
        if kind is errors.UnknownReferenceError:
            kind = errors.StatementError
        raise kind(reply["message"])
    return decode_rows(reply["rows"])
