"""What a decider asked its database or its simulator, and what it was shown."""

from __future__ import annotations

from dataclasses import dataclass

from dqa.core.database import Cut

QUERY = "query_database"
"""The tool that asks the database."""
SIMULATE = "simulate"
COMPARE = "compare"
SIMULATING = (SIMULATE, COMPARE)
"""The tools that ask the simulator instead."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a decider asked its database or its simulator, and what came back.

    Attributes
    ----------
    statement
        As the decider wrote it; of a simulation, what it asked for.
    observation
        What the decider was shown: rows as text, or the error's message.
    row_count
        Rows returned, 0 where it failed.
    error
        Class name of the error, or None.
    cut
        Which limit cut the result ("rows", "bytes", "cells", "seconds"), or None.
    seconds
        How long the database took.
    translated
        The statement as it ran, where it was translated from another dialect.
    tool
        The tool that was asked: `QUERY` or one of `SIMULATING`.
    """

    statement: str
    observation: str
    row_count: int = 0
    error: str | None = None
    cut: Cut | None = None
    seconds: float = 0.0
    translated: str | None = None
    tool: str = QUERY
