"""What is right about a question: for scoring alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal, NamedTuple, TypeAlias

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question

MatchRule: TypeAlias = Literal["set", "table"]
"""When the rows of two statements match: as BIRD's evaluation compares them, or as Spider's does.

``set``: the same rows, however often and in whichever order each comes. ``table``: the same rows as
often, columns in any order, and in the same order of rows where the right statement sorts them.
"""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known to be right about one question. No decider sees it.

    Attributes
    ----------
    answers
        The decisions known to be best; empty where unknown. The first is the official one.
    outcomes
        What each candidate led to, parallel to `Question.candidates`, where a record tells: ground
        truth without a simulator. Larger is better unless the scenario says otherwise.
    match
        Of a question that a statement answers, when its rows match those of the official answer,
        which is a statement, too; None of every other question.
    source
        Where the official answer is written, for messages: a file and its entry.
    """

    answers: tuple[Candidate, ...] = ()
    outcomes: tuple[float, ...] | None = None
    match: MatchRule | None = None
    source: str = ""

    @property
    def official(self) -> Candidate | None:
        """The official answer; None where nobody gave one."""
        return self.answers[0] if self.answers else None

    def check(self, question: Question) -> None:
        """Raise `DataError` unless it fits the question.

        There is one finite outcome for each candidate, or none; and answers to a question that a
        statement answers say how rows are matched.
        """
        if (self.match is None) != (question.answer_form == "candidate") and self.answers:
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
"""The truth of a question about which nobody knows what is right."""


class LabelledQuestion(NamedTuple):
    """A question with what is right: for whoever makes, writes or scores questions."""

    question: Question
    truth: Truth
