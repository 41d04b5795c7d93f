"""The contract of deciders: a question and a database to a decision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import AnswerForm, Question
from dqa.core.trajectories import Trajectory
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


class EpisodeDecider(Decider):
    """Plays an episode several times before one playing of it counts.

    Only where an episode can be played again from its start is this asked for; elsewhere `decide`
    decides each move by itself.

    Attributes
    ----------
    attempts
        How often it plays an episode at most.
    """

    attempts: int = 1

    @abstractmethod
    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Return who plays next; None where no further attempt is wanted.

        What a `dqa.core.recorder.Recorder` that is made here notes, such as a reflection on the
        attempt before, is kept with the attempt and paid for once: leave it here, or tell of it in
        the player's own decisions.

        Parameters
        ----------
        earlier
            The attempts so far, each with its reward; the first one has none before it.
        """

    @abstractmethod
    def choose_attempt(self, attempts: Sequence[Trajectory]) -> Decision:
        """Return which attempt counts: a decision whose choice is its number, from 1.

        What that costs, and how it came about, is in the decision like in any other.
        """


class UpperBound(Decider):
    """What no decider can beat: it alone is told what is right, and results name it for that."""

    @abstractmethod
    def with_truths(self, truths: Mapping[str, Truth]) -> Decider:
        """Return the same bound, which knows `truths` by the key of their question."""
