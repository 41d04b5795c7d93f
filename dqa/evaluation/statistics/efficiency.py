"""What decisions cost in tokens, money and time: by question, and by right answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import Field

from dqa.core.decision import Usage
from dqa.core.records import Record
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics.clusters import Estimate, clustered_ratio, clusters_of


class Rate(Record):
    """What was spent by judged question, and by right answer, wrong ones paid for as well.

    Attributes
    ----------
    per_question, per_right
        With their intervals, clustered by situation (`clustered_ratio`); None of no question, or of
        no right answer.
    """

    per_question: Estimate | None
    per_right: Estimate | None


class Efficiency(Record):
    """What one contestant's judged decisions cost.

    What failures and abandoned attempts used is in no rate: it says nothing of the decider.

    Attributes
    ----------
    tokens
        Input and output together.
    money
        In the currency of the prices; None without these.
    seconds
        From a question's start to its decision, waiting for models and databases included; None
        where traces do not tell.
    """

    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    tokens: Rate
    money: Rate | None
    seconds: Rate | None


def measure_efficiency(
    results: Sequence[Result],
    cost: Callable[[Usage], float] | None = None,
    seconds: Mapping[DecisionKey, float] | None = None,
) -> Efficiency:
    """Return what the judged ones of `results` cost.

    Parameters
    ----------
    results
        Of one contestant.
    cost
        What usage costs in money, where prices are known.
    seconds
        How long each decision took, by its result's key.
    """
    judged = [result for result in results if result.outcome.judged]
    timed = None
    if seconds is not None and all(result.key in seconds for result in judged):
        timed = _rate(judged, [seconds[result.key] for result in judged])
    tokens = [float(result.input_tokens + result.output_tokens) for result in judged]
    paid = None if cost is None else _rate(judged, [cost(result.usage) for result in judged])
    return Efficiency(
        judged=len(judged),
        correct=sum(result.outcome is Outcome.CORRECT for result in judged),
        tokens=_rate(judged, tokens),
        money=paid,
        seconds=timed,
    )


def _rate(judged: Sequence[Result], amounts: Sequence[float]) -> Rate:
    clusters = clusters_of(judged)
    right = [float(result.outcome is Outcome.CORRECT) for result in judged]
    return Rate(
        per_question=Estimate.of(amounts, clusters, least=0.0),
        per_right=clustered_ratio(amounts, right, clusters),
    )
