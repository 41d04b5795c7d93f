"""What is right about a question: for scoring alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question


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
    """

    answers: tuple[Candidate, ...] = ()
    outcomes: tuple[float, ...] | None = None

    @property
    def official(self) -> Candidate | None:
        """The official answer; None where nobody gave one."""
        return self.answers[0] if self.answers else None

    def check(self, question: Question) -> None:
        """Raise `DataError` unless there is one finite outcome for each candidate, or none."""
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
