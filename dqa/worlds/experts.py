"""Trajectories of experts: what a world's own program called ``expert`` saw and did."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from dqa.core.errors import UsageError
from dqa.core.trajectories import Trajectory
from dqa.worlds.base import PolicyDecider, PolicyFactory, WorldFactory
from dqa.worlds.history import History
from dqa.worlds.observed import EPISODE, GOAL, read_events, trajectory_of
from dqa.worlds.world import World

EXPERT: Final = "expert"
"""What a world calls the program that shows how it is done."""


def expert_trajectories(
    factory: WorldFactory,
    seeds: Sequence[int],
    settings: BaseModel | None = None,
    *,
    player: str = EXPERT,
) -> tuple[Trajectory, ...]:
    """Return what a world's expert saw and did in the episodes of some seeds (LDM2, section 3.1).

    Parameters
    ----------
    factory
        Of a world of one player, with a program called ``expert``.
    seeds
        Of the episodes.
    settings
        Of the world; its defaults if None.
    player
        Which of the world's programs shows how it is done.

    Returns
    -------
    tuple of Trajectory
        One a seed, in their order, each with the goal, its reward, and ``WORLD SEED`` as its
        source. An expert may fail: then the reward says so.

    Raises
    ------
    UsageError
        The world has several players, or no such program.
    """
    expert = factory.policies.get(player)
    if expert is None:
        raise UsageError(
            f"'{factory.name}' has no program called '{player}' that could show how it is done "
            f"(it has {', '.join(factory.policies) or 'none'}): name another one, or take "
            "trajectories of your own."
        )
    with tempfile.TemporaryDirectory() as folder:
        # An episode tells what follows from its last action to its history alone.
        history = History(str(Path(folder) / "experts.sqlite"), isolation="none")
        try:
            world = factory.make(factory.settings() if settings is None else settings, history)
            if len(world.players) != 1:
                raise UsageError(
                    f"'{factory.name}' has {len(world.players)} players, and a trajectory is what "
                    "one saw and did: take a world of one player."
                )
            return tuple(_play(world, expert, seed, history) for seed in seeds)
        finally:
            history.close()


def _play(world: World, expert: PolicyFactory, seed: int, history: History) -> Trajectory:
    (player,) = world.players
    decider = PolicyDecider(expert.name, expert.make(seed), seed)
    goal, identity, steps = "", "", 0
    episode = world.start(seed)
    try:
        while (move := episode.next_move()) is not None:
            drawn_from = (world.name, str(seed), str(steps))
            decision = decider.decide_at(move.question, move.position, drawn_from, move.reveal)
            if decision.choice is None:
                raise UsageError(f"'{expert.name}' of '{world.name}' chose nothing in {seed}.")
            goal = move.question.target.get(GOAL, move.question.text)
            identity = move.question.target.get(EPISODE, "")
            episode.choose(decision.choice)
            steps += 1
        reward = episode.returns()[player]
        game = history.number_of(seed, mirrored=False)
        database = history.open_for(game, player)
        try:
            events = read_events(database, f"the episode of seed {seed}", game)
        finally:
            database.close()
    finally:
        episode.close()
    told = trajectory_of(goal, events, f"{world.name} {seed}", reward)
    return replace(told, identity=identity)
