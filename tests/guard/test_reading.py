"""Neither a parser's mistake nor a caller's deep stack decides: what cannot be read is refused."""

from __future__ import annotations

import sys

import pytest

from dqa.guard import DIALECTS, GuardVerdict
from dqa.guard.check import judge
from dqa.guard.reading import read
from dqa.guard.verdict import Refusal

NESTED = {
    "brackets": ("(", "1", ")"),
    "calls": ("abs(", "1", ")"),
    "queries": ("(SELECT ", "1", ")"),
    "cases": ("CASE WHEN ", "1", " THEN 1 END"),
    "lists": ("[", "1", "]"),
    "casts": ("CAST(", "1", " AS int)"),
    "operators": ("- (", "1", ")"),
    "subscripts": ("a[", "1", "]"),
}


def _down(levels: int, statement: str, dialect: str) -> GuardVerdict:
    return _down(levels - 1, statement, dialect) if levels else judge(statement, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("depth", [45, 3_000])
def test_nesting_gets_a_verdict_on_any_stack(dialect: str, kind: str, depth: int) -> None:
    """The same on a stack with room as on one with next to none."""
    opening, inside, closing = NESTED[kind]
    begin = "RETURN " if dialect in {"neo4j", "ladybug"} else "SELECT "
    statement = f"{begin}{opening * depth}{inside}{closing * depth}"
    verdict = judge(statement, dialect)
    assert not verdict.allowed or depth < 3_000
    frame, used = sys._getframe(), 0
    while frame.f_back is not None:
        frame, used = frame.f_back, used + 1
    assert _down(sys.getrecursionlimit() - used - 15, statement, dialect) == verdict


@pytest.mark.parametrize("error", [RecursionError, KeyError, AssertionError, RuntimeError])
def test_whatever_a_parser_raises_is_a_refusal(error: type[Exception]) -> None:
    """It says how to write the statement differently."""

    def fail() -> None:
        raise error("of the parser")

    expected = "nested too deeply" if error is RecursionError else f"failed on it .{error.__name__}"
    with pytest.raises(Refusal, match=expected):
        read(fail)


def test_a_recursion_without_end_is_a_refusal() -> None:
    """On its own stack, too."""

    def descend() -> None:
        descend()

    with pytest.raises(Refusal, match="nested too deeply; write it flatter"):
        read(descend)


def test_no_memory_says_nothing_of_the_statement() -> None:
    """It is no refusal."""

    def fail() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        read(fail)
