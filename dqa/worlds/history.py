"""Store the history of episodes in a SQLite file, and open it for players.

All worlds use the same tables ``games``, ``events``, ``outcomes`` and ``hidden``. A player can read
only the rows of the current game, because the rows of the mirrored game would reveal hidden values.
In ``hidden``, a player can read only its own rows. The table ``attempts`` stores which process
writes each game. Players cannot read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from dqa import plugins
from dqa.core.errors import DataError, GameTakenError, UsageError
from dqa.databases.store_locations import StoreLocation, open_store, translate_errors, write
from dqa.guard.policy import Policy

if TYPE_CHECKING:
    from dqa.core.database import Database, Isolation
    from dqa.guard import GuardedDatabase
    from dqa.worlds.world import GameEvent

_METADATA: Final = sa.MetaData()
_NAME: Final = sa.String(64)
_WRITER: Final = sa.String(32)


def _key(name: str, kind: sa.types.TypeEngine[Any], comment: str) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True, autoincrement=False, comment=comment)


def _column(name: str, kind: sa.types.TypeEngine[Any], comment: str) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, comment=comment)


def _table(name: str, comment: str, *columns: sa.Column[Any]) -> sa.Table:
    """Return a table whose key begins with the number of a game."""
    about = "number of the game" if name == "games" else "see games"
    game = _key("game", sa.BigInteger(), about)
    return sa.Table(name, _METADATA, game, *columns, comment=comment)


GAMES: Final = _table(
    "games",
    "One row per game.",
    _column("world", _NAME, "the world"),
    _column("seed", sa.BigInteger(), "the seed of random events; not shown"),
    _column("mirrored", sa.Boolean(), "whether hands or values were swapped"),
    _column("settings", sa.Text(), "the settings, as JSON"),
)
EVENTS: Final = _table(
    "events",
    "The events that every player saw.",
    _key("number", sa.Integer(), "the number of the event, from 1"),
    _column("stage", _NAME, "part of the game"),
    _column("actor", _NAME, "a player, or chance"),
    _column("action", sa.String(500), "the action"),
    _column("detail", sa.Text(), "details of the action; may be empty"),
)
OUTCOMES: Final = _table(
    "outcomes",
    "The payoff of each player, after the end of a game.",
    _key("player", _NAME, "the player"),
    _column("payoff", sa.Float(), "the player's payoff"),
)
HIDDEN: Final = _table(
    "hidden",
    "Private values of players. A player sees only their own.",
    _key("player", _NAME, "the player who knows the value"),
    _key("name", _NAME, "the name of the value"),
    _column("value", sa.Text(), "the value, such as a card"),
)
_SHOWN: Final = frozenset(_METADATA.tables)
_ATTEMPTS: Final = _table(
    "attempts",
    "The process that writes each game. Players cannot read this table.",
    _column("run", _WRITER, "the run of the game"),
    _column("attempt", _WRITER, "the only process that may write the game"),
)


@dataclass(frozen=True, slots=True)
class Game:
    """The data at the start of an episode.

    Attributes
    ----------
    number
        The number of the game, unique in a history.
    world, seed, mirrored
        The world, the seed of the episode, and whether the players swap their hidden values; see
        `dqa.worlds.world.World.start`.
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
    """A history of episodes in a file. Several threads and processes may write to it.

    Parameters
    ----------
    file
        The SQLite file. A missing file is created.
    isolation
        Where statements of players run. Use ``"none"`` only for trusted programs.
    first
        The offset that is added to all game numbers. Matches with the same seeds can be in the same
        database if their offsets differ.
    run
        The id of the run that writes, at most 32 characters. Games of other runs are never changed.

    Raises
    ------
    UsageError
        The file is a URL, cannot be written, or contains games of another run.
    DataError
        The file is not a database, or one of its tables has other columns.
    """

    def __init__(
        self, file: Path | str, *, isolation: Isolation = "process", first: int = 0, run: str = ""
    ) -> None:
        if "://" in str(file):  # it may contain a password
            raise UsageError("History takes a SQLite file, not a URL.")
        hint = "Choose another location for the run (--out)."
        self._location = StoreLocation(str(file), Path(file), "history", hint)
        self._isolation, self._first, self._run = isolation, first, run
        # A list, because histories from `numbered_from` share the reader.
        self._reader: list[GuardedDatabase] = []
        self._opening = Lock()
        self._attempts: dict[int, str] = {}
        self._engine = open_store(self._location, writing=True)
        with translate_errors(self._location):
            self._require_columns()
            with write(self._engine) as connection:
                _METADATA.create_all(connection)
                if run:
                    games = GAMES.outerjoin(_ATTEMPTS, _ATTEMPTS.c.game == GAMES.c.game)
                    runs = sa.select(_ATTEMPTS.c.run).select_from(games).distinct()
                    self._require_own(connection.execute(runs).scalars())

    def numbered_from(self, first: int) -> History:
        """Return the same history with a different offset.

        Closing the new history or this history closes both of them.
        """
        other = copy(self)
        other._first = first  # noqa: SLF001
        return other

    def number_of(self, seed: int, *, mirrored: bool) -> int:
        """Return the number of the game with a seed.

        All attempts at a game have the same number.
        """
        return self._first + 2 * seed + mirrored

    def begin(self, game: Game) -> None:
        """Write the start of a game. If there was an earlier attempt, delete its rows first.

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
                own = sa.select(_ATTEMPTS.c.run).where(_ATTEMPTS.c.game == game.number)
                self._require_own(connection.execute(own).scalars())
                for table in (HIDDEN, OUTCOMES, EVENTS, _ATTEMPTS):
                    connection.execute(table.delete().where(table.c.game == game.number))
            begun = {name: value for name, value in asdict(game).items() if name in GAMES.c}
            connection.execute(sa.insert(GAMES), begun | {"game": game.number})
            _add(connection, HIDDEN, hidden)
            written = {"game": game.number, "run": self._run, "attempt": attempt}
            connection.execute(sa.insert(_ATTEMPTS), written)
        self._attempts[game.number] = attempt

    def add(
        self, game: int, events: Iterable[GameEvent], returns: Mapping[str, float] | None = None
    ) -> None:
        """Write events and, at the end of the game, the payoff of each player.

        Raises
        ------
        GameTakenError
            Another process has restarted the game.
        """
        rows = [{"game": game, **asdict(event)} for event in events]
        got = [
            {"game": game, "player": player, "payoff": payoff}
            for player, payoff in (returns or {}).items()
        ]
        own = self._attempts.get(game)
        with self._writing() as connection:
            # The lock on the row prevents another process from restarting the game.
            held = sa.select(_ATTEMPTS.c.attempt).where(_ATTEMPTS.c.game == game).with_for_update()
            if own is not None and connection.execute(held).scalar() != own:
                raise GameTakenError(
                    f"Another process started game {game} again, because this process seemed to "
                    "have ended. Only the game of the other process counts."
                )
            _add(connection, EVENTS, rows)
            _add(connection, OUTCOMES, got)
        if got:
            self._attempts.pop(game, None)

    def open_for(self, game: int, player: str) -> Database:
        """Open a read-only view of a game for a player. The caller closes it.

        The view contains the rows of the game, including events that are added later, and the
        player's own rows of ``hidden``. The view hides the seed, because the seed determines all
        hidden values.
        """
        name = player.replace("'", "''")
        rows = dict.fromkeys(sorted(_SHOWN), f"game = {game:d}")
        rows[HIDDEN.name] += f" AND player = '{name}'"
        with self._opening:
            if not self._reader:
                policy = Policy(tables=_SHOWN, masks={"games.seed": None}, row_filters=rows)
                backend, file = plugins.backend("sqlite"), self._location.url
                self._reader.append(backend.open(file, policy=policy, isolation=self._isolation))
            return self._reader[0].with_rows(rows)

    def close(self) -> None:
        """Close the database. Neither the writer nor readers can use it afterwards."""
        with self._opening:
            while self._reader:
                self._reader.pop().close()
        self._engine.dispose()

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with translate_errors(self._location), write(self._engine) as connection:
            try:
                yield connection
            except IntegrityError as error:
                raise DataError(
                    f"The history {self._location.shown} already contains this event or game. "
                    f"Probably two processes play the same game ({error.orig})."
                ) from error

    def _require_own(self, runs: Iterable[str | None]) -> None:
        """Raise `UsageError` if a different run wrote any of the games."""
        if {run or "" for run in runs} - {self._run}:
            raise UsageError(
                f"The history {self._location.shown} contains games of another run, which would "
                "be lost: choose another location for this run (--out)."
            )

    def _require_columns(self) -> None:
        inspector = sa.inspect(self._engine)
        for table in filter(lambda one: inspector.has_table(one.name), _METADATA.sorted_tables):
            existing = {column["name"] for column in inspector.get_columns(table.name)}
            if not existing.issuperset(table.columns.keys()):
                raise DataError(
                    f"{self._location.shown} is not a history, because its table '{table.name}' "
                    "has other columns: choose another location for the run (--out)."
                )


def _add(connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(sa.insert(table), rows)
