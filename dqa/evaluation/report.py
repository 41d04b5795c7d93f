"""The table that an evaluation ends with, after the paper's Table 5."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dqa.evaluation.score import Outcome
from dqa.evaluation.stats import Summary

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["accuracy_table", "notes"]

_KINDS = {"relational": "RDB", "graph": "GDB"}
_NOTED = {
    Outcome.NO_CANDIDATE: "answers that name no candidate",
    Outcome.AMBIGUOUS: "answers that name several candidates",
    Outcome.STEP_LIMIT: "runs that reached the step limit",
    Outcome.UNPARSABLE: "runs whose replies could not be read",
    Outcome.INFRASTRUCTURE: "runs that a failing server ended (not judged)",
}


def accuracy_table(summaries: Sequence[Summary]) -> Table:
    """Return accuracies: a row a decider, a column a scenario and database.

    A cell holds the accuracy in percent with correct/judged, and its 95 % interval below.
    """
    from rich.table import Table
    from rich.text import Text

    columns = _distinct((s.scenario, s.kind, s.database) for s in summaries)
    cells = {(s.decider, s.scenario, s.database): s for s in summaries}
    table = Table()
    table.add_column("Decider", no_wrap=True)
    for scenario, kind, database in columns:
        heading = f"{scenario.capitalize()}\n{_KINDS.get(kind, kind)} ({database})"
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for (decider,) in _distinct((s.decider,) for s in summaries):
        row = (_cell(cells.get((decider, scenario, base))) for scenario, _, base in columns)
        table.add_row(Text(decider), *(Text(cell) for cell in row))
    return table


def _cell(summary: Summary | None) -> str:
    if summary is None or summary.accuracy is None or summary.low is None or summary.high is None:
        return "-"
    return (
        f"{100 * summary.accuracy:.1f} ({summary.correct}/{summary.judged})\n"
        f"[{100 * summary.low:.1f}, {100 * summary.high:.1f}]"
    )


def notes(summaries: Sequence[Summary]) -> list[str]:
    """Return a line for every kind of outcome that is neither right nor wrong and did happen."""
    lines = []
    for outcome, words in _NOTED.items():
        counted = [(s, s.counts[outcome]) for s in summaries if s.counts[outcome]]
        if counted:
            where = ", ".join(f"{s.decider} {s.scenario}/{s.database} {n}" for s, n in counted)
            lines.append(f"{sum(n for _, n in counted)} {words}: {where}.")
    return lines


def _distinct(items: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(items))
