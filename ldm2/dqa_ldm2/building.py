"""Forming a memory from an expert's games of a world, and refining it by exploring that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel

from dqa import plugins
from dqa.core.decision import Usage
from dqa.core.trajectories import Trajectory
from dqa.deciders.settings import read_settings
from dqa.models.attempts import attempt_by
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa.worlds.base import WorldFactory
from dqa.worlds.experts import EXPERT, expert_trajectories
from dqa_ldm2.identity import identified
from dqa_ldm2.indexer import AskedIndexer
from dqa_ldm2.memories import OpenedMemory
from dqa_ldm2.memory.adding import add_subtrajectory
from dqa_ldm2.memory.base import Memory
from dqa_ldm2.memory.building import FormationReport, form_memory
from dqa_ldm2.memory.opening import open_memory, require_place
from dqa_ldm2.progress import Progress
from dqa_ldm2.refining.explorable import WorldExplorable
from dqa_ldm2.refining.refinement import Adder, Refinement
from dqa_ldm2.refining.report import RefinedGoal, RefinementReport
from dqa_ldm2.settings import RefiningSettings

Experts: TypeAlias = Callable[[WorldFactory, Sequence[int], Any], Iterable[Trajectory]]
"""Plays games of a world by seed as an expert does, with the world's settings."""

SCRIPTED = "scripted:analyst"
"""Who answers where no model is named: a program."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What forming a memory came to.

    Attributes
    ----------
    memory, model
        Where it is, and what answered.
    formed
        What was formed.
    forgotten
        How many goals and observations no reply gave a type.
    unusable
        How many histories no reply told, so that they list what was done.
    requests, usage
        How many replies there were, and their tokens.
    """

    memory: str
    model: str
    formed: FormationReport
    forgotten: int = 0
    unusable: int = 0
    requests: int = 0
    usage: Usage = field(default_factory=Usage)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON has of it."""
        formed = self.formed
        return {
            "memory": self.memory,
            "model": self.model,
            "batches": list(formed.batches),
            "trajectories": formed.trajectories,
            "there": formed.there,
            "tuples": formed.tuples,
            "skipped": [{"source": one.source, "why": one.why} for one in formed.skipped],
            "forgotten": self.forgotten,
            "unusable": self.unusable,
            "requests": self.requests,
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked, and how.

    Attributes
    ----------
    model
        A chat model, or its name as commands take it.
    name
        What the memory calls it; by default its own name.
    seed
        Of a scripted model.
    calls
        Retries, limits and budget.
    max_failures
        Most replies to one question that may not be readable.
    """

    model: str | BaseChatModel = SCRIPTED
    name: str = ""
    seed: int = 0
    calls: CallPolicy = DEFAULT_POLICY
    max_failures: int = 3

    def connected(self) -> tuple[BaseChatModel, str]:
        """Return the model, and what it is called."""
        if isinstance(self.model, BaseChatModel):
            return self.model, self.name or self.model.get_name()
        from dqa.models.registry import chat_model

        return chat_model(self.model, seed=self.seed), self.name or self.model


def build_memory(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: str | WorldFactory,
    memory: str | Memory,
    *,
    games: int,
    seed: int = 0,
    batch: int = 50,
    asked: Asked | None = None,
    settings: Mapping[str, Any] | None = None,
    player: str = EXPERT,
    experts: Experts | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Form a memory from an expert's games of a world (section 3.2).

    Parameters
    ----------
    world
        Name of a world, or its factory.
    memory
        A file or a database's URL, which is made where it is not there; or an open memory.
    games
        How many, of the seeds from `seed` on.
    seed
        The first one.
    batch
        B, how many trajectories make a batch memory.
    asked
        Who is asked; None for a scripted model.
    settings
        Of the world, by name.
    player
        Which of the world's programs is remembered: one that knows where everything is shows how a
        task is done, one that searches shows how to search as well.
    experts
        Plays the games; None for the world's own expert.
    progress
        Is told how far it is.

    Raises
    ------
    UnknownNameError
        There is no such world or model.
    UsageError
        The world has no expert.
    InfrastructureError, BudgetSpentError
        The model or the memory fails; whole batches that were added before stay.
    """
    expert: Experts = experts or partial(expert_trajectories, player=player)
    watching = progress or Progress()
    factory = plugins.world(world) if isinstance(world, str) else world
    own = read_settings(factory.settings, settings or {}, {}, factory.name)
    if isinstance(memory, str):
        require_place(memory)  # before anything is played
    trajectories: list[Trajectory] = []
    watching.started("Playing", games)
    for one in expert(factory, range(seed, seed + games), own):
        trajectories.append(identified(one))
        watching.advanced()
    asking = asked or Asked()
    model, name = asking.connected()
    indexer = AskedIndexer(model, asking.max_failures, asking.calls, watching.happened)
    watching.started("Remembering", len(trajectories))
    there = open_memory(memory, create=True) if isinstance(memory, str) else memory
    with attempt_by("memory", "build", factory.name), _closing(memory, there) as opened:
        formed = form_memory(
            opened,
            trajectories,
            indexer,
            source=f"{factory.name}, seeds {seed} to {seed + games - 1}",
            model=name,
            batch_size=batch,
            on_summarised=lambda _: watching.advanced(),
        )
        return BuildReport(
            *(opened.location, name, formed),
            forgotten=indexer.forgotten,
            unusable=indexer.unusable,
            requests=indexer.requests,
            usage=indexer.usage,
        )


def refine_memory(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: str | WorldFactory,
    memory: str | Memory,
    *,
    games: int,
    seed: int = 0,
    refining: RefiningSettings | None = None,
    asked: Asked | None = None,
    settings: Mapping[str, Any] | None = None,
    adder: Adder = add_subtrajectory,
    progress: Progress | None = None,
    done: Callable[[RefinedGoal], None] | None = None,
) -> RefinementReport:
    """Refine a memory by exploring games of a one-player world (section 3.3).

    Parameters
    ----------
    world, memory, games, seed, asked, settings, progress
        As `build_memory` takes them; the memory has to be there.
    refining
        n, the depth, when retrieved actions agree.
    adder
        Adds what was better.
    done
        Is told of each game that was explored.

    Raises
    ------
    UsageError
        The memory is empty, or the world has several players.
    InfrastructureError, BudgetSpentError
        The model or the memory fails; what was added before stays.
    """
    watching = progress or Progress()
    factory = plugins.world(world) if isinstance(world, str) else world
    played = factory.make(read_settings(factory.settings, settings or {}, {}, factory.name), None)
    asking = asked or Asked()
    model, name = asking.connected()

    def tell(refined: RefinedGoal) -> None:
        watching.advanced()
        if done is not None:
            done(refined)

    watching.started("Exploring", games)
    there = OpenedMemory(memory).get() if isinstance(memory, str) else memory
    with attempt_by("memory", "refine", factory.name), _closing(memory, there) as opened:
        refinement = Refinement(
            opened,
            model,
            refining or RefiningSettings(),
            adder,
            name,
            asking.max_failures,
            asking.calls,
            watching.happened,
        )
        explorables = (WorldExplorable(played, one) for one in range(seed, seed + games))
        return refinement.refine(explorables, tell)


@contextmanager
def _closing(given: str | Memory, memory: Memory) -> Iterator[Memory]:
    """Close a memory again where its place was given, and not itself."""
    try:
        yield memory
    finally:
        if isinstance(given, str):
            memory.close()
