"""Goals that can be explored: they can start again, and they show the result of an action."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from dqa.core.decider import Step
from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.worlds.observed import AGENT, ObservedPosition
from dqa.worlds.world import Episode, World
from dqa_ldm2.situation import Situation, observed_situation


@dataclass(frozen=True, slots=True)
class Explored:
    """A state of an exploration. Only a final state has a reward, from 0 to 1."""

    situation: Situation
    reward: float | None = None

    def ended(self, action: Candidate, reward: float, observation: str = "") -> Explored:
        """Return the final state after `action`. The path ends in this state."""
        here = self.situation
        steps = (*here.steps, Step(here.observation, str(action)))
        return Explored(replace(here, steps=steps, observation=observation, actions=()), reward)


class Explorable(Protocol):
    """A goal that can be started again.

    Attributes
    ----------
    source
        The source of the goal's trajectories, such as ``household 17``.
    """

    source: str

    def start(self) -> Explored:
        """Return the first state, which is always the same."""
        ...

    def act(self, state: Explored, action: Candidate) -> Explored:
        """Return the state after an action. Equal arguments must always give equal states.

        If the method raises an error, the path ends.
        """
        ...

    def close(self) -> None:
        """Release the resources of the goal."""
        ...


class WorldExplorable:
    """An episode of a one-player world. Not thread-safe.

    An episode cannot go back to an earlier state. To follow another path, the episode is started
    again, and the actions of the path are repeated.
    """

    def __init__(self, world: World, seed: int) -> None:
        if world.players != (AGENT,):
            raise UsageError(
                f"The world '{world.name}' has the players {', '.join(world.players)}. A memory "
                "can be refined only in worlds for one player."
            )
        self.source = f"{world.name} {seed}"
        self._world = world
        self._seed = seed
        self._episode: Episode | None = None
        self._played: tuple[str, ...] = ()

    def start(self) -> Explored:
        """Return the state at the start of the episode."""
        return Explored(self._situation(self._begin()))

    def act(self, state: Explored, action: Candidate) -> Explored:
        """Return the state after an action.

        If the episode is in a different state, the episode is started again and played to `state`.
        """
        done = tuple(step.action for step in state.situation.steps)
        episode = self._episode
        if episode is None or self._played != done:
            episode = self._begin()
            for one in done:
                self._choose(episode, one)
        self._choose(episode, str(action))
        if episode.next_move() is not None:
            return Explored(self._situation(episode))
        return state.ended(action, min(max(episode.returns()[AGENT], 0.0), 1.0))

    def close(self) -> None:
        """Close the episode."""
        if self._episode is not None:
            self._episode.close()
            self._episode = None

    def _begin(self) -> Episode:
        self.close()
        self._episode, self._played = self._world.start(self._seed), ()
        return self._episode

    def _choose(self, episode: Episode, action: str) -> None:
        """Carry out the action whose text is `action`.

        The world may represent the action as a number.
        """
        move = episode.next_move()
        named = (one for one in (move.position.actions if move else ()) if str(one) == action)
        try:
            episode.choose(next(named, action))
        except BaseException:
            self.close()  # the state of the episode is unknown now
            raise
        self._played = (*self._played, action)

    def _situation(self, episode: Episode) -> Situation:
        move = episode.next_move()
        if move is None or not isinstance(move.position, ObservedPosition):
            raise UsageError(
                f"{self.source} cannot be explored: its positions must be "
                "dqa.worlds.observed.ObservedPosition."
            )
        situation = observed_situation(move.position, move.question, self._world.name)
        return replace(situation, sources=frozenset({self.source}))
