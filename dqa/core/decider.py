"""The contract of deciders: a question and a database to a decision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import AnswerForm, Question
from dqa.core.truth import Truth


class Decider(ABC):
    """Answers questions. Stateless between questions, so one serves many threads.

    Attributes
    ----------
    name
        What commands and results call it.
    answer_forms
        What it can answer with; an evaluation refuses questions that want something else.
    """

    name: str
    answer_forms: tuple[AnswerForm, ...] = ("candidate",)

    @abstractmethod
    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question.

        Statement errors and unparsable replies are handed to the model; a failing server or
        provider ends the decision as `Ending.INFRASTRUCTURE`, a spent budget as `Ending.BUDGET`,
        and both keep the trace so far.
        """

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that it could never decide.

        An evaluation asks this before it begins. By default every question can be decided.
        """
        del question


class UpperBound(Decider):
    """What no decider can beat: it alone is told what is right, and results name it for that."""

    @abstractmethod
    def with_truths(self, truths: Mapping[str, Truth]) -> Decider:
        """Return the same bound, which knows `truths` by the key of their question."""
