"""Tables as text, and in a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from dqa.report.table import Table


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
