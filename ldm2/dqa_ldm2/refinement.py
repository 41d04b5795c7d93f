"""Memory refinement (section 3.3): explore goals, and add the steps of better paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dqa_ldm2.explorable import Explorable
from dqa_ldm2.exploration import Exploration
from dqa_ldm2.formation import Indexer, ModelUse, add_subtrajectory
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.memory import Memory
from dqa_ldm2.records import Origin
from dqa_ldm2.retrieval import open_filled
from dqa_ldm2.settings import Preset, RefiningSettings
from dqa_ldm2.steps import compare


@dataclass(frozen=True, slots=True)
class RefinedGoal:
    """The result of exploring one goal.

    Attributes
    ----------
    source, goal
        The source and the text of the goal.
    batch
        The number of the batch memory that was used and refined.
    ground_reward
        The reward of the ground process, which takes the most confident action in every state. None
        if the process did not end.
    best_reward
        The reward of the best process; None if the process did not end.
    key_step
        The first added step of the best process; None if the best process is not better than the
        ground process.
    version, added
        The number of the new version of the memory, and how many tuples this version added.
    calls
        The number of replies for ``exploring``, ``comparing`` and ``adding``.
    counts
        How often each event of the exploration occurred; see `Exploration.counts`.
    failed
        The errors of the world.
    is_ground_lost
        Whether an error of the world ended the ground process.
    """

    source: str
    goal: str
    batch: int
    ground_reward: float | None
    best_reward: float | None
    key_step: int | None = None
    version: int | None = None
    added: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    is_ground_lost: bool = False

    @property
    def is_improved(self) -> bool:
        """Whether the best process has a larger reward than the ground process.

        The result is False if an error of the world ended the ground process.
        """
        better = (self.best_reward or 0.0) > (self.ground_reward or 0.0)
        return better and not self.is_ground_lost


@dataclass(frozen=True, slots=True)
class RefinementReport:
    """The result of refining a memory, goal by goal."""

    goals: tuple[RefinedGoal, ...]
    memory: str
    model: str

    @property
    def improved(self) -> int:
        """The number of goals with a better process than the ground process."""
        return sum(goal.is_improved for goal in self.goals)

    @property
    def added(self) -> int:
        """The number of added tuples."""
        return sum(goal.added for goal in self.goals)

    @property
    def failed(self) -> int:
        """The number of paths that an error of the world ended."""
        return sum(len(goal.failed) for goal in self.goals)

    @property
    def calls(self) -> Counter[str]:
        """The number of replies by purpose."""
        return sum((Counter(goal.calls) for goal in self.goals), Counter())

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        totals = {name: getattr(self, name) for name in ("improved", "added", "failed")}
        goals = [asdict(goal) for goal in self.goals]
        return {"memory": self.memory, "model": self.model, **totals, "goals": goals}


@dataclass(frozen=True, slots=True)
class Refinement:
    """Refine a memory by exploring goals.

    Attributes
    ----------
    memory
        The memory.
    use
        The model.
    own
        The bounds of the exploration.
    preset
        The name of a preset in `dqa_ldm2.settings`, such as the paper's settings for WebShop.
    """

    memory: Memory
    use: ModelUse
    own: RefiningSettings = field(default_factory=RefiningSettings)
    preset: Preset = "default"

    def refine(
        self,
        explorables: Iterable[Explorable],
        done: Callable[[RefinedGoal], None] = lambda _: None,
    ) -> RefinementReport:
        """Explore each goal with one batch memory, and add better steps to this batch memory.

        The goals use the batch memories in turn. Added steps stay in the memory if a later goal
        fails.

        Parameters
        ----------
        explorables
            The goals. Each goal is closed after its exploration.
        done
            Is called after every goal.

        Raises
        ------
        UsageError
            The memory is empty.
        InfrastructureError, BudgetSpentError
            The model or the memory fails.
        """
        batches = open_filled(self.memory).batches()
        goals: list[RefinedGoal] = []
        for number, explorable in enumerate(explorables):
            try:
                goals.append(self.refine_goal(explorable, batches[number % len(batches)]))
            finally:
                explorable.close()
            done(goals[-1])
        return RefinementReport(tuple(goals), self.memory.location, self.use.stored_name)

    def refine_goal(self, explorable: Explorable, batch: int) -> RefinedGoal:
        """Explore one goal with one batch memory, and add better steps to this memory."""
        asking = self.use.asking()
        found = Exploration(self.memory, batch, self.own, asking, self.preset)
        found.explore(explorable)
        ground, best = found.ground, found.best
        refined = RefinedGoal(
            source=explorable.source,
            goal=ground.state.situation.goal,
            batch=batch,
            ground_reward=ground.state.reward,
            best_reward=best.state.reward,
            calls={"exploring": asking.recorder.steps},
            counts=dict(found.counts),
            failed=tuple(found.failed),
            is_ground_lost=ground.is_lost,
        )
        return self._add(refined, found) if refined.is_improved else refined

    def _add(self, refined: RefinedGoal, found: Exploration) -> RefinedGoal:
        """Find the key step, and add the best process from this step on (equation 10)."""
        source, identity = refined.source, found.best.state.situation.identity
        name = source
        if identity is not None and QuestionIdentity.in_source(source) is None:
            name = identity.source(source)
        best = found.best.trajectory(name)
        asking = self.use.asking()
        key = compare(asking, best, found.ground.trajectory(source), self.own.context)
        origin = Origin("refinement", f"{source}, from step {key}", self.use.stored_name)
        indexer = Indexer(self.use, self.preset)
        version = add_subtrajectory(self.memory, refined.batch, best, indexer, origin, first=key)
        calls = {"comparing": asking.recorder.steps, "adding": indexer.requests}
        return replace(
            refined,
            key_step=key,
            version=version.number,
            added=version.added,
            calls={**refined.calls, **calls},
        )
