"""Mutated statements: none makes the guard fail, and none that it allows changes a database."""

from __future__ import annotations

import pytest

from dqa.guard import DIALECTS
from tests.guard.fuzz.__main__ import fuzz
from tests.guard.fuzz.mutate import Mutator


@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS if dialect != "ansi"])
@pytest.mark.parametrize("count", [150, pytest.param(2_000, marks=pytest.mark.deep)])
def test_a_mutant_that_is_allowed_changes_nothing(dialect: str, count: int) -> None:
    """A seeded sample; a policy that only limits never allows more."""
    report = fuzz(dialect, seed=5, count=count)
    assert report.problems == []
    assert report.counts["allowed"] > count // 50


def test_the_same_seed_gives_the_same_statements() -> None:
    """What the fuzzer finds can be found again."""
    first, second = Mutator("duckdb", 3), Mutator("duckdb", 3)
    assert [first.statement() for _ in range(50)] == [second.statement() for _ in range(50)]
