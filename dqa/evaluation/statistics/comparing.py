"""Compare contestants on the same questions, one by one, in pairs and by an overall test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum, isfinite
from operator import attrgetter
from typing import TypeAlias

from pydantic import Field

from dqa.core.decision import Usage
from dqa.core.records import Record
from dqa.evaluation.results import DecisionKey, Outcome, Result
from dqa.evaluation.statistics.clusters import (
    Estimate,
    clustered_share,
    clusters_of,
    mean_of_ratios,
    situations_of,
)
from dqa.evaluation.statistics.pairs import (
    Difference,
    SignTest,
    choose_pairs,
    holm,
    paired_difference,
    sign_test,
)
from dqa.evaluation.statistics.summaries import Tally, estimates, grouped, tally

Asked: TypeAlias = tuple[str, str]
"""A question and its database, by which contestants are compared. Epochs are averaged first,
because the third epoch of one contestant is unrelated to the third epoch of another."""


def right(result: Result) -> float:
    """Return 1 for a right decision and 0 for any other."""
    return float(result.outcome is Outcome.CORRECT)


MEASURES: Mapping[str, Callable[[Result], float | None]] = {
    "accuracy": right,
    "tokens": attrgetter("usage.tokens"),
    "regret": attrgetter("regret"),
    "relative_regret": attrgetter("relative_regret"),
    "rank": attrgetter("rank"),
}
"""The measures of a comparison, by the name of their field."""


@dataclass(frozen=True)
class Contestant:
    """A decider of a run with its decisions.

    Attributes
    ----------
    name
        Name of the contestant in the comparison.
    results
        Results of the contestant. All results belong to the same decider.
    run
        Name of the run, if several runs are compared.
    cost
        Function that returns the cost of a usage in money, or None if the cost is unknown. None if
        there are no prices.
    seconds
        Duration of each decision in seconds, by the key of the decision. None if traces have not
        been read.
    """

    name: str
    results: tuple[Result, ...]
    run: str | None = None
    cost: Callable[[Usage], float | None] | None = None
    seconds: Mapping[DecisionKey, float] | None = None

    @property
    def decider(self) -> str:
        """The name of the decider. Contestants of several runs may have the same decider."""
        return self.results[0].decider

    @cached_property
    def asked(self) -> Mapping[Asked, Sequence[Result]]:
        """The results by question and database, in order."""
        return grouped(self.results, lambda result: (result.question, result.database))

    @cached_property
    def means(self) -> Mapping[str, Mapping[Asked, float]]:
        """The mean of each measure over the judged epochs of each question and database."""
        found: dict[str, dict[Asked, float]] = {name: {} for name in MEASURES}
        for key, results in self.asked.items():
            judged = [result for result in results if result.outcome.judged]
            for name, measure in MEASURES.items():
                values = [value for result in judged if (value := measure(result)) is not None]
                if known := list(filter(isfinite, values)):
                    found[name][key] = fsum(known) / len(known)
        return found


class Rate(Record):
    """The cost of the judged questions per question and per right answer.

    Attributes
    ----------
    per_question, per_right
        The cost per judged question and per right answer, with intervals clustered by situation.
        Both are None without judged questions. `per_right` is also None without right answers.
    """

    per_question: Estimate | None
    per_right: Estimate | None


class Efficiency(Record):
    """The cost of a contestant's judged decisions. Failures and abandoned attempts do not count.

    Attributes
    ----------
    tokens
        Input and output tokens together; None if a server did not report all of them.
    money
        Cost in the currency of the prices; None if there are no prices or some tokens are unknown.
    seconds
        Duration from the question to the decision in seconds, including waiting. None if traces are
        missing.
    """

    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    tokens: Rate | None
    money: Rate | None
    seconds: Rate | None


class Standing(Tally):
    """The figures of one contestant.

    Attributes
    ----------
    name, run, decider, model
        The name of the contestant, its run, its decider and the decider's model.
    unjudged
        Number of decisions that ended with a server error, a spent budget or a bug, or whose
        question has no known answer.
    accuracy
        Share of right answers, with the clustered interval. `low` and `high` are the limits of the
        interval for independent questions.
    regret
        Mean regret in the scenario's unit; None for questions of several scenarios.
    relative_regret, rank
        The means over the decisions that chose a candidate.
    """

    name: str
    run: str | None
    decider: str
    model: str
    unjudged: int = Field(ge=0)
    accuracy: Estimate | None
    regret: Estimate | None
    relative_regret: Estimate | None
    rank: Estimate | None
    efficiency: Efficiency


class PairComparison(Record):
    """The comparison of two contestants on common questions.

    Every difference is the value of the first contestant minus the value of the second.

    Attributes
    ----------
    accuracy
        The difference of the accuracies (shares), with interval and test clustered by situation.
    by_questions
        The numbers of questions on which each contestant was right more often, with McNemar's exact
        test.
    holm_by_questions, holm_by_situations
        The p-values of the test by questions and of the test by situations, corrected for all pairs
        (Holm).
    regret, relative_regret, rank
        Paired differences over the questions for which both contestants chose a candidate. Smaller
        values are better.
    tokens
        Paired difference of tokens per question, over the questions with known tokens.
    left_out
        Number of common pairs of question and database that are left out, because at least one
        contestant has no judged decision on them.
    """

    first: str
    second: str
    accuracy: Difference
    by_questions: SignTest
    holm_by_questions: float = Field(ge=0, le=1)
    holm_by_situations: float | None = Field(ge=0, le=1)
    regret: Difference | None
    relative_regret: Difference | None
    rank: Difference | None
    tokens: Difference | None
    left_out: int = Field(ge=0)


class OverallTest(Record):
    """A test of whether several contestants are equally often right.

    Attributes
    ----------
    test
        ``cochran`` (Cochran's Q test) if each contestant answered every question once. Otherwise
        ``friedman`` (Friedman's test). Both tests treat questions as independent.
    statistic, degrees_of_freedom
        The chi-squared statistic and its degrees of freedom.
    questions
        Number of questions that all contestants answered.
    """

    test: str
    statistic: float = Field(ge=0)
    degrees_of_freedom: int = Field(ge=1)
    p_value: float = Field(ge=0, le=1)
    questions: int = Field(ge=1)


class Comparison(Record):
    """The comparison of contestants on the same questions, as ``dqa compare --json`` prints it.

    Attributes
    ----------
    scenarios
        Scenarios of the questions.
    questions
        Number of pairs of question and database that all contestants were asked.
    only_shared
        Number of pairs of question and database that only some contestants were asked. The
        comparison leaves them out.
    situations
        The number of situations; None if unknown.
    pairs
        The comparisons of all pairs, or of only the pairs with the same decider.
    overall
        The overall test of three or more contestants.
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


def limited(
    contestants: Iterable[Contestant], includes: Callable[[Result], bool]
) -> list[Contestant]:
    """Return the contestants, each with only the results for which `includes` returns true."""
    return [replace(one, results=tuple(filter(includes, one.results))) for one in contestants]


def compare_contestants(
    contestants: Sequence[Contestant],
    *,
    only_shared: int = 0,
    strict_official: bool = False,
    every_pair: bool = False,
) -> Comparison:
    """Compare contestants that were asked the same questions.

    If several contestants have the same decider, only pairs with the same decider are compared,
    except with `every_pair`.

    Parameters
    ----------
    contestants
        At least two contestants, each with results.
    only_shared
        The number of pairs of question and database that were left out, because only some
        contestants were asked them.
    strict_official
        Whether only the official answer was right.
    every_pair
        Whether to compare all pairs of contestants.
    """
    kind = attrgetter("name" if every_pair else "decider")
    first_results = [results[0] for results in contestants[0].asked.values()]
    return Comparison(
        scenarios=tuple(dict.fromkeys(result.scenario for result in first_results)),
        questions=len(first_results),
        only_shared=only_shared,
        situations=situations_of(first_results),
        strict_official=strict_official,
        standings=tuple(map(stand, contestants)),
        pairs=compare_pairs(choose_pairs(contestants, kind)),
        overall=overall_test(contestants),
    )


def stand(contestant: Contestant) -> Standing:
    """Return the figures of a contestant."""
    judged = [result for result in contestant.results if result.outcome.judged]
    found = estimates(judged)
    if len({result.scenario for result in judged}) != 1:
        found["regret"] = None
    return Standing(
        **tally(judged),
        **found,
        name=contestant.name,
        run=contestant.run,
        decider=contestant.decider,
        model=contestant.results[0].model,
        unjudged=len(contestant.results) - len(judged),
        accuracy=clustered_share(list(map(right, judged)), clusters_of(judged)),
        efficiency=_efficiency(contestant, judged),
    )


def _efficiency(contestant: Contestant, judged: Sequence[Result]) -> Efficiency:
    """Return the cost of the judged results of a contestant."""
    cost, seconds = contestant.cost, contestant.seconds
    rights, clusters = list(map(right, judged)), clusters_of(judged)

    def rate(amounts: Sequence[float | None]) -> Rate | None:
        known = [amount for amount in amounts if amount is not None]
        if len(known) < len(amounts):
            return None
        cases = list(zip(known, rights, clusters, strict=True))
        return Rate(
            per_question=Estimate.of(known, clusters, least=0.0),
            per_right=mean_of_ratios([cases], least=0.0),
        )

    timed = seconds is not None and all(result.key in seconds for result in judged)
    return Efficiency(
        judged=len(judged),
        correct=int(sum(rights)),
        tokens=rate([result.usage.tokens for result in judged]),
        money=None if cost is None else rate([cost(result.usage) for result in judged]),
        seconds=rate([seconds[result.key] for result in judged]) if seconds and timed else None,
    )


def compare_pairs(pairs: Iterable[tuple[Contestant, Contestant]]) -> tuple[PairComparison, ...]:
    """Compare all pairs, with p-values corrected for all pairs.

    Pairs without a common judged question are left out.
    """
    found = [one for first, second in pairs if (one := _compare(first, second)) is not None]
    by_questions = holm([pair.by_questions.p_value for pair in found])
    by_situations = holm([pair.accuracy.p_value for pair in found])
    return tuple(
        pair.model_copy(update={"holm_by_questions": questions, "holm_by_situations": situations})
        for pair, questions, situations in zip(found, by_questions, by_situations, strict=True)
    )


def _compare(first: Contestant, second: Contestant) -> PairComparison | None:
    one, other = first.means["accuracy"], second.means["accuracy"]
    shared = [key for key in one if key in other]
    clusters = clusters_of(first.asked[key][0] for key in shared)
    situations = dict(zip(shared, clusters, strict=True))

    def difference(name: str, bounds: tuple[float, float] | None = None) -> Difference | None:
        ones, others = first.means[name], second.means[name]
        both = [key for key in shared if key in ones and key in others]
        return paired_difference(
            [ones[key] - others[key] for key in both], [situations[key] for key in both], bounds
        )

    questions: dict[str, float] = {}
    for key in shared:  # sum over databases
        questions[key[0]] = questions.get(key[0], 0.0) + one[key] - other[key]
    totals = [
        round(total, 9) for total in questions.values()
    ]  # rounding errors must not hide a tie
    accuracy = difference("accuracy", (-1.0, 1.0))
    if accuracy is None:
        return None
    alike = len({first.asked[key][0].scenario for key in shared}) == 1
    return PairComparison(
        first=first.name,
        second=second.name,
        accuracy=accuracy,
        by_questions=sign_test(totals),
        holm_by_questions=1.0,
        holm_by_situations=None,
        regret=difference("regret") if alike else None,
        relative_regret=difference("relative_regret"),
        rank=difference("rank"),
        tokens=difference("tokens"),
        left_out=len(first.asked.keys() & second.asked.keys()) - len(shared),
    )


def overall_test(contestants: Sequence[Contestant]) -> OverallTest | None:
    """Test whether three or more contestants are equally often right.

    This is Friedman's test over the questions that all contestants answered, corrected for ties. If
    each contestant answered every question once, the test equals Cochran's Q test. The result is
    None for fewer than three contestants, or if all contestants are right equally often.
    """
    if len(contestants) < 3:
        return None
    means = [contestant.means["accuracy"] for contestant in contestants]
    shared = [key for key in means[0] if all(key in other for other in means)]
    questions: dict[str, list[float]] = {}
    for key in shared:
        sums = questions.setdefault(key[0], [0.0] * len(means))
        questions[key[0]] = [round(s + mean[key], 9) for s, mean in zip(sums, means, strict=True)]
    if all(len(set(sums)) == 1 for sums in questions.values()):
        return None
    from scipy.stats import friedmanchisquare

    found = friedmanchisquare(*zip(*questions.values(), strict=True))
    whole = all(mean[key] in {0.0, 1.0} for mean in means for key in shared)
    return OverallTest(
        test="cochran" if whole and len(questions) == len(shared) else "friedman",
        statistic=max(0.0, float(found.statistic)),
        degrees_of_freedom=len(means) - 1,
        p_value=float(found.pvalue),
        questions=len(questions),
    )
