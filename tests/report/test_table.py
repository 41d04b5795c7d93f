"""Tables as text, and in a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from dqa.evaluation.statistics.clusters import Estimate
from dqa.report.table import Table, estimate_text


def test_a_wide_table_loses_nothing() -> None:
    """A text has a line for each row; a narrow terminal wraps cells and shows every character."""
    titles = {number: f"Scenario\nRDB (database{number})" for number in range(12)}
    texts = {
        (name, number): f"{name}{number}" for name in ("first", "planrag") for number in titles
    }
    table, cells = Table.grid("", "Decider", texts, titles, {1}), list(texts.values())
    text = table.to_text()
    assert [text.split().count(cell) for cell in cells] == [1] * 24
    console = Console(file=StringIO(), width=60)
    console.print(table.to_rich())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, shown.splitlines())) <= 60
    assert "…" not in shown


def test_missing_cells_are_dashes_and_empty_columns_are_left_out() -> None:
    """A grid has all columns; a list shows those with a figure."""
    grid = Table.grid("", "Decider", {("a", 1): "x", ("b", 2): "y"}, {1: "One", 2: "Two"})
    assert grid.rows == [["a", "x", "-"], ["b", "-", "y"]]
    found = Table.listing(
        "", "Name", {"a": 1}, {"Twice": lambda n: str(2 * n), "None": lambda _: "-"}
    )
    assert (found.figures, found.rows) == (["Twice"], [["a", "2"]])


def test_figures_are_written_above_their_intervals() -> None:
    """A missing figure is a dash, and zero has no minus."""
    found = Estimate(value=-0.0001, low=-0.5, high=0.25, observations=3, clusters=2)
    assert estimate_text(found) == "0.00\n[-0.50, 0.25]"
    assert estimate_text(found, 100.0, "+.1f", between=" ") == "+0.0 [-50.0, +25.0]"
    assert estimate_text(None) == "-"
