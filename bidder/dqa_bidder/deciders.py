"""BIDDER and its baselines as deciders."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.context import check_question
from dqa.models.conversation import Conversation
from dqa.worlds.base import is_move, require_foreseen
from dqa_bidder.events import ChosenEvent
from dqa_bidder.steps.bidder import Chooser
from dqa_bidder.steps.direct import Direct
from dqa_bidder.task import METHOD, Task, read_task

_NOT_LOOKING_AHEAD = "direct, cot, reflexion or tree-of-thoughts"


class DeliberatingDecider(Decider):
    """Reads a question as a task, and has it decided.

    Parameters
    ----------
    name
        What results call it.
    model
        Who is asked.
    settings
        What bounds every run. How many replies there are follows from the chooser's settings, so
        `Settings.max_steps` does not bound them; `Settings.budget` does.
    chooser
        What decides.
    context
        Most characters of rows.
    """

    def __init__(
        self, name: str, model: BaseChatModel, settings: Settings, chooser: Chooser, context: int
    ) -> None:
        self.name = name
        self._model = model
        self._settings = settings
        self._chooser = chooser
        self._context = context

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`.

        Raises
        ------
        UsageError
            The question has no action, or nothing says which rows to read.
        DataError
            It is a move, and its history has gaps or breaks the rules.
        """
        settings = self._settings
        recorder = settings.recorder()
        conversation = Conversation(
            self._model, settings.max_parse_failures, settings.calls, recorder
        )
        task: Task | None = None
        try:
            task = read_task(question, database, recorder, settings, self._context)
            if len(task.actions) == 1 and not task.form:
                only = task.actions[0]
                recorder.note(ChosenEvent(action=only, reasoning="It is the only legal action."))
                return recorder.answered(str(only), only)
            chosen = self._chooser.choose(task, conversation, settings.budget)
        except OutOfBudgetError:
            return _decide_at_once(task, conversation, recorder)
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
        return recorder.answered(chosen.answer, chosen.action)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions, or where nobody can look ahead."""
        if getattr(self._chooser, "looks_ahead", False):
            require_foreseen(question, self.name, _NOT_LOOKING_AHEAD)
        if not is_move(question):
            check_question(question, METHOD)


def _decide_at_once(task: Task | None, conversation: Conversation, recorder: Recorder) -> Decision:
    """Return the decision of one last reply, where what is left of a budget pays for it."""
    if recorder.ended_by is None and recorder.close_by_budget() and task is not None:
        try:
            chosen = Direct().choose(task, conversation)
            return recorder.answered(chosen.answer, chosen.action)
        except UnparsableReplyError:
            pass  # the recorder has why
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
    return recorder.ended(
        Ending.NO_DECISION,
        f"The budget of {recorder.spent} was spent before a decision was made.",
    )
