"""What methods have in common that ask a model in steps of their own: read, choose, end.

A `Conversation` asks for one thing at a time, and a recorder keeps what happened. What differs is
what is read of a question, how it is chosen, and what is asked for last where a budget is spent.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.events import BudgetEvent, PromptEvent
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.actions import Chosen
from dqa.deciders.base import Settings
from dqa.models.conversation import Conversation

_Task = TypeVar("_Task")


class ChoosingDecider(Decider, Generic[_Task]):
    """Reads a question as a task, and has it decided.

    Parameters
    ----------
    name
        What results call it.
    model
        Who is asked.
    settings
        What bounds every run. How many replies there are follows from the method's own settings, so
        `Settings.max_steps` does not bound them; `Settings.budget` does.
    """

    def __init__(self, name: str, model: BaseChatModel, settings: Settings) -> None:
        self.name = name
        self.settings = settings
        self._model = model

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`.

        Raises
        ------
        UsageError
            The question has no action, or nothing says which rows to read.
        DataError
            It is a move, and its history has gaps or breaks the rules.
        """
        settings, recorder = self.settings, self.settings.recorder()
        conversation = Conversation(
            self._model, settings.max_parse_failures, settings.calls, recorder
        )
        task: _Task | None = None
        try:
            task = self._read(question, database, recorder)
            chosen = self._choose(task, question, conversation)
        except OutOfBudgetError:
            return self._decide_out_of_budget(task, conversation)
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
        return recorder.answered(chosen.answer, chosen.action)

    @abstractmethod
    def _read(self, question: Question, database: Database, recorder: Recorder) -> _Task:
        """Read what a question is about; every statement is evidence."""

    @abstractmethod
    def _choose(self, task: _Task, question: Question, conversation: Conversation) -> Chosen:
        """Choose one of the task's actions."""

    @abstractmethod
    def _choose_at_once(self, task: _Task, conversation: Conversation) -> Chosen:
        """Choose in one reply, by what was read."""

    def _last_stated(self, task: _Task, recorder: Recorder) -> Chosen | None:
        """Return what a reply decided already, for where nothing is left; None for nothing."""
        del task, recorder
        return None

    def _decide_out_of_budget(self, task: _Task | None, conversation: Conversation) -> Decision:
        """Return the decision of one last reply, where what is left of a budget pays for it."""
        recorder = conversation.recorder
        if recorder.ended_by is None:
            recorder.close_by_budget()
        if task is not None and _may_ask(recorder):
            try:
                chosen = self._choose_at_once(task, conversation)
                return recorder.answered(chosen.answer, chosen.action)
            except UnparsableReplyError:
                pass  # the recorder has why
            except EXPECTED_FAILURES as failure:
                return recorder.failed(failure)
        stated = None if task is None else self._last_stated(task, recorder)
        if stated is not None:
            return recorder.answered(stated.answer, stated.action)
        return recorder.ended(
            Ending.NO_DECISION,
            f"The budget of {recorder.spent} was spent before a decision was made.",
        )


def _may_ask(recorder: Recorder) -> bool:
    """Whether a last reply is left to be asked for: it can be paid for, and was not asked yet."""
    for event in reversed(recorder.events):
        if isinstance(event, PromptEvent):
            return False
        if isinstance(event, BudgetEvent):
            return event.asked
    return False
