"""What DeLLMa and its baselines have in common: a question is read as a problem."""

from __future__ import annotations

from abc import abstractmethod

from dqa.core.database import Database
from dqa.core.errors import OutOfBudgetError, RequestTooLongError, UnparsableReplyError
from dqa.core.events import FaultEvent, ReplyEvent, StepEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.actions import Chosen
from dqa.deciders.context import check_question, list_actions
from dqa.deciders.method import Asking, MethodDecider
from dqa.models.faults import Fault, FaultKind
from dqa_dellma.context.briefing import METHOD, Briefing
from dqa_dellma.context.problem import Decided, Problem
from dqa_dellma.findings import ContextRead, OnlyAction
from dqa_dellma.settings import DirectSettings

_HALVINGS = 6
"""How often what is read is halved: from 40,000 characters to 625."""
_TOO_LONG = (
    "What is read was halved as far as possible; --set dellma.batch=... (items) shortens what is "
    "ranked at once, and --set dellma.context=... (characters) what is read to begin with."
)


class ProblemDecider(MethodDecider[Briefing | Candidate]):
    """Reads what bears on a question as a problem, and solves it.

    What it reads is a briefing, or the only action.
    """

    package = "dqa_dellma"

    @abstractmethod
    def solve(self, problem: Problem, key: str, asking: Asking) -> Chosen:
        """Decide a problem of two actions or more.

        Parameters
        ----------
        problem
            The problem.
        key
            Tells the question from others, for random draws.
        asking
            The model; its recorder gets what is found.

        Raises
        ------
        UnparsableReplyError
            The model's replies decide nothing.
        InfrastructureError, BudgetSpentError
            As `Asking.ask` raises them.
        """

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions."""
        check_question(question, METHOD)

    def read(
        self, question: Question, database: Database, recorder: Recorder
    ) -> Briefing | Candidate:
        """Read the context of the question."""
        actions = list_actions(question, database, METHOD)
        if actions.total == 1:
            return actions.first[0]
        limits, display = self.settings.limits, self.settings.display
        return Briefing.of(question, actions, database, recorder, limits=limits, display=display)

    def choose(self, task: Briefing | Candidate, question: Question, asking: Asking) -> Chosen:
        """Decide; anew with half of the characters if a request is too long for the model."""
        if not isinstance(task, Briefing):
            return _only(question, task, asking)
        if asking.recorder.ended_by is not None:
            raise OutOfBudgetError(f"The budget of {asking.recorder.spent} is spent.")
        # With a context that is shorter than allowed, half of what is allowed changes nothing.
        most = min(self._context, max(task.size, task.least))
        attempt = 1
        while True:
            try:
                return self.solve(task.problem(asking, most), question.key, asking)
            except RequestTooLongError as error:
                shorter = max(most // 2, task.least)
                if attempt > _HALVINGS or shorter >= most:
                    raise RequestTooLongError(f"{error} {_TOO_LONG}") from error
            most = shorter
            _begin_anew(asking.recorder, most, attempt)
            attempt += 1

    def choose_at_once(self, task: Briefing | Candidate, asking: Asking) -> Chosen:
        """Decide in one reply, by as many rows as fit."""
        if not isinstance(task, Briefing):
            return Chosen(str(task), task)
        return ask_decision("zero_shot", task.cut_problem(self._most(task)), asking).chosen

    def last_choice(self, task: Briefing | Candidate, recorder: Recorder) -> Chosen | None:
        """Return what the last reply decided, such as a vote."""
        if isinstance(task, Briefing):
            problem = task.cut_problem(self._most(task))
            for event in reversed(recorder.events):
                if isinstance(event, ReplyEvent):
                    try:
                        return Decided.read(event.text, problem).chosen
                    except UnparsableReplyError:
                        continue
        return None

    @property
    def _context(self) -> int:
        return self.settings.own_as(DirectSettings).context

    def _most(self, task: Briefing) -> int:
        return max(self._context, task.least)


def ask_decision(
    purpose: str, problem: Problem, asking: Asking, *, label: str = "decision", **more: object
) -> Decided:
    """Ask for one of the problem's actions."""
    task = asking.render("task", problem=problem)
    told = {"task": task, "problem": problem, **more}
    return asking.ask(purpose, Decided, context=problem, label=label, **told)  # type: ignore[arg-type]


def _only(question: Question, action: Candidate, asking: Asking) -> Chosen:
    """Choose the only action: nothing has to be read or asked."""
    context = ContextRead(
        goal=question.text,
        rules=question.rules,
        actions=(action,),
        text="",
        summarised=False,
        failed=0,
        cut=0,
    )
    asking.note("context", context)
    asking.note("only_action", OnlyAction(action=action))
    return Chosen(str(action), action)


def _begin_anew(recorder: Recorder, most: int, attempt: int) -> None:
    """Forget the results of the steps, for they begin anew, and record why.

    Prompts and replies stay: they happened, and were paid for.
    """
    recorder.events[:] = [
        event
        for event in recorder.events
        if not isinstance(event, StepEvent) or event.purpose == "context"
    ]
    words = f"Goal, actions, rules and rows are read anew in at most {most} characters."
    fault = Fault(FaultKind.TOO_LONG, RequestTooLongError.__name__, words, attempt, 0.0)
    recorder.note(FaultEvent(step=recorder.steps, **fault.to_data()))
