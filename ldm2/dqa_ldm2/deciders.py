"""LDM2 as a decider of questions and of whole episodes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.decider import Decider, EpisodeDecider
from dqa.core.decision import Decision
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.actions import Chosen
from dqa.deciders.base import Settings
from dqa.deciders.choosing import ChoosingDecider
from dqa.models.conversation import Conversation
from dqa_ldm2.events import ImitationEvent, ProcessChosenEvent
from dqa_ldm2.memories import OpenedMemory
from dqa_ldm2.memory.base import Memory
from dqa_ldm2.operations.acting import Known, act
from dqa_ldm2.operations.judging import choose, evaluate
from dqa_ldm2.process import Process
from dqa_ldm2.retrieving import Retriever
from dqa_ldm2.settings import Ldm2Settings
from dqa_ldm2.situation import Situation, check_situation, read_situation


class Chooser(Protocol):
    """Decides situations."""

    def choose(self, situation: Situation, conversation: Conversation) -> Chosen:
        """Choose one of two actions at least.

        Raises
        ------
        UnparsableReplyError
            The model's replies decide nothing.
        InfrastructureError, BudgetSpentError
            As `Conversation.ask` raises them, or the memory cannot be read.
        """
        ...


class SituationDecider(ChoosingDecider[Situation]):
    """Reads a question as a situation, and has it decided.

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
        check_situation(question)

    def _read(self, question: Question, database: Database, recorder: Recorder) -> Situation:
        return read_situation(question, database, recorder, self.settings, self._context)

    def _choose(self, task: Situation, question: Question, conversation: Conversation) -> Chosen:
        del question
        if len(task.actions) == 1 and not task.free_form:
            only = task.actions[0]
            conversation.recorder.note(ImitationEvent(action=only, by="only"))
            return Chosen(str(only), only)
        return self._chooser.choose(task, conversation)

    def _choose_at_once(self, task: Situation, conversation: Conversation) -> Chosen:
        return act(task, Known(), replace(conversation, max_failures=1), self._context)


@dataclass(frozen=True, slots=True)
class Shared:
    """What the deciders of a family are made with: the model, and what bounds every run."""

    name: str
    model: BaseChatModel
    settings: Settings
    context: int

    def conversation(self) -> Conversation:
        """Return a conversation of its own, for what is asked beside the decisions."""
        settings = self.settings
        return Conversation(
            self.model, settings.max_parse_failures, settings.calls, settings.recorder()
        )


class MethodDecider(EpisodeDecider):
    """Decides questions one by one, and plays episodes with what is kept from move to move.

    Between questions and between episodes it keeps nothing: what an episode needs is in the decider
    that `attempt` makes for it.

    Parameters
    ----------
    shared
        The model, and what bounds every run.
    """

    def __init__(self, shared: Shared) -> None:
        self.name = shared.name
        self._shared = shared

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`."""
        return self._playing(self._chooser()).decide(question, database)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions."""
        check_situation(question)

    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Return who plays next; see `EpisodeDecider`."""
        if len(earlier) >= self.attempts:
            return None
        return self._playing(self._chooser_of(earlier))

    def choose_attempt(self, attempts: Sequence[Trajectory]) -> Decision:
        """Return which attempt counts: of one that one, else what the method chooses."""
        conversation = self._shared.conversation()
        recorder = conversation.recorder
        try:
            best = self._choose_process(attempts, conversation)
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
        return recorder.answered(str(best), best)

    @abstractmethod
    def _chooser(self) -> Chooser:
        """Return what decides a question by itself."""

    @abstractmethod
    def _chooser_of(self, earlier: Sequence[Trajectory]) -> Chooser:
        """Return what decides the moves of the attempt that follows some others."""

    def _choose_process(self, attempts: Sequence[Trajectory], conversation: Conversation) -> int:
        return choose(attempts, conversation, self._shared.context)

    def _playing(self, chooser: Chooser) -> SituationDecider:
        shared = self._shared
        return SituationDecider(shared.name, shared.model, shared.settings, chooser, shared.context)


class Ldm2Decider(MethodDecider):
    """LDM2 (section 3): imitates what is remembered of situations like this one.

    An episode is played once with each batch memory, and the model chooses the best of these
    decision processes without knowing their rewards (equation 5). A single question is decided with
    each batch memory, and where the actions differ, the model chooses between them the same way.

    Parameters
    ----------
    shared
        The model, and what bounds every run.
    own
        The settings.
    memory
        What is remembered.
    """

    def __init__(self, shared: Shared, own: Ldm2Settings, memory: OpenedMemory) -> None:
        super().__init__(shared)
        self._own = own
        self._memory = memory

    @property
    def attempts(self) -> int:  # type: ignore[override]
        """As many as there are batch memories to decide with."""
        return len(self._batches())

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions, or where there is no memory."""
        super().check(question)
        self._memory.get()

    def _batches(self) -> tuple[int, ...]:
        batches = self._memory.get().batches()
        return batches if self._own.batches == "all" else batches[: self._own.batches]

    def _chooser(self) -> Chooser:
        return Imitation(self._memory.get(), self._batches(), self._own)

    def _chooser_of(self, earlier: Sequence[Trajectory]) -> Chooser:
        return Imitation(self._memory.get(), (self._batches()[len(earlier)],), self._own)


class Imitation:
    """Retrieves and acts; see `Chooser`. It keeps what is known of one process.

    Parameters
    ----------
    memory, batches
        What is remembered, and with which batch memories it decides.
    own
        The settings.
    """

    def __init__(self, memory: Memory, batches: Sequence[int], own: Ldm2Settings) -> None:
        self._retriever = Retriever(memory, own.retrieved)
        self._batches = batches
        self._own = own
        self._process = Process()

    def choose(self, situation: Situation, conversation: Conversation) -> Chosen:
        """Return the action that the batch memories lead to."""
        own, process = self._own, self._process
        history = process.summarised(situation, conversation, own.context)
        if own.evaluate and situation.steps:
            process.subgoals = evaluate(situation, process.subgoals, conversation, own.context)
        found: list[Chosen] = []
        for batch in self._batches:
            shown = self._retriever.retrieve(situation, batch, history, conversation)
            known = Known(shown, history, process.subgoals)
            found.append(act(situation, known, conversation, own.context))
        actions = list(dict.fromkeys(chosen.action for chosen in found))
        if len(actions) == 1:
            return found[0]
        seen = situation.observation
        processes = [
            Trajectory(situation.goal, (*situation.steps, Step(seen, str(one))), "")
            for one in actions
        ]
        best = actions[choose(processes, conversation, own.context) - 1]
        return next(chosen for chosen in found if chosen.action == best)


def largest_reward(attempts: Sequence[Trajectory], conversation: Conversation) -> int:
    """Return which attempt brought most, the last one of equals, from 1."""
    rewards = [-1.0 if one.reward is None else one.reward for one in attempts]
    best = max(range(len(rewards)), key=lambda place: (rewards[place], place)) + 1
    recorder = conversation.recorder
    recorder.note(ProcessChosenEvent(step=recorder.steps, best=best, of=len(attempts), by="reward"))
    return best
