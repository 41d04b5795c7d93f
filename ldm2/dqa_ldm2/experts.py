"""Record the trajectories of a world's programs, such as the expert that knows the solution."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from dqa.core.decider import Trajectory
from dqa.core.errors import UsageError
from dqa.worlds.base import PolicyDecider, PolicyFactory, WorldFactory
from dqa.worlds.history import History
from dqa.worlds.observed import EPISODE, GOAL, events_of, trajectory_of
from dqa.worlds.world import World

EXPERTS: Final = ("expert", "rule", "analyst")
"""By default, the first of these programs that the world has plays."""


def expert_trajectories(
    factory: WorldFactory, seeds: Sequence[int], settings: BaseModel | None = None, *, player: str
) -> tuple[Trajectory, ...]:
    """Play one episode per seed with a program, and return the trajectories (LDM2, section 3.1).

    Parameters
    ----------
    factory
        The factory of a world with one player.
    seeds
        The seeds of the episodes.
    settings
        The settings of the world; None for its defaults.
    player
        The name of the world's program that plays.

    Returns
    -------
    tuple of Trajectory
        One trajectory per seed, in the order of `seeds`, with the goal, the reward, and ``WORLD
        SEED`` as the source. A low reward means that the program failed.

    Raises
    ------
    UsageError
        The world has several players, or lacks the program.
    """
    expert = factory.policies.get(player)
    if expert is None:
        raise UsageError(
            f"The world '{factory.name}' has no program '{player}' (its programs: "
            f"{', '.join(factory.policies) or 'none'}). Choose another program, or use your own "
            "trajectories."
        )
    # Only the history contains the observation after the last action.
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "experts.sqlite"
        with closing(History(file, isolation="none")) as history:
            world = factory.make(factory.settings() if settings is None else settings, history)
            if len(world.players) != 1:
                raise UsageError(
                    f"The world '{factory.name}' has {len(world.players)} players. Trajectories "
                    "need a world for one player."
                )
            return tuple(_play(world, expert, seed, history) for seed in seeds)


def _play(world: World, expert: PolicyFactory, seed: int, history: History) -> Trajectory:
    (player,) = world.players
    decider = PolicyDecider(expert.name, expert.make(seed), seed)
    goal, identity, steps = "", "", 0
    with closing(world.start(seed)) as episode:
        while (move := episode.next_move()) is not None:
            names = (world.name, str(seed), str(steps))
            choice = decider.decide_at(move.question, move.position, names, move.reveal).choice
            goal = move.question.target.get(GOAL, move.question.text)
            identity = move.question.target.get(EPISODE, "")
            episode.choose(move.position.fallback if choice is None else choice)
            steps += 1
        reward, source = episode.returns()[player], f"{world.name} {seed}"
        game = history.number_of(seed, mirrored=False)
        with closing(history.open_for(game, player)) as database:
            events = events_of(database, source, game)
    return replace(trajectory_of(goal, events, source, reward), identity=identity)
