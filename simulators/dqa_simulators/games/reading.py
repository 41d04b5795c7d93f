"""Read a player's knowledge of a game from the game's history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError, field_validator

from dqa.core.database import Database, Limits
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Question
from dqa.worlds.observed import events_of, move_number
from dqa.worlds.world import CHANCE, GameEvent, Position
from dqa_simulators.games.betting import PLAYERS

_LIMITS: Final = Limits(rows=20_000, bytes=20_000_000)
_SETTINGS: Final = "SELECT world, settings FROM games WHERE game = {game}"
_HIDDEN: Final = "SELECT name, value FROM hidden WHERE game = {game} AND player = '{player}'"


class Seated(BaseModel):
    """The game settings that a position needs.

    Attributes
    ----------
    seats
        The player at each seat. The default is the order in a game that is not mirrored.
    """

    seats: tuple[str, str] = PLAYERS

    @field_validator("seats")
    @classmethod
    def _check(cls, seats: tuple[str, str]) -> tuple[str, str]:
        if {*seats} != {*PLAYERS}:
            raise ValueError(f"the seats must be {' and '.join(PLAYERS)} in any order")
        return seats


_Settings = TypeVar("_Settings", bound=Seated)
_State = TypeVar("_State", bound=Position)


@dataclass(frozen=True, slots=True)
class Record(Generic[_Settings]):
    """The data of a game that one player may read.

    Attributes
    ----------
    game
        The number of the game.
    player
        The name of the player.
    settings
        The settings of the game.
    events
        All events before the question.
    own
        The private values of the player, by name.
    """

    game: int
    player: str
    settings: _Settings
    events: tuple[GameEvent, ...]
    own: Mapping[str, str]

    def fail(self, problem: str) -> DataError:
        """Return the error that says why the record is invalid."""
        return DataError(f"Game {self.game}, as read by {self.player}: {problem}")


def replay(
    record: Record[Any], position: _State, deal: Callable[[_State, str], _State] | None = None
) -> _State:
    """Return the position after all events of a record.

    Parameters
    ----------
    record
        The record of the game.
    position
        The initial position.
    deal
        Returns the position after a deal, from a position and the text of the cards. Only games
        with events of chance need this function.

    Raises
    ------
    DataError
        An event breaks the rules. Stages and the details of actions are not compared.
    """
    for event in record.events:
        where = f"event {event.number} ({event.actor}: {event.action})"
        expected = CHANCE if position.node == "chance" else position.mover
        if expected is None:
            raise record.fail(f"{where} comes after the end of the game.")
        if event.actor != expected:
            raise record.fail(f"{where}: it is {expected}'s turn.")
        try:
            if deal is not None and expected == CHANCE:
                position = deal(position, event.detail)
            else:
                position = cast("_State", position.after(event.action))
        except UsageError as error:
            raise record.fail(f"{where}: {error}") from error
    return position


def read_record(
    question: Question, database: Database, world: str, settings: type[_Settings]
) -> Record[_Settings]:
    """Read the events of a game for two players, up to the move of a question.

    Raises
    ------
    DataError
        The question's target lacks a game or a player, the history lacks the game, the settings of
        the game are invalid, or events are missing.
    """
    target = question.target
    game, player = target.get("game", ""), target.get("player", "")
    if not (game.isdecimal() and game.isascii()) or player not in PLAYERS:
        raise DataError(
            f"{question.key} has the target {dict(target)}. The target of a move must contain the "
            f"number of a game and a player ({', '.join(PLAYERS)}), for example "
            f"{{'game': '17', 'player': '{PLAYERS[0]}'}}."
        )

    def rows(statement: str) -> Sequence[Sequence[Any]]:
        return database.query(statement.format(game=int(game), player=player), _LIMITS).rows

    began = rows(_SETTINGS)
    if [played for played, _ in began] != [world]:
        raise DataError(
            f"{question.key} is about game {game} of the world '{world}', but {database.name} does "
            "not contain this game."
        )
    ((_, text),) = began
    try:
        known = settings.model_validate_json(str(text))
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(map(str, problem["loc"]))
        raise DataError(
            f"Game {game}: the setting '{name}' is invalid: {problem['msg']}"
        ) from error
    events = events_of(database, f"game {game}", int(game), before=move_number(question))
    own = {str(name): str(value) for name, value in rows(_HIDDEN)}
    return Record(int(game), player, known, events, own)
