"""The history of episodes as a database: written as they are played, read by query.

Four tables, the same for every world, so that a user's own table of events reads alike: ``games``,
``events``, ``outcomes`` and ``hidden``. Whoever moves is given that database for the game at hand
alone, and of ``hidden`` their own rows: another game may be this one with the hands swapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from sqlalchemy import (
    URL,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UpdateBase,
    bindparam,
    create_engine,
    event,
    inspect,
    make_url,
)
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    IntegrityError,
    NoSuchModuleError,
    ProgrammingError,
)
from sqlalchemy.schema import CreateTable

from dqa.core.distribution import install_command
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    MissingKeyError,
    UsageError,
)
from dqa.worlds.attempts import (
    ATTEMPTS,
    HOLD,
    begun_again,
    require_no_other_run,
    require_own_game,
)
from dqa.worlds.reading import SharedReading

if TYPE_CHECKING:
    from sqlalchemy.sql.compiler import SQLCompiler

    from dqa.core.database import Database, Isolation
    from dqa.worlds.world import GameEvent

_METADATA: Final = MetaData()
_NAME: Final = 64
_ACTION: Final = 500

GAMES: Final = Table(
    "games",
    _METADATA,
    Column("game", BigInteger, primary_key=True, autoincrement=False, comment="number of the game"),
    Column("world", String(_NAME), nullable=False, comment="what was played"),
    Column("seed", BigInteger, nullable=False, comment="what chance comes from; not shown"),
    Column("mirrored", Boolean, nullable=False, comment="whether hands or values were swapped"),
    Column("settings", Text, nullable=False, comment="how the game was set, as JSON"),
    comment="One row a game.",
)
EVENTS: Final = Table(
    "events",
    _METADATA,
    Column("game", BigInteger, primary_key=True, autoincrement=False, comment="see games"),
    Column("number", Integer, primary_key=True, autoincrement=False, comment="place, from 1"),
    Column("stage", String(_NAME), nullable=False, comment="part of the game"),
    Column("actor", String(_NAME), nullable=False, comment="a player, or chance"),
    Column("action", String(_ACTION), nullable=False, comment="what was done"),
    Column("detail", Text, nullable=False, comment="what it consisted of, or nothing"),
    comment="What happened, as every player saw it.",
)
OUTCOMES: Final = Table(
    "outcomes",
    _METADATA,
    Column("game", BigInteger, primary_key=True, autoincrement=False, comment="see games"),
    Column("player", String(_NAME), primary_key=True, comment="who"),
    Column("payoff", Float, nullable=False, comment="what the player got"),
    comment="What each player got, once a game has ended.",
)
HIDDEN: Final = Table(
    "hidden",
    _METADATA,
    Column("game", BigInteger, primary_key=True, autoincrement=False, comment="see games"),
    Column("player", String(_NAME), primary_key=True, comment="who knows it"),
    Column("name", String(_NAME), primary_key=True, comment="what it is"),
    Column("value", Text, nullable=False, comment="a card, a value"),
    comment="What one player alone knows. Whoever reads sees their own.",
)


@dataclass(frozen=True, slots=True)
class Game:
    """An episode that is written down.

    Attributes
    ----------
    number
        Unique in a history.
    world, seed, mirrored
        What is played; see `dqa.worlds.world.World.start`.
    settings
        How the world was set, as JSON.
    hidden
        By player, what that player alone knows, by name.
    """

    number: int
    world: str
    seed: int
    mirrored: bool
    settings: str
    hidden: Mapping[str, Mapping[str, str]]


class History:
    """Episodes in a database. Safe to use from several threads, and by several processes.

    Parameters
    ----------
    location
        A SQLite file, made where it is missing, or the URL of a database.
    isolation
        Where statements of players run: ``"none"`` is for programs of one's own.
    first
        What is added to the number of every game, so that several matches, in which the same seeds
        come again, share a database.
    run
        Whose games are written, of at most 32 characters: what another run wrote is not touched.

    Raises
    ------
    UsageError
        It cannot be written there, holds games of another run, or the URL names no database.
    MissingKeyError
        The driver of the database is not installed.
    DataError
        The file is no database, or has a table of one of these names with other columns.
    DatabaseUnavailableError
        The server cannot be reached.
    """

    def __init__(
        self, location: str, *, isolation: Isolation = "process", first: int = 0, run: str = ""
    ) -> None:
        self._location = location
        self._reading = SharedReading(
            location, isolation, _METADATA.tables, masks={"games.seed": None}
        )
        self._first = first
        self._run_name = run
        self._attempts: dict[int, str] = {}
        self._engine = _open(location)
        self._compiled: dict[UpdateBase, SQLCompiler] = {}
        with self._told():
            self._create()
            self._require_columns()
            if run:
                with self._engine.connect() as connection:
                    require_no_other_run(connection, GAMES, run, self._name)

    def numbered_from(self, first: int) -> History:
        """Return the same history with other numbers for the games that are begun in it.

        Either one closes both.
        """
        other = copy(self)
        other._first = first  # noqa: SLF001
        return other

    def number_of(self, seed: int, *, mirrored: bool) -> int:
        """Return the number of the game with a seed: the same whenever it is begun."""
        return self._first + 2 * seed + mirrored

    def begin(self, game: Game) -> None:
        """Write a game's beginning; what an earlier attempt at it left is taken out.

        Raises
        ------
        UsageError
            Another run wrote a game of that number.
        """
        hidden = [
            {"game": game.number, "player": player, "name": name, "value": value}
            for player, known in game.hidden.items()
            for name, value in known.items()
        ]
        begun = {
            "game": game.number,
            "world": game.world,
            "seed": game.seed,
            "mirrored": game.mirrored,
            "settings": game.settings,
        }
        attempt = uuid4().hex
        written = {"game": game.number, "run": self._run_name, "attempt": attempt}
        with self._writing() as connection:
            if self._run(connection, _REMOVE[GAMES.name], [{"known": game.number}]):
                require_own_game(connection, game.number, self._run_name, self._name)
                for table in (HIDDEN, OUTCOMES, EVENTS, ATTEMPTS):
                    self._run(connection, _REMOVE[table.name], [{"known": game.number}])
            self._run(connection, _ADD[GAMES.name], [begun])
            self._run(connection, _ADD[HIDDEN.name], hidden)
            self._run(connection, _ADD[ATTEMPTS.name], [written])
        self._attempts[game.number] = attempt

    def add(
        self, game: int, events: Iterable[GameEvent], returns: Mapping[str, float] | None = None
    ) -> None:
        """Write what happened and, where that was the end, what each player got.

        Raises
        ------
        GameTakenError
            Another process has begun the game again.
        DatabaseUnavailableError
            The server cannot be reached.
        """
        rows: list[dict[str, Any]] = [
            {
                "game": game,
                "number": one.number,
                "stage": one.stage,
                "actor": one.actor,
                "action": one.action,
                "detail": one.detail,
            }
            for one in events
        ]
        got = [
            {"game": game, "player": name, "payoff": won} for name, won in (returns or {}).items()
        ]
        if not (rows or got):
            return
        own = self._attempts.get(game)
        held = {"known": game, "own": own, "same": game}
        with self._writing() as connection:
            if own is not None and not self._run(connection, HOLD, [held]):
                raise begun_again(game)
            self._run(connection, _ADD[EVENTS.name], rows)
            self._run(connection, _ADD[OUTCOMES.name], got)
        if got:
            self._attempts.pop(game, None)

    def finish(self, game: int, returns: Mapping[str, float]) -> None:
        """Write what each player got."""
        self.add(game, (), returns)

    def open_for(self, game: int, player: str) -> Database:
        """Open what a player may know of a game, read-only; the caller closes it.

        That is the game's rows alone, without its seed, from which everything hidden follows, and
        of ``hidden`` the player's own. What is written later can be read as well. Other tables of
        the database cannot be read.
        """
        return self._reading.open_with(_rows_shown(game, player))

    def close(self) -> None:
        """Close the database, also for those who read it."""
        self._reading.close()
        self._engine.dispose()

    def _run(
        self, connection: Connection, statement: UpdateBase, rows: list[dict[str, Any]]
    ) -> int:
        """Run a statement for each row; return how many rows it changed.

        Statements are compiled once a history: SQLAlchemy's own way to them takes several times as
        long as SQLite takes to run them.
        """
        if not rows:
            return 0
        compiled = self._compiled.get(statement)
        if compiled is None:
            compiled = self._compiled[statement] = statement.compile(dialect=self._engine.dialect)
        order = compiled.positiontup
        given = rows if order is None else [tuple(row[name] for name in order) for row in rows]
        return connection.exec_driver_sql(str(compiled), given).rowcount

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._told(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Make what a database raises an error that says what a user can do about it."""
        try:
            yield
        except IntegrityError as error:
            raise DataError(
                f"The history {self._name} has this event or game already: is the game played "
                f"twice at once? ({_said(error)})"
            ) from error
        except DatabaseError as error:
            raise self._error(error) from error

    def _error(self, error: DatabaseError) -> DqaError:
        said = _said(error)
        if "not a database" in said:
            return DataError(f"{self._name} is no SQLite database, so no history is kept in it.")
        if self._engine.dialect.name == "sqlite" and "malformed" in said:
            return DataError(
                f"The history {self._name} is damaged ({said}): put back a copy of it, or move it "
                "away and name another file."
            )
        if self._engine.dialect.name == "sqlite" or isinstance(error, ProgrammingError):
            return UsageError(
                f"No history can be written to {self._name}: {said}. Name a file in a folder that "
                "you may write to, or a database in which you may create tables."
            )
        return DatabaseUnavailableError(f"The history {self._name} cannot be written: {said}.")

    def _create(self) -> None:
        """Create the tables that are missing, with their comments."""
        if self._engine.dialect.name != "sqlite":
            for metadata in (_METADATA, ATTEMPTS.metadata):
                metadata.create_all(self._engine)
            return
        with self._engine.begin() as connection:
            for table in _TABLES:
                connection.exec_driver_sql(_create_with_comments(table, connection))

    def _require_columns(self) -> None:
        inspector = inspect(self._engine)
        for table in _TABLES:
            there = {column["name"] for column in inspector.get_columns(table.name)}
            if missing := [column.name for column in table.columns if column.name not in there]:
                raise DataError(
                    f"{self._name} has a table '{table.name}' without '{missing[0]}', which is not "
                    "a history's: name another file or schema for the history."
                )

    @property
    def _name(self) -> str:
        """What messages call the database; it never holds a password."""
        if self._engine.dialect.name == "sqlite":
            return self._location
        return self._engine.url.render_as_string(hide_password=True)


def _rows_shown(game: int, player: str) -> dict[str, str]:
    """Return by table the condition of the rows that a player may read of a game."""
    name = player.replace("'", "''")
    shown = {table.name: f"game = {game:d}" for table in (GAMES, EVENTS, OUTCOMES)}
    shown[HIDDEN.name] = f"game = {game:d} AND player = '{name}'"
    return shown


def _create_with_comments(table: Table, connection: Connection) -> str:
    """Return SQLite's CREATE TABLE, in whose text alone there can be comments."""
    statement = str(CreateTable(table, if_not_exists=True).compile(connection))
    if table.comment:
        statement = statement.replace("(", f"( -- {table.comment}", 1)
    for column in table.columns:
        if column.comment:
            line = rf"(?m)^(\s*{column.name} .*?)\s*$"
            statement = re.sub(line, rf"\1 -- {column.comment}", statement, count=1)
    return statement


_TABLES: Final = (*_METADATA.sorted_tables, ATTEMPTS)
_ADD: Final = {table.name: table.insert() for table in _TABLES}
_REMOVE: Final = {
    table.name: table.delete().where(table.c.game == bindparam("known")) for table in _TABLES
}


def _open(location: str) -> Engine:
    if "://" in location:
        return _connect(location)
    path = Path(location)
    if path.is_dir():
        raise UsageError(f"{location} is a folder: name a file for the history, e.g. games.sqlite.")
    if not path.absolute().parent.is_dir():
        raise UsageError(
            f"There is no folder {path.absolute().parent} for the history {path.name}."
        )
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args=_SQLITE)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:  # noqa: ANN401  (the driver's own)
        # Transactions are begun below, not by the driver.
        connection.isolation_level = None
        # Who plays waits for no disk: what a crash loses of a game is played again.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # Who reads before writing and is overtaken meanwhile would have to begin again.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


_SQLITE: Final = {"timeout": 60}
"""How many seconds a thread waits for another one that writes to the same file."""


def _connect(url: str) -> Engine:
    try:
        given = make_url(url)
        driver = _DRIVERS.get(given.drivername)
        return create_engine(given.set(drivername=driver) if driver else given, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError) as error:
        raise UsageError(
            "The history's URL names no database: write scheme://user:password@host/database."
        ) from error
    except ImportError as error:
        raise MissingKeyError(
            f"The history's database needs a driver that is not installed ({error.name}): "
            f"{install_command('servers')}."
        ) from error


_DRIVERS: Final = {
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
"""The drivers that the extras bring, where a URL names none."""


def _said(error: DatabaseError) -> str:
    return " ".join(str(error.orig).split())
