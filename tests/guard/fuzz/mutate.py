"""Statements mutated from other statements, as an attacker or a confused model might write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from tests.guard.case_files import dialect_cases

_PIECE = re.compile(r"\s+|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\w+|.", re.DOTALL)
_SPICE = (
    *("/*", "*/", "/*!", "/*+", "--", "-- ", "#", "//", "'", "''", '"', "`", "[", "]", "$$", "$a$"),
    *("\\", "\\'", "E'", "U&'", 'U&"', "N'", "x'", "_utf8'", ";", "(", ")", "{", "}", ",", "."),
    *("\n", "\r", "\t", "\u00a0", "\u2028", "\ufeff", "\0", "\ud800", "::", ":=", "@a", "@@", "$1"),
    *("INTO x", "FOR UPDATE", "INSERT INTO t VALUES (1)", "DELETE FROM t", "DROP TABLE t"),
    *(
        "UPDATE t SET a = 2",
        "CREATE TABLE z AS",
        "RETURNING *",
        "EXPLAIN ",
        "PRAGMA ",
        "WITH z AS (",
    ),
    *("load_extension('x')", "nextval('s')", "CREATE (n:City)", "SET n.x = 1", "DETACH DELETE n"),
    *("UNION SELECT 1", "ATTACH 'x' AS y", "VACUUM", "COPY t TO 'x'", "read_csv('x')", "BEGIN"),
)


def cases(dialect: str) -> list[str]:
    """Return the short statements of a dialect's test set, attacks and harmless ones."""
    found = [str(case["statement"]) for case in dialect_cases(dialect)]
    return [statement for statement in found if len(statement) < 1_000]


class Mutator:
    """An endless source of statements; the same seed gives the same ones.

    Parameters
    ----------
    dialect
        The dialect of the test set.
    seed
        The seed of the random numbers.
    """

    def __init__(self, dialect: str, seed: int) -> None:
        self._random = Random(f"{dialect} {seed}")  # noqa: S311  (no secret)
        self._statements = cases(dialect)
        self._pieces = [_PIECE.findall(statement) for statement in self._statements]
        self._steps: tuple[Callable[[list[str]], None], ...] = (
            *(self._replace, self._insert, self._delete, self._swap, self._splice),
            *(self._spice, self._recase, self._repeat),
        )

    def statement(self) -> str:
        """Return the next statement."""
        pieces = list(self._random.choice(self._pieces))
        for _ in range(self._random.choice((1, 1, 1, 2, 2, 3, 5))):
            self._random.choice(self._steps)(pieces)
        return "".join(pieces)

    def _place(self, pieces: list[str]) -> int:
        return self._random.randrange(len(pieces)) if pieces else 0

    def _other(self) -> str:
        other = self._random.choice(self._pieces)
        return self._random.choice(other) if other else " "

    def _replace(self, pieces: list[str]) -> None:
        if pieces:
            pieces[self._place(pieces)] = self._other()

    def _insert(self, pieces: list[str]) -> None:
        pieces.insert(self._place(pieces), f" {self._other()} ")

    def _delete(self, pieces: list[str]) -> None:
        start = self._place(pieces)
        del pieces[start : start + self._random.randint(1, 3)]

    def _swap(self, pieces: list[str]) -> None:
        if len(pieces) > 1:
            first, second = self._place(pieces), self._place(pieces)
            pieces[first], pieces[second] = pieces[second], pieces[first]

    def _splice(self, pieces: list[str]) -> None:
        other = self._random.choice(self._pieces)
        start = self._place(other)
        pieces[self._place(pieces) :] = [" ", *other[start:]]

    def _spice(self, pieces: list[str]) -> None:
        pieces.insert(self._place(pieces), self._random.choice(_SPICE))

    def _recase(self, pieces: list[str]) -> None:
        if pieces:
            place = self._place(pieces)
            pieces[place] = pieces[place].swapcase()

    def _repeat(self, pieces: list[str]) -> None:
        start = self._place(pieces)
        part = pieces[start : start + self._random.randint(1, 4)]
        pieces[start:start] = part * self._random.randint(1, 3)
