"""Tables fit: blocks of columns, at a width that no terminal decides."""

from __future__ import annotations

import pytest
from rich.table import Table
from rich.text import Text

from dqa.report.widths import PIPED_WIDTH, as_text, fitted, piped_width


def _table(scenarios: int, databases: int) -> Table:
    """A decider a row, a scenario and database a column, as an evaluation has them."""
    table = Table()
    table.add_column("Decider", no_wrap=True)
    for scenario in range(scenarios):
        for database in range(databases):
            title = Text(f"Scenario{scenario}\nRDB (database{database})")
            table.add_column(title, justify="right", no_wrap=True)
    for name in ("first", "planrag"):
        cells = [f"{name[0]}{number}" for number in range(scenarios * databases)]
        table.add_row(name, *cells, end_section=name == "first")
    return table


def _widest(text: str) -> int:
    return max(map(len, text.splitlines()))


def test_what_fits_is_one_block() -> None:
    """As it was made, at its own width."""
    table = _table(1, 3)
    assert fitted(table, 100) == [table]
    assert _widest(as_text(table)) < 100


@pytest.mark.parametrize("width", [60, 100])
def test_a_wide_table_is_split_by_scenario_and_loses_nothing(width: int) -> None:
    """Four scenarios on three databases: no line is too wide, every cell and heading is there."""
    table = _table(4, 3)
    assert _widest(as_text(table, 1_000)) > 193
    text = as_text(table, width)
    assert _widest(text) <= width
    for cell in [f"{who}{number}" for who in "fp" for number in range(12)]:
        assert text.split().count(cell) == 1
    blocks = fitted(table, width)
    assert text.count("Decider") == text.count("planrag") == len(blocks)
    for block in blocks:
        assert [row.end_section for row in block.rows] == [True, False]
    if width >= 80:  # room for a scenario's three columns
        for block in blocks:
            headings = [str(column.header).split("\n")[0] for column in block.columns[1:]]
            assert all(headings.count(heading) == 3 for heading in headings)


def test_a_column_that_is_too_wide_alone_is_not_shortened() -> None:
    """It stands in a block of its own, whole."""
    text = as_text(_table(2, 1), 12)
    assert "RDB (database0)" in text
    assert "…" not in text


def test_in_a_pipe_the_width_is_fixed_unless_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever terminal there is."""
    monkeypatch.delenv("COLUMNS", raising=False)
    assert piped_width() == PIPED_WIDTH == 100
    for given, width in (("140", 140), ("0", 100), ("wide", 100), ("-3", 100)):
        monkeypatch.setenv("COLUMNS", given)
        assert piped_width() == width
