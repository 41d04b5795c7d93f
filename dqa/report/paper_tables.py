"""Tables that compare a run with a paper, and tables of an analysis."""

from __future__ import annotations

from dqa.evaluation.findings import FindingShare, FindingTable
from dqa.evaluation.papers import SCORE, PaperCell, PaperTable, PaperView, Place
from dqa.report.spending import model_lines
from dqa.report.table import NONE, Table, estimate_text, share_text, titled

_COLUMNS = {"relational": "RDB", "graph": "GDB", "4": "4 and more", "total": "Total"}
_WIDEST = 7
"""Maximum number of columns. A wider table of an analysis has a row for each share instead."""


def paper_tables(view: PaperView) -> list[Table]:
    """Return all tables that contain a figure of the paper or of the run."""
    return [_paper_table(table) for table in view.tables if any(row.cells for row in table.rows)]


def paper_notes(view: PaperView) -> list[str]:
    """Return lines that cite the paper, and explain how the run differs from it."""
    lines = [f"Printed: {view.citation} {view.setting}"]
    if not view.same_scoring:
        lines.append(
            "In the paper, only the official answer counts as right. This run uses another rule: "
            "evaluate with --strict-official to compare."
        )
    for table in view.tables:
        lines += [f"{table.name}: {table.note}"] if table.note else []
        if table.reference is not None and table.our_reference != table.reference:
            lines.append(
                f"{table.name}: the paper compares with {table.reference}, and this run compares "
                f"with {table.our_reference or 'no reference'} (--reference)."
            )
    return [*lines, *model_lines(view.models)]


def _paper_table(table: PaperTable) -> Table:
    found = dict.fromkeys((c.scenario, c.column) for row in table.rows for c in row.cells)
    keys = sorted(found, key=lambda key: not key[0]) if table.world else list(found)
    rows = []
    for row in table.rows:
        cells = {(cell.scenario, cell.column): cell for cell in row.cells}
        model = "" if row.published_model is None else f" ({row.published_model})"
        who = f"{row.name or NONE}{model}\n{row.decider or NONE}"
        scales = [_scale(table, key) for key in keys]
        shown = zip(keys, scales, strict=True)
        rows.append([who, *(_paper_cell(cells.get(key), *scale) for key, scale in shown)])
    unit = " per game" if table.measure == "payoff" else " in %"
    title = (
        f"{table.name}. {table.title},{unit}: the paper's figure, and below it this run's figure "
        "with its 95 % interval"
    )
    subject = "Decider" if table.world is None else "Player"
    titles = [_title(table, key) for key in keys]
    return Table(title, [subject], titles, rows, range(1, len(rows)))


def _scale(table: PaperTable, key: Place) -> tuple[float, str]:
    """Return the factor to multiply a figure with, and its number format. Shares are in percent."""
    if table.measure == "payoff" or (table.measure == "agreements" and key[1] == SCORE):
        return 1.0, ".2f"
    return 100.0, ".1f"


def _title(table: PaperTable, key: Place) -> str:
    scenario, column = key
    if table.world is None:
        return titled(scenario, _COLUMNS.get(column, column)).strip()
    return "\n".join(filter(None, (scenario or ("Mean" if not column else "All"), column)))


def _paper_cell(cell: PaperCell | None, scale: float, digits: str) -> str:
    """Return a cell: the paper's figure and, below it, the run's figure with its interval."""
    if cell is None:
        return f"{NONE}\n{NONE}"
    published = NONE if cell.published is None else f"{scale * cell.published:{digits}}"
    ours = estimate_text(
        cell.ours, scale, digits, counts=_of(None if cell.ours is None else cell.ours.of)
    )
    return f"{published}{_of(cell.published_of)}\n{ours}"


def _of(count: int | None) -> str:
    return "" if count is None else f" (of {count})"


def finding_table(measured: FindingTable) -> Table:
    """Return a table of an analysis."""
    columns = sorted({column for row in measured.rows for column in row.shares})
    if len(columns) > _WIDEST:
        lines = [
            [row.scenario, row.decider, column, _share(share)]
            for row in measured.rows
            for column, share in row.shares.items()
            if share.count
        ]
        return Table(measured.title, ["Scenario", "Decider", "Kind"], ["Share"], lines)
    rows = [
        [row.scenario, row.decider, *(_share(row.shares.get(column)) for column in columns)]
        for row in measured.rows
    ]
    return Table(measured.title, ["Scenario", "Decider"], columns, rows)


def _share(share: FindingShare | None) -> str:
    return NONE if share is None else share_text(share.count, share.of, share.low, share.high)
