"""Tables are split into blocks of columns, at a width that does not depend on the terminal."""

from __future__ import annotations

import pytest

from dqa.evaluation.statistics import Estimate
from dqa.report.table import PIPED_WIDTH, Table, estimate_text, piped_width


def _table(scenarios: int, databases: int) -> Table:
    """Return a table with a row per decider and a column per scenario and database."""
    columns = {
        (scenario, database): f"Scenario{scenario}\nRDB (database{database})"
        for scenario in range(scenarios)
        for database in range(databases)
    }
    cells = {
        (name, column): f"{name[0]}{number}"
        for name in ("first", "planrag")
        for number, column in enumerate(columns)
    }
    return Table.grid("", "Decider", cells, columns, {1})


def _widest(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("width", [60, 100])
def test_a_wide_table_is_split_by_scenario_and_loses_nothing(width: int) -> None:
    """No line is too wide, and every cell and heading is present."""
    table = _table(4, 3)
    assert _widest(table.to_text(1_000)) > 193
    text = table.to_text(width)
    assert _widest(text) <= width
    for cell in [f"{who}{number}" for who in "fp" for number in range(12)]:
        assert text.split().count(cell) == 1
    blocks = list(table.blocks(width))
    assert text.count("Decider") == text.count("planrag") == len(blocks)
    for block in blocks:
        assert [row.end_section for row in block.rows] == [True, False]
    if width >= 80:  # enough for a scenario's three columns
        for block in blocks:
            headings = [str(column.header).split("\n")[0] for column in block.columns[1:]]
            assert all(headings.count(heading) == 3 for heading in headings)


def test_a_column_that_is_too_wide_alone_is_not_shortened() -> None:
    """It is a block of its own."""
    text = _table(2, 1).to_text(12)
    assert "RDB (database0)" in text
    assert "…" not in text


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


def test_in_a_pipe_the_width_is_fixed_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert piped_width() == PIPED_WIDTH == 100
    for value, width in (("140", 140), ("0", 100), ("wide", 100), ("-3", 100)):
        monkeypatch.setenv("COLUMNS", value)
        assert piped_width() == width
