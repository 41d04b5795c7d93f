"""The table that an evaluation ends with, after the paper's Table 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dqa.core.decision import Usage
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.stats import Summary

if TYPE_CHECKING:
    from rich.table import Table

    from dqa.models.budget import Prices

__all__ = ["accuracy_table", "failures", "notes", "spending", "spending_line"]

_KINDS = {"relational": "RDB", "graph": "GDB"}
_NOTED = {
    Outcome.NO_CANDIDATE: "answers that name no candidate",
    Outcome.AMBIGUOUS: "answers that name several candidates",
    Outcome.STEP_LIMIT: "runs that reached the step limit",
    Outcome.UNPARSABLE: "runs whose replies could not be read",
    Outcome.INFRASTRUCTURE: "runs that a failing server ended (not judged)",
    Outcome.BUDGET: "runs that the spent budget ended (not judged)",
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
    """Return what the table does not say, a line each.

    These are the outcomes that are neither right nor wrong and did happen, and the share of the
    best outcome that was reached, where outcomes count from nothing.
    """
    lines = []
    for outcome, words in _NOTED.items():
        counted = [(s, s.counts[outcome]) for s in summaries if s.counts[outcome]]
        if counted:
            where = ", ".join(f"{s.decider} {s.scenario}/{s.database} {n}" for s, n in counted)
            lines.append(f"{sum(n for _, n in counted)} {words}: {where}.")
    shares = [(s, s.normalised_utility) for s in summaries if s.normalised_utility is not None]
    if shares:
        told = ", ".join(
            f"{s.decider} {s.scenario}/{s.database} {100 * share:.1f}" for s, share in shares
        )
        lines.append(f"Normalised utility in %: {told}.")
    return lines


def spending(results: Iterable[Result], prices: Prices | None = None) -> dict[str, float | None]:
    """Return the tokens and calls of all models together, and what they cost where prices say."""
    used = sum((result.usage for result in results), Usage())
    return {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "calls": used.calls,
        "cost": None if prices is None else prices.cost(used),
    }


def spending_line(results: Iterable[Result], prices: Prices | None = None) -> str:
    """Return the spending as the line that a report ends with."""
    spent = spending(results, prices)
    line = "Spent: {input_tokens:,} tokens in, {output_tokens:,} out, {calls:,} calls".format(
        **spent
    )
    cost = spent["cost"]
    return f"{line}." if cost is None else f"{line}; cost {cost:.4f}."


def failures(results: Iterable[Result], most: int = 5) -> list[str]:
    """Return what failing servers and providers said, most frequent first, a line each."""
    said = Counter(r.error or "" for r in results if r.outcome is Outcome.INFRASTRUCTURE)
    lines = [f"{count} runs: {error}" for error, count in said.most_common(most)]
    return lines if len(said) <= most else [*lines, f"and {len(said) - most} other failures"]


def _distinct(items: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(items))
