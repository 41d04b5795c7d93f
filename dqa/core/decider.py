"""The contract of deciders: from a question and a database to a decision."""

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
        Its name in commands and results.
    answer_forms
        The forms of its answers; an evaluation refuses questions of another form.
    """

    name: str
    answer_forms: tuple[AnswerForm, ...] = ("candidate",)

    @abstractmethod
    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question.

        The model receives statement errors and problems with its replies. A failing server or
        provider ends the decision as `Ending.INFRASTRUCTURE`, a spent budget as `Ending.BUDGET`;
        both decisions contain the trace so far.
        """

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that it could never decide.

        An evaluation asks this before it begins. By default every question can be decided.
        """
        del question


class EpisodeDecider(Decider):
    """Plays an episode several times before one attempt counts.

    Where an episode cannot start again, `decide` decides each move.

    Attributes
    ----------
    attempts
        Most attempts at an episode.
    """

    attempts: int = 1

    @abstractmethod
    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Return the player of the next attempt; None for no further attempt.

        Events of a `dqa.core.recorder.Recorder` that is created here, such as a reflection on the
        attempt before, belong to the attempt: do not record them in the player's decisions again.

        Parameters
        ----------
        earlier
            The attempts so far, each with its reward; the first one has none before it.
        """

    @abstractmethod
    def choose_attempt(self, attempts: Sequence[Trajectory]) -> Decision:
        """Return a decision whose choice is the number of the attempt that counts, from 1."""


class UpperBound(Decider):
    """A bound that no decider can beat: it knows the truths, and results say so."""

    @abstractmethod
    def with_truths(self, truths: Mapping[str, Truth]) -> Decider:
        """Return the same bound with truths by the key of their question."""
