"""The candidates of a question: its list, or the list that its statement returns."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from dqa.core.database import Database
from dqa.core.display import candidate_name
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Candidate, Question
from dqa.scenarios.embedded import LISTING, first_column

MOST_COMPARED = 10_000
"""Candidates of a list that is compared name by name; an agent narrows a longer one by queries."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The candidates.

    Attributes
    ----------
    candidates
        The candidates, in order.
    statement
        The statement that lists them, if there is one.
    """

    candidates: tuple[Candidate, ...] = field(repr=False)
    statement: str | None = None

    @property
    def total(self) -> int:
        """The number of candidates."""
        return len(self.candidates)

    @property
    def is_large(self) -> bool:
        """Whether the list is too long to be compared name by name."""
        return self.total > MOST_COMPARED

    @property
    def names(self) -> tuple[Candidate, ...]:
        """The candidates of a short list; none of a long one."""
        return () if self.is_large else self.candidates

    def among(self, texts: AbstractSet[str]) -> tuple[Candidate, ...]:
        """Return the candidates that are spelled as one of these texts.

        A column of a fixed width pads its texts with spaces.
        """
        return tuple(
            one for one in self.candidates if str(one) in texts or str(one).rstrip(" ") in texts
        )


def choices_of(question: Question, database: Database) -> Choices | None:
    """Return the candidates of a question; None if it has neither a list nor a statement.

    Raises
    ------
    UsageError, InfrastructureError
        The errors of `listed_choices`.
    """
    if question.candidates is not None:
        return Choices(question.candidates, question.candidate_query)
    if question.candidate_query is None:
        return None
    return listed_choices(question.candidate_query, database)


def listed_choices(
    statement: str, database: Database, called: str = "The query of the candidates"
) -> Choices:
    """Return the values in the first column of a statement, each once, without NULL.

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
        It cannot run, or returns more than `dqa.core.question.MOST_CANDIDATES` rows.
    InfrastructureError
        The database failed.
    """
    try:
        cells = first_column(database, statement, LISTING, called)
    except DataError as error:
        # The user wrote the statement; it is not part of the data.
        raise UsageError(str(error)) from error
    return Choices(tuple(dict.fromkeys(map(candidate_name, cells))), statement)
