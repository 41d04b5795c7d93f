"""Several contestants at once: whether any of them differs from the others."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.statistics.contestants import Contestant, right


class OverallTest(Record):
    """Whether any of several contestants differs from the others.

    Attributes
    ----------
    test
        ``cochran`` where each answered every question once, else ``friedman``, which it is a case
        of. Both take questions for independent.
    statistic, degrees_of_freedom
        Of chi-squared.
    questions
        Those that all answered.
    """

    test: str
    statistic: float = Field(ge=0)
    degrees_of_freedom: int = Field(ge=1)
    p_value: float = Field(ge=0, le=1)
    questions: int = Field(ge=1)


def overall_test(contestants: Sequence[Contestant]) -> OverallTest | None:
    """Test at once whether any of three or more contestants differs from the others.

    Friedman's test over the questions that all answered, corrected for ties. Where each answered
    every question once it is Cochran's Q (Cochran, 1950), of which McNemar's is the case of two.
    None of fewer contestants, and where all were right on the same questions.
    """
    if len(contestants) < 3:
        return None
    means = [contestant.means(right) for contestant in contestants]
    shared = [key for key in means[0] if all(key in other for other in means)]
    questions: dict[str, list[float]] = {}
    for key in shared:
        sums = questions.setdefault(key[0], [0.0] * len(means))
        for place, mean in enumerate(means):
            sums[place] = round(sums[place] + mean[key], 9)
    if all(len(set(sums)) == 1 for sums in questions.values()):
        return None
    from scipy.special import chdtrc

    statistic = friedman(list(questions.values()))
    whole = all(mean[key] in {0.0, 1.0} for mean in means for key in shared)
    return OverallTest(
        test="cochran" if whole and len(questions) == len(shared) else "friedman",
        statistic=statistic,
        degrees_of_freedom=len(means) - 1,
        p_value=float(chdtrc(len(means) - 1, statistic)),
        questions=len(questions),
    )


def friedman(blocks: Sequence[Sequence[float]]) -> float:
    """Return Friedman's statistic, corrected for ties (Friedman, 1937; Conover, 1999, 5.8).

    SciPy has it too, behind an import that takes longer than a comparison.

    Parameters
    ----------
    blocks
        By question, a score by contestant; not every block is one tie.
    """
    count = len(blocks[0])
    sums = [0.0] * count
    tied = 0
    for block in blocks:
        for place, score in enumerate(block):
            below = sum(other < score for other in block)
            same = sum(other == score for other in block)
            sums[place] += below + (same + 1) / 2
            tied += same**2 - 1  # over a group of t ties this adds up to t**3 - t
    scale = len(blocks) * count * (count + 1)
    raw = 12.0 / scale * fsum(ranks**2 for ranks in sums) - 3.0 * len(blocks) * (count + 1)
    return max(0.0, raw / (1.0 - tied / (len(blocks) * (count**3 - count))))
