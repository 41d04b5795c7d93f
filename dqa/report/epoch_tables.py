"""What asking every question several times tells: a table, and lines below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dqa.evaluation.statistics import EpochStatistics, Estimate
from dqa.report.columns import columns_table, interval_text

if TYPE_CHECKING:
    from rich.table import Table


EPOCHS = (
    "Over {} epochs: pass@k and pass^k in %, with 95 % intervals, and what of the variance is "
    "within questions"
)


def epoch_lines(found: Sequence[EpochStatistics]) -> list[str]:
    """Return what a table of epochs does not hold: who gave the same answers every time.

    `found` is of a whole run; those whose answers differed are in `epoch_tables`.
    """
    epochs = max((one.epochs for one in found), default=0)
    same = dict.fromkeys(one.decider for one in found if one.within == 0.0)
    if not same:
        return []
    others = {one.decider for one in found if _differs(one)}
    told = ", ".join(f"{name} (elsewhere)" if name in others else name for name in same)
    return [f"Right or wrong on the same questions in all {epochs} epochs: {told}."]


def epoch_tables(found: Sequence[EpochStatistics]) -> list[tuple[str, Table]]:
    """Return what asking several times told, where answers differed between epochs.

    A row a decider, a column a scenario and database: pass@1, pass@k and pass^k, with the share
    of the variance that is within questions below.
    """
    differing = [one for one in found if _differs(one)]
    if not differing:
        return []
    columns = list(dict.fromkeys((one.scenario, one.database) for one in differing))
    cells = {(one.decider, one.scenario, one.database): _epoch_cell(one) for one in differing}
    rows = [
        [name, *(cells.get((name, *column), "-") for column in columns)]
        for name in dict.fromkeys(one.decider for one in differing)
    ]
    titles = [f"{scenario.capitalize()}\n({database})" for scenario, database in columns]
    title = EPOCHS.format(max(one.epochs for one in differing))
    return [(title, columns_table(["Decider"], titles, rows))]


def _differs(one: EpochStatistics) -> bool:
    return bool(one.within)


def _epoch_cell(one: EpochStatistics) -> str:
    last = one.pass_rates[-1]
    lines = [f"@1 {_rate(one.pass_rates[0].at_k)}"]
    if last.k > 1:
        lines += [f"@{last.k} {_rate(last.at_k)}", f"^{last.k} {_rate(last.all_k)}"]
    if one.within is not None and one.between is not None and one.within + one.between:
        lines.append(f"within {100 * one.within / (one.within + one.between):.0f} %")
    return "\n".join(lines)


def _rate(found: Estimate) -> str:
    told = f"{100 * found.value:.1f}"
    if found.low is None or found.high is None:
        return told
    return f"{told} {interval_text(found.low, found.high)}"
