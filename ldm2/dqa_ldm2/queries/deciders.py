"""LDM2 on questions: statements as others were asked, step by step, and then the decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.errors import InvalidAnswerError, OutOfBudgetError, UnparsableReplyError
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.base import Settings
from dqa.deciders.reviewing import settle_decision, told_refusal
from dqa.models.conversation import Conversation, given_up
from dqa_ldm2.events import Subgoal
from dqa_ldm2.memories import OpenedMemory
from dqa_ldm2.operations.acting import Known, act
from dqa_ldm2.operations.judging import choose, evaluate
from dqa_ldm2.queries.actions import answer_of, statement_of
from dqa_ldm2.queries.asking import AskedTask, closing, read_task
from dqa_ldm2.queries.proving import find_proven
from dqa_ldm2.queries.settings import QueriesSettings
from dqa_ldm2.retrieving import Retriever, last_actions
from dqa_ldm2.situation import Situation


@dataclass(frozen=True, slots=True)
class Finished:
    """A decision process that came to its end."""

    answer: str
    choice: Candidate | None
    process: Trajectory


class _OutOfSteps(Exception):  # noqa: N818  (no error: it is how a run ends)
    """The most replies of a run were given."""


class QueriesDecider(Decider):
    """Asks a question's database in steps, as was done on the way to other decisions.

    Each batch memory leads a decision process of its own; where they decide differently, the model
    chooses the best of them (LDM2, equation 5).

    Parameters
    ----------
    name, model, settings
        As those of every decider.
    own
        The method's own settings.
    memory
        What is remembered; None to decide without.
    """

    def __init__(
        self,
        name: str,
        model: BaseChatModel,
        settings: Settings,
        own: QueriesSettings,
        memory: OpenedMemory | None,
    ) -> None:
        self.name = name
        self._model = model
        self._settings = settings
        self._own = own
        self._memory = memory

    def check(self, question: Question) -> None:
        """Raise `UsageError` where there is no memory, or it is empty."""
        del question
        if self._memory is not None:
            self._memory.get()

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`."""
        settings, recorder = self._settings, self._settings.recorder()
        conversation = Conversation(
            self._model, settings.max_parse_failures, settings.calls, recorder
        )
        deciding: _Deciding | None = None
        try:
            task = read_task(question, database, settings)
            for warning in task.warnings:
                recorder.note(warning)
            deciding = _Deciding(task, settings, self._own, conversation, self._memory)
            finished = deciding.decide()
        except OutOfBudgetError:
            return _decide_out_of_budget(deciding, recorder)
        except _OutOfSteps:
            problem = f"No decision within {settings.max_steps} replies."
            return recorder.ended(Ending.STEP_LIMIT, problem)
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
        return recorder.answered(finished.answer, finished.choice)


class _Deciding:
    """One decision."""

    def __init__(
        self,
        task: AskedTask,
        settings: Settings,
        own: QueriesSettings,
        conversation: Conversation,
        memory: OpenedMemory | None,
    ) -> None:
        self._task = task
        self._settings = settings
        self._own = own
        self._conversation = conversation
        self._here = task.start
        self._batches: Sequence[int | None] = (None,)
        self._retriever: Retriever | None = None
        self._subgoals: tuple[Subgoal, ...] = ()
        if memory is not None:
            opened = memory.get()
            batches = opened.batches()
            self._batches = batches if own.batches == "all" else batches[: own.batches]
            self._retriever = Retriever(
                opened, own.retrieved, find_proven, shows_own=own.same_question
            )

    def decide(self) -> Finished:
        """Decide by each batch memory, and choose between what they lead to."""
        found = [self._process(batch) for batch in self._batches]
        differing = {str(one.choice or one.answer): one for one in reversed(found)}
        first = list(reversed(differing.values()))
        processes = [one.process for one in first]
        return first[choose(processes, self._conversation, self._own.context) - 1]

    def decide_at_once(self) -> Finished:
        """Decide in one reply, by what was seen."""
        conversation = replace(self._conversation, max_failures=1)
        chosen = act(closing(self._here), Known(), conversation, self._own.context)
        answer = answer_of(str(chosen.action)) or ""
        return Finished(answer, self._task.choose(answer), _process_of(self._here))

    def _process(self, batch: int | None) -> Finished:
        """Act until there is a decision."""
        task, recorder = self._task, self._conversation.recorder
        self._here, self._subgoals = task.start, ()
        asked = failures = 0
        while True:
            if asked and recorder.over_budget() is not None:
                raise OutOfBudgetError(f"The budget of {recorder.spent} is spent.")
            here = closing(self._here) if asked >= self._own.statements else self._here
            action = self._act(here, batch)
            statement = statement_of(action)
            if statement is not None:
                evidence = task.run(statement)
                recorder.add_evidence(evidence)
                asked += 1
                self._here = task.after(self._here, action, evidence)
                continue
            answer = answer_of(action) or ""
            try:
                settled, choice = settle_decision(answer, task.choose(answer), task.choose)
            except InvalidAnswerError as error:
                failures += 1
                if failures >= self._settings.max_parse_failures:
                    raise given_up(failures, str(error)) from error
                self._here = task.refused(self._here, action, error)
                continue
            if settled.text is not None:
                return Finished(settled.text, choice, _process_of(self._here, action))
            self._here = task.refused(self._here, action, told_refusal(settled, "decision"))

    def _act(self, here: Situation, batch: int | None) -> str:
        conversation, own = self._conversation, self._own
        if conversation.recorder.steps >= self._settings.max_steps * len(self._batches):
            raise _OutOfSteps
        known = Known()
        if self._retriever is not None and batch is not None:
            history = last_actions(here.steps)
            known = Known(self._retriever.retrieve(here, batch, history, conversation))
        if own.evaluate and here.steps:
            self._subgoals = evaluate(here, self._subgoals, conversation, own.context)
            known = replace(known, subgoals=self._subgoals)
        return str(act(here, known, conversation, own.context).action)


def _process_of(situation: Situation, last: str | None = None) -> Trajectory:
    steps = situation.steps
    if last is not None:
        steps = (*steps, Step(situation.observation, last))
    return Trajectory(situation.goal, steps, "")


def _decide_out_of_budget(deciding: _Deciding | None, recorder: Recorder) -> Decision:
    """Return the decision of one last reply, where what is left of a budget pays for it."""
    if recorder.ended_by is not None or recorder.close_by_budget():
        try:
            if deciding is not None:
                finished = deciding.decide_at_once()
                return recorder.answered(finished.answer, finished.choice)
        except UnparsableReplyError:
            pass  # the recorder has why
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
    problem = f"The budget of {recorder.spent} was spent before a decision was made."
    return recorder.ended(Ending.NO_DECISION, problem)
