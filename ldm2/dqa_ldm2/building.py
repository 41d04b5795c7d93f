"""Build a memory from games that a program plays, and refine a memory by exploring games."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dqa import plugins
from dqa.core.decider import Trajectory
from dqa.deciders.base import read_settings
from dqa.models.attempts import attempt_by
from dqa.worlds.base import WorldFactory
from dqa_ldm2 import formation
from dqa_ldm2.experts import EXPERTS, expert_trajectories
from dqa_ldm2.explorable import WorldExplorable
from dqa_ldm2.identity import identified
from dqa_ldm2.memory import Memory, open_memory, require_place
from dqa_ldm2.refinement import RefinedGoal, Refinement, RefinementReport
from dqa_ldm2.retrieval import open_filled
from dqa_ldm2.settings import PRESETS, Preset, RefiningSettings


def build_memory(  # noqa: PLR0913  (independent parameters)
    world: str | WorldFactory,
    memory: str | Memory,
    *,
    games: int,
    seed: int = 0,
    batch: int | None = None,
    preset: Preset = "default",
    use: formation.ModelUse | None = None,
    settings: Mapping[str, Any] | None = None,
    player: str | None = None,
    progress: formation.Progress = formation.no_progress,
) -> formation.FormationReport:
    """Form a memory from games that a program plays in a world (section 3.2).

    Parameters
    ----------
    world
        The name of a world, or its factory.
    memory
        A file, the URL of a database, or an open memory. A missing memory is created.
    games, seed
        The number of games, and the seed of the first game. Seeds increase by one.
    batch
        B, the number of trajectories per batch memory. None takes the preset's number, or 50.
    preset
        The name of a preset in `dqa_ldm2.settings`, such as the paper's settings for WebShop.
    use
        The model; None uses a scripted model.
    settings
        The settings of the world, by name.
    player
        The name of the world's program that plays. The trajectories of a program that knows the
        solution lead directly to the goal. The trajectories of a program that searches also contain
        the search. None takes the first of `EXPERTS` that the world has.
    progress
        Is called after every game, and after the steps of a trajectory have become tuples.

    Raises
    ------
    UnknownNameError
        The world or the model does not exist.
    UsageError
        The world lacks the program `player`.
    InfrastructureError, BudgetSpentError
        The model or the memory failed. Batches that were already complete stay in the memory.
    """
    factory = plugins.world(world) if isinstance(world, str) else world
    own = read_settings(factory.settings, settings or {}, factory.name)
    if isinstance(memory, str):
        require_place(memory)  # check before any game is played
    player = player or next((one for one in EXPERTS if one in factory.policies), EXPERTS[0])
    trajectories: list[Trajectory] = []
    for one in expert_trajectories(factory, range(seed, seed + games), own, player=player):
        trajectories.append(identified(one))
        progress("Playing", len(trajectories), games)
    indexer = formation.Indexer(use or formation.ModelUse(), preset)
    with attempt_by("memory", "build", factory.name), _opened(memory, create=True) as opened:
        return formation.form_memory(
            opened,
            trajectories,
            indexer,
            source=f"{factory.name}, seeds {seed} to {seed + games - 1}, by {player}",
            batch_size=batch or PRESETS[preset].get("batch", formation.BATCH_SIZE),
            progress=progress,
        )


def refine_memory(  # noqa: PLR0913  (independent parameters)
    world: str | WorldFactory,
    memory: str | Memory,
    *,
    games: int,
    seed: int = 0,
    preset: Preset = "default",
    refining: RefiningSettings | None = None,
    use: formation.ModelUse | None = None,
    settings: Mapping[str, Any] | None = None,
    done: Callable[[RefinedGoal], None] = lambda _: None,
) -> RefinementReport:
    """Refine a memory by exploring games of a one-player world (section 3.3).

    Parameters
    ----------
    world, memory, games, seed, preset, use, settings
        The world, the memory, the games, the model and its settings; see `build_memory`. The memory
        must exist.
    refining
        The bounds of the exploration.
    done
        Is called after every game.

    Raises
    ------
    UsageError
        The memory is empty, or the world has several players.
    InfrastructureError, BudgetSpentError
        The model or the memory failed. The tuples of finished games stay in the memory.
    """
    factory = plugins.world(world) if isinstance(world, str) else world
    played = factory.make(read_settings(factory.settings, settings or {}, factory.name), None)
    explorables = (WorldExplorable(played, one) for one in range(seed, seed + games))
    with attempt_by("memory", "refine", factory.name), _opened(memory, create=False) as opened:
        own = refining or RefiningSettings()
        return Refinement(opened, use or formation.ModelUse(), own, preset).refine(
            explorables, done
        )


@contextmanager
def _opened(memory: str | Memory, *, create: bool) -> Iterator[Memory]:
    """Open a memory, and close it at the end. If `memory` is already open, it stays open."""
    if isinstance(memory, Memory):
        yield memory
        return
    with open_memory(memory, create=True) if create else open_filled(memory) as opened:
        yield opened
