"""What a player may know of a game, read from its history by queries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dqa.core.database import Database, Limits
from dqa.core.errors import DataError
from dqa.core.question import Question
from dqa.worlds.world import GameEvent
from dqa_simulators.games.betting import PLAYERS

_LIMITS: Final = Limits(rows=20_000, bytes=20_000_000)
_SETTINGS: Final = "SELECT world, settings FROM games WHERE game = {game}"
_EVENTS: Final = (
    "SELECT number, stage, actor, action, detail FROM events WHERE game = {game} ORDER BY number"
)
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
        """Who sits at each seat; as in a game that is not mirrored where the settings do not say.

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
        """Return the error for a record that nobody can have played."""
        return DataError(f"Game {self.game}, as {self.player} may read it: {problem}")

    def require_same(self, event: GameEvent, expected: GameEvent) -> None:
        """Refuse an event that reads otherwise than by the rules; its detail may be left out."""
        for name in ("stage", "action", "detail"):
            found, right = getattr(event, name), getattr(expected, name)
            if found != right and not (name == "detail" and not found):
                raise self.fail(
                    f"event {event.number} ({event.actor}: {event.action}) has the {name} "
                    f"'{found}', and by the rules it would be '{right}'."
                )


def read_record(
    question: Question, database: Database, world: str, players: Sequence[str]
) -> Record:
    """Read the game that a question is about, up to the move that it asks for.

    Raises
    ------
    DataError
        The question names no game and player, the history does not hold them, or it has a gap.
    """
    game, player = _asked(question, players)
    began = _rows(database, _SETTINGS.format(game=game), f"Game {game}")
    if len(began) != 1:
        raise DataError(f"{database.name} has no game {game}, which {question.key} is about.")
    ((played, settings),) = began
    if played != world:
        raise DataError(f"Game {game} is one of '{played}', and {question.key} of '{world}'.")
    own = _rows(database, _HIDDEN.format(game=game, player=player), f"Game {game}")
    events = _rows(database, _EVENTS.format(game=game), f"Game {game}")
    return Record(
        game,
        player,
        _parsed(game, settings),
        _without_gaps(game, events, _last_before(question, game)),
        {str(name): str(value) for name, value in own},
    )


def _asked(question: Question, players: Sequence[str]) -> tuple[int, str]:
    target = question.target
    game, player = target.get("game", ""), target.get("player", "")
    if not (game.isdecimal() and game.isascii()) or player not in players:
        raise DataError(
            f"{question.key} has the target {dict(target)}: a move needs a game's number and one "
            f"of the players {', '.join(players)}, as in {{'game': '17', 'player': '{players[0]}'}}"
        )
    return int(game), player


def _last_before(question: Question, game: int) -> int | None:
    """Return the number of the last event before the move; None where the id tells none."""
    named, _, number = question.id.rpartition("-")
    is_ours = named == str(game) and number.isdecimal() and number.isascii()
    return int(number) - 1 if is_ours else None


def _rows(database: Database, statement: str, whose: str) -> Sequence[Sequence[Any]]:
    rows = database.query(statement, _LIMITS)
    if rows.cut is not None:
        raise DataError(
            f"{whose} has more in {database.name} than a game can have: by the limit on "
            f"{rows.cut}, {statement!r} gave {len(rows.rows)} rows."
        )
    return rows.rows


def _parsed(game: int, settings: object) -> Mapping[str, Any]:
    try:
        parsed = json.loads(str(settings))
    except ValueError as error:
        raise DataError(f"Game {game}: its settings are no JSON ({error}).") from error
    if not isinstance(parsed, dict):
        raise DataError(f"Game {game}: its settings are no JSON object: {settings!r}.")
    return parsed


def _without_gaps(
    game: int, rows: Sequence[Sequence[Any]], last: int | None
) -> tuple[GameEvent, ...]:
    events = []
    for place, (number, stage, actor, action, detail) in enumerate(rows, 1):
        if last is not None and place > last:
            break
        if number != place:
            raise DataError(
                f"Game {game}: event {place} is missing; the next one that is there has the number "
                f"{number}. Events are numbered from 1, without a gap."
            )
        events.append(GameEvent(place, str(stage), str(actor), str(action), str(detail or "")))
    if last is not None and len(events) < last:
        raise DataError(
            f"Game {game}: event {len(events) + 1} is missing; the move that is asked for comes "
            f"after event {last}."
        )
    return tuple(events)
