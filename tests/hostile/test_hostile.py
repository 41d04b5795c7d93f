"""Hostile statements on the embedded engines: bounded in time and memory, and no crash."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from dqa.core.database import Kind, Limits, Rows
from dqa.core.schema import DatabaseSchema
from tests.hostile.corpus import EMBEDDED, ENGINES, read_statements
from tests.hostile.fuzz import fuzz
from tests.hostile.measuring import Measurement, broken_promises, measure, measurer, memory


class FakeDatabase:
    """A database whose hostile statement does what a test says."""

    kind: Kind = "relational"
    dialect = "sqlite"
    language = "SQL"
    name = "fake"

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def schema(self) -> DatabaseSchema:
        return DatabaseSchema()

    def query(self, statement: str, limits: Limits | None = None) -> Rows:
        if statement == "hostile":
            self._act()
        return Rows((), ())

    def close(self) -> None:
        self._act = lambda: None


@pytest.mark.slow
def test_the_measurement_sees_harm() -> None:
    """Memory, an exception of Python's, lateness and silence."""

    def problems_of(act: Callable[[], object]) -> str:
        found = measure(FakeDatabase(act), "hostile", memory("VmRSS:"))
        return "; ".join(found.problems(10.0))

    assert problems_of(lambda: time.sleep(0.1)) == ""
    assert "grew by" in problems_of(lambda: bytearray(b"x" * (400 << 20)).clear())
    assert problems_of(lambda: int("x")).startswith("ValueError: invalid literal")
    late = "; ".join(Measurement(4.0, "rows", next_message="gone").problems(2.0))
    assert "back after 4.0 s" in late
    assert "the next statement was not answered: gone" in late


@pytest.mark.parametrize("engine", ENGINES)
def test_the_guard_allows_every_hostile_statement(engine: str) -> None:
    """A refusal would say nothing about the layer behind the guard."""
    statements = read_statements(engine)
    refused = {one.name: one.reason for one in statements if one.reason}
    assert {name: why for name, why in refused.items() if "/refused:" not in name} == {}
    assert len(statements) >= 50


@pytest.mark.parametrize("engine", EMBEDDED)
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(1, marks=pytest.mark.slow, id="sample"),
        pytest.param(None, marks=pytest.mark.deep, id="all"),
    ],
)
def test_hostile_statements_are_bounded(engine: str, first: int | None) -> None:
    """In time and memory, and the next statement is answered."""
    with measurer(engine, 1.0) as process:
        assert broken_promises(process, first=first) == []


@pytest.mark.parametrize("engine", EMBEDDED)
@pytest.mark.parametrize(
    "count",
    [
        pytest.param(60, marks=pytest.mark.slow),
        pytest.param(2_000, marks=pytest.mark.deep),
    ],
)
def test_fuzzed_calls_end_as_statements_do(engine: str, count: int) -> None:
    """No crash, nothing late, no foreign exception, no outage; most calls reach the engine."""
    allowed, problems = fuzz(engine, 1, count)
    assert problems == []
    assert allowed > count // 2
