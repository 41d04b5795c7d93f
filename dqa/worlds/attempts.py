"""Who wrote a game of a history: its run, and which of the attempts at it.

A table of a history that no player can read. A run's games are numbered from 1, so without it one
run would take another's games for attempts of its own.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    MetaData,
    String,
    Table,
    bindparam,
    func,
    select,
    update,
)

from dqa.core.errors import GameTakenError, UsageError

_LENGTH: Final = 32

ATTEMPTS: Final = Table(
    "attempts",
    MetaData(),
    Column("game", BigInteger, primary_key=True, autoincrement=False, comment="see games"),
    Column("run", String(_LENGTH), nullable=False, comment="which run plays it"),
    Column("attempt", String(_LENGTH), nullable=False, comment="who writes it, and no one else"),
    comment="Who writes a game. Players do not see it.",
)
_RUN: Final = func.coalesce(ATTEMPTS.c.run, "")


def require_no_other_run(connection: Connection, games: Table, run: str, history: str) -> None:
    """Raise `UsageError` where one of the games was written by another run."""
    written = games.outerjoin(ATTEMPTS, ATTEMPTS.c.game == games.c.game)
    other = select(games.c.game).select_from(written).where(_RUN.not_in([run])).limit(1)
    if connection.execute(other).first() is not None:
        raise _of_another(history)


def require_own_game(connection: Connection, game: int, run: str, history: str) -> None:
    """Raise `UsageError` where a game that is there was written by another run."""
    found = select(ATTEMPTS.c.run).where(ATTEMPTS.c.game == game)
    if (connection.execute(found).scalar() or "") != run:
        raise _of_another(history)


def begun_again(game: int) -> GameTakenError:
    """Return the error of who writes a game that somebody else has begun again."""
    return GameTakenError(
        f"Game {game} was begun again by another process, to which this one seemed to have ended: "
        "that one's game counts."
    )


def _of_another(history: str) -> UsageError:
    return UsageError(
        f"The history {history} holds games of another run, which would be lost: name another file "
        "or database for this run (--history)."
    )


# It changes nothing, but locks the row on servers: nobody begins the game again meanwhile.
HOLD: Final = (
    update(ATTEMPTS)
    .where(ATTEMPTS.c.game == bindparam("known"), ATTEMPTS.c.attempt == bindparam("own"))
    .values(game=bindparam("same"))
)
