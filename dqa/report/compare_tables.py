"""Write the output of ``dqa compare``: a table of deciders, a table of pairs, and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dqa.core.text import counted
from dqa.evaluation.statistics.comparing import Comparison, PairComparison, Standing
from dqa.evaluation.statistics.pairs import Difference
from dqa.report.spending import model_line
from dqa.report.table import NONE, Table, estimate_text, in_percent

STANDINGS = "Each decider, with 95 % intervals below"
PAIRS = (
    "Differences, first decider minus second, in percentage points; p-values are corrected for all "
    "pairs (Holm)"
)
_ROUGH = 4.0
_PAIR, _PAIRS = "pair of question and database", "pairs of question and database"


def tables(comparison: Comparison) -> list[Table]:
    """Return the table of deciders and the table of pairs."""
    standings = {one.name: one for one in comparison.standings}
    pairs = {f"{pair.first}\n- {pair.second}": pair for pair in comparison.pairs}
    # If questions share situations, the table has a second p-value.
    shared = any(pair.accuracy.clusters < pair.accuracy.pairs for pair in comparison.pairs)
    return [
        Table.listing(STANDINGS, "Decider", standings, _standing(comparison.standings)),
        Table.listing(PAIRS, "Pair", pairs, _pair(shared=shared)),
    ]


def _standing(found: Sequence[Standing]) -> dict[str, Callable[[Standing], str]]:
    """Return the columns of the table of deciders."""
    columns: dict[str, Callable[[Standing], str]] = {
        "Accuracy in %": _accuracy,
        "Relative regret\nin %": lambda one: in_percent(one.relative_regret),
        "Rank": lambda one: estimate_text(one.rank, digits=".1f"),
    }
    spent = any(e.value for e in (one.efficiency.tokens.per_question for one in found) if e)
    rates = {"Tokens": ("tokens", ",.0f"), "Cost": ("money", ".4g")} if spent else {}
    for title, (name, digits) in (rates | {"Seconds": ("seconds", ".2f")}).items():
        for per in ("question", "right"):
            shown = f"{title} per\n{'right answer' if per == 'right' else per}"
            columns[shown] = partial(_rate, name, f"per_{per}", digits)
    return columns


def _rate(measure: str, per: str, digits: str, one: Standing) -> str:
    rate = getattr(one.efficiency, measure)
    return NONE if rate is None else estimate_text(getattr(rate, per), digits=digits)


def _accuracy(one: Standing) -> str:
    found = one.accuracy
    if found is not None and found.low is None:
        found = found.changed(low=one.low, high=one.high)
    return estimate_text(found, 100.0, ".1f", counts=f" ({one.correct}/{one.judged})")


def _pair(*, shared: bool) -> dict[str, Callable[[PairComparison], str]]:
    """Return the columns of the table of pairs.

    `shared` is set if several questions are about the same situation.
    """
    columns: dict[str, Callable[[PairComparison], str]] = {
        "Accuracy": lambda pair: _points(pair.accuracy),
        "Better\non": lambda pair: str(pair.by_questions.better),
        "Worse\non": lambda pair: str(pair.by_questions.worse),
        "p by questions\n(McNemar)": lambda pair: p_value(pair.holm_by_questions),
    }
    if shared:
        columns["p by\nsituations"] = lambda pair: p_value(pair.holm_by_situations)
    return columns | {"Relative\nregret": lambda pair: _points(pair.relative_regret)}


def _points(found: Difference | None) -> str:
    return estimate_text(found, 100.0, "+.1f")


def p_value(found: float | None) -> str:
    """Format a p-value."""
    if found is None:
        return NONE
    return "<0.001" if found < 0.001 else f"{found:.3f}"


def notes(comparison: Comparison) -> list[str]:
    """Return lines that state which questions the figures include and which they leave out."""
    lines = [_rests_on(comparison)]
    if comparison.only_shared:
        lines.append(
            f"Left out: {counted(comparison.only_shared, _PAIR, _PAIRS)} that only some deciders "
            "were asked."
        )
    lines += [
        f"Left out of {pair.first} - {pair.second}: {counted(pair.left_out, _PAIR, _PAIRS)} "
        "for which one or both have no judged decision."
        for pair in comparison.pairs
        if pair.left_out
    ]
    overall = comparison.overall
    if overall is not None:
        test = "Cochran's Q" if overall.test == "cochran" else "Friedman's test"
        lines.append(
            f"All {len(comparison.standings)} deciders, by questions: {test} "
            f"{overall.statistic:.2f}, {overall.degrees_of_freedom} degrees of freedom, "
            f"p {p_value(overall.p_value)}."
        )
    lines += [model_line(model) for model in dict.fromkeys(s.model for s in comparison.standings)]
    return lines


def _rests_on(comparison: Comparison) -> str:
    counts = "Only the official answer" if comparison.strict_official else "All best candidates"
    counts += " counts" if comparison.strict_official else " count"
    on = f"{counts} as right; {counted(comparison.questions, _PAIR, _PAIRS)}"
    if comparison.situations is None:
        return f"{on}; it is unknown which of them share a situation."
    freedom = [pair.accuracy.degrees_of_freedom for pair in comparison.pairs]
    rough = any(found is not None and found < _ROUGH for found in freedom)
    few = ". With few situations, intervals and p-values by situations are rough" if rough else ""
    if comparison.situations == 1:
        few = ". The intervals are not valid for other situations"
    return f"{on}, about {counted(comparison.situations, 'situation')}{few}."
