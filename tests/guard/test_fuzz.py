"""Mutated statements: the guard never fails, and allowed statements change no database."""

from __future__ import annotations

import pytest

from dqa.guard import DIALECTS
from tests.guard.fuzz import fuzz


@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS if dialect != "ansi"])
@pytest.mark.parametrize("count", [150, pytest.param(2_000, marks=pytest.mark.deep)])
def test_a_mutant_that_is_allowed_changes_nothing(dialect: str, count: int) -> None:
    """A seeded sample; a restricting policy never allows more."""
    allowed, problems = fuzz(dialect, seed=5, count=count)
    assert problems == []
    assert allowed > count // 50
