"""LDM2 and its baselines (section 4.2) as deciders of questions and of whole episodes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol

from langchain_core.language_models import BaseChatModel

from dqa.core.database import Database
from dqa.core.decider import Decider, EpisodeDecider, Step, Trajectory
from dqa.core.decision import EXPECTED_FAILURES, Decision
from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.method import Asking, MethodDecider
from dqa.deciders.replies import Choice
from dqa_ldm2 import steps
from dqa_ldm2.memory import Memory
from dqa_ldm2.replies import Subgoal
from dqa_ldm2.retrieval import Retriever, open_filled, whole_examples
from dqa_ldm2.settings import ExampleSettings, Ldm2Settings, MemorySettings, TrialSettings
from dqa_ldm2.situation import Situation, check_situation, read_situation


class Chooser(Protocol):
    """Choose the actions of one decision process."""

    def choose(self, situation: Situation, asking: Asking) -> Choice:
        """Choose one of several actions. Raise `UnparsableReplyError` if no reply has an action."""
        ...


class MemoryDecider(MethodDecider[Situation], EpisodeDecider):
    """The base class of LDM2 and its baselines: decide questions, and play episodes several times.

    The decider stores nothing between questions or episodes. Each attempt at an episode is played
    by a copy of the decider with its own state.

    Parameters
    ----------
    name, model, settings
        The name, model and settings of the decider; see `MethodDecider`.
    memory
        An open memory. None opens the memory that the settings name.
    """

    package: ClassVar[str] = steps.PACKAGE

    def __init__(
        self, name: str, model: BaseChatModel, settings: Settings, memory: Memory | None = None
    ) -> None:
        super().__init__(name, model, settings)
        shared = settings.own_as(MemorySettings)
        self._context = shared.context
        self._location = memory or shared.memory
        self._playing: Chooser | None = None

    @cached_property
    def memory(self) -> Memory:
        """The memory. Raise `UsageError` if it does not exist or is empty."""
        return open_filled(self._location)

    def check(self, question: Question) -> None:
        """Raise `UsageError` if the question has no actions, or if there is no memory."""
        check_situation(question)
        _ = self.memory

    def read(self, question: Question, database: Database, recorder: Recorder) -> Situation:
        """Read the situation of a question."""
        return read_situation(question, database, recorder, self.settings, self._context)

    def choose(self, task: Situation, question: Question, asking: Asking) -> Choice:
        """Return the only action, or the action that the chooser selects."""
        del question
        if task.only_action is not None:
            choice = Choice.of(task.only_action, "the only action")
            steps.note_imitation(asking, choice, ())
            return choice
        return (self._playing or self._chooser(None)).choose(task, asking)

    def choose_at_once(self, task: Situation, asking: Asking) -> Choice:
        """Ask for an action with one last request, without the memory."""
        return steps.act(asking, task, steps.Known(), self._context)

    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Return the decider that plays the next attempt; None after the last attempt."""
        if len(earlier) >= self.attempts:
            return None
        player = copy(self)
        player._playing = self._chooser(earlier)  # noqa: SLF001  (its own class)
        return player

    def choose_attempt(self, attempts: Sequence[Trajectory]) -> Decision:
        """Choose the attempt whose result counts, and return its number as a decision."""
        settings, recorder = self.settings, self.settings.recorder()
        tries = settings.max_parse_failures
        asking = Asking(steps.PACKAGE, self.model, tries, settings.calls, recorder)
        try:
            best = self._best(attempts, asking)
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
        return recorder.answered(str(best), best)

    @abstractmethod
    def _chooser(self, earlier: Sequence[Trajectory] | None) -> Chooser:
        """Return the chooser for the next attempt at an episode, after the `earlier` attempts.

        If `earlier` is None, return the chooser for a single question.
        """

    @abstractmethod
    def _best(self, attempts: Sequence[Trajectory], asking: Asking) -> int:
        """Return the number of the attempt whose result counts for the episode."""


class Ldm2Decider(MemoryDecider):
    """LDM2 (section 3): imitate the actions in similar situations.

    An episode is played once with each batch memory. The model then chooses the best decision
    process without knowing the rewards (equation 5). A single question is decided once with each
    batch memory. If the batch memories give different actions, the model chooses one of these
    actions in the same way.
    """

    @property
    def attempts(self) -> int:  # type: ignore[override]
        """The number of batch memories."""
        return len(self._batches())

    def _batches(self) -> tuple[int, ...]:
        batches, most = self.memory.batches(), self.settings.own_as(Ldm2Settings).batches
        return batches if most == "all" else batches[:most]

    def _chooser(self, earlier: Sequence[Trajectory] | None) -> Chooser:
        batches = self._batches()
        chosen = batches if earlier is None else (batches[len(earlier)],)
        return Imitation(self.memory, chosen, self.settings.own_as(Ldm2Settings))

    def _best(self, attempts: Sequence[Trajectory], asking: Asking) -> int:
        return steps.choose(asking, attempts, self._context)


class Imitation:
    """Retrieve similar tuples from the memory and imitate their actions.

    The object stores the state of one decision process.
    """

    def __init__(self, memory: Memory, batches: Sequence[int], own: Ldm2Settings) -> None:
        self._retriever = Retriever(memory, own.retrieved, exact=own.exact)
        self._batches = batches
        self._own = own
        self._history = steps.History(own.exact)
        self._subgoals: tuple[Subgoal, ...] = ()

    def choose(self, situation: Situation, asking: Asking) -> Choice:
        """Return the action that the model chooses with the batch memories."""
        most = self._own.context
        history = self._history.summarise(asking, situation.goal, situation.steps, most)
        if self._own.evaluate and situation.steps:
            before, told = ((), None) if self._own.exact else (self._subgoals, history)
            self._subgoals = steps.evaluate(asking, situation, before, told, most)
        found: dict[object, Choice] = {}
        for batch in self._batches:
            remembered = self._retriever.retrieve(asking, situation, batch, history)
            known = steps.Known(remembered, history, steps.described(self._subgoals))
            choice = steps.act(asking, situation, known, most)
            found.setdefault(choice.action, choice)
        processes = [
            Trajectory(
                situation.goal, (*situation.steps, Step(situation.observation, str(action))), ""
            )
            for action in found
        ]
        return [*found.values()][steps.choose(asking, processes, most) - 1]


class Standard(MemoryDecider):
    """Show whole successful decision processes as examples, the same for every question."""

    thinks: ClassVar[bool] = False
    """Whether the model thinks before it acts."""
    retrieves: ClassVar[bool] = False
    """Whether the examples are chosen by similarity to the goal."""

    def check(self, question: Question) -> None:
        """Raise `UsageError` if there are no actions, or no memory for the examples."""
        if self.settings.own_as(ExampleSettings).examples:
            super().check(question)
        else:
            check_situation(question)

    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Return the decider that plays the next trial.

        The result is None after a successful trial, and after the last allowed trial.
        """
        if earlier and (earlier[-1].reward or 0.0) >= 1.0:
            return None
        return super().attempt(earlier)

    def examples(self, situation: Situation) -> tuple[Trajectory, ...]:
        """Return the examples for a situation."""
        count = self.settings.own_as(ExampleSettings).examples
        if not count:
            return ()
        return whole_examples(self.memory, situation, count, retrieve=self.retrieves)

    def _chooser(self, earlier: Sequence[Trajectory] | None) -> Chooser:
        return _ExampleChooser(self, self._context, earlier or ())

    def _best(self, attempts: Sequence[Trajectory], asking: Asking) -> int:
        """Return the number of the trial with the largest reward; of equal trials, the last."""
        del asking
        rewards = [-1.0 if one.reward is None else one.reward for one in attempts]
        return max(range(len(rewards)), key=lambda index: (rewards[index], index)) + 1


class StandardRetrieved(Standard):
    """Show whole examples whose goals are most similar to the current goal."""

    retrieves: ClassVar[bool] = True


class ReAct(Standard):
    """Let the model think before it acts, and show examples with thoughts."""

    thinks: ClassVar[bool] = True


class Reflexion(ReAct):
    """Play an episode until it succeeds, and reflect before each further trial.

    The trial with the largest reward counts.
    """

    @property
    def attempts(self) -> int:  # type: ignore[override]
        """The maximum number of trials."""
        return self.settings.own_as(TrialSettings).trials


@dataclass(slots=True)
class _ExampleChooser:
    """Choose actions with whole examples in the prompt.

    The object stores the thoughts of one decision process.
    """

    decider: Standard
    context: int
    trials: Sequence[Trajectory]
    _shown: steps.Examples | None = None
    _own: list[str] = field(default_factory=list)

    def choose(self, situation: Situation, asking: Asking) -> Choice:
        """Return the next action."""
        if self._shown is None:
            self._shown = self._begin(situation, asking)
        choice = steps.act_as_shown(asking, situation, self._shown, self.context)
        if self.decider.thinks:
            missing = len(situation.steps) - len(self._own)  # steps whose replies were unusable
            self._own += [""] * missing + [choice.reasoning]
        return choice

    def _begin(self, situation: Situation, asking: Asking) -> steps.Examples:
        """Collect the examples, their thoughts, and the lesson of earlier trials."""
        processes = self.decider.examples(situation)
        lessons: tuple[str, ...] = ()
        thoughts: Sequence[Sequence[str]] = ()
        try:
            if self.trials:
                lessons = (steps.reflect(asking, self.trials, situation.rules, self.context),)
        except UnparsableReplyError:
            text = "No reply gives a lesson of the earlier trials. The prompt shows no lesson."
            steps.warn(asking, text, 0, len(self.trials))
        try:
            if self.decider.thinks and processes:
                thoughts = steps.think(asking, processes, self.context).thoughts
        except UnparsableReplyError:
            text = (
                "No reply gives thoughts for the examples. The prompt shows them without thoughts."
            )
            steps.warn(asking, text, 0, len(processes))
        return steps.Examples(processes, thoughts, self._own, lessons, self.decider.thinks)
