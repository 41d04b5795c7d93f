"""Store the history of episodes in a database, and open it for players.

All worlds use the same tables ``games``, ``events``, ``outcomes`` and ``hidden``. A player can only
read the rows of the current game, because the rows of the mirrored game would reveal hidden values.
In ``hidden``, a player can only read its own rows. The table ``attempts`` stores which process
writes each game. Players cannot read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateTable

from dqa import plugins
from dqa.core.errors import DataError, GameTakenError, UsageError
from dqa.databases.servers import DRIVERS, parse_url
from dqa.databases.store_locations import StoreLocation, open_store, translate_errors, write
from dqa.guard.policy import Policy

if TYPE_CHECKING:
    from dqa.core.database import Database, Isolation
    from dqa.guard import GuardedDatabase
    from dqa.worlds.world import GameEvent

_METADATA: Final = MetaData()
_NAME: Final = 64
_ACTION: Final = 500
_WRITER: Final = 32


def _number_of_game() -> Column[int]:
    return Column("game", BigInteger, primary_key=True, autoincrement=False, comment="see games")


GAMES: Final = Table(
    "games",
    _METADATA,
    Column("game", BigInteger, primary_key=True, autoincrement=False, comment="number of the game"),
    Column("world", String(_NAME), nullable=False, comment="the world"),
    Column("seed", BigInteger, nullable=False, comment="what chance comes from; not shown"),
    Column("mirrored", Boolean, nullable=False, comment="whether hands or values were swapped"),
    Column("settings", Text, nullable=False, comment="the settings, as JSON"),
    comment="One row a game.",
)
EVENTS: Final = Table(
    "events",
    _METADATA,
    _number_of_game(),
    Column("number", Integer, primary_key=True, autoincrement=False, comment="place, from 1"),
    Column("stage", String(_NAME), nullable=False, comment="part of the game"),
    Column("actor", String(_NAME), nullable=False, comment="a player, or chance"),
    Column("action", String(_ACTION), nullable=False, comment="the action"),
    Column("detail", Text, nullable=False, comment="its details, or nothing"),
    comment="What happened, as every player saw it.",
)
OUTCOMES: Final = Table(
    "outcomes",
    _METADATA,
    _number_of_game(),
    Column("player", String(_NAME), primary_key=True, comment="who"),
    Column("payoff", Float, nullable=False, comment="the player's payoff"),
    comment="The payoff of each player, after the end of a game.",
)
HIDDEN: Final = Table(
    "hidden",
    _METADATA,
    _number_of_game(),
    Column("player", String(_NAME), primary_key=True, comment="who knows it"),
    Column("name", String(_NAME), primary_key=True, comment="its name"),
    Column("value", Text, nullable=False, comment="a card, a value"),
    comment="Values that one player alone knows. A reader sees their own.",
)
_SHOWN: Final = frozenset(_METADATA.tables)
_ATTEMPTS: Final = Table(
    "attempts",
    _METADATA,
    _number_of_game(),
    Column("run", String(_WRITER), nullable=False, comment="which run plays it"),
    Column("attempt", String(_WRITER), nullable=False, comment="who writes it, and no one else"),
    comment="Who writes a game. Players do not see it.",
)


@dataclass(frozen=True, slots=True)
class Game:
    """The data at the start of an episode.

    Attributes
    ----------
    number
        The number of the game, unique in a history.
    world, seed, mirrored
        The world, the seed, and whether players are swapped; see `dqa.worlds.world.World.start`.
    settings
        The settings of the world, as JSON.
    hidden
        The private values of each player, by name.
    """

    number: int
    world: str
    seed: int
    mirrored: bool
    settings: str
    hidden: Mapping[str, Mapping[str, str]]


class History:
    """A history of episodes in a database. Several threads and processes may write to it.

    Parameters
    ----------
    location
        The URL of a database, or an SQLite file. A missing file is created.
    isolation
        Where statements of players run. Use ``"none"`` only for trusted programs.
    first
        The offset that is added to all game numbers. With different offsets, matches with the same
        seeds can share a database.
    run
        The id of the run that writes, at most 32 characters. Games of other runs are never changed.

    Raises
    ------
    UsageError
        The location cannot be written, holds games of another run, or is not a database.
    MissingKeyError
        The driver of the database is not installed.
    DataError
        The file is not a database, or has a table of one of these names with other columns.
    DatabaseUnavailableError
        The server cannot be reached.
    """

    def __init__(
        self, location: str, *, isolation: Isolation = "process", first: int = 0, run: str = ""
    ) -> None:
        self._location = _store_location(location)
        self._reader = _Reader(location, isolation)
        self._first, self._run = first, run
        self._attempts: dict[int, str] = {}
        self._engine = open_store(self._location, writing=True)
        with translate_errors(self._location):
            self._require_columns()
            with write(self._engine) as connection:
                _create_tables(connection)
            if run:
                written = select(_ATTEMPTS.c.run).select_from(
                    GAMES.outerjoin(_ATTEMPTS, _ATTEMPTS.c.game == GAMES.c.game)
                )
                with self._engine.connect() as connection:
                    self._require_own(connection.execute(written.distinct()).scalars())

    def numbered_from(self, first: int) -> History:
        """Return the same history with a different offset. Closing one history closes both."""
        other = copy(self)
        other._first = first  # noqa: SLF001
        return other

    def number_of(self, seed: int, *, mirrored: bool) -> int:
        """Return the number of the game with a seed.

        All attempts to play it have the same number.
        """
        return self._first + 2 * seed + mirrored

    def begin(self, game: Game) -> None:
        """Write the start of a game, and delete the rows of an earlier attempt.

        Raises
        ------
        UsageError
            Another run wrote a game with the same number.
        """
        hidden = [
            {"game": game.number, "player": player, "name": name, "value": value}
            for player, known in game.hidden.items()
            for name, value in known.items()
        ]
        attempt = uuid4().hex
        with self._writing() as connection:
            removed = connection.execute(GAMES.delete().where(GAMES.c.game == game.number))
            if removed.rowcount:
                own = select(_ATTEMPTS.c.run).where(_ATTEMPTS.c.game == game.number)
                self._require_own(connection.execute(own).scalars())
                for table in (HIDDEN, OUTCOMES, EVENTS, _ATTEMPTS):
                    connection.execute(table.delete().where(table.c.game == game.number))
            begun = asdict(game) | {"game": game.number}
            _add(connection, GAMES, [{column.name: begun[column.name] for column in GAMES.columns}])
            _add(connection, HIDDEN, hidden)
            written = {"game": game.number, "run": self._run, "attempt": attempt}
            _add(connection, _ATTEMPTS, [written])
        self._attempts[game.number] = attempt

    def add(
        self, game: int, events: Iterable[GameEvent], returns: Mapping[str, float] | None = None
    ) -> None:
        """Write events and, at the end of the game, the payoff of each player.

        Raises
        ------
        GameTakenError
            Another process has restarted the game.
        DatabaseUnavailableError
            The server cannot be reached.
        """
        rows = [{"game": game, **asdict(event)} for event in events]
        got = [
            {"game": game, "player": player, "payoff": payoff}
            for player, payoff in (returns or {}).items()
        ]
        if not (rows or got):
            return
        own = self._attempts.get(game)
        with self._writing() as connection:
            # The lock on the row prevents another process from restarting the game.
            held = select(_ATTEMPTS.c.attempt).where(_ATTEMPTS.c.game == game).with_for_update()
            if own is not None and connection.execute(held).scalar() != own:
                raise GameTakenError(
                    f"Game {game} was begun again by another process, because this one seemed to "
                    "have ended; the game of the other process counts."
                )
            _add(connection, EVENTS, rows)
            _add(connection, OUTCOMES, got)
        if got:
            self._attempts.pop(game, None)

    def open_for(self, game: int, player: str) -> Database:
        """Open a read-only view of a game for a player. The caller closes it.

        The view contains the rows of the game, including events that are added later, and the
        player's own rows of ``hidden``. It hides the seed, which determines all hidden values.
        """
        name = player.replace("'", "''")
        rows = dict.fromkeys(sorted(_SHOWN), f"game = {game:d}")
        rows[HIDDEN.name] += f" AND player = '{name}'"
        return self._reader.open_with(rows)

    def close(self) -> None:
        """Close the database for the writer and for all readers."""
        self._reader.close()
        self._engine.dispose()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translate_errors(self._location), write(self._engine) as connection:
            try:
                yield connection
            except IntegrityError as error:
                raise DataError(
                    f"The history {self._location.shown} has this event or game already: is the "
                    f"game played twice at once? ({error.orig})"
                ) from error

    def _require_own(self, runs: Iterable[str | None]) -> None:
        """Raise `UsageError` if a different run wrote any of the games."""
        if {run or "" for run in runs} - {self._run}:
            raise UsageError(
                f"The history {self._location.shown} holds games of another run, which would be "
                "lost: name another file or database for this run (--history)."
            )

    def _require_columns(self) -> None:
        inspector = inspect(self._engine)
        for table in filter(lambda one: inspector.has_table(one.name), _METADATA.sorted_tables):
            there = {column["name"] for column in inspector.get_columns(table.name)}
            missing = [column.name for column in table.columns if column.name not in there]
            if missing:
                raise DataError(
                    f"{self._location.shown} has a table '{table.name}' without '{missing[0]}', so "
                    "it is not a history: name another file or schema for the history."
                )


class _Reader:
    """Opens the history for players.

    All of them share one connection, whose policy is checked once.
    """

    def __init__(self, location: str, isolation: Isolation) -> None:
        self._location, self._isolation = location, isolation
        self._opening = Lock()
        self._opened: GuardedDatabase | None = None

    def open_with(self, row_filters: Mapping[str, str]) -> GuardedDatabase:
        """Open the tables with one row filter per table."""
        with self._opening:
            if self._opened is None:
                policy = Policy(tables=_SHOWN, masks={"games.seed": None}, row_filters=row_filters)
                self._opened = plugins.backend_for(self._location).open(
                    self._location, policy=policy, isolation=self._isolation
                )
            return self._opened.with_rows(row_filters)

    def close(self) -> None:
        """Close the connection. The next reader opens a new one."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                self._opened = None


def _store_location(location: str) -> StoreLocation:
    hint = "Name another file or database for the history (--history)."
    if "://" not in location:
        return StoreLocation(location, Path(location), "history", hint)
    url = parse_url(location)
    url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    return StoreLocation(url.render_as_string(hide_password=False), None, "history", hint)


def _add(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _create_tables(connection: Connection) -> None:
    """Create missing tables with comments.

    SQLite stores comments only in the text of the statement.
    """
    if connection.dialect.name != "sqlite":
        _METADATA.create_all(connection)
        return
    for table in _METADATA.sorted_tables:
        statement = str(CreateTable(table, if_not_exists=True).compile(connection))
        statement = statement.replace("(", f"( -- {table.comment}", 1)
        for column in table.columns:
            line = rf"(?m)^(\s*{column.name} .*?)\s*$"
            statement = re.sub(line, rf"\1 -- {column.comment}", statement, count=1)
        connection.exec_driver_sql(statement)
