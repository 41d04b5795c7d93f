"""Runs a statement without what its policy hides, and tells of its failure without that either."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from dqa.core.database import Rows
from dqa.core.errors import (
    NotUnderstoodError,
    RefusedStatementError,
    StatementError,
    UnknownReferenceError,
)
from dqa.guard.hidden import without_inserted
from dqa.guard.policy import Policy
from dqa.guard.reading import read
from dqa.guard.sql import hiding
from dqa.guard.verdict import Refusal

_PLACE = re.compile(r" at character \d+")
_UNTOLD = (
    "The statement failed on a value that it met. What the database says of it is not told, for "
    "not all rows of what it reads may be read; look at conversions, divisions and sub-queries of "
    "one row"
)


def run_rewritten(statement: str, dialect: str, policy: Policy, run: Callable[[str], Rows]) -> Rows:
    """Run an allowed statement as `policy` lets it be read.

    Parameters
    ----------
    statement, dialect
        What was written, and in what.
    policy
        One that hides something.
    run
        Runs what the statement becomes.

    Raises
    ------
    RefusedStatementError
        It cannot be told with certainty what it reads.
    StatementError
        As `run` raises it, without what was written into the statement, and with no words of the
        database's where a row that may not be read could be in them.
    """
    try:
        ran = read(partial(hiding.rewritten, statement, dialect, policy))
    except Refusal as refusal:
        raise RefusedStatementError(f"The statement was not run: {refusal}.") from refusal
    problem: StatementError
    try:
        rows = run(ran)
        return rows if ran == statement else _named(rows, statement, ran)
    except StatementError as error:
        if ran == statement:
            raise
        problem = error
    if type(problem) is StatementError and hiding.reads_filtered(statement, dialect, policy):
        problem = _without_rows(hiding.rewritten(statement, dialect, policy, empty=True), run)
    # What was raised first is left behind: it holds what the database said, and of what statement.
    raise _told(problem, statement, ran)


def _named(rows: Rows, statement: str, ran: str) -> Rows:
    """Return rows whose columns are not called by what was written into the statement."""
    columns = tuple(
        name if without_inserted(name, statement, ran) == name else f"column_{number}"
        for number, name in enumerate(rows.columns, start=1)
    )
    return replace(rows, columns=columns)


def _without_rows(ran: str, run: Callable[[str], Rows]) -> StatementError:
    """Return what fails even where the tables have no rows, and so tells of none."""
    try:
        run(ran)
    except StatementError as error:
        return error
    return StatementError(_UNTOLD + ".")


def _told(error: StatementError, statement: str, ran: str) -> StatementError:
    """Return an error as the author of the statement is told it, who knows not what ran."""
    if isinstance(error, UnknownReferenceError):
        problem = without_inserted(_PLACE.sub("", error.problem), statement, ran)
        return UnknownReferenceError(problem, error.name)
    told = without_inserted(_PLACE.sub("", str(error)), statement, ran)
    return (
        NotUnderstoodError(told) if isinstance(error, NotUnderstoodError) else StatementError(told)
    )
