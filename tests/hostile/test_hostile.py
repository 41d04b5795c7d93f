"""Hostile statements on the embedded engines: bounded in time and memory, and no crash."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from dqa.core.database import Limits, Rows
from tests.hostile.corpus import EMBEDDED, ENGINES, read_statements
from tests.hostile.fuzz import fuzz
from tests.hostile.measuring import Measurement, Measurer, broken_promises, measure, memory


def test_every_broken_promise_is_reported() -> None:
    assert Measurement(2.5, "rows", next_seconds=0.1).problems(2.0) == []
    harmful = Measurement(4.0, "ValueError", "no literal", 400.0, None, "gone")
    assert "; ".join(harmful.problems(2.0)) == (
        "back after 4.0 s, 2 s were its limit; the process grew by 400 MB; "
        "ValueError: no literal; the next statement was not answered: gone"
    )


@pytest.mark.slow
def test_a_measurement_sees_time_memory_and_exceptions() -> None:
    def measured(act: Callable[[], object]) -> Measurement:
        def query(statement: str, _: Limits | None = None) -> Rows:
            if statement == "hostile":
                act()
            return Rows((), ())

        database: Any = SimpleNamespace(kind="relational", query=query)
        return measure(database, "hostile", memory("VmRSS:"))

    assert measured(lambda: time.sleep(0.1)).seconds >= 0.1
    assert measured(lambda: bytearray(b"x" * (400 << 20)).clear()).growth >= 300
    assert measured(lambda: int("x")).outcome == "ValueError"


@pytest.mark.parametrize("engine", ENGINES)
def test_the_guard_allows_every_hostile_statement(engine: str) -> None:
    """A refused statement would not reach the layer behind the guard."""
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
    with closing(Measurer(engine, 1.0)) as process:
        assert broken_promises(process, first=first) == []


@pytest.mark.parametrize("engine", EMBEDDED)
@pytest.mark.parametrize(
    "count",
    [
        pytest.param(60, marks=pytest.mark.slow),
        pytest.param(2_000, marks=pytest.mark.deep),
    ],
)
def test_fuzzed_calls_are_bounded(engine: str, count: int) -> None:
    """No crash, delay, foreign exception or outage; most calls reach the engine."""
    allowed, problems = fuzz(engine, 1, count)
    assert problems == []
    assert allowed > count // 2
