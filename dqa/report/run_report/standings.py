"""Contestants over everything that they decided: totals, the front, pairs and the headline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dqa.core.text import counted
from dqa.evaluation import statistics
from dqa.evaluation.results import Result
from dqa.evaluation.statistics.clusters import Estimate, situations_of
from dqa.evaluation.statistics.comparing import Rate, compare_pairs, every_two, stand
from dqa.report.run_report.records import Contestant, Pair, Total
from dqa.report.spending import reports_tokens
from dqa.report.table import interval_text, listed

if TYPE_CHECKING:
    from dqa.models.budget import Prices

_LEVEL = 0.05


def total_of(place: int, results: Sequence[Result], prices: Prices | None) -> Total:
    """Return the figures of a contestant over everything that it decided."""
    judged = [result for result in results if result.outcome.judged]
    priced = prices is not None and all(reports_tokens(result.usage) for result in judged)
    cost = prices.cost if prices is not None and priced else None
    found = stand(statistics.Contestant("", tuple(results), cost=cost))
    low, high = found.low, found.high
    if found.accuracy is not None and found.accuracy.low is not None:
        low, high = found.accuracy.low, found.accuracy.high
    tokens, money = found.efficiency.tokens, found.efficiency.money or _FREE
    return Total(
        contestant=place,
        decisions=len(results),
        judged=found.judged,
        correct=found.correct,
        accuracy=_value(found.accuracy),
        low=low,
        high=high,
        wilson_low=found.low,
        wilson_high=found.high,
        situations=situations_of(judged),
        relative_regret=found.relative_regret,
        rank=found.rank,
        tokens=_value(tokens.per_question),
        steps=sum(result.steps for result in judged) / len(judged) if judged else None,
        cost=_value(money.per_question),
        tokens_per_right=_value(tokens.per_right),
        cost_per_right=_value(money.per_right),
    )


_FREE = Rate(per_question=None, per_right=None)
"""The cost of a run without prices."""


def _value(found: Estimate | None) -> float | None:
    return None if found is None else found.value


def with_front(totals: Sequence[Total]) -> tuple[Total, ...]:
    """Mark those that no other is both as right as and as cheap as, and better in one.

    Spending is the first of cost, tokens and replies that any of them has.
    """
    names = (name for name in ("cost", "tokens") if any(getattr(one, name) for one in totals))
    by = next(names, "steps")
    points = {
        total.contestant: (total.accuracy, getattr(total, by))
        for total in totals
        if total.accuracy is not None and getattr(total, by) is not None
    }

    def is_beaten(right: float, spent: float) -> bool:
        return any(
            other >= right and less <= spent and (other, less) != (right, spent)
            for other, less in points.values()
        )

    front = {place for place, point in points.items() if not is_beaten(*point)}
    return tuple(one.changed(pareto=one.contestant in front) for one in totals)


def compare_every_two(
    contestants: Sequence[Contestant],
    decided: Mapping[int, Sequence[Result]],
    measures: Sequence[str],
) -> tuple[Pair, ...]:
    """Compare every two contestants on the questions that both answered.

    Parameters
    ----------
    contestants
        Their names differ.
    decided
        The decisions of each; equal questions have one name in all runs.
    measures
        By run, what counts as right: contestants of runs that differ in it are not compared.
    """
    place = {one.name: number for number, one in enumerate(contestants)}
    measured: dict[str, list[statistics.Contestant]] = {}
    for number, one in enumerate(contestants):
        found = statistics.Contestant(one.name, tuple(decided[number]))
        measured.setdefault(measures[one.run], []).append(found)
    pairs = [pair for alike in measured.values() for pair in every_two(alike, None)]
    return tuple(
        Pair(first=place[pair.first], second=place[pair.second], figures=pair)
        for pair in compare_pairs(pairs)
    )


def best_of(pairs: Sequence[Pair], totals: Sequence[Total]) -> int | None:
    """Return who of those in pairs is right most often; of equals the first."""
    compared = sorted({place for pair in pairs for place in (pair.first, pair.second)})
    return max(compared, key=lambda place: totals[place].accuracy or 0.0, default=None)


def headline_of(
    contestants: Sequence[Contestant], totals: Sequence[Total], pairs: Sequence[Pair]
) -> str:
    """Return who is right most often, and whether that differs from the next; "" for nothing."""
    judged = [total for total in totals if total.accuracy is not None]
    if not judged:
        return ""
    best, *others = sorted(judged, key=lambda total: -(total.accuracy or 0.0))
    equal = [other for other in others if other.accuracy == best.accuracy]
    sentence = f"{contestants[best.contestant].name} is right in {_share(best)}"
    if equal:
        names = [contestants[other.contestant].name for other in equal]
        sentence += f", and so {'is' if len(names) == 1 else 'are'} {listed(names)}"
    elif others:
        sentence += f", more often than {counted(len(others), 'other decider')}"
    worse = [other for other in others if other not in equal]
    return f"{sentence}.{_next(contestants, best, worse, pairs)}"


def _share(total: Total) -> str:
    share = f"{100 * (total.accuracy or 0.0):.1f} %"
    if total.low is not None and total.high is not None:
        share += f", 95 % interval {interval_text(total.low, total.high)}"
    return f"{total.correct} of {counted(total.judged, 'judged decision')} ({share})"


def _next(
    contestants: Sequence[Contestant], best: Total, worse: Sequence[Total], pairs: Sequence[Pair]
) -> str:
    """Return how the best compares with the next one on the questions that both answered."""
    ends = {best.contestant, *(other.contestant for other in worse[:1])}
    pair = next((one for one in pairs if {one.first, one.second} == ends), None)
    if pair is None:
        return ""
    figures = pair.figures
    by_situations = figures.holm_by_situations
    p = figures.holm_by_questions if by_situations is None else by_situations
    verdict = "is more than chance" if p < _LEVEL else "may be chance"
    points = f"{100 * abs(figures.accuracy.value):.1f} points"
    second = contestants[worse[0].contestant].name
    p_text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return f" The difference to {second}, which is next, is {points} and {verdict} ({p_text})."
