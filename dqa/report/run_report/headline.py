"""The result of a report in one or two sentences."""

from __future__ import annotations

from collections.abc import Sequence

from dqa.core.text import counted
from dqa.report.run_report.records import Contestant, Pair, Total
from dqa.report.table import interval_text

_LEVEL = 0.05


def headline_of(
    contestants: Sequence[Contestant], totals: Sequence[Total], pairs: Sequence[Pair]
) -> str:
    """Return who is right most often, and whether that differs from the next; "" for nothing."""
    judged = [total for total in totals if total.accuracy is not None]
    if not judged:
        return ""
    ranked = sorted(judged, key=lambda total: -(total.accuracy or 0.0))
    best, *others = ranked
    name = contestants[best.contestant].name
    equal = [other for other in others if other.accuracy == best.accuracy]
    sentence = f"{name} is right in {_share(best)}"
    if equal:
        names = [contestants[other.contestant].name for other in equal]
        sentence += f", and so {'is' if len(names) == 1 else 'are'} {_listed(names)}"
    elif others:
        sentence += f", more often than {counted(len(others), 'other decider')}"
    worse = [other for other in others if other not in equal]
    return f"{sentence}.{_next(contestants, best, worse, pairs)}"


def _share(total: Total) -> str:
    share = f"{100 * (total.accuracy or 0.0):.1f} %"
    judged = counted(total.judged, "judged decision")
    if total.low is None or total.high is None:
        return f"{total.correct} of {judged} ({share})"
    interval = interval_text(total.low, total.high)
    return f"{total.correct} of {judged} ({share}, 95 % interval {interval})"


def _next(
    contestants: Sequence[Contestant], best: Total, worse: Sequence[Total], pairs: Sequence[Pair]
) -> str:
    """Return how the best compares with the next one on the questions that both answered."""
    if not worse:
        return ""
    ends = {best.contestant, worse[0].contestant}
    pair = next((one for one in pairs if {one.first, one.second} == ends), None)
    if pair is None:
        return ""
    figures = pair.figures
    by_situations = figures.holm_by_situations
    p = figures.holm_by_questions if by_situations is None else by_situations
    told = "is more than chance" if p < _LEVEL else "may be chance"
    points = f"{100 * abs(figures.accuracy.value):.1f} points"
    second = contestants[worse[0].contestant].name
    p_text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return f" The difference to {second}, which is next, is {points} and {told} ({p_text})."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
