"""What can be chosen: what it is called, and where a statement lists it."""

from __future__ import annotations

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError, UsageError
from dqa.core.question import Candidate, Question

__all__ = ["candidates_of", "nouns_of", "queried_candidates"]

_MOST = Limits(rows=100_000, bytes=20_000_000, cell=20_000_000)


def nouns_of(question: Question) -> tuple[str, ...]:
    """Return what a question's candidates may be called, such as "trade node"; the usual first."""
    if question.scenario not in plugins.names("scenario"):
        return ("candidate",)
    scenario = plugins.scenario(question.scenario)
    return scenario.candidate_nouns or (scenario.candidate_noun,)


def candidates_of(question: Question, database: Database) -> tuple[Candidate, ...] | None:
    """Return what can be chosen, by a question's list or its query; None where it has neither.

    Raises
    ------
    UsageError, InfrastructureError
        As `queried_candidates` raises them.
    """
    if question.candidates is not None or question.candidate_query is None:
        return question.candidates
    return queried_candidates(question.candidate_query, database)


def queried_candidates(
    statement: str, database: Database, called: str = "The query of the candidates"
) -> tuple[Candidate, ...]:
    """Return what a statement lists in its first column, each once and NULL never.

    Parameters
    ----------
    statement
        SQL or Cypher.
    database
        What it runs on.
    called
        What errors call it.

    Raises
    ------
    UsageError
        It cannot run, or lists more than can be compared.
    InfrastructureError
        The database failed.
    """
    try:
        rows = database.query(statement, _MOST)
    except QueryError as error:
        raise UsageError(f"{called} cannot run: {error}") from error
    if rows.cut is not None:
        raise UsageError(f"{called} lists more than {len(rows.rows)} candidates: narrow it.")
    cells = (row[0] for row in rows.rows if row and row[0] is not None)
    return tuple(
        dict.fromkeys(cell if isinstance(cell, str | int) else str(cell) for cell in cells)
    )
