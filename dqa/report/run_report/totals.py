"""Each contestant over everything that it decided, and who is beaten by nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import TYPE_CHECKING

from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics import (
    clustered_share,
    clusters_of,
    share_of_questions,
    situations_of,
)
from dqa.evaluation.statistics.contestants import right
from dqa.evaluation.statistics.summaries import estimate
from dqa.report.run_report.records import Total
from dqa.report.spending import cost_of

if TYPE_CHECKING:
    from dqa.models.budget import Prices


def total_of(place: int, results: Sequence[Result], prices: Prices | None) -> Total:
    """Return the figures of a contestant over everything that it decided."""
    judged = [result for result in results if result.outcome.judged]
    correct = sum(result.outcome is Outcome.CORRECT for result in judged)
    rights = list(map(right, judged))
    independent = share_of_questions(rights, [r.question for r in judged]) or (None, None)
    share = clustered_share(rights, clusters_of(judged))
    low, high = independent
    if share is not None and share.low is not None:
        low, high = share.low, share.high
    tokens = sum(result.input_tokens + result.output_tokens for result in judged)
    costs = [cost_of(result, prices) for result in judged]
    known = [cost for cost in costs if cost is not None]
    cost = fsum(known) if prices is not None and len(known) == len(costs) else None
    return Total(
        contestant=place,
        decisions=len(results),
        judged=len(judged),
        correct=correct,
        accuracy=correct / len(judged) if judged else None,
        low=low,
        high=high,
        wilson_low=independent[0],
        wilson_high=independent[1],
        situations=situations_of(judged),
        relative_regret=estimate(judged, lambda result: result.relative_regret),
        rank=estimate(judged, lambda result: result.rank, least=1.0),
        tokens=tokens / len(judged) if judged else None,
        steps=sum(result.steps for result in judged) / len(judged) if judged else None,
        cost=cost / len(judged) if judged and cost is not None else None,
        tokens_per_right=tokens / correct if correct else None,
        cost_per_right=cost / correct if correct and cost is not None else None,
        pareto=False,
    )


def spending_of(totals: Sequence[Total]) -> str:
    """Return the field by which contestants' spending is compared: the first that tells any."""
    for name in ("cost", "tokens"):
        if any(getattr(total, name) for total in totals):
            return name
    return "steps"


def with_front(totals: Sequence[Total]) -> Iterator[Total]:
    """Mark those that no other is both as right as and as cheap as, and better in one."""
    by = spending_of(totals)
    points = [
        (total.accuracy, getattr(total, by))
        for total in totals
        if total.accuracy is not None and getattr(total, by) is not None
    ]
    for total in totals:
        right, spent = total.accuracy, getattr(total, by)
        on_front = right is not None and spent is not None
        if right is not None and spent is not None:
            on_front = not any(
                other >= right and less <= spent and (other, less) != (right, spent)
                for other, less in points
            )
        yield total.model_copy(update={"pareto": on_front})
