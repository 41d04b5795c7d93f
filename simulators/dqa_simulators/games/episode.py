"""Base classes of game episodes and game worlds that write their events to a history."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.worlds.history import Game
from dqa.worlds.observed import AGENT, GOAL, LEFT
from dqa.worlds.world import Episode, GameEvent, Move, Position, World
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.packages import load_package

if TYPE_CHECKING:
    from dqa.core.database import Database
    from dqa.worlds.history import History

Facts: TypeAlias = Mapping[str, Candidate | float | bool | None]
Settings = TypeVar("Settings")
_Episode = TypeVar("_Episode", bound=Episode)
_SHOWN: Final = 10
"""The number of candidates that an error message lists."""


class Start(NamedTuple):
    """The arguments of `World.start`, and the optional history of the events."""

    seed: int
    mirrored: bool = False
    history: History | None = None

    @property
    def seats(self) -> tuple[str, str]:
        """The players at the first and the second seat. A mirrored game swaps the players."""
        return (PLAYERS[1], PLAYERS[0]) if self.mirrored else PLAYERS


class GameEpisode(Episode):
    """An episode of a game, with an optional history of its events.

    Parameters
    ----------
    world
        The name of the world.
    start
        The seed, the mirroring and the history.
    settings
        The settings that all players may read.
    hidden
        The private values of each player, by name.
    """

    def __init__(
        self,
        world: str,
        start: Start,
        settings: Mapping[str, Any],
        hidden: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._world = world
        self._history = history = start.history
        self._databases: dict[str, Database] = {}
        self._move: Move | None = None
        self._has_ended = self._is_closed = False
        if history is None:
            self.game = 2 * start.seed + start.mirrored
            return
        self.game = history.number_of(start.seed, mirrored=start.mirrored)
        text = json.dumps(settings, sort_keys=True)
        history.begin(Game(self.game, world, start.seed, start.mirrored, text, hidden))

    @abstractmethod
    def _mover(self) -> str | None:
        """Return the player of the next move; None after the end."""

    @abstractmethod
    def _position(self, viewer: str) -> Position:
        """Return the state with everything that `viewer` knows."""

    @abstractmethod
    def _ask(self, position: Position) -> tuple[str, str]:
        """Return the text and the rules of the question about a position."""

    def _target(self) -> Mapping[str, str]:
        """Return the target values of a question, in addition to the game and the player."""
        return {}

    def _context(self) -> tuple[str, ...]:
        """Return the statements for deciders that do not query the database.

        The prompts of these deciders show the rows of the statements. If the tuple is empty, the
        prompts show the events of the game.
        """
        return ()

    @abstractmethod
    def _apply(self, action: str) -> Iterable[GameEvent]:
        """Apply a legal action. Return the events up to the next decision of a player."""

    @abstractmethod
    def _reveal(self) -> object:
        """Return the true state with all hidden values."""

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
                target={**self._target(), "game": str(self.game), "player": player},
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
                "before you close the game, or use dqa.worlds.history.History.open_for."
            )

    def _open(self, player: str) -> Database:
        """Open the history for a player.

        The database is cached. Later events also appear in an open database.
        """
        if self._history is None:
            raise UsageError(
                f"Game {self.game} of '{self._world}' has no history, so it has no database to "
                "read. Create the world with a dqa.worlds.history.History."
            )
        self._require_open()
        if player not in self._databases:
            self._databases[player] = self._history.open_for(self.game, player)
        return self._databases[player]


class SoloEpisode(GameEpisode):
    """An episode of one player, who cannot calculate the result of an action in advance.

    Parameters
    ----------
    world, start, settings, hidden
        The name of the world, its start, its settings and the private values; see `GameEpisode`.
    goal
        The goal of the player.
    steps
        The maximum number of actions.
    first
        The event with the first observation.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        world: str,
        start: Start,
        goal: str,
        steps: int,
        first: GameEvent,
        settings: Mapping[str, Any],
        hidden: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._goal, self._steps, self._events = goal, steps, [first]
        super().__init__(world, start, settings, hidden)
        if start.history is not None:
            start.history.add(self.game, self._events)

    @property
    @abstractmethod
    def _is_over(self) -> bool:
        """Whether the episode has ended before its maximum number of actions."""

    @property
    def _left(self) -> int:
        """The number of remaining actions."""
        return self._steps - (len(self._events) - 1)

    def _mover(self) -> str | None:
        return None if self._is_over or self._left <= 0 else AGENT

    def _target(self) -> Mapping[str, str]:
        return {GOAL: self._goal, LEFT: str(self._left)}

    def _add_event(self, stage: str, action: str, observation: str) -> list[GameEvent]:
        """Add an action of the player with its observation. Return the new event in a list."""
        self._events.append(GameEvent(len(self._events) + 1, stage, AGENT, action, observation))
        return self._events[-1:]


class RefereedEpisode(GameEpisode):
    """A game of two players in which a state of OpenSpiel decides the payoffs.

    Parameters
    ----------
    world, start, settings, hidden
        The name of the world, its start, its settings and the private values; see `GameEpisode`.
        The seats of the players are added to the settings.
    state
        OpenSpiel's state. Subclasses apply every action to this state.
    """

    def __init__(
        self,
        world: str,
        start: Start,
        state: Any,  # noqa: ANN401  (OpenSpiel has no types)
        settings: Mapping[str, Any],
        hidden: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._seats, self._state = start.seats, state
        super().__init__(world, start, {**settings, "seats": start.seats}, hidden)

    def _reveal(self) -> object:
        return self._state.clone()

    def _returns(self) -> Mapping[str, float]:
        returns = dict(zip(self._seats, self._state.returns(), strict=True))
        return {player: returns[player] for player in PLAYERS}


class GameWorld(World, Generic[Settings, _Episode]):
    """A world with settings and an optional history of its games.

    Parameters
    ----------
    settings
        The settings of the world.
    history
        The store of the games; None stores no games.
    """

    def __init__(self, settings: Settings, history: History | None) -> None:
        self._settings = settings
        self._history = history

    def start(self, seed: int, *, mirrored: bool = False) -> _Episode:
        """Start the episode of a seed. Raise `UsageError` if the seed is negative."""
        random_of(seed)
        return self.begin(Start(seed, mirrored, self._history))

    @abstractmethod
    def begin(self, start: Start) -> _Episode:
        """Start an episode."""


@lru_cache
def load_game(text: str) -> Any:  # noqa: ANN401  (OpenSpiel has no types)
    """Return a game of OpenSpiel (Lanctot et al., 2019). OpenSpiel applies the rules of our games.

    Parameters
    ----------
    text
        The name and the parameters of the game in OpenSpiel's notation.

    Raises
    ------
    MissingKeyError
        OpenSpiel is not installed.
    """
    need = "A world of poker or negotiation"
    return load_package("pyspiel", need, "games").load_game(text)


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
        The number of the attempt, for draws that can be rejected and repeated.

    Raises
    ------
    UsageError
        The seed is negative.
    """
    if seed < 0:
        raise UsageError(f"A game's seed must be 0 or more, not {seed}.")
    return np.random.default_rng([seed, *attempt] if attempt else seed)
