"""The world of households (entry point `dqa.worlds`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from pydantic import BaseModel, Field

from dqa.core.errors import WorldUnavailableError
from dqa.worlds.base import RANDOM, InformedPolicy, PolicyFactory, WorldFactory
from dqa.worlds.observed import AGENT, BEGINNING, GOAL, ObservedPosition, read_observed
from dqa.worlds.world import CHANCE, GameEvent
from dqa_simulators.games.episode import Facts, GameWorld, SoloEpisode, Start, read_rules
from dqa_simulators.household.engine import RunningGame, Seen
from dqa_simulators.household.games import (
    HouseholdGame,
    find_generated,
    find_official,
    read_game,
    task_of_seed,
)
from dqa_simulators.household.tables import TaskName

if TYPE_CHECKING:
    import numpy as np

    from dqa.core.database import Database
    from dqa.core.question import Candidate, Question
    from dqa.worlds.world import Position

NAME: Final = "household"
LOOK: Final = "look"
"""The fallback for an answer without a command. It does not change the state."""
_STAGE: Final = "household"
_TASK: Final = re.compile(r"\s*Your task is to: (?P<goal>.*?)\.?\s*\Z", re.DOTALL)
_WELCOME: Final = re.compile(r"\A-= .*? =-\s*")


class HouseholdSettings(BaseModel, extra="forbid", frozen=True):
    """The settings of the world.

    Attributes
    ----------
    task
        The type of all tasks. With ``"all"``, consecutive seeds cycle through the six types.
    games
        A folder of official games; consecutive seeds cycle through them. None generates games.
    steps
        The maximum number of commands of an episode.
    """

    task: Literal["all", "pick", "clean", "heat", "cool", "look", "pick2"] = Field(
        default="all", description="the type of all tasks; 'all' cycles through the six types"
    )
    games: str | None = Field(
        default=None,
        description="a folder of ALFWorld's own games; by default, games are generated",
    )
    steps: int = Field(
        default=50, ge=1, le=10_000, description="the maximum number of commands of an episode"
    )


class HouseholdEpisode(SoloEpisode):
    """One game.

    Parameters
    ----------
    game
        The game to play.
    steps
        The maximum number of commands.
    start
        The seed, the mirroring and the history of the episode; see `Start`.

    Raises
    ------
    WorldUnavailableError
        TextWorld cannot start the game.
    """

    def __init__(self, game: HouseholdGame, steps: int, start: Start) -> None:
        self._played, data = game, game.data
        self._running = RunningGame(data.pddl_domain, data.grammar, data.pddl_problem)
        try:
            room, goal = _read_task(self._running.seen)
            first = GameEvent(1, _STAGE, CHANCE, BEGINNING, room)
            super().__init__(NAME, start, goal, steps, first, {GOAL: goal, "steps": steps}, {})
        except BaseException:
            self._running.close()
            raise

    def facts(self) -> Facts:
        """Return whether the goal was reached, the goal, and the number of commands."""
        self._require_end("whether the goal was reached")
        return {
            "success": self._is_over,
            "task": self._played.task.name,
            "goal": self._goal,
            "steps": len(self._events) - 1,
        }

    def close(self) -> None:
        """End the game in TextWorld, and close the databases of its moves."""
        super().close()
        self._running.close()

    @property
    def _is_over(self) -> bool:
        return self._running.seen.won

    def _position(self, viewer: str) -> ObservedPosition:
        commands, events = self._running.seen.commands, tuple(self._events)
        return ObservedPosition(NAME, self._goal, commands, events, cautious=LOOK, viewer=viewer)

    def _ask(self, position: Position) -> tuple[str, str]:
        left = self._left
        text = (
            f"{position.describe()}\n"
            f"What do you do next? You can still give {left} command{'s' * (left != 1)}."
        )
        return text, read_rules(__file__)

    def _apply(self, action: str) -> list[GameEvent]:
        self._running.step(action)
        return self._add_event(_STAGE, action, self._running.seen.text.strip())

    def _reveal(self) -> tuple[str, ...]:
        return self._played.walkthrough

    def _returns(self) -> Mapping[str, float]:
        return {AGENT: float(self._is_over)}


class Household(GameWorld[HouseholdSettings, HouseholdEpisode]):
    """Rooms in which one player finds, treats and places things (ALFWorld).

    Mirroring does not change a game, because it has only one player.
    """

    name = NAME
    players = (AGENT,)
    payoffs = (0.0, 1.0)

    def begin(self, start: Start) -> HouseholdEpisode:
        """Start the game of a seed.

        Raises
        ------
        MissingKeyError
            alfworld is not installed.
        UsageError, DataError
            The configured folder has no official games, or a game is damaged.
        WorldUnavailableError
            TextWorld failed.
        """
        return HouseholdEpisode(self.find_game(start.seed), self._settings.steps, start)

    def find_game(self, seed: int) -> HouseholdGame:
        """Return the game of a seed. Raise the same errors as `begin`."""
        if self._settings.games is not None:
            return read_game(self._official[seed % len(self._official)])
        return find_generated(self._task or task_of_seed(seed), seed)

    def position(self, question: Question, database: Database) -> ObservedPosition:
        """Return the state that a question is about. Read it from the question's database."""
        return replace(read_observed(question, database), cautious=LOOK)

    @property
    def _task(self) -> TaskName | None:
        return None if self._settings.task == "all" else self._settings.task

    @cached_property
    def _official(self) -> tuple[Path, ...]:
        return find_official(Path(self._settings.games or "."), self._task)


def _read_task(seen: Seen) -> tuple[str, str]:
    """Return the first observation including the task, and the goal alone."""
    text = _WELCOME.sub("", seen.text)
    found = _TASK.search(text)
    if found is None:
        raise WorldUnavailableError(
            "The first text of a game must contain 'Your task is to:', as in alfworld's grammar, "
            f"but it is {seen.text[:200]!r}."
        )
    goal = " ".join(found["goal"].split())
    return f"{text[: found.start()]}\nYour task is to: {goal}.", goal


class ExpertPolicy(InformedPolicy):
    """Follows the planner's walkthrough. The world reveals the walkthrough as its true state."""

    def choose_informed(
        self, position: Position, state: object, random: np.random.Generator
    ) -> Candidate:
        """Return the next command of the walkthrough.

        If the player has deviated from the walkthrough or finished it, return the fallback of the
        position.
        """
        del random
        walkthrough = cast("tuple[str, ...]", state)
        done = tuple(event.action for event in position.events[1:])
        if done == walkthrough[: len(done)] and len(done) < len(walkthrough):
            return walkthrough[len(done)]
        return position.fallback


WORLD = WorldFactory(
    name=NAME,
    description="finding, treating and placing things in a room by commands (ALFWorld)",
    make=Household,
    settings=HouseholdSettings,
    policies={
        factory.name: factory
        for factory in (
            PolicyFactory(
                "expert", "follows a planner that knows all locations", lambda _: ExpertPolicy()
            ),
            RANDOM,
        )
    },
    foreseen=False,
)
