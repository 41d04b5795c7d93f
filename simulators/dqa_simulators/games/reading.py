"""A player's knowledge of a game, read from its history by queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from pydantic import TypeAdapter

from dqa.core.database import Database, Limits
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Question
from dqa.worlds.observed import events_of, move_number
from dqa.worlds.world import CHANCE, GameEvent, Position
from dqa_simulators.games.betting import PLAYERS

_LIMITS: Final = Limits(rows=20_000, bytes=20_000_000)
_SETTINGS: Final = "SELECT world, settings FROM games WHERE game = {game}"
_HIDDEN: Final = "SELECT name, value FROM hidden WHERE game = {game} AND player = '{player}'"


@dataclass(frozen=True, slots=True)
class Record:
    """A game as one player knows it.

    Attributes
    ----------
    game
        Its number.
    player
        Who knows it.
    settings
        How the world was set.
    events
        What happened before the question, without a gap.
    own
        What that player alone knows, by name.
    """

    game: int
    player: str
    settings: Mapping[str, Any]
    events: tuple[GameEvent, ...]
    own: Mapping[str, str]

    @property
    def seats(self) -> tuple[str, str]:
        """The player at each seat; without this setting, those of a game that is not mirrored.

        Raises
        ------
        DataError
            The settings' seats are not those of the two players.
        """
        seats = self.settings.get("seats", list(PLAYERS))
        if seats not in (list(PLAYERS), list(PLAYERS)[::-1]):
            raise self.fail(f"the settings' seats are {seats!r}, not {list(PLAYERS)} in an order.")
        return seats[0], seats[1]

    def fail(self, problem: str) -> DataError:
        """Return the error for a record that breaks the rules."""
        return DataError(f"Game {self.game}, as {self.player} may read it: {problem}")


_State = TypeVar("_State", bound=Position)


def replay(
    record: Record, position: _State, deal: Callable[[_State, str], _State] | None = None
) -> _State:
    """Return the position after all events of a record.

    Parameters
    ----------
    record
        The game.
    position
        Its beginning.
    deal
        Deals the cards that a text names, if chance acts in the game.

    Raises
    ------
    DataError
        An event breaks the rules. Its detail may be left out.
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
        right = position.events[-1]
        for name in ("stage", "action", "detail"):
            found, expected = getattr(event, name), getattr(right, name)
            if found != expected and not (name == "detail" and not found):
                raise record.fail(
                    f"{where} has the {name} '{found}', and by the rules it would be '{expected}'."
                )
    return position


def read_record(
    question: Question, database: Database, world: str, players: Sequence[str]
) -> Record:
    """Read the game that a question is about, up to the move that it asks for.

    Raises
    ------
    DataError
        The question names no game and player, the history does not hold them, or it has a gap.
    """
    target = question.target
    game, player = target.get("game", ""), target.get("player", "")
    if not (game.isdecimal() and game.isascii()) or player not in players:
        raise DataError(
            f"{question.key} has the target {dict(target)}: a move needs a game's number and one "
            f"of the players {', '.join(players)}, as in {{'game': '17', 'player': '{players[0]}'}}"
        )

    def rows(statement: str) -> Sequence[Sequence[Any]]:
        found = database.query(statement.format(game=int(game), player=player), _LIMITS)
        if found.cut is not None:
            raise DataError(
                f"Game {game} has more rows in {database.name} than a game can have (limit on "
                f"{found.cut}): {statement!r} gave {len(found.rows)} rows."
            )
        return found.rows

    began = rows(_SETTINGS)
    if len(began) != 1:
        raise DataError(f"{database.name} has no game {game}, which {question.key} is about.")
    ((played, text),) = began
    if played != world:
        raise DataError(f"Game {game} is one of '{played}', and {question.key} of '{world}'.")
    try:
        settings = TypeAdapter(dict[str, Any]).validate_json(str(text))
    except ValueError as error:
        raise DataError(f"Game {game}: its settings are not a JSON object: {text!r}.") from error
    events = events_of(database, f"game {game}", int(game), before=move_number(question))
    own = {str(name): str(value) for name, value in rows(_HIDDEN)}
    return Record(int(game), player, settings, events, own)
