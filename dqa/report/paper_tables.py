"""What ``dqa analyse --paper`` prints: a paper's tables, with the run's figures below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dqa.evaluation.paper_views import PaperCell, PaperRow, PaperTable, PaperView
from dqa.report.columns import columns_table, interval_text
from dqa.report.tables import model_line

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = {"relational": "RDB", "graph": "GDB", "4": "4 and more", "total": "Total"}


def tables(view: PaperView) -> list[tuple[str, Table]]:
    """Return every table under its title; those that the run has nothing for, too."""
    return [
        (f"{table.name}. {table.title}, in %: printed, and ours below", _table(table))
        for table in view.tables
        if any(row.cells for row in table.rows)
    ]


def notes(view: PaperView) -> list[str]:
    """Return what the printed figures are, and what is compared with them, a line each."""
    lines = [f"Printed: {view.citation} {view.setting}"]
    if not view.same_scoring:
        lines.append(
            "The paper counts the official label alone, and this run does not: evaluate with "
            "--strict-official to compare."
        )
    lines += [f"{table.name}: {table.note}" for table in view.tables if table.note]
    return [*lines, *map(model_line, view.models)]


def _table(table: PaperTable) -> Table:
    places = dict.fromkeys((c.scenario, c.column) for row in table.rows for c in row.cells)
    titles = [
        "\n".join(filter(None, (scenario.capitalize(), _COLUMNS.get(column, column))))
        for scenario, column in places
    ]
    rows = []
    for row in table.rows:
        cells = {(cell.scenario, cell.column): cell for cell in row.cells}
        rows.append([_who(row), *(_cell(cells.get(place)) for place in places)])
    return columns_table(["Decider"], titles, rows, range(1, len(rows)))


def _who(row: PaperRow) -> str:
    printed = row.name or "-"
    if row.published_model is not None:
        printed += f" ({row.published_model})"
    return f"{printed}\n{row.decider or '-'}"


def _cell(cell: PaperCell | None) -> str:
    if cell is None:
        return "-\n-"
    printed = "-" if cell.published is None else f"{100 * cell.published:.1f}"
    if cell.published_of is not None:
        printed += f" (of {cell.published_of})"
    ours = cell.ours
    if ours is None or ours.share is None:
        return f"{printed}\n-"
    told = f"{100 * ours.share:.1f}"
    if ours.of is not None:
        told += f" (of {ours.of})"
    if ours.low is not None and ours.high is not None:
        told += f"\n{interval_text(ours.low, ours.high)}"
    return f"{printed}\n{told}"
