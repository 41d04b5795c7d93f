"""The table of an evaluation whose answers are statements: how often their rows match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dqa.core.text import spelt_out
from dqa.core.truth import MatchRule
from dqa.evaluation.statistics import Summary, Total, total_matches
from dqa.report.columns import columns_table, interval_text, share_text

if TYPE_CHECKING:
    from rich.table import Table

MATCHES = "Statements whose rows match, in % (matched/judged), with the 95 % interval beside"
ALL = "All"
_RULES: Mapping[MatchRule, str] = {
    "set": "where it returns the same set of rows as the gold statement (as BIRD's evaluation "
    "counts)",
    "table": "where it returns the same rows as the gold statement, each as often, with columns in "
    "any order, and in its order of rows where that has an ORDER BY (as Spider's evaluation "
    "counts)",
    "columns": "where every column of the gold table is among its columns (as Spider 2's "
    "evaluation counts)",
    "subset": "where it returns the rows of a gold statement, and perhaps more columns (as Defog's "
    "evaluation counts)",
}


def are_matches(summaries: Sequence[Summary]) -> bool:
    """Whether all that was decided are statements, so that this table says it."""
    return bool(summaries) and all(summary.match is not None for summary in summaries)


def match_table(summaries: Sequence[Summary]) -> Table:
    """Return how often rows match: a row a database and one for all, a column a decider."""
    totals = total_matches(summaries)
    cells = {(s.scenario, s.decider): _cell(s) for s in summaries}
    rows = [
        [scenario, *(cells.get((scenario, total.decider), "-") for total in totals)]
        for scenario in dict.fromkeys(summary.scenario for summary in summaries)
    ]
    titles = [total.decider for total in totals]
    return columns_table(["Database"], titles, [*rows, [ALL, *map(_cell, totals)]], {len(rows)})


def match_lines(summaries: Sequence[Summary]) -> list[str]:
    """Return what counts as a match in the table."""
    rules = dict.fromkeys(s.match for s in summaries if s.match is not None)
    lines = [f"A statement is right {_RULES[rule]}." for rule in rules]
    for total in total_matches(summaries):
        if total.official_metrics:
            shown = (f"{name} {100 * mean:.1f}" for name, mean in total.official_metrics.items())
            lines.append(f"Official metrics of {spelt_out(total.decider)}: {', '.join(shown)}.")
    return lines


def _cell(found: Summary | Total) -> str:
    if found.low is None or found.high is None:
        return "-"
    return f"{share_text(found.correct, found.judged)} {interval_text(found.low, found.high)}"
