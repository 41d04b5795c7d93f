"""Plays episodes with deciders that play them several times, as a run of games does."""

from __future__ import annotations

from dataclasses import dataclass

from dqa.core.decider import Decider, EpisodeDecider
from dqa.core.decision import Decision
from dqa.core.trajectories import Trajectory
from dqa.deciders.base import DeciderFactory, Settings
from dqa.evaluation.play import Played, play_episode
from dqa.models.scripted import scripted_model
from dqa.worlds.history import History
from dqa.worlds.observed import AGENT
from dqa_ldm2 import Memory
from dqa_ldm2.factories import remembering_decider
from tests.ldm2.rooms import Rooms, RoomsSettings


@dataclass(frozen=True, slots=True)
class Attempts:
    """Every attempt at an episode, and which one counts."""

    played: tuple[Played, ...]
    trajectories: tuple[Trajectory, ...]
    chosen: Decision

    @property
    def reward(self) -> float:
        """What the attempt brought that counts."""
        assert self.chosen.choice is not None
        return self.trajectories[int(self.chosen.choice) - 1].reward or 0.0


def deciding(
    memory: Memory,
    factory: DeciderFactory | None = None,
    script: str = "analyst",
    **own: object,
) -> Decider:
    """Return a decider of a memory that is open."""
    made = factory or remembering_decider("ldm2", "", opener=lambda _: memory)
    options = {f"{made.name}.{name}": str(value) for name, value in own.items()}
    return made(scripted_model(script), Settings(options=options))


def play(decider: Decider, history: History, seed: int, settings: RoomsSettings) -> Attempts:
    """Play an episode as often as the decider wants to."""
    assert isinstance(decider, EpisodeDecider)
    played: list[Played] = []
    found: list[Trajectory] = []
    while (player := decider.attempt(found)) is not None:
        played.append(play_episode(Rooms(settings, history), {AGENT: player}, seed))
        found.append(_trajectory(played[-1], seed))
    return Attempts(tuple(played), tuple(found), decider.choose_attempt(found))


def _trajectory(played: Played, seed: int) -> Trajectory:
    from dqa.core.trajectories import Step

    assert played.returns is not None, played.moves[-1].decision.error
    steps = tuple(Step(move.shown.partition("\n")[2], str(move.choice)) for move in played.moves)
    goal = played.moves[0].shown.partition("\n")[0].removeprefix("Goal: ")
    return Trajectory(goal, steps, f"rooms {seed}", played.returns[AGENT])
