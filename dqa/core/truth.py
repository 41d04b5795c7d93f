"""The right answers to questions, used only for scoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, NamedTuple, TypeAlias

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question

MatchRule: TypeAlias = Literal["set", "table", "columns", "subset"]
"""The rule that compares rows: the rule of BIRD, Spider, Spider 2 or Defog.

- ``set`` (BIRD): the results have the same distinct rows, in any order.
- ``table`` (Spider): the results have the same rows with the same counts. Columns may be in any
  order. Rows must be in order if the gold statement sorts them.
- ``columns`` (Spider 2): the answer contains every gold column. Numbers may differ by up to 0.01.
- ``subset`` (Defog): the answer has the same distinct rows, or it has the same rows with the same
  counts and additional columns. Numbers must be equal to five digits.
"""


@dataclass(frozen=True, slots=True)
class GoldTable:
    """The rows of a right result, in the form of the benchmark Spider 2.

    Attributes
    ----------
    rows
        The rows; empty cells are None.
    columns
        The positions of the columns to compare; an empty tuple means all.
    ordered
        Whether the order of rows is compared.
    """

    rows: tuple[tuple[str | float | int | None, ...], ...]
    columns: tuple[int, ...] = ()
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Truth:
    """The right answers to one question. Deciders do not see them.

    Attributes
    ----------
    answers
        The best decisions; empty if unknown. The first is the official answer. If the answers are
        statements, an answer is right if it matches any of them.
    outcomes
        The recorded outcome of each candidate, in the order of `Question.candidates`. Larger is
        better by default; a scenario may declare that smaller is better.
    match
        The name of the rule that compares the rows of an answer's statement with the rows of the
        official statement. None if answers are candidates.
    source
        The file that contains the official answer, and the answer's place in it, for messages.
    tables
        Right results as rows. A statement is also right if its result matches one of these.
    forbidden
        Candidates that the rules forbid. In `outcomes`, they have the worst outcome of all allowed
        candidates.
    heuristics
        The candidate that each heuristic chooses, by the name of the heuristic. Only a user's own
        questions have heuristics.
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
        """Raise `DataError` if this truth does not fit a question's answer form and candidates."""
        if (self.match is None) != (question.answer_form == "candidate") and self.is_known:
            raise DataError(
                f"The answer to question '{question.key}' is a {question.answer_form}, but "
                f"answers are compared by {self.match or 'name'}. For candidates, leave "
                "out match; for statements, set match to 'set', 'table', 'columns' or 'subset'."
            )
        if self.outcomes is None:
            return
        listed = question.candidates or ()
        if len(self.outcomes) != len(listed) or not all(map(isfinite, self.outcomes)):
            raise DataError(
                f"Question '{question.key}' has {len(listed)} candidates, but its outcomes are "
                f"{list(self.outcomes)}. Give one finite number for every candidate, or no "
                "outcomes."
            )


NOTHING_KNOWN = Truth()
"""The truth of a question without known answers."""


class LabelledQuestion(NamedTuple):
    """A question with its truth."""

    question: Question
    truth: Truth
