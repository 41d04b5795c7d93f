"""The contract of deciders, which return a decision for a question and its database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import AnswerForm, Question
from dqa.core.truth import Truth


class Decider(ABC):
    """Answers questions. A decider has no state between questions, so threads can share it.

    Attributes
    ----------
    name
        The decider's name in commands and results.
    answer_forms
        The forms of answers that the decider can give. An evaluation refuses questions that need
        another form.
    """

    name: str
    answer_forms: tuple[AnswerForm, ...] = ("candidate",)

    @abstractmethod
    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question.

        The model receives the errors of its statements and the problems with its replies. If a
        server or provider fails, the decision ends as `Ending.INFRASTRUCTURE`. If the budget is
        spent, the decision ends as `Ending.BUDGET`. In both cases, the decision contains the trace
        so far.
        """

    def check(self, question: Question) -> None:
        """Raise `UsageError` if this decider can never decide the question.

        An evaluation calls this method before it begins. By default, it accepts every question.
        """
        del question


class EpisodeDecider(Decider):
    """Plays an episode several times and chooses the attempt to score.

    For an episode that cannot be restarted, `decide` decides each move instead.

    Attributes
    ----------
    attempts
        The maximum number of attempts at an episode.
    """

    attempts: int = 1

    @abstractmethod
    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Return the player of the next attempt; None to end the attempts.

        This method may create a `dqa.core.recorder.Recorder`, for example for a reflection on the
        previous attempt. The recorder's events become part of the next attempt, so the returned
        player must not record them again.

        Parameters
        ----------
        earlier
            The attempts so far, each with its reward. Empty before the first attempt.
        """

    @abstractmethod
    def choose_attempt(self, attempts: Sequence[Trajectory]) -> Decision:
        """Return a decision whose choice is the number (from 1) of the attempt to score."""


class UpperBound(Decider):
    """A decider that knows the right answers. No decider can do better."""

    @abstractmethod
    def with_truths(self, truths: Mapping[str, Truth]) -> Decider:
        """Return a copy that knows the right answers; `truths` maps question keys to truths."""


@dataclass(frozen=True, slots=True)
class Step:
    """The text of an observation, and the action after it (LDM2, section 3.1)."""

    observation: str
    action: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The steps of a decider towards a goal.

    Attributes
    ----------
    goal
        The text of the goal that the decider read when it acted.
    steps
        The steps, in order.
    source
        The origin of the steps, such as ``household 17``. For a decision of a run: the name of the
        run and the key of the question.
    reward
        The reward, from 0 to 1; None if it is unknown.
    end
        The observation after the last action.
    identity
        The id of the episode, which is the same in every source. Empty if the goal and the first
        observation identify the episode.
    """

    goal: str
    steps: tuple[Step, ...]
    source: str
    reward: float | None = None
    end: str = ""
    identity: str = ""
