"""Episodes whose events are written to a history."""

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
    """An episode whose state is known, and whose events go into a history where there is one.

    Parameters
    ----------
    world
        The world's name.
    seed, mirrored
        As `dqa.worlds.world.World.start` takes them.
    settings
        The settings, as every player may know them.
    hidden
        By player, the values that this player alone knows, by name.
    history
        The history of the events; None for none.
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
        """Return the player of the next move; None at the end."""

    @abstractmethod
    def _position(self, viewer: str) -> Position:
        """Return the state as a player knows it."""

    @abstractmethod
    def _ask(self, position: Position) -> tuple[str, str]:
        """Return the text and the rules of the question that a position is."""

    def _target(self, player: str) -> Mapping[str, str]:
        """Return the target of a question to a player, without the game and the player."""
        del player
        return {}

    def _context(self) -> tuple[str, ...]:
        """Return the statements whose rows a decider sees that writes none; () for the events."""
        return ()

    @abstractmethod
    def _apply(self, action: str) -> Iterable[GameEvent]:
        """Carry out a legal action; return the events until the next decision of a player."""

    @abstractmethod
    def _reveal(self) -> object:
        """Return the true state, hidden things and all: a copy of OpenSpiel's."""

    @abstractmethod
    def _returns(self) -> Mapping[str, float]:
        """Return the payoff of each player, at the end."""

    def next_move(self) -> Move | None:
        """Return the next move, the same until `choose`; None at the end."""
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
        """Carry out a move, and write its events."""
        move = self.next_move()
        if move is None:
            raise UsageError(f"Game {self.game} has ended, so '{choice}' cannot be chosen.")
        if not move.position.accepts(choice):
            raise UsageError(
                f"'{choice}' is no candidate of {move.question.key}: choose one of "
                f"{', '.join(map(str, move.position.actions[:_SHOWN]))}."
            )
        events = self._apply(str(choice))
        self._move = None
        self._has_ended = self._mover() is None
        if self._history is not None:
            self._history.add(self.game, events, self._returns() if self._has_ended else None)

    def returns(self) -> Mapping[str, float]:
        """Return the payoff of each player; `UsageError` before the end."""
        self._require_end("payoffs")
        return self._returns()

    def close(self) -> None:
        """Close the databases of its moves; later ones cannot be opened."""
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
                f"Game {self.game} of '{self._world}' is closed: read its moves' databases before, "
                "or open the history with dqa.worlds.history.History.open_for."
            )

    def _open(self, player: str) -> Database:
        """Open the history for a player, once; later events can be read as well."""
        if self._history is None:
            raise UsageError(
                f"Game {self.game} of '{self._world}' is played without a history, so there is no "
                "database to read: make the world with a dqa.worlds.history.History."
            )
        self._require_open()
        if player not in self._databases:
            self._databases[player] = self._history.open_for(self.game, player)
        return self._databases[player]


_SHOWN = 10
"""How many candidates an error lists."""


class GameWorld(World, Generic[Settings]):
    """A world with settings, whose games are written to a history.

    Parameters
    ----------
    settings
        Its settings.
    history
        Where its games are written; None for nowhere.
    """

    def __init__(self, settings: Settings, history: History | None) -> None:
        self._settings = settings
        self._history = history


@lru_cache
def read_rules(module: str, name: str = "rules") -> str:
    """Return the text of rules in a file next to a module's."""
    return Path(module).with_name(f"{name}.md").read_text("utf-8").strip()


def random_of(seed: int, *attempt: int) -> np.random.Generator:
    """Return the source of all random choices in a seed's episode.

    Parameters
    ----------
    seed
        The episode's.
    attempt
        The number of the attempt, if a draw may be rejected.

    Raises
    ------
    UsageError
        The seed is below 0.
    """
    if seed < 0:
        raise UsageError(f"A game's seed must be 0 or more, not {seed}.")
    return np.random.default_rng([seed, *attempt] if attempt else seed)
