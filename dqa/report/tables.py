"""The table that an evaluation ends with, after the paper's Table 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from dqa.core.decision import Usage
from dqa.core.records import Record
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.evaluation.stats import Summary
from dqa.evaluation.traces import Trace
from dqa.models.registry import is_scripted

if TYPE_CHECKING:
    from rich.table import Table

    from dqa.models.budget import Prices

_PIPED_WIDTH = 1_000
"""Columns of a table that no terminal shows."""

_KINDS = {"relational": "RDB", "graph": "GDB"}
_NOTED = {
    Outcome.NO_CANDIDATE: "answers that name no candidate",
    Outcome.AMBIGUOUS: "answers that name several candidates",
    Outcome.STEP_LIMIT: "runs that reached the step limit",
    Outcome.UNPARSABLE: "runs whose replies could not be read",
    Outcome.INFRASTRUCTURE: "runs that a failing server ended (not judged)",
    Outcome.BUDGET: "runs that the spent budget ended (not judged)",
    Outcome.CRASHED: "runs that crashed (a bug, not judged)",
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


class Spending(Record):
    """The tokens and calls of all models together, and what they cost where prices say."""

    input_tokens: int
    output_tokens: int
    calls: int
    cost: float | None

    def __str__(self) -> str:
        line = (
            f"Spent: {self.input_tokens:,} tokens in, {self.output_tokens:,} out, "
            f"{self.calls:,} calls"
        )
        return f"{line}." if self.cost is None else f"{line}; cost {self.cost:.4f}."


def spending(results: Iterable[Result], prices: Prices | None = None) -> Spending:
    """Return what results have used."""
    used = sum((result.usage for result in results), Usage())
    return Spending(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        calls=used.calls,
        cost=None if prices is None else prices.cost(used),
    )


def model_line(model: str) -> str:
    """Return the line that says who answered; a program is never taken for a language model."""
    if model == NO_MODEL:
        return "Model: none (a baseline asks no model)."
    parts = model.split(" + ")
    programs = [part for part in parts if is_scripted(part)]
    if not programs:
        return f"Model: {model}."
    if len(programs) == len(parts):
        return f"Model: {model}. A scripted program, not a language model."
    return f"Model: {model}. Of these, {programs[0]} is a program, not a language model."


def lines_below(summaries: Sequence[Summary], spent: Spending) -> list[str]:
    """Return what a run says below its table: who answered, what is not in it, what it took."""
    lines = []
    for model in dict.fromkeys(summary.model for summary in summaries):
        lines.append(model_line(model))
        if is_scripted(model):
            lines.append(
                "The script sets how far each decider searches; differences say nothing about "
                "language models."
            )
    return [*lines, *notes(summaries), str(spent)]


def as_text(table: Table) -> str:
    """Return a table as text whose width depends on nothing but its cells."""
    from rich.console import Console

    console = Console(file=StringIO(), highlight=False, width=_PIPED_WIDTH)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def failures(results: Iterable[Result], most: int = 5) -> list[str]:
    """Return what failing servers and providers said, most frequent first, a line each."""
    said = Counter(r.error or "" for r in results if r.outcome is Outcome.INFRASTRUCTURE)
    lines = [f"{count} runs: {error}" for error, count in said.most_common(most)]
    return lines if len(said) <= most else [*lines, f"and {len(said) - most} other failures"]


def crash_lines(crashed: Sequence[Trace], folder: Path | None) -> list[str]:
    """Return what crashed, most frequent first, a line each, and how to report it."""
    said = Counter((trace.decider, trace.error or "") for trace in crashed).most_common()
    lines = [f"{count} runs of {decider}: {error}" for (decider, error), count in said]
    return [*lines, how_to_report(crashed[0], folder)] if crashed else []


def how_to_report(crashed: Trace, folder: Path | None) -> str:
    """Return what to do about a bug."""
    where = "run again with a folder as out (--out), which keeps its traceback"
    if folder is not None:
        where = (
            f"'dqa trace {folder} {crashed.question} --decider {crashed.decider} --database "
            f"{crashed.database}' shows its traceback"
        )
    return (
        f"This is a bug, not a wrong answer: {where}. Report it to whoever maintains "
        f"{crashed.decider}, with the versions in run.json; resume (--resume) asks again."
    )


def _distinct(items: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(items))
