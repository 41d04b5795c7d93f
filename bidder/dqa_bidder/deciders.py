"""BIDDER and its baselines as deciders."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.actions import Chosen
from dqa.deciders.base import Settings
from dqa.deciders.choosing import ChoosingDecider
from dqa.deciders.context import check_question
from dqa.models.conversation import Conversation
from dqa.worlds.base import is_move
from dqa_bidder.events import ChosenEvent
from dqa_bidder.steps.bidder import Chooser
from dqa_bidder.steps.direct import Direct
from dqa_bidder.task import METHOD, Task, read_task


class DeliberatingDecider(ChoosingDecider[Task]):
    """Reads a question as a task, and has it decided.

    Parameters
    ----------
    name, model, settings
        As `dqa.deciders.choosing.ChoosingDecider` takes them.
    chooser
        What decides.
    context
        Most characters of rows.
    """

    def __init__(
        self, name: str, model: BaseChatModel, settings: Settings, chooser: Chooser, context: int
    ) -> None:
        super().__init__(name, model, settings)
        self._chooser = chooser
        self._context = context

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions."""
        if not is_move(question):
            check_question(question, METHOD)

    def _read(self, question: Question, database: Database, recorder: Recorder) -> Task:
        return read_task(question, database, recorder, self.settings, self._context)

    def _choose(self, task: Task, question: Question, conversation: Conversation) -> Chosen:
        del question
        if len(task.actions) == 1:
            only = task.actions[0]
            conversation.recorder.note(
                ChosenEvent(action=only, reasoning="It is the only legal action.")
            )
            return Chosen(str(only), only)
        return self._chooser.choose(task, conversation, self.settings.budget)

    def _choose_at_once(self, task: Task, conversation: Conversation) -> Chosen:
        return Direct().choose(task, conversation)
