"""DeLLMa and its baselines as deciders."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.errors import OutOfBudgetError, RequestTooLongError
from dqa.core.events import FaultEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.actions import Chosen
from dqa.deciders.base import Settings
from dqa.deciders.choosing import ChoosingDecider
from dqa.deciders.context import check_question, list_actions
from dqa.models.conversation import Conversation
from dqa.models.faults import Fault, FaultKind
from dqa_dellma.context.briefing import METHOD, Briefing
from dqa_dellma.events import ContextEvent, Finding, OnlyActionEvent
from dqa_dellma.steps.choosing import Chooser, last_stated
from dqa_dellma.steps.direct import ZeroShot

_HALVINGS = 6
"""How often what is read is halved: from 40,000 characters to 625."""
_TOO_LONG = (
    "What is read was halved as far as it goes; --set dellma.batch=... (items) shortens what is "
    "ranked at once, and --set dellma.context=... (characters) what is read to begin with."
)


class ProblemDecider(ChoosingDecider[Briefing | Candidate]):
    """Reads what bears on a question as a problem, and has it decided.

    What is read is a briefing, or the one action that there is.

    Parameters
    ----------
    name, model, settings
        As `dqa.deciders.choosing.ChoosingDecider` takes them.
    chooser
        Decides.
    context
        Most characters of a problem.
    """

    def __init__(
        self, name: str, model: BaseChatModel, settings: Settings, chooser: Chooser, context: int
    ) -> None:
        super().__init__(name, model, settings)
        self._chooser = chooser
        self._context = context

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions."""
        check_question(question, METHOD)

    def _read(
        self, question: Question, database: Database, recorder: Recorder
    ) -> Briefing | Candidate:
        actions = list_actions(question, database, METHOD)
        if actions.total == 1:
            return actions.first[0]
        return Briefing.of(
            *(question, actions, database, recorder),
            limits=self.settings.limits,
            display=self.settings.display,
        )

    def _choose(
        self, task: Briefing | Candidate, question: Question, conversation: Conversation
    ) -> Chosen:
        recorder = conversation.recorder
        if not isinstance(task, Briefing):
            return _only(question, task, recorder)
        if recorder.ended_by is not None:
            raise OutOfBudgetError(f"The budget of {recorder.spent} is spent.")
        return self._choose_within(task, question.key, conversation)

    def _choose_at_once(self, task: Briefing | Candidate, conversation: Conversation) -> Chosen:
        if not isinstance(task, Briefing):
            return Chosen(str(task), task)
        problem = task.cut_problem(max(self._context, task.least))
        return ZeroShot().choose(problem, "", replace(conversation, max_failures=1))

    def _last_stated(self, task: Briefing | Candidate, recorder: Recorder) -> Chosen | None:
        if not isinstance(task, Briefing):
            return None
        return last_stated(recorder, task.cut_problem(max(self._context, task.least)))

    def _choose_within(self, briefing: Briefing, key: str, conversation: Conversation) -> Chosen:
        """Decide, anew with half the characters where a request is longer than the model takes."""
        # With a context that is shorter than allowed, half of what is allowed changes nothing.
        most = min(self._context, max(briefing.size, briefing.least))
        attempt = 1
        while True:
            try:
                problem = briefing.problem(conversation, most)
                return self._chooser.choose(problem, key, conversation)
            except RequestTooLongError as error:
                shorter = max(most // 2, briefing.least)
                if attempt > _HALVINGS or shorter >= most:
                    raise RequestTooLongError(f"{error} {_TOO_LONG}") from error
            most = shorter
            _begin_anew(conversation.recorder, most, attempt)
            attempt += 1


def _only(question: Question, action: Candidate, recorder: Recorder) -> Chosen:
    """Choose the one action there is: nothing has to be read, and nobody asked."""
    recorder.note(
        ContextEvent(
            goal=question.text,
            rules=question.rules,
            actions=(action,),
            text="",
            summarised=False,
            failed=0,
            cut=0,
        )
    )
    recorder.note(OnlyActionEvent(action=action))
    return Chosen(str(action), action)


def _begin_anew(recorder: Recorder, most: int, attempt: int) -> None:
    """Forget what the steps found, for they begin anew, and record why.

    What was read, asked and said stays: it happened, and was paid for. What was made of it would be
    counted twice.
    """
    recorder.events[:] = [event for event in recorder.events if not isinstance(event, Finding)]
    words = f"Goal, actions, rules and rows are read anew in at most {most} characters."
    fault = Fault(FaultKind.TOO_LONG, RequestTooLongError.__name__, words, attempt, 0.0)
    recorder.note(FaultEvent(step=recorder.steps, **fault.to_data()))
