"""Tables that compare a run with a paper, and tables of an analysis."""

from __future__ import annotations

from dqa.evaluation.findings import FindingShare, FindingTable
from dqa.evaluation.papers import SCORE, Place, Publication, PublishedFigure, PublishedTable
from dqa.report.table import NONE, Table, estimate_text, share_text, titled

_COLUMNS = {"relational": "RDB", "graph": "GDB", "4": "4 and more", "total": "Total"}
_WIDEST = 7
"""Maximum number of columns. A wider table of an analysis has a row for each share instead."""


def paper_tables(paper: Publication) -> list[Table]:
    """Return all tables that contain a figure of the paper or of the run."""
    listed = (_paper_table(table) for table in paper.tables)
    return [table for table in listed if table.figures]


def paper_notes(paper: Publication) -> list[str]:
    """Return lines that cite the paper, and explain its numbers and its differences to the run."""
    notes = [f"{table.name}: {table.note}" for table in paper.tables if table.note]
    return [f"Printed: {paper.citation} {paper.setting}", *notes, *paper.notes]


def _paper_table(table: PublishedTable) -> Table:
    rows = (*table.rows, *table.ours)
    found = dict.fromkeys(figure.place for row in rows for figure in row.figures)
    places = sorted(found, key=lambda place: not place[0]) if table.world else list(found)
    lines = []
    for row in rows:
        figures = {figure.place: figure for figure in row.figures}
        name = row.name if row.model is None else f"{row.name} ({row.model})"
        shown = (_figure(table, figures.get(place)) for place in places)
        lines.append([name, row.decider or NONE, *shown])
    unit = " per game" if table.measure == "payoff" else " in %"
    title = f"{table.name}. {table.title},{unit}. This run has 95 % intervals"
    titles = [_title(table, place) for place in places]
    subject = "Decider" if table.world is None else "Player"
    return Table(title, ["Paper", subject], titles, lines, [len(table.rows)])


def _title(table: PublishedTable, place: Place) -> str:
    scenario, column = place
    if table.world is None:
        return titled(scenario, _COLUMNS.get(column, column)).strip()
    return "\n".join(filter(None, (scenario or ("Mean" if not column else "All"), column)))


def _figure(table: PublishedTable, figure: PublishedFigure | None) -> str:
    """Return a cell. Shares are in percent."""
    if figure is None:
        return NONE
    counts = "" if figure.of is None else f" (of {figure.of})"
    if figure.value is None:
        return f"{NONE}{counts}"
    if table.measure == "payoff" or (table.measure == "agreements" and figure.column == SCORE):
        return estimate_text(figure, counts=counts)
    return estimate_text(figure, 100.0, ".1f", counts=counts)


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
