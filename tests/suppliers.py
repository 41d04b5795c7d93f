"""A question about suppliers, and its database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.question import Question

BUY = Question(
    "custom",
    "7",
    "Which supplier earns most?",
    "A larger margin is better.",
    candidates=("Ada", "Bob", "Cy"),
    context_queries=("SELECT name, margin FROM supplier ORDER BY name",),
)


@pytest.fixture
def suppliers() -> Iterator[Database]:
    """Open a database of three suppliers."""
    rows = {"name": ["Ada", "Bob", "Cy"], "margin": [3.0, 7.5, 5.0]}
    with dqa.temporary_database({"supplier": rows}) as database:
        yield database
