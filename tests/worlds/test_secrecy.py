"""No statement of a player returns the secrets of another player.

Hidden values are replaced by texts that are easy to find in any result. In addition, each statement
must return the same rows as on a database with the player's own rows only. Counts, order and
conditions therefore reveal nothing, either.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dqa.core.database import Limits
from dqa.core.errors import QueryError
from dqa.worlds.history import Game, History
from dqa.worlds.world import Move
from tests.worlds.playing import at_random, make_world, moves_of

STATEMENTS = (
    "SELECT * FROM hidden",
    "SELECT value FROM hidden WHERE player <> '{me}'",
    "SELECT h.value, e.action FROM hidden h JOIN events e ON e.game = h.game",
    "SELECT (SELECT MAX(value) FROM hidden WHERE player = '{other}') AS best",
    "SELECT action FROM events UNION SELECT value FROM hidden",
    "WITH everything AS (SELECT * FROM hidden) SELECT player, COUNT(*) FROM everything GROUP BY 1",
    "WITH hidden AS (SELECT * FROM main.hidden) SELECT * FROM hidden",
    "SELECT COUNT(*) FROM hidden WHERE value LIKE 'secret%{other}%'",
    "SELECT CASE WHEN (SELECT value FROM hidden WHERE player = '{other}') > 'a' THEN 1 ELSE 0 END",
    "SELECT name FROM hidden ORDER BY CASE WHEN player = '{me}' THEN value ELSE name END",
    "SELECT h.value FROM events e LEFT JOIN hidden h ON h.player <> e.actor",
    "SELECT SUM(LENGTH(value)), COUNT(DISTINCT player), COUNT(DISTINCT game) FROM hidden",
    'SELECT "value" FROM "hidden" WHERE "game" <> {game}',
    "SELECT * FROM HIDDEN WHERE rowid > 0",
    "SELECT * FROM games",
    "SELECT MAX(seed), AVG(seed + 1) FROM games",
    "SELECT * FROM events WHERE game <> {game} OR 1 = 1",
    "SELECT * FROM outcomes",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i % 3 + 1 FROM n) SELECT * FROM n, hidden",
    "SELECT * FROM sqlite_schema JOIN hidden",
    "CREATE TEMP VIEW seen AS SELECT * FROM hidden",
    "INSERT INTO events SELECT game, 99, value, player, name, value FROM hidden",
    "ATTACH DATABASE '{file}' AS other",
    "SELECT value FROM hidden; SELECT value FROM hidden WHERE player = '{other}'",
)


ALL = Limits(rows=100_000, bytes=10_000_000)
REFUSED = {
    statement
    for statement in STATEMENTS
    if any(word in statement for word in ("sqlite_", "pragma", "CREATE", "INSERT", "ATTACH"))
    or "; " in statement
    or "rowid" in statement
}
"""The statements that the guard refuses."""


class Planting(History):
    """A history whose hidden values are texts that are easy to find."""

    def begin(self, game: Game) -> None:
        """Write planted values instead of the drawn ones."""
        planted = {
            player: {name: secret(game.number, player, value) for name, value in known.items()}
            for player, known in game.hidden.items()
        }
        super().begin(replace(game, hidden=planted))


def secret(game: int, player: str, value: str = "") -> str:
    """Return a planted value, or the beginning of all values of a game and player."""
    return f"secret {game} {player} {value}"


@dataclass
class Audit:
    """The statements of each move, and the rows that they must not return.

    Attributes
    ----------
    file
        The history.
    leaks
        Statements that returned secrets, with their rows.
    answered, refused
        How often each statement returned rows, and how often it was refused.
    """

    file: Path
    leaks: list[tuple[str, object]] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._oracle = sqlite3.connect(self.file, isolation_level=None)
        self._oracle.execute("CREATE TEMP TABLE me AS SELECT 0 AS game, '' AS player")
        for table, columns in {
            "games": "game, world, NULL AS seed, mirrored, settings",
            "events": "*",
            "outcomes": "*",
            "hidden": "*",
        }.items():
            own = " AND player = (SELECT player FROM me)" if table == "hidden" else ""
            self._oracle.execute(
                f"CREATE TEMP VIEW {table} AS SELECT {columns} FROM main.{table} "
                f"WHERE game = (SELECT game FROM me){own}"
            )

    def ask(self, move: Move, template: str) -> None:
        """Ask a statement through a move's database."""
        game, me = int(move.question.target["game"]), move.player
        other = "opponent" if me == "player" else "player"
        statement = template.format(me=me, other=other, game=game, file=self.file)
        try:
            rows = move.database.query(statement, ALL).rows
        except QueryError:
            self.refused[template] += 1
            return
        self.answered[template] += 1
        told = [str(cell) for row in rows for cell in row]
        if any("secret" in cell.replace(secret(game, me), "") for cell in told):
            self.leaks.append((statement, rows))
        elif "main." not in template and "sqlite_" not in template and "rowid" not in template:
            self._oracle.execute("UPDATE me SET game = ?, player = ?", (game, me))
            expected = self._oracle.execute(statement).fetchall()
            if _sorted(rows) != _sorted(expected):
                self.leaks.append((statement, rows))

    def close(self) -> None:
        """Close the history."""
        self._oracle.close()


def _sorted(rows: Sequence[Sequence[object]]) -> list[str]:
    return sorted(str(tuple(row)) for row in rows)


def audit_games(audit: Audit, history: History, name: str, games: int, statements: int) -> int:
    """Run a statement at each move of long games. Return the number of statements."""
    world = make_world(name, history, **({"turns": 25} if name == "negotiation" else {}))
    asked = 0
    for seed in range(games):
        random = np.random.default_rng(seed)
        chosen = [STATEMENTS[place] for place in random.permutation(len(STATEMENTS))[:statements]]
        episode = world.start(seed, mirrored=seed % 2 == 1)
        for move in moves_of(episode, boldly(seed)):
            audit.ask(move, chosen[asked % statements])
            asked += 1
    return asked


def boldly(seed: int) -> Callable[[Move], Any]:
    """Raise if possible, and never fold or agree, so that games are long."""
    random_choice = at_random(seed, cautious=1.0)

    def choose(move: Move) -> Any:
        return "raise" if "raise" in move.position.actions else random_choice(move)

    return choose


@pytest.mark.parametrize(
    ("hands", "talks", "statements", "moves"),
    [
        pytest.param(8, 8, 12, 500, marks=pytest.mark.slow),
        pytest.param(60, 180, 4, 10_000, marks=pytest.mark.deep),
    ],
)
def test_nothing_hidden_is_found(
    tmp_path: Path, hands: int, talks: int, statements: int, moves: int
) -> None:
    """Each statement is asked in both games; a few of them in worker processes."""
    file = tmp_path / "games.sqlite"
    here, elsewhere = Planting(str(file), isolation="none"), Planting(str(file), first=10**6)
    audit = Audit(file)  # both have made its tables
    asked = 0
    for first, (name, games) in enumerate((("holdem", hands), ("negotiation", talks))):
        asked += audit_games(
            audit, elsewhere.numbered_from((first + 7) * 10**6), name, 1, statements
        )
        asked += audit_games(audit, here.numbered_from(first * 10**6), name, games, statements)
    audit.close()
    assert asked >= moves
    assert not audit.leaks, audit.leaks[:5]
    assert {*audit.answered, *audit.refused} == set(STATEMENTS)
    assert {statement for statement in STATEMENTS if not audit.answered[statement]} == REFUSED
