"""A small version of `benchmarks.wide_schema`: most questions see the tables that they need."""

from __future__ import annotations

import pytest

from benchmarks.wide_generator import make_wide_schema
from benchmarks.wide_schema import measure_recall
from dqa.core.display import MOST_TOKENS


@pytest.mark.deep
def test_the_needed_tables_are_within_the_budget() -> None:
    """The text fits into the limit."""
    wide = make_wide_schema(1_000, 60, seed=3)
    found = measure_recall(wide)
    assert found.shown >= 0.95
    assert found.tokens <= MOST_TOKENS
