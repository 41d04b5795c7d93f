"""Contestants on the same questions: each by itself, every two of them, and all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics.clusters import Estimate, clusters_of, situations_of
from dqa.evaluation.statistics.contestants import Asked, Contestant, Measure, right
from dqa.evaluation.statistics.efficiency import Efficiency, measure_efficiency
from dqa.evaluation.statistics.overall import OverallTest, overall_test
from dqa.evaluation.statistics.pairs import (
    Difference,
    Power,
    SignTest,
    holm,
    newcombe,
    paired_difference,
    power_of_pairs,
    sign_test,
)
from dqa.evaluation.statistics.shares import clustered_share, share_of_questions
from dqa.evaluation.statistics.summaries import estimate


class Standing(Record):
    """How one contestant did by itself.

    Attributes
    ----------
    name, run, decider, model
        Who it is.
    judged, correct
        Decisions that say something about it, and the right ones.
    unjudged
        Decisions that a failing server, a spent budget or a bug ended, or without a known answer.
    low, high
        Its 95 % interval by questions (`share_of_questions`), beside the clustered one of
        `accuracy`.
    regret
        In the scenario's unit; None where the questions are of several scenarios.
    relative_regret, rank
        Over the decisions that chose something.
    """

    name: str
    run: str | None
    decider: str
    model: str
    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    unjudged: int = Field(ge=0)
    accuracy: Estimate | None
    low: float | None = Field(ge=0, le=1)
    high: float | None = Field(ge=0, le=1)
    regret: Estimate | None
    relative_regret: Estimate | None
    rank: Estimate | None
    efficiency: Efficiency


class PairComparison(Record):
    """Two contestants on the questions that both answered; differences are first minus second.

    Attributes
    ----------
    accuracy
        The difference of their accuracies, in 0..1, with interval and test clustered by situation.
    newcombe
        The interval of the same difference where every question counts for independent; None where
        a question was answered several times.
    by_questions
        On how many questions each was right more often, with McNemar's exact test.
    holm_by_questions, holm_by_situations
        The p-values of the two tests, corrected for all pairs that are compared (Holm).
    regret, relative_regret, rank
        Paired differences over the questions on which both chose something; less is better.
    tokens
        Paired difference of tokens by question.
    left_out
        Questions on a database that both were asked, and that one or both could not be judged on.
    power
        How many questions it takes to see 5 points.
    """

    first: str
    second: str
    accuracy: Difference
    newcombe: tuple[float, float] | None
    by_questions: SignTest
    holm_by_questions: float = Field(ge=0, le=1)
    holm_by_situations: float | None = Field(ge=0, le=1)
    regret: Difference | None
    relative_regret: Difference | None
    rank: Difference | None
    tokens: Difference
    left_out: int = Field(ge=0)
    power: Power


class Comparison(Record):
    """Contestants on the same questions, as ``dqa compare --json`` prints it.

    Attributes
    ----------
    scenarios
        Those of the questions.
    questions
        Questions on a database that all were asked.
    only_shared
        Questions on a database that some were asked and others not, and that are left out.
    situations
        What the questions stand on; None where that is not known.
    pairs
        Every two, the same decider across runs, or everyone and the one that they were compared
        with.
    overall
        Of three or more.
    """

    version: int = Field(default=1, ge=1, le=1)
    scenarios: tuple[str, ...]
    questions: int = Field(ge=1)
    only_shared: int = Field(ge=0)
    situations: int | None
    strict_official: bool
    standings: tuple[Standing, ...]
    pairs: tuple[PairComparison, ...]
    overall: OverallTest | None


def stand(contestant: Contestant) -> Standing:
    """Return how a contestant did by itself."""
    judged = [result for result in contestant.results if result.outcome.judged]
    correct = sum(result.outcome is Outcome.CORRECT for result in judged)
    rights = list(map(right, judged))
    low, high = share_of_questions(rights, [r.question for r in judged]) or (None, None)
    alike = len({result.scenario for result in judged}) == 1
    return Standing(
        name=contestant.name,
        run=contestant.run,
        decider=contestant.decider,
        model=contestant.results[0].model,
        judged=len(judged),
        correct=correct,
        unjudged=len(contestant.results) - len(judged),
        accuracy=clustered_share(rights, clusters_of(judged)),
        low=low,
        high=high,
        regret=estimate(judged, lambda result: result.regret) if alike else None,
        relative_regret=estimate(judged, lambda result: result.relative_regret),
        rank=estimate(judged, lambda result: result.rank, least=1.0),
        efficiency=measure_efficiency(contestant.results, contestant.cost, contestant.seconds),
    )


def compare_pairs(pairs: Iterable[tuple[Contestant, Contestant]]) -> tuple[PairComparison, ...]:
    """Compare every two contestants; pairs that share no judged question are left out.

    P-values are corrected for all pairs that are compared at once.
    """
    found = [one for first, second in pairs if (one := _compare(first, second)) is not None]
    by_questions = holm([pair.by_questions.p_value for pair in found])
    known = [pair.accuracy.p_value for pair in found]
    tested = [p for p in known if p is not None]
    by_situations = iter(holm(tested))
    return tuple(
        pair.changed(
            holm_by_questions=corrected,
            holm_by_situations=None if p_value is None else next(by_situations),
        )
        for pair, corrected, p_value in zip(found, by_questions, known, strict=True)
    )


def every_two(
    contestants: Sequence[Contestant], against: Contestant | None, *, same_decider: bool = False
) -> list[tuple[Contestant, Contestant]]:
    """Return every two contestants, or each of the others with the one to compare with.

    With `same_decider`, contestants of one decider in several runs are paired with each other
    alone; where no decider is in several runs, every two are.
    """
    if against is None:
        pairs = list(combinations(contestants, 2))
        alike = [(one, other) for one, other in pairs if one.decider == other.decider]
        return alike if same_decider and alike else pairs
    return [(one, against) for one in contestants if one is not against]


def _compare(first: Contestant, second: Contestant) -> PairComparison | None:
    one, other = first.means(right), second.means(right)
    shared = [key for key in one if key in other]
    if not shared:
        return None
    situations = dict(zip(shared, _clusters(first, shared), strict=True))

    def difference(
        measure: Measure, bounds: tuple[float, float] | None = None
    ) -> Difference | None:
        ones, others = first.means(measure), second.means(measure)
        both = [key for key in shared if key in ones and key in others]
        return paired_difference(
            [ones[key] - others[key] for key in both], [situations[key] for key in both], bounds
        )

    accuracy, tokens = difference(right, (-1.0, 1.0)), difference(_tokens)
    differences = [one[key] - other[key] for key in shared]
    power = power_of_pairs(differences, list(situations.values()))
    if accuracy is None or tokens is None or power is None:
        return None
    alike = len({key[0].partition("/")[0] for key in shared}) == 1
    return PairComparison(
        first=first.name,
        second=second.name,
        accuracy=accuracy,
        newcombe=_newcombe(one, other, shared),
        by_questions=sign_test(list(_by_question(one, other, shared).values())),
        holm_by_questions=1.0,
        holm_by_situations=None,
        regret=difference(_regret) if alike else None,
        relative_regret=difference(_relative_regret),
        rank=difference(_rank),
        tokens=tokens,
        left_out=len(first.asked.keys() & second.asked.keys()) - len(shared),
        power=power,
    )


def _tokens(result: Result) -> float:
    return float(result.input_tokens + result.output_tokens)


def _regret(result: Result) -> float | None:
    return result.regret


def _relative_regret(result: Result) -> float | None:
    return result.relative_regret


def _rank(result: Result) -> float | None:
    return result.rank


def _clusters(contestant: Contestant, keys: Iterable[Asked]) -> tuple[str, ...]:
    return clusters_of(contestant.asked[key][0] for key in keys)


def _by_question(
    one: Mapping[Asked, float], other: Mapping[Asked, float], shared: Iterable[Asked]
) -> dict[str, float]:
    """Return by question how much more often the first was right, over databases and epochs."""
    found: dict[str, float] = {}
    for key in shared:
        found[key[0]] = found.get(key[0], 0.0) + one[key] - other[key]
    # Thirds and fifths do not add up to nothing exactly where they should.
    return {question: round(total, 9) for question, total in found.items()}


def _newcombe(
    one: Mapping[Asked, float], other: Mapping[Asked, float], shared: Sequence[Asked]
) -> tuple[float, float] | None:
    if len({question for question, _ in shared}) < len(shared):
        return None
    counts = {(a, b): 0 for a in (1.0, 0.0) for b in (1.0, 0.0)}
    for key in shared:
        answers = one[key], other[key]
        if answers not in counts:
            return None
        counts[answers] += 1
    return newcombe(counts[1.0, 1.0], counts[1.0, 0.0], counts[0.0, 1.0], counts[0.0, 0.0])


def compare_contestants(
    contestants: Sequence[Contestant],
    against: Contestant | None = None,
    *,
    only_shared: int = 0,
    strict_official: bool = False,
    same_decider: bool = False,
) -> Comparison:
    """Compare contestants that were asked the same questions.

    Parameters
    ----------
    contestants
        At least two, each with results.
    against
        The one of them to compare the others with; None compares every two.
    only_shared
        How many questions on a database were left out, as not all were asked them.
    strict_official
        Whether the official answer alone counted as right.
    same_decider
        Whether to pair a decider with itself across runs alone, where several runs have it.
    """
    asked = [results[0] for results in contestants[0].asked.values()]
    return Comparison(
        scenarios=tuple(dict.fromkeys(result.scenario for result in asked)),
        questions=len(asked),
        only_shared=only_shared,
        situations=situations_of(asked),
        strict_official=strict_official,
        standings=tuple(map(stand, contestants)),
        pairs=compare_pairs(every_two(contestants, against, same_decider=same_decider)),
        overall=overall_test(contestants),
    )
