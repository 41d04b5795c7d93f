"""The table is read the same everywhere."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from dqa.evaluation.results import Outcome
from dqa.evaluation.stats import Summary
from dqa.report.tables import accuracy_table, notes


def summary(decider: str, database: str, correct: int, failed: int = 0) -> Summary:
    """Return a row of 10 questions."""
    counts = {outcome.value: 0 for outcome in Outcome}
    counts |= {"correct": correct, "wrong": 10 - correct - failed, "infrastructure": failed}
    low = None if failed == 10 else 0.25
    return Summary(
        decider=decider,
        scenario="locating",
        database=database,
        kind="graph" if database == "ladybug" else "relational",
        model="none",
        questions=10,
        accuracy=None if failed == 10 else correct / (10 - failed),
        low=low,
        high=low,
        mean_regret=None,
        mean_relative_regret=None,
        normalised_utility=None,
        mean_tokens=None,
        mean_steps=None,
        **counts,
    )


def shown(rows: list[Summary]) -> str:
    """Return the table's text."""
    console = Console(file=StringIO(), width=120)
    console.print(accuracy_table(rows))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_rows_are_deciders_and_columns_databases() -> None:
    """A cell has percent, counts and interval; what was never judged or asked is a dash."""
    text = shown(
        [summary("[a]", "sqlite", 5), summary("[a]", "ladybug", 0, 10), summary("b", "sqlite", 4)]
    )
    lines = [line for line in text.splitlines() if "[a]" in line or " b " in line]
    assert "50.0 (5/10)" in lines[0]
    assert " - " in lines[0]
    assert "40.0 (4/10)" in lines[1]
    assert "RDB (sqlite)" in text
    assert "GDB (ladybug)" in text


def test_other_outcomes_are_told_only_where_they_happened() -> None:
    """A clean run has no notes."""
    assert notes([summary("a", "sqlite", 5)]) == []
    (note,) = notes([summary("a", "sqlite", 5, failed=2)])
    assert note.startswith("2 runs that a failing server ended")
    assert "a locating/sqlite 2" in note
