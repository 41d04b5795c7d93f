"""Hostile statements on the embedded engines: bounded in time and memory, and no crash."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.hostile.corpus import EMBEDDED, ENGINES, read_statements
from tests.hostile.fuzz import fuzz
from tests.hostile.measuring import Measurer, broken_promises


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
    "count", [pytest.param(60, marks=pytest.mark.slow), pytest.param(2_000, marks=pytest.mark.deep)]
)
def test_fuzzed_calls_are_bounded(engine: str, count: int) -> None:
    """No crash, delay, foreign exception or outage; most calls reach the engine."""
    allowed, problems = fuzz(engine, 1, count)
    assert problems == []
    assert allowed > count // 2
