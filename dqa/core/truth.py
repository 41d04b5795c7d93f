"""The right answers to a question, for scoring alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, NamedTuple, TypeAlias

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question

MatchRule: TypeAlias = Literal["set", "table", "columns", "subset"]
"""The rule by which rows match: that of BIRD, Spider, Spider 2 or Defog.

``set``: the same rows, in any order and however often. ``table``: the same rows equally often,
columns in any order, and rows in order if the right statement sorts them. ``columns``: every right
column is among the answer's, numbers within 0.01. ``subset``: the same distinct rows, or
the same rows equally often with further columns; numbers to five digits.
"""


@dataclass(frozen=True, slots=True)
class GoldTable:
    """A right result that is given as rows, as in Spider 2.

    Attributes
    ----------
    rows
        The rows; empty cells are None.
    columns
        The positions of the columns that count; all if empty.
    ordered
        Whether the order of rows counts.
    """

    rows: tuple[tuple[str | float | int | None, ...], ...]
    columns: tuple[int, ...] = ()
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Truth:
    """The right answers to one question. No decider sees it.

    Attributes
    ----------
    answers
        The best decisions; empty where unknown. The first is the official one. A statement is right
        if it matches any of them.
    outcomes
        The recorded outcome of each candidate, parallel to `Question.candidates`: ground truth
        without a simulator. Larger is better unless the scenario says otherwise.
    match
        For a question that a statement answers, the rule that compares its rows with those of the
        official statement; None for other questions.
    source
        The file and entry of the official answer, for messages.
    tables
        Right results as rows, next to or in place of `answers`.
    forbidden
        Candidates that the rules forbid, which are not only bad. Their outcome is that of the worst
        of the others.
    heuristics
        The choices of the heuristics that a user's own question names, by name.
    """

    answers: tuple[Candidate, ...] = ()
    outcomes: tuple[float, ...] | None = None
    match: MatchRule | None = None
    source: str = ""
    tables: tuple[GoldTable, ...] = ()
    forbidden: tuple[Candidate, ...] = ()
    heuristics: Mapping[str, Candidate] = field(default_factory=dict, compare=False)

    @property
    def is_known(self) -> bool:
        """Whether a right answer is known."""
        return bool(self.answers or self.tables)

    @property
    def official(self) -> Candidate | None:
        """The official answer; None without one."""
        return self.answers[0] if self.answers else None

    def check(self, question: Question) -> None:
        """Raise `DataError` unless it fits the question: its answer form and its candidates."""
        if (self.match is None) != (question.answer_form == "candidate") and self.is_known:
            raise DataError(
                f"Question '{question.key}' is answered with a {question.answer_form}, and its "
                f"answers are matched by {self.match or 'name'}: only rows of statements are "
                "matched by a rule."
            )
        if self.outcomes is None:
            return
        listed = question.candidates or ()
        if len(self.outcomes) != len(listed) or not all(map(isfinite, self.outcomes)):
            raise DataError(
                f"Question '{question.key}' has {len(listed)} candidates and the outcomes "
                f"{list(self.outcomes)}: every candidate needs one finite number, or none has any."
            )


NOTHING_KNOWN = Truth()
"""The truth of a question without known answers."""


class LabelledQuestion(NamedTuple):
    """A question with its truth."""

    question: Question
    truth: Truth
