"""Memory refinement (section 3.3): explore, compare, add what was better from the key step on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from langchain_core.language_models import BaseChatModel

from dqa.core.errors import UsageError
from dqa.core.events import Event
from dqa.core.recorder import Recorder
from dqa.core.trajectories import Trajectory
from dqa.models.conversation import Conversation
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.indexer import AskedIndexer
from dqa_ldm2.memory.adding import Added, add_subtrajectory
from dqa_ldm2.memory.base import Memory, Origin
from dqa_ldm2.memory.indexing import Indexer
from dqa_ldm2.operations.judging import compare
from dqa_ldm2.refining.explorable import Explorable
from dqa_ldm2.refining.exploration import Exploration, Found
from dqa_ldm2.refining.report import Calls, RefinedGoal, RefinementReport
from dqa_ldm2.retrieving import Find, find_nearest
from dqa_ldm2.settings import RefiningSettings


class Adder(Protocol):
    """Adds a valuable subtrajectory to a batch memory; see `add_subtrajectory`."""

    def __call__(  # noqa: PLR0913  (each is a question of its own to who adds)
        self,
        memory: Memory,
        batch: int,
        trajectory: Trajectory,
        indexer: Indexer,
        origin: Origin,
        *,
        first: int = 1,
    ) -> Added:
        """Add the steps of a trajectory from the key step on, as one version."""
        ...


@dataclass(frozen=True, slots=True)
class Refinement:
    """Refines a memory by exploring goals.

    Attributes
    ----------
    memory
        What is refined.
    model
        Who is asked.
    own
        n, the depth, when retrieved actions agree.
    adder
        Adds what was better.
    model_name
        What the memory says answered behind an addition.
    max_failures, calls
        As `dqa.models.conversation.Conversation` takes them.
    told
        Is told of everything that happens; None for nobody.
    find
        Finds the tuples that an exploration is shown.
    """

    memory: Memory
    model: BaseChatModel
    own: RefiningSettings = field(default_factory=RefiningSettings)
    adder: Adder = add_subtrajectory
    model_name: str = ""
    max_failures: int = 3
    calls: CallPolicy = DEFAULT_POLICY
    told: Callable[[Event], None] | None = None
    find: Find = find_nearest

    def refine(
        self,
        explorables: Iterable[Explorable],
        done: Callable[[RefinedGoal], None] | None = None,
    ) -> RefinementReport:
        """Explore each goal by one batch memory in turn, and add to that what was better.

        Every addition is kept at once: what fails later takes none back.

        Parameters
        ----------
        explorables
            The goals; each is closed behind its exploration.
        done
            Is told of each goal that was explored.

        Raises
        ------
        UsageError
            The memory is empty.
        InfrastructureError, BudgetSpentError
            The model or the memory fails.
        """
        batches = self.memory.batches()
        if not batches:
            raise UsageError(
                f"The memory {self.memory.location} is empty: build it before it is refined ('dqa "
                "memory build')."
            )
        goals: list[RefinedGoal] = []
        for number, explorable in enumerate(explorables):
            try:
                goals.append(self.refine_goal(explorable, batches[number % len(batches)]))
            finally:
                explorable.close()
            if done is not None:
                done(goals[-1])
        return RefinementReport(tuple(goals), self.memory.location, self.model_name)

    def refine_goal(self, explorable: Explorable, batch: int) -> RefinedGoal:
        """Explore one goal by one batch memory, and add to it what was better."""
        recorder = Recorder()
        conversation = Conversation(self.model, self.max_failures, self.calls, recorder)
        found = Exploration(self.memory, batch, self.own, self.find).explore(
            explorable, conversation
        )
        calls = Calls(exploring=recorder.steps)
        refined = _refined(found, explorable, batch, calls)
        recorder.note(refined.exploration.model_copy(update={"step": recorder.steps}))
        if refined.is_improved:
            refined = self._enhance(refined, found, explorable.source, conversation)
        if self.told is not None:
            for event in recorder.events:
                self.told(event)
        return replace(refined, usage=refined.usage + recorder.usage + recorder.lost)

    def _enhance(
        self, refined: RefinedGoal, found: Found, source: str, conversation: Conversation
    ) -> RefinedGoal:
        """Find the key step, and add the best process from there on (memory enhancement)."""
        before = conversation.recorder.steps
        identity = found.best.state.situation.identity
        called = source
        if identity is not None and QuestionIdentity.in_source(source) is None:
            called = identity.source(source)
        best = found.best.trajectory(called)
        key = compare(best, found.ground.trajectory(source), conversation, self.own.context)
        compared = replace(refined.calls, comparing=conversation.recorder.steps - before)
        refined = replace(refined, key_step=key, calls=compared)
        if key.key_step > len(best.steps):
            return refined  # the ground process went on where this one ended: nothing was better
        indexer = AskedIndexer(self.model, self.max_failures, self.calls, self.told)
        origin = Origin("refinement", f"{source}, from step {key.key_step}", self.model_name)
        added = self.adder(self.memory, refined.batch, best, indexer, origin, first=key.key_step)
        return replace(
            refined,
            version=added.version.number,
            added=added.version.added,
            calls=replace(compared, adding=indexer.requests),
            usage=indexer.usage,
        )


def _refined(found: Found, explorable: Explorable, batch: int, calls: Calls) -> RefinedGoal:
    ground, best = found.ground, found.best
    return RefinedGoal(
        source=explorable.source,
        goal=ground.state.situation.goal,
        batch=batch,
        ground_reward=ground.state.reward,
        best_reward=best.state.reward,
        exploration=found.event(explorable.source),
        calls=calls,
        asked=found.asked,
        repeated=found.repeated,
        majorities=found.majorities,
        pruned=found.pruned,
        failed=tuple(found.failed),
        unusable=found.unusable,
        unfinished=sum(path.is_open for path in found.paths),
        normalised=found.normalised,
        missing=found.missing,
        dropped=found.dropped,
        is_ground_lost=ground.is_lost,
    )
