"""A forbidden call or query is refused at every position of a statement.

A parser may drop parts of a statement: surplus arguments, a supposed alias, an unknown option. So
a forbidden call or query replaces or follows each token of each harmless statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product

import pytest

from dqa.guard import check
from dqa.guard.lists import lists
from tests.guard.case_files import dialect_cases

FORBIDDEN = {
    "mysql": ("sleep(5)", "`get_lock`('a', 5)", "(SELECT 1 FROM mysql.user)"),
    "mariadb": ("sleep(5)", "s.nextval(1)", "(SELECT 1 FROM mysql.user)"),
    "postgres": ("pg_sleep(5)", '"pg_sleep"(5)', "(SELECT 1 FROM pg_authid)"),
    "sqlite": ("load_extension('x')", "(SELECT 1 FROM dbstat)"),
    "duckdb": ("getenv('HOME')", "(FROM duckdb_settings())", "(SELECT 1 FROM 'x.csv')"),
    "ansi": ("sleep(5)", "(SELECT 1 FROM sys.x)"),
}
SAMPLE = 53
LEADS = ("", "TIMESTAMP ", "AS ", ", ", "= ")
OF_ANOTHER = {"ansi": "mysql"}
_PIECE = re.compile(r"\s+|[eE]?'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\w+|.", re.DOTALL)
_HIDING = re.compile(r"[#$\[\\]|--|/\*")
"""The start of a comment or another quote, in which nothing is called."""


def harmless(dialect: str) -> list[str]:
    """Return the harmless statements of a dialect without comments and unusual quotes."""
    cases = dialect_cases(OF_ANOTHER.get(dialect, dialect))
    found = [case["statement"] for case in cases if case["allowed"]]
    return [statement for statement in found if not _HIDING.search(statement)]


def insert_forbidden(dialect: str) -> Iterator[str]:
    """Yield each harmless statement with a forbidden part at each position."""
    for statement in harmless(dialect):
        pieces = _PIECE.findall(statement)
        for number, piece in enumerate(pieces):
            if piece.isspace():
                continue
            before, behind = "".join(pieces[:number]), "".join(pieces[number + 1 :])
            for lead, forbidden in product(LEADS, FORBIDDEN[dialect]):
                yield f"{before} {lead}{forbidden} {behind}"
                yield f"{before}{piece} {lead}{forbidden} {behind}"


def allowed(statements: Iterator[str], dialect: str) -> tuple[list[str], int]:
    """Return the statements that the guard allows, and the number of all."""
    asked = list(statements)
    return [one for one in asked if check(one, dialect).allowed], len(asked)


@pytest.mark.parametrize("dialect", FORBIDDEN)
@pytest.mark.parametrize("step", [SAMPLE, pytest.param(7, marks=pytest.mark.deep)])
def test_a_forbidden_part_is_found_at_every_position(dialect: str, step: int) -> None:
    """A prime step reaches every position, lead and forbidden part."""
    passed, count = allowed(islice(insert_forbidden(dialect), 0, None, step), dialect)
    assert passed == []
    assert count > 30_000 // step


@pytest.mark.parametrize("dialect", FORBIDDEN)
@pytest.mark.parametrize("each", [1, pytest.param(4, marks=pytest.mark.deep)])
def test_a_forbidden_query_is_found_in_every_argument(dialect: str, each: int) -> None:
    """The parser drops surplus arguments, and a server reads them.

    The sample uses one position per function, which differs between functions.
    """
    query = FORBIDDEN[dialect][-1]
    statements = (
        f"SELECT {name}({', '.join((*['a'] * ((number + place) % 4), query))}) FROM t"
        for number, name in enumerate(sorted(lists(dialect)["functions"]))
        for place in range(each)
    )
    passed, count = allowed(statements, dialect)
    assert passed == []
    assert count > 50
