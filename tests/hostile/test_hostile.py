"""Hostile statements on the embedded engines, and that what looks at them sees harm."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from dqa.core.database import Kind, Limits, Rows
from dqa.core.schema import DatabaseSchema
from tests.hostile.corpus import EMBEDDED, ENGINES, read_statements
from tests.hostile.measuring import Measurement, measure, resident
from tests.hostile.supervising import broken_promises, measurer

REFUSED = frozenset({"refused"})
"""Kinds that the guard refuses, and must refuse in words."""
FAULTS = frozenset({*REFUSED, "faults", "found"})
"""Kinds that do harm by how they fail, and not by what they cost."""


class Doing:
    """A database whose queries do what a test says."""

    kind: Kind = "relational"
    dialect = "sqlite"
    language = "SQL"
    name = "doing"

    def __init__(self, act: Callable[[], None]) -> None:
        self._act: Callable[[], None] | None = act

    def schema(self) -> DatabaseSchema:
        return DatabaseSchema()

    def query(self, statement: str, limits: Limits | None = None) -> Rows:
        if statement == "hostile" and self._act is not None:
            self._act()
        return Rows((), ())

    def close(self) -> None:
        self._act = None


def problems_of(act: Callable[[], None], limit: float = 10.0) -> str:
    """Measure something and return what is wrong with it."""
    found = measure(Doing(act), "hostile", resident())
    return "; ".join(found.problems(limit))


def test_a_wait_takes_no_other_threads_time() -> None:
    """Sleeping is allowed, as waiting for a socket is."""
    assert problems_of(lambda: time.sleep(0.6)) == ""


def test_holding_pythons_lock_is_seen() -> None:
    """A pattern that backtracks: Python's own engine lets no other thread run."""
    assert "of its pace" in problems_of(lambda: backtrack(24))


def backtrack(letters: int) -> None:
    """Hold Python's lock for about a second."""
    began = time.perf_counter()
    while time.perf_counter() - began < 0.6:
        re.search("(a+)+$", "a" * letters + "b")
        letters += 1


def test_memory_is_seen() -> None:
    """Also where it is given back at once."""
    assert "grew by" in problems_of(lambda: bytearray(b"x" * (400 << 20)).clear())


def test_an_exception_of_pythons_is_seen() -> None:
    """It is told with its class."""

    def act() -> None:
        raise ValueError("no date")

    assert problems_of(act) == "ValueError: no date"


def test_lateness_and_silence_are_seen() -> None:
    """Both are told."""
    found = Measurement(4.0, "rows", next_told="gone")
    assert [line.split(",")[0] for line in found.problems(2.0)] == [
        "back after 4.0 s",
        "the next statement was not answered: gone",
    ]
    assert replace(found, seconds=2.9, next_seconds=0.1).problems(2.0) == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_the_guard_allows_every_hostile_statement(engine: str) -> None:
    """What it refuses says nothing about the layer behind it."""
    statements = read_statements(engine)
    refused = {one.name: one.reason for one in statements if one.reason}
    assert {name: why for name, why in refused.items() if "/refused:" not in name} == {}
    assert len(statements) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("engine", EMBEDDED)
def test_the_worst_of_each_kind_are_bounded(engine: str) -> None:
    """In time and memory, with other threads running on and the next statement answered."""
    with measurer(engine, 1.0) as process:
        assert broken_promises(process, engine, first=1) == []
