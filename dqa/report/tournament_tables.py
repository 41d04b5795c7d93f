"""What ``dqa tournament`` prints: a paper's tables of games, with ours below what it printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dqa.evaluation.playing.paper import GameCell, GameTable, GameView, ScoreTable
from dqa.evaluation.publications import GameMeasure
from dqa.report.columns import columns_table
from dqa.report.game_tables import estimate_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

_UNITS: Mapping[GameMeasure, tuple[tuple[float, int], ...]] = {
    "payoff": ((1.0, 2),),
    "rational": ((100.0, 1),),
    "agreements": ((1.0, 1), (100.0, 0), (100.0, 0)),
}
"""By measure, what each figure is multiplied with to be printed, and its digits."""
_TOLD: Mapping[GameMeasure, str] = {
    "payoff": "a game",
    "rational": "in %",
    "agreements": "score, then two shares in %",
}


_BESIDE = "printed, and below ours with its 95 % interval"


def tables(view: GameView) -> list[tuple[str, Table]]:
    """Return every table under its title."""
    return [
        *(
            (f"{one.name}. {one.title}, {_TOLD[one.measure]}: {_BESIDE}", _table(one))
            for one in view.tables
        ),
        *((f"{one.name}. {one.title}, in %: {_BESIDE}", _scores(one)) for one in view.scores),
    ]


def notes(view: GameView) -> list[str]:
    """Return what the printed figures are, and what is compared with them, a line each."""
    lines = [f"Printed: {view.citation} {view.setting}"]
    for one in view.tables:
        if one.note:
            lines.append(f"{one.name}: {one.note}")
        if one.reference is not None and one.our_reference != one.reference:
            lines.append(
                f"{one.name}: the paper compares with {one.reference}, and this run with "
                f"{one.our_reference or 'nobody'} (--reference)."
            )
    lines += [f"{one.name}: {one.note}" for one in view.scores if one.note]
    return lines


def _scores(one: ScoreTable) -> Table:
    titles = [column.task or column.measure.capitalize() for column in one.columns]
    rows = []
    for row in one.rows:
        printed = ["-" if c.published is None else f"{100.0 * c.published:.1f}" for c in row.cells]
        ours = [estimate_text(cell.ours, 100.0, 1) for cell in row.cells]
        cells = [f"{paper}\n{here}" for paper, here in zip(printed, ours, strict=True)]
        rows.append([f"{row.name or '-'}\n{row.player or '(nobody here)'}", *cells])
    return columns_table(["Player"], titles, rows, range(1, len(rows)))


def _table(one: GameTable) -> Table:
    rows = [
        [f"{row.name or '-'}\n{row.player}", *(_cell(cell, one.measure) for cell in row.cells)]
        for row in one.rows
    ]
    return columns_table(["Player"], [*one.opponents, "Mean"], rows, range(1, len(rows)))


def _cell(cell: GameCell, measure: GameMeasure) -> str:
    """Return what is printed, and below it each of our figures with its interval."""
    units = _UNITS[measure]
    printed = ", ".join(
        f"{value * scale:.{digits}f}"
        for value, (scale, digits) in zip(cell.published, units, strict=False)
    )
    ours = [
        estimate_text(found, scale, digits)
        for found, (scale, digits) in zip(cell.ours, units, strict=False)
    ]
    return "\n".join([printed or "-", *(ours or ["-"])])
