"""A paper's tables with the run's figures below, and the tables of an analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dqa.evaluation.findings import FindingTable, Share
from dqa.evaluation.paper_views import PaperCell, PaperTable, PaperView
from dqa.evaluation.playing.paper import GameCell, GameTable, GameView, ScoreTable
from dqa.evaluation.publications import GameMeasure
from dqa.report.table import (
    NONE,
    Table,
    estimate_text,
    in_percent,
    interval_text,
    share_text,
    titled,
)
from dqa.report.tables import model_line

_COLUMNS = {"relational": "RDB", "graph": "GDB", "4": "4 and more", "total": "Total"}
_UNITS: Mapping[GameMeasure, tuple[str, tuple[tuple[float, str], ...]]] = {
    "payoff": ("a game", ((1.0, ".2f"),)),
    "rational": ("in %", ((100.0, ".1f"),)),
    "agreements": ("score, then two shares in %", ((1.0, ".1f"), (100.0, ".0f"), (100.0, ".0f"))),
}
"""By measure, its unit in words, and the factor and the digits of each figure."""
_BESIDE = "printed, and below ours with its 95 % interval"
_WIDEST = 7
"""Columns beyond which each share of an analysis has a line of its own."""


def paper_tables(view: PaperView) -> list[Table]:
    """Return every table that has a figure of the paper or the run."""
    return [_paper_table(table) for table in view.tables if any(row.cells for row in table.rows)]


def paper_notes(view: PaperView) -> list[str]:
    """Return the source of the printed figures, and how ours differ, a line each."""
    lines = [f"Printed: {view.citation} {view.setting}"]
    if not view.same_scoring:
        lines.append(
            "The paper counts the official label alone, and this run does not: evaluate with "
            "--strict-official to compare."
        )
    lines += [f"{table.name}: {table.note}" for table in view.tables if table.note]
    return [*lines, *map(model_line, view.models)]


def _paper_table(table: PaperTable) -> Table:
    places = dict.fromkeys((c.scenario, c.column) for row in table.rows for c in row.cells)
    titles = [titled(scenario, _COLUMNS.get(column, column)) for scenario, column in places]
    rows = []
    for row in table.rows:
        cells = {(cell.scenario, cell.column): cell for cell in row.cells}
        model = "" if row.published_model is None else f" ({row.published_model})"
        who = f"{row.name or NONE}{model}\n{row.decider or NONE}"
        rows.append([who, *(_paper_cell(cells.get(place)) for place in places)])
    title = f"{table.name}. {table.title}, in %: printed, and ours below"
    return _with_lines(title, "Decider", [title.strip() for title in titles], rows)


def _paper_cell(cell: PaperCell | None) -> str:
    if cell is None:
        return f"{NONE}\n{NONE}"
    lines = [_of(cell.published, cell.published_of), NONE]
    ours = cell.ours
    if ours is not None and ours.share is not None:
        lines[1] = _of(ours.share, ours.of)
        if ours.low is not None and ours.high is not None:
            lines.append(interval_text(ours.low, ours.high))
    return "\n".join(lines)


def _of(share: float | None, of: int | None) -> str:
    return (NONE if share is None else f"{100 * share:.1f}") + ("" if of is None else f" (of {of})")


def game_view_tables(view: GameView) -> list[Table]:
    """Return a paper's tables of games: those of two players, then those of one."""
    return [*map(_game_table, view.tables), *map(_score_table, view.scores)]


def game_view_notes(view: GameView) -> list[str]:
    """Return the source of the printed figures, and how ours differ, a line each."""
    lines = [f"Printed: {view.citation} {view.setting}"]
    for one in view.tables:
        if one.note:
            lines.append(f"{one.name}: {one.note}")
        if one.reference is not None and one.our_reference != one.reference:
            lines.append(
                f"{one.name}: the paper compares with {one.reference}, and this run with "
                f"{one.our_reference or 'nobody'} (--reference)."
            )
    return [*lines, *(f"{one.name}: {one.note}" for one in view.scores if one.note)]


def _game_table(one: GameTable) -> Table:
    unit, parts = _UNITS[one.measure]
    rows = [
        [f"{row.name or NONE}\n{row.player}", *(_game_cell(cell, parts) for cell in row.cells)]
        for row in one.rows
    ]
    title = f"{one.name}. {one.title}, {unit}: {_BESIDE}"
    return _with_lines(title, "Player", [*one.opponents, "Mean"], rows)


def _game_cell(cell: GameCell, parts: Sequence[tuple[float, str]]) -> str:
    """Return the printed figures, and below them ours with their intervals."""
    printed = [
        f"{value * scale:{digits}}"
        for value, (scale, digits) in zip(cell.published, parts, strict=False)
    ]
    ours = [
        estimate_text(found, scale, digits)
        for found, (scale, digits) in zip(cell.ours, parts, strict=False)
    ]
    return "\n".join([", ".join(printed) or NONE, *(ours or [NONE])])


def _score_table(one: ScoreTable) -> Table:
    titles = [column.task or column.measure.capitalize() for column in one.columns]
    rows = [
        [
            f"{row.name or NONE}\n{row.player or '(nobody here)'}",
            *(f"{_of(cell.published, None)}\n{in_percent(cell.ours)}" for cell in row.cells),
        ]
        for row in one.rows
    ]
    return _with_lines(f"{one.name}. {one.title}, in %: {_BESIDE}", "Player", titles, rows)


def _with_lines(
    title: str, name: str, titles: Sequence[str], rows: Sequence[Sequence[str]]
) -> Table:
    return Table(title, [name], titles, rows, range(1, len(rows)))


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


def _share(share: Share | None) -> str:
    if share is None or share.low is None or share.high is None:
        return NONE
    return f"{share_text(share.count, share.of)}\n{interval_text(share.low, share.high)}"
