"""Base classes of game episodes and game worlds that write their events to a history."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from dqa.core.database import Database
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.worlds.history import Game
from dqa.worlds.world import Episode, GameEvent, Move, Position, World

if TYPE_CHECKING:
    from dqa.worlds.history import History

Settings = TypeVar("Settings")


class GameEpisode(Episode):
    """An episode of a game, with an optional history of its events.

    Parameters
    ----------
    world
        The name of the world.
    seed, mirrored
        As in `dqa.worlds.world.World.start`.
    settings
        The settings that all players may read.
    hidden
        The private values of each player, by name.
    history
        Where the events are stored, if anywhere.
    """

    def __init__(  # noqa: PLR0913
        self,
        world: str,
        *,
        seed: int,
        mirrored: bool,
        settings: Mapping[str, Any],
        hidden: Mapping[str, Mapping[str, str]],
        history: History | None,
    ) -> None:
        self._world = world
        self._history = history
        self._databases: dict[str, Database] = {}
        self._move: Move | None = None
        self._has_ended = self._is_closed = False
        if history is None:
            self.game = 2 * seed + mirrored
            return
        self.game = history.number_of(seed, mirrored=mirrored)
        text = json.dumps(settings, sort_keys=True)
        history.begin(Game(self.game, world, seed, mirrored, text, hidden))

    @abstractmethod
    def _mover(self) -> str | None:
        """Return the player of the next move; None after the end."""

    @abstractmethod
    def _position(self, viewer: str) -> Position:
        """Return the state with everything that `viewer` knows."""

    @abstractmethod
    def _ask(self, position: Position) -> tuple[str, str]:
        """Return the text and the rules of the question about a position."""

    def _target(self, player: str) -> Mapping[str, str]:
        """Return the extra target values of a question, besides the game and the player."""
        del player
        return {}

    def _context(self) -> tuple[str, ...]:
        """Return the statements whose rows go to deciders that write no statements themselves.

        An empty tuple means the events of the game.
        """
        return ()

    @abstractmethod
    def _apply(self, action: str) -> Iterable[GameEvent]:
        """Apply a legal action. Return the events up to the next decision of a player."""

    @abstractmethod
    def _reveal(self) -> object:
        """Return the true state with all hidden values: a copy of OpenSpiel's state."""

    @abstractmethod
    def _returns(self) -> Mapping[str, float]:
        """Return the final payoff of each player."""

    def next_move(self) -> Move | None:
        """Return the next move; None after the end. Repeated calls return the same object."""
        if self._move is None and (player := self._mover()) is not None:
            position = self._position(player)
            text, rules = self._ask(position)
            question = Question(
                self._world,
                f"{self.game}-{len(position.events) + 1}",
                text,
                rules,
                target={**self._target(player), "game": str(self.game), "player": player},
                candidates=position.actions,
                free_form=position.free_form,
                context_queries=self._context(),
            )
            opened = partial(self._open, player)
            self._move = Move(player, question, position, opened, self._reveal)
        return self._move

    def choose(self, choice: Candidate) -> None:
        """Apply a choice, and store its events."""
        move = self.next_move()
        if move is None:
            raise UsageError(f"Game {self.game} has ended, so '{choice}' cannot be chosen.")
        if not move.position.accepts(choice):
            raise UsageError(
                f"'{choice}' is not a candidate of {move.question.key}: choose one of "
                f"{', '.join(map(str, move.position.actions[:_SHOWN]))}."
            )
        events = self._apply(str(choice))
        self._move = None
        self._has_ended = self._mover() is None
        if self._history is not None:
            self._history.add(self.game, events, self._returns() if self._has_ended else None)

    def returns(self) -> Mapping[str, float]:
        """Return the payoff of each player. Raise `UsageError` before the end."""
        self._require_end("payoffs")
        return self._returns()

    def close(self) -> None:
        """Close the databases of all moves. After that, no database can be opened."""
        self._is_closed = True
        databases, self._databases = self._databases, {}
        for database in databases.values():
            database.close()

    def _require_end(self, what: str) -> None:
        if not self._has_ended:
            raise UsageError(f"Game {self.game} has not ended, so it has no {what} yet.")

    def _require_open(self) -> None:
        if self._is_closed:
            raise UsageError(
                f"Game {self.game} of '{self._world}' is closed. Read the databases of its moves "
                "before you close it, or use dqa.worlds.history.History.open_for."
            )

    def _open(self, player: str) -> Database:
        """Open the history for a player. The database is cached and also shows later events."""
        if self._history is None:
            raise UsageError(
                f"Game {self.game} of '{self._world}' has no history, so it has no database to "
                "read. Create the world with a dqa.worlds.history.History."
            )
        self._require_open()
        if player not in self._databases:
            self._databases[player] = self._history.open_for(self.game, player)
        return self._databases[player]


_SHOWN = 10
"""The number of candidates that an error message lists."""


class GameWorld(World, Generic[Settings]):
    """A world with settings and an optional history of its games.

    Parameters
    ----------
    settings
        The settings of the world.
    history
        Where the games are stored, if anywhere.
    """

    def __init__(self, settings: Settings, history: History | None) -> None:
        self._settings = settings
        self._history = history


@lru_cache
def read_rules(module: str, name: str = "rules") -> str:
    """Return the text of ``NAME.md`` in the folder of a module file."""
    return Path(module).with_name(f"{name}.md").read_text("utf-8").strip()


def random_of(seed: int, *attempt: int) -> np.random.Generator:
    """Return the random generator of an episode.

    Parameters
    ----------
    seed
        The seed of the episode.
    attempt
        The number of the attempt, if a draw may be rejected.

    Raises
    ------
    UsageError
        The seed is negative.
    """
    if seed < 0:
        raise UsageError(f"A game's seed must be 0 or more, not {seed}.")
    return np.random.default_rng([seed, *attempt] if attempt else seed)
