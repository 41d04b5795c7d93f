"""What LDM2 is compared with: Standard, ReAct and Reflexion (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.decider import Decider
from dqa.core.errors import UnparsableReplyError
from dqa.core.events import WarningEvent
from dqa.core.question import Question
from dqa.core.trajectories import Trajectory
from dqa.deciders.actions import Chosen
from dqa.models.conversation import Conversation
from dqa_ldm2.deciders import Chooser, MethodDecider, Shared, largest_reward
from dqa_ldm2.memories import OpenedMemory, whole_examples
from dqa_ldm2.operations.acting import Whole, act_as_shown
from dqa_ldm2.operations.judging import reflect
from dqa_ldm2.settings import ExampleSettings, TrialSettings
from dqa_ldm2.situation import Situation


class ExampleDecider(MethodDecider):
    """Shows whole successful examples, and asks for the next action.

    Parameters
    ----------
    shared
        The model, and what bounds every run.
    own
        The settings.
    memory
        Where the examples come from; not read where there are none to show.
    thinks
        Whether it thinks before it acts (ReAct), or not (Standard).
    """

    def __init__(
        self, shared: Shared, own: ExampleSettings, memory: OpenedMemory, *, thinks: bool
    ) -> None:
        super().__init__(shared)
        self._own = own
        self._memory = memory
        self._thinks = thinks

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question without actions, or where there is no memory."""
        super().check(question)
        if self._own.examples:
            self._memory.get()

    def _chooser(self) -> Chooser:
        return self._chooser_of(())

    def _chooser_of(self, earlier: Sequence[Trajectory]) -> Chooser:
        return AsShown(self._own, self._memory, thinks=self._thinks, trials=earlier)


class TrialsDecider(ExampleDecider):
    """Tries an episode until it succeeds, and reflects between trials (Reflexion).

    It is told the reward of each trial. The one of the largest reward counts. A question that is no
    episode is decided once, as ReAct does.
    """

    def __init__(self, shared: Shared, own: TrialSettings, memory: OpenedMemory) -> None:
        super().__init__(shared, own, memory, thinks=True)
        self.attempts = own.trials

    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Return who plays next; nobody once a trial has brought all there is."""
        if earlier and (earlier[-1].reward or 0.0) >= 1.0:
            return None
        return super().attempt(earlier)

    def _choose_process(self, attempts: Sequence[Trajectory], conversation: Conversation) -> int:
        return largest_reward(attempts, conversation)


class AsShown:
    """Acts as whole examples show; see `dqa_ldm2.deciders.Chooser`. It keeps what it thought.

    Parameters
    ----------
    own, memory, thinks
        As `ExampleDecider` takes them.
    trials
        Earlier trials of the same episode, on which it reflects before its first action.
    """

    def __init__(
        self,
        own: ExampleSettings,
        memory: OpenedMemory,
        *,
        thinks: bool,
        trials: Sequence[Trajectory] = (),
    ) -> None:
        self._own = own
        self._memory = memory
        self._thinks = thinks
        self._trials = trials
        self._thoughts: dict[int, str] = {}
        self._reflections: tuple[str, ...] | None = None

    def choose(self, situation: Situation, conversation: Conversation) -> Chosen:
        """Return the next action."""
        own = self._own
        if self._reflections is None:
            self._reflections = self._reflect(situation, conversation)
        examples = (
            whole_examples(self._memory.get(), situation, own.examples) if own.examples else ()
        )
        whole = Whole(examples, dict(self._thoughts), self._reflections, self._thinks)
        chosen = act_as_shown(situation, whole, conversation, own.context)
        if self._thinks and chosen.reasoning:
            self._thoughts[len(situation.steps) + 1] = chosen.reasoning
        return chosen

    def _reflect(self, situation: Situation, conversation: Conversation) -> tuple[str, ...]:
        """Return what follows from earlier trials; nothing where no reply can be read."""
        if not self._trials:
            return ()
        try:
            return (reflect(self._trials, situation.rules, conversation, self._own.context),)
        except UnparsableReplyError:
            recorder = conversation.recorder
            recorder.warn_once(
                WarningEvent(
                    step=recorder.steps,
                    about="replies",
                    text="No reply reflects on the trials before: this one is made without.",
                    considered=0,
                    total=len(self._trials),
                )
            )
            return ()
