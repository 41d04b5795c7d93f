"""The base class of DeLLMa and its baselines."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from typing import Any

from dqa.core.database import Database
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.events import ReplyEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.candidates import list_candidates
from dqa.deciders.context import check_question
from dqa.deciders.method import Asking, MethodDecider
from dqa.deciders.replies import Choice
from dqa_dellma.findings import ContextRead, OnlyAction
from dqa_dellma.problem import METHOD, Decided, Problem, read_problem


class ProblemDecider(MethodDecider[Problem | Candidate]):
    """The base class of DeLLMa and its baselines: turn a question into a problem, and solve it.

    `read` returns a `Problem`, or the action of a question with only one action.
    """

    package = "dqa_dellma"

    @abstractmethod
    def solve(self, problem: Problem, key: str, asking: Asking) -> Choice:
        """Decide a problem with at least two actions.

        Parameters
        ----------
        problem
            The problem.
        key
            The key of the question, for the seed of random draws.
        asking
            Asks the model, and records the result of each step.

        Raises
        ------
        UnparsableReplyError
            The model's replies contain no decision.
        InfrastructureError, BudgetSpentError
            A request failed; see `Asking.ask`.
        """

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions."""
        check_question(question, METHOD)

    def read(
        self, question: Question, database: Database, recorder: Recorder
    ) -> Problem | Candidate:
        """Return the decision problem of a question, or the action if there is only one."""
        actions = list_candidates(question, database, METHOD)
        if len(actions) == 1:
            return actions[0]
        return read_problem(question, actions, database, recorder, self.settings)

    def choose(self, task: Problem | Candidate, question: Question, asking: Asking) -> Choice:
        """Solve the problem, or choose the only action without asking the model."""
        if not isinstance(task, Problem):
            return _choose_only(question, task, asking)
        recorder = asking.recorder
        if recorder.ended_by is not None:
            raise OutOfBudgetError(f"The budget of {recorder.spent} is spent.")
        asking.note("context", task.read)
        return self.solve(task, question.key, asking)

    def choose_at_once(self, task: Problem | Candidate, asking: Asking) -> Choice:
        """Ask for the decision with one last request after the budget is spent."""
        if not isinstance(task, Problem):
            return Choice.of(task)
        return ask_decision("zero_shot", task, asking).chosen

    def last_choice(self, task: Problem | Candidate, recorder: Recorder) -> Choice | None:
        """Return the decision in the last reply with a decision. A vote counts as a decision."""
        for event in reversed(recorder.events):
            if isinstance(task, Problem) and isinstance(event, ReplyEvent):
                with suppress(UnparsableReplyError):
                    return Decided.read(event.text, task).chosen
        return None


def task_values(problem: Problem, asking: Asking) -> dict[str, Any]:
    """Return the values that describe a problem in every prompt."""
    return {"task": asking.render("task", problem=problem), "problem": problem}


def ask_decision(
    purpose: str, problem: Problem, asking: Asking, *, label: str = "decision", **more: object
) -> Decided:
    """Ask the model to choose one of the problem's actions."""
    values = {**task_values(problem, asking), **more}
    return asking.ask(purpose, Decided, context=problem, label=label, **values)


def _choose_only(question: Question, action: Candidate, asking: Asking) -> Choice:
    """Choose the only action, without reading the database or asking the model."""
    context = ContextRead(
        goal=question.text, rules=question.rules, actions=(action,), text="", failed=0, cut=0
    )
    asking.note("context", context)
    asking.note("only_action", OnlyAction(action=action))
    return Choice.of(action)
