"""What can be explored: anything that can be begun again and shows what an action leads to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from dqa.core.errors import DataError, UsageError
from dqa.core.question import Candidate
from dqa.core.trajectories import Step
from dqa.worlds.observed import AGENT, EPISODE, ObservedPosition, trajectory_of
from dqa.worlds.world import Episode, World
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.situation import Situation, left_of


@dataclass(frozen=True, slots=True)
class Explored:
    """A state of something that is explored.

    Attributes
    ----------
    situation
        The goal, what was seen and done, what is seen now, and what can be done.
    reward
        What the process brought, from 0 to 1; None before its end.
    """

    situation: Situation
    reward: float | None = None

    @property
    def key(self) -> tuple[tuple[Step, ...], str]:
        """All that was seen and done: the same for states between which nothing differs."""
        return self.situation.steps, self.situation.observation

    def after(
        self,
        action: Candidate,
        observation: str,
        actions: tuple[Candidate, ...] = (),
        reward: float | None = None,
    ) -> Explored:
        """Return the state that an action led to; with a reward it is the end."""
        here = self.situation
        steps = (*here.steps, Step(here.observation, str(action)))
        there = replace(here, steps=steps, observation=observation, actions=actions)
        return Explored(there, reward)


class Explorable(Protocol):
    """Something with a goal that can be begun again and again.

    Attributes
    ----------
    source
        What the trajectories towards it are called: ``household 17``.
    """

    source: str

    def start(self) -> Explored:
        """Return the first state; the same each time."""
        ...

    def act(self, state: Explored, action: Candidate) -> Explored:
        """Return the state that an action leads to, the same each time.

        What it raises ends the path, and no other one; see `dqa_ldm2.refining.refinement`.
        """
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class WorldExplorable:
    """An episode of a one-player world, which is played again from its start for each path.

    The path that was acted on last goes on without that. Used by one thread.

    Parameters
    ----------
    world
        What is played.
    seed
        Of the episode.
    """

    def __init__(self, world: World, seed: int) -> None:
        if world.players != (AGENT,):
            raise UsageError(
                f"'{world.name}' is played by {', '.join(world.players)}: a memory is refined in "
                "worlds of one player, who finds out what follows from an action by taking it."
            )
        self.source = f"{world.name} {seed}"
        self._world = world
        self._seed = seed
        self._episode: Episode | None = None
        self._played: tuple[str, ...] = ()
        self.replays = 0

    def start(self) -> Explored:
        """Return the beginning."""
        return Explored(self._situation(self._begun()))

    def act(self, state: Explored, action: Candidate) -> Explored:
        """Return what an action leads to; what was done before it is done again where it has to."""
        done = tuple(step.action for step in state.situation.steps)
        episode = self._episode
        if episode is None or self._played != done:
            self._begun()
            self.replays += 1
            for one in done:
                self._choose(one)
        self._choose(str(action))
        episode = self._playing()
        move = episode.next_move()
        if move is not None:
            return Explored(self._situation(episode))
        reward = min(max(episode.returns()[AGENT], 0.0), 1.0)
        return state.after(action, "", (), reward)

    def close(self) -> None:
        """Close the episode."""
        if self._episode is not None:
            self._episode.close()
            self._episode = None

    def _begun(self) -> Episode:
        self.close()
        self._episode, self._played = self._world.start(self._seed), ()
        return self._episode

    def _playing(self) -> Episode:
        if self._episode is None:
            raise UsageError(f"{self.source} is closed.")
        return self._episode

    def _choose(self, action: str) -> None:
        """Carry out an action, which the world may know as a number."""
        episode = self._playing()
        move = episode.next_move()
        if move is None:
            raise DataError(
                f"{self.source} ended before '{action}', which an earlier playing of it went on "
                "with: a world whose episodes follow from their seed alone can be explored."
            )
        named = (one for one in move.position.actions if str(one) == action)
        try:
            episode.choose(next(named, action))
        except BaseException:
            self.close()  # nobody knows where it stands now
            raise
        self._played = (*self._played, action)

    def _situation(self, episode: Episode) -> Situation:
        move = episode.next_move()
        if move is None or not isinstance(move.position, ObservedPosition):
            raise UsageError(
                f"{self.source} shows no position that is found out by acting: take a world of one "
                "player whose positions are dqa.worlds.observed.ObservedPosition."
            )
        position = move.position
        steps = trajectory_of(position.goal, position.events, self.source).steps
        return Situation(
            position.goal,
            position.observation,
            position.actions,
            steps,
            move.question.rules,
            position.free_form,
            sources=frozenset({self.source}),
            identity=QuestionIdentity.of_episode(
                self._world.name,
                position.goal,
                position.events[0].detail,
                move.question.target.get(EPISODE, ""),
            ),
            left=left_of(move.question),
        )
