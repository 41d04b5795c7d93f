"""What ``dqa compare`` prints: everyone by itself, every two of them, and what that rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dqa.core.text import counted
from dqa.evaluation.statistics.clusters import Estimate
from dqa.evaluation.statistics.comparing import Comparison, PairComparison, Rate, Standing
from dqa.evaluation.statistics.pairs import Difference
from dqa.report.columns import columns_table
from dqa.report.tables import model_line

if TYPE_CHECKING:
    from rich.table import Table

STANDINGS = "Each by itself, with 95 % intervals below"
PAIRS = "First minus second, accuracy in points; p-values corrected for all pairs (Holm)"
_ROUGH, _LEVEL = 4.0, 0.05
_FEW = 3
"""Pairs whose power is told each by itself."""
_PAIR, _PAIRS = "pair of question and database", "pairs of question and database"


def tables(comparison: Comparison) -> list[tuple[str, Table]]:
    """Return the contestants and the pairs of them, each table under its title."""
    return [
        (STANDINGS, _standings(comparison.standings)),
        (PAIRS, _pairs(comparison.pairs, shared=_shares_situations(comparison))),
    ]


def notes(comparison: Comparison) -> list[str]:
    """Return what the figures rest on and leave out, a line each."""
    lines = [_rests_on(comparison)]
    if comparison.only_shared:
        lines.append(
            f"Left out: {counted(comparison.only_shared, _PAIR, _PAIRS)} that not all were asked."
        )
    lines += [
        f"Left out of {_named(pair)}: {counted(pair.left_out, _PAIR, _PAIRS)}, not judged for both."
        for pair in comparison.pairs
        if pair.left_out
    ]
    overall = comparison.overall
    if overall is not None:
        test = "Cochran's Q" if overall.test == "cochran" else "Friedman's test"
        lines.append(
            f"All {len(comparison.standings)} at once, by questions: {test} "
            f"{overall.statistic:.2f}, {overall.degrees_of_freedom} degrees of freedom, "
            f"p {p_value(overall.p_value)}."
        )
    lines += _power_lines([pair for pair in comparison.pairs if not _told_apart(pair)])
    lines += [model_line(model) for model in dict.fromkeys(s.model for s in comparison.standings)]
    return lines


def _rests_on(comparison: Comparison) -> str:
    counts = "The official label alone" if comparison.strict_official else "Every tie of the best"
    on = f"{counts} counts as right; {counted(comparison.questions, _PAIR, _PAIRS)}"
    if comparison.situations is None:
        return f"{on}; which situations they share is not known."
    freedom = [pair.accuracy.degrees_of_freedom for pair in comparison.pairs]
    rough = any(found is not None and found < _ROUGH for found in freedom)
    few = ": few, so intervals and p-values by situations are rough" if rough else ""
    if comparison.situations == 1:
        few = ": intervals say nothing of other situations"
    return f"{on}, about {counted(comparison.situations, 'situation')}{few}."


def _shares_situations(comparison: Comparison) -> bool:
    """Whether questions have clusters other than themselves, so that a second p-value says more."""
    return any(pair.accuracy.clusters < pair.accuracy.pairs for pair in comparison.pairs)


def _told_apart(pair: PairComparison) -> bool:
    """Whether the tests, corrected, say that one is better."""
    found = pair.holm_by_situations
    return (pair.holm_by_questions if found is None else found) < _LEVEL


def _named(pair: PairComparison) -> str:
    return f"{pair.first} - {pair.second}"


def _power_lines(pairs: Sequence[PairComparison]) -> list[str]:
    """Return what it takes to tell pairs apart: of many, the one that needs most."""
    if len(pairs) <= _FEW:
        return [_power_line(pair) for pair in pairs]
    most = max(pairs, key=lambda pair: pair.power.questions)
    others = counted(len(pairs) - 1, "other pair")
    return [f"{_power_line(most)} The {others} not told apart need no more; see --json."]


def _power_line(pair: PairComparison) -> str:
    power = pair.power
    line = (
        f"{_named(pair)}: a difference of {100 * power.difference:g} points takes "
        f"{power.questions:,} {_PAIRS} like these (power {100 * power.power:.0f} %)"
    )
    if power.detectable is None:
        return f"{line}."
    if power.detectable > 1.0:
        return f"{line}; these {power.questions_seen:,} are too few to show any."
    return f"{line}; these {power.questions_seen:,} show {100 * power.detectable:.1f} points."


def _standings(found: Sequence[Standing]) -> Table:
    regrets = any(one.relative_regret is not None for one in found)
    money = any(one.efficiency.money is not None for one in found)
    seconds = any(one.efficiency.seconds is not None for one in found)
    tokens = any(_value(one.efficiency.tokens.per_question) for one in found)
    titles = ["Accuracy in %"]
    titles += ["Relative regret\nin %", "Rank"] if regrets else []
    titles += ["Tokens\na question", "Tokens\na right answer"] if tokens else []
    titles += ["Cost\na question", "Cost\na right answer"] if money and tokens else []
    titles += ["Seconds\na question", "Seconds\na right answer"] if seconds else []
    rows = []
    for one in found:
        row = [one.name, _accuracy(one)]
        row += [_shown(one.relative_regret, 100.0), _shown(one.rank)] if regrets else []
        rates: list[tuple[Rate | None, str]] = []
        rates += [(one.efficiency.tokens, ",.0f")] if tokens else []
        rates += [(one.efficiency.money, ".4g")] if money and tokens else []
        rates += [(one.efficiency.seconds, ".2f")] if seconds else []
        for rate, digits in rates:
            row += (
                ["-", "-"]
                if rate is None
                else [_shown(rate.per_question, 1.0, digits), _shown(rate.per_right, 1.0, digits)]
            )
        rows.append(row)
    return columns_table(["Decider"], titles, rows)


def _pairs(pairs: Sequence[PairComparison], *, shared: bool) -> Table:
    titles = ["Accuracy", "Better\non", "Worse\non", "p by questions\n(McNemar)"]
    titles += ["p by\nsituations"] if shared else []
    regrets = any(pair.relative_regret is not None for pair in pairs)
    titles += ["Relative\nregret"] if regrets else []
    rows = []
    for pair in pairs:
        signs = pair.by_questions
        row = [f"{pair.first}\n- {pair.second}", _difference(pair.accuracy)]
        row += [str(signs.better), str(signs.worse), p_value(pair.holm_by_questions)]
        if shared:
            row.append("-" if pair.holm_by_situations is None else p_value(pair.holm_by_situations))
        row += [_difference(pair.relative_regret)] if regrets else []
        rows.append(row)
    return columns_table(["Pair"], titles, rows)


def p_value(found: float) -> str:
    """Return a p-value as it is printed."""
    return "<0.001" if found < 0.001 else f"{found:.3f}"


def _accuracy(one: Standing) -> str:
    if one.accuracy is None:
        return "-"
    found = one.accuracy
    if found.low is None:
        found = found.changed(low=one.low, high=one.high)
    return _shown(found, 100.0, ".1f", f" ({one.correct}/{one.judged})")


def _shown(found: Estimate | None, factor: float = 1.0, digits: str = ".1f", more: str = "") -> str:
    if found is None:
        return "-"
    told = f"{factor * found.value:{digits}}{more}"
    if found.low is None or found.high is None:
        return told
    return f"{told}\n[{factor * found.low:{digits}}, {factor * found.high:{digits}}]"


def _difference(found: Difference | None) -> str:
    if found is None:
        return "-"
    told = f"{100 * found.value:+.1f}"
    if found.low is None or found.high is None:
        return told
    return f"{told}\n[{100 * found.low:+.1f}, {100 * found.high:+.1f}]"


def _value(found: Estimate | None) -> float:
    return 0.0 if found is None else found.value
