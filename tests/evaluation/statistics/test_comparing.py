"""Two contestants and more on the same questions."""

from __future__ import annotations

import pytest

from dqa.core.decision import Usage
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics.comparing import Contestant, compare_contestants, stand
from dqa.evaluation.statistics.pairs import paired_difference
from tests.evaluation.statistics.results import result


def contestant(name: str, *right: bool | Outcome, **fields: object) -> Contestant:
    """Return one that answered a question each, right or wrong."""
    answers = [result(n, one, decider=name, **fields) for n, one in enumerate(right)]
    return Contestant(name, tuple(answers))


def test_what_was_not_judged_for_both_is_left_out_and_counted() -> None:
    """A failing server is no wrong answer of anybody."""
    failed = Outcome.INFRASTRUCTURE
    one = contestant("one", True, True, failed, False, failed)
    other = contestant("other", True, False, False, failed, failed)
    found = compare_contestants([one, other])
    (pair,) = found.pairs
    assert (pair.accuracy.pairs, pair.left_out, pair.accuracy.value) == (2, 3, 0.5)
    assert (pair.by_questions.better, pair.by_questions.worse, pair.by_questions.equal) == (1, 0, 1)
    assert [(s.judged, s.correct, s.unjudged) for s in found.standings] == [(3, 2, 2), (3, 1, 2)]
    assert found.overall is None


def test_a_question_counts_once_over_databases_and_epochs() -> None:
    """McNemar's test is by question: 4 answers to one are no 4 questions."""

    def answered(name: str, *right: bool) -> Contestant:
        places = [(base, epoch) for base in ("sqlite", "ladybug") for epoch in (1, 2)]
        return Contestant(
            name,
            tuple(
                result(n, one, decider=name, database=base, epoch=epoch)
                for n, one in enumerate(right)
                for base, epoch in places
            ),
        )

    found = compare_contestants([answered("one", *[True] * 6), answered("other", *[False] * 6)])
    (pair,) = found.pairs
    assert pair.by_questions.better == 6
    assert pair.by_questions.p_value == pytest.approx(2 / 2**6)
    assert pair.accuracy.pairs == 12
    assert pair.accuracy.clusters == 6


def test_questions_about_one_situation_are_no_independent_evidence() -> None:
    """12 better answers about one of 2 situations: McNemar is sure, situations are not."""
    names = ["w1"] * 12 + ["w2"] * 12
    ones = [result(n, True, situation=name) for n, name in enumerate(names)]
    others = [result(n, n >= 12, situation=name) for n, name in enumerate(names)]
    (pair,) = compare_contestants(
        [Contestant("a", tuple(ones)), Contestant("b", tuple(others))]
    ).pairs
    assert pair.by_questions.p_value < 0.001
    assert pair.accuracy.p_value is not None
    assert pair.accuracy.p_value > 0.2
    assert pair.accuracy.low is not None
    assert pair.accuracy.low < 0.0


def test_who_never_differs_has_an_interval_all_the_same() -> None:
    """Nothing seen is not nothing there; as wide as the effective situations allow."""
    found = paired_difference([0.0] * 20, [n % 5 for n in range(20)], (-1.0, 1.0))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((-0.2948, 0.2948), abs=5e-5)
    assert found.p_value == 1.0
    always = paired_difference([1.0] * 20, [n % 5 for n in range(20)], (-1.0, 1.0))
    assert always is not None
    assert (always.high, always.p_value) == (1.0, 2 / 2**5)
    assert always.low is not None
    assert 0.0 < always.low < 1.0


def test_everyone_is_compared_with_everyone() -> None:
    """In pairs, and all together."""
    crowd = [
        contestant(name, *[n < k for n in range(12)]) for name, k in (("a", 12), ("b", 6), ("c", 1))
    ]
    every = compare_contestants(crowd)
    assert [(p.first, p.second) for p in every.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert every.overall is not None
    assert every.overall.p_value < 0.01


def test_regret_and_rank_are_compared_where_both_chose() -> None:
    """Regret in the scenario's unit, of one scenario alone."""

    def chose(name: str, *regrets: float | None) -> Contestant:
        return Contestant(
            name,
            tuple(
                result(
                    n,
                    regret == 0.0,
                    regret=regret,
                    rank=None if regret is None else 1 + int(regret),
                )
                for n, regret in enumerate(regrets)
            ),
        )

    one, other = chose("one", 0.0, 1.0, 3.0), chose("other", 2.0, 2.0, None)
    (pair,) = compare_contestants([one, other]).pairs
    assert pair.regret is not None
    assert (pair.regret.value, pair.regret.pairs) == (-1.5, 2)
    assert pair.rank is not None
    assert pair.rank.value == -1.5
    mixed = [
        Contestant(
            c.name, (*c.results, result(9, True, question="building/9", scenario="building"))
        )
        for c in (one, other)
    ]
    found = compare_contestants(mixed)
    assert found.pairs[0].regret is None
    assert found.standings[0].regret is None
    assert found.scenarios == ("locating", "building")


def test_what_a_right_answer_costs_has_the_wrong_ones_in_it() -> None:
    """Tokens, money and time by question and by right answer; failures are in neither."""
    answers: list[Result] = [
        result(1, True, input_tokens=100, output_tokens=0),
        result(2, False, input_tokens=300, output_tokens=0),
        result(3, Outcome.INFRASTRUCTURE, input_tokens=5000),
    ]

    def cost(usage: Usage) -> float:
        return usage.input_tokens / 100

    seconds = {answer.key: 2.0 for answer in answers}
    found = stand(Contestant("d", tuple(answers), cost=cost, seconds=seconds)).efficiency
    assert (found.judged, found.correct) == (2, 1)
    rates = [rate for rate in (found.tokens, found.money, found.seconds) if rate is not None]
    per = [
        (r.per_question and r.per_question.value, r.per_right and r.per_right.value) for r in rates
    ]
    assert per == [(200.0, 400.0), (2.0, 4.0), (2.0, 4.0)]
    nothing = stand(Contestant("d", (result(1, False),))).efficiency
    assert nothing.tokens is not None
    assert nothing.tokens.per_right is None
    assert (nothing.money, nothing.seconds) == (None, None)
