"""The parts of each contestant's decisions, as the stacked charts show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import OF_QUESTIONS, Outcome, Result
from dqa.report.run_report.records import Chart, Share

_REGRETS = {
    "none": 0.0,
    "up to 1 %": 0.01,
    "up to 10 %": 0.1,
    "up to 50 %": 0.5,
    "up to 100 %": 1.0,
}
_HARMS, _NO_CHOICE = "more: worse than nothing", "no choice"
_REPLANNED = ("0", "1", "2", "3", "4 and more")
CLASSES = ("CAN", "MIS", "DEEP", "QUR", "OTH")


def shares_of(
    place: int, results: Sequence[Result], classes: Mapping[DecisionKey, str | None] | None
) -> Iterator[Share]:
    """Yield the parts of a contestant's decisions in each chart.

    Parameters
    ----------
    place
        The contestant.
    results
        Its decisions.
    classes
        By decision the class of its failure; None for a run that was not analysed.
    """
    judged = [result for result in results if result.outcome.judged]
    planned = [(one, _REPLANNED[min(one.plans, 5) - 1]) for one in judged if one.plans]
    if any(result.plans > 1 for result in judged):
        yield from _parts(place, "replanning", _REPLANNED, planned)
    outcomes = [outcome.value for outcome in OF_QUESTIONS]
    yield from _parts(place, "failures", outcomes, [(one, one.outcome.value) for one in results])
    regrets = [(one, _regret(one)) for one in judged if one.best_value is not None]
    yield from _parts(place, "regret", (*_REGRETS, _HARMS, _NO_CHOICE), regrets)
    if classes is not None:
        known = [(one, classes[one.key] or "") for one in judged if one.key in classes]
        yield from _parts(place, "classes", CLASSES, known)


def _parts(
    place: int, chart: Chart, parts: Sequence[str], results: Sequence[tuple[Result, str]]
) -> Iterator[Share]:
    """Yield the parts that occur; of re-plannings all."""
    counts = Counter(part for _, part in results)
    right = Counter(part for one, part in results if one.outcome is Outcome.CORRECT)
    for part in parts:
        if counts[part] or chart == "replanning":
            yield Share(
                contestant=place,
                chart=chart,
                part=part,
                count=counts[part],
                of=len(results),
                correct=right[part],
            )


def _regret(result: Result) -> str:
    """Return how much of the possible gain a decision gave away, as a part of the chart."""
    if result.choice is None:
        return _NO_CHOICE
    share = 0.0 if result.regret == 0.0 else result.relative_regret
    if share is None:
        return _HARMS
    if share == 0.0 and result.regret != 0.0:
        share = 1e-9  # a loss is never "none"
    return next((name for name, most in _REGRETS.items() if share <= most), _HARMS)
