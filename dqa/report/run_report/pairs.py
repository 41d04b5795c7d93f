"""Every two contestants of a report that were asked the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dqa.evaluation import statistics
from dqa.evaluation.results import Result
from dqa.evaluation.statistics.comparing import compare_pairs, every_two
from dqa.report.run_report.records import Contestant, Pair, Total


def compare_every_two(
    contestants: Sequence[Contestant],
    decided: Mapping[int, Sequence[Result]],
    measures: Sequence[tuple[str, ...]],
) -> tuple[Pair, ...]:
    """Compare every two contestants on the questions that both answered.

    Parameters
    ----------
    contestants
        Whose names differ.
    decided
        What each decided.
    measures
        By run, what its questions and their right answers are told from others by: contestants of
        runs that differ in it are not compared.
    """
    place = {one.name: number for number, one in enumerate(contestants)}
    measured: dict[tuple[str, ...], list[statistics.Contestant]] = {}
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
