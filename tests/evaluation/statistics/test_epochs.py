"""What asking every question several times tells."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics.summaries import count_epochs, pass_all, pass_at, summarise
from tests.evaluation.statistics.results import result


def attempts(number: int, *right: bool | Outcome) -> list[Result]:
    """Return an answer an epoch to one question."""
    return [result(number, one, epoch=epoch) for epoch, one in enumerate(right, 1)]


def test_both_rates_are_means_over_all_draws() -> None:
    """Of 5 answers with 2 right ones, by counting every draw of k."""
    answers = [True, True, False, False, False]
    for k in range(1, 6):
        draws = list(combinations(answers, k))
        assert pass_at(k, 5, 2) == pytest.approx(Fraction(sum(map(any, draws)), comb(5, k)))
        assert pass_all(k, 5, 2) == pytest.approx(Fraction(sum(map(all, draws)), comb(5, k)))


def test_questions_count_the_same_and_failures_are_no_attempts() -> None:
    """A question that a failing server spoilt once has one attempt less, and is not wrong."""
    failed = Outcome.INFRASTRUCTURE
    results = [
        *attempts(1, True, True, True),
        *attempts(2, True, False, False),
        *attempts(3, True, failed, failed),
    ]
    (found,) = count_epochs(results)
    rates = {rate.k: rate for rate in found.pass_rates}
    assert (found.epochs, found.questions) == (3, 3)
    assert {k: rate.questions for k, rate in rates.items()} == {1: 3, 3: 2}
    assert rates[1].at_k.value == rates[1].all_k.value == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert rates[3].at_k.value == 1.0
    assert rates[3].all_k.value == 0.5


@pytest.mark.parametrize("pattern", [(2, 3, 1, 0, 3, 2), (0,) * 6, (3,) * 6, (1, 0, 0, 0, 0, 0)])
def test_the_first_rate_has_the_interval_of_the_accuracy(pattern: tuple[int, ...]) -> None:
    """It is the same figure of the same answers: a reader finds one interval in both tables."""
    results = [
        one.changed(situation=f"w{number % 3}")
        for number, right in enumerate(pattern)
        for one in attempts(number, *(epoch < right for epoch in range(3)))
    ]
    (summary,) = summarise(results)
    (found,) = count_epochs(results)
    once = found.pass_rates[0].at_k
    assert once.value == pytest.approx(summary.accuracy)
    assert (once.low, once.high) == pytest.approx(summary.interval)
