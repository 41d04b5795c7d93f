"""What a replay of the DeLLMa release counts: the score of each run, and by number of actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from dqa_dellma.release.questions import KNOWN_YEAR

from .recordings import RecordedRun
from .rules import PUBLISHED, PUBLISHED_BATCH

__all__ = ["ReplayedDecision", "Score", "SizeScore"]


@dataclass(frozen=True, slots=True)
class ReplayedDecision:
    """What came of a question: the size of its choice, and how good the chosen action is.

    Attributes
    ----------
    actions
        How many actions there were.
    correct
        Whether the best was chosen.
    utility
        Normalised utility (`dqa.evaluation.stats.normalised_utility`).
    tied
        Whether the decision was left to rounding.
    undecided
        Whether the answer names no action.
    """

    actions: int
    correct: bool
    utility: float
    tied: bool = False
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class SizeScore:
    """How well a run decides its questions of one number of actions; fields are as in `Score`."""

    actions: int
    questions: int
    accuracy: float
    normalised_utility: float
    tied: int
    undecided: int


@dataclass(frozen=True, slots=True)
class Score:
    """How well the recorded answers of one run decide by one method.

    Attributes
    ----------
    dataset, method
        What was asked, and how: ``zero-shot``, ``chain-of-thought`` and ``self-consistency`` are
        the deciders of these names; ``naive``, ``pairs`` and ``top1`` are ``dellma-naive``,
        ``dellma-pairs`` and ``dellma-top1``.
    sample_size
        Samples an action, or of all actions together for ``naive``.
    overlap
        Percent of a minibatch that the next one shares.
    minibatch_size
        Items of a minibatch; None where there are none.
    year
        Of agriculture: whose report was the context. Else None.
    questions
        How many there are.
    accuracy
        How many of them got the best action, %.
    normalised_utility
        Mean share of the best action's true utility that was reached, %.
    tied
        Questions whose decision was left to rounding.
    undecided
        Questions whose answer names no action; they count as wrong, with a utility of 0.
    published_accuracy, published_normalised_utility
        What the release scores there over all 120 questions; None where that is not known.
    by_actions
        The same by number of actions, small ones first.
    """

    dataset: str
    method: str
    sample_size: int | None
    overlap: int | None
    minibatch_size: int | None
    year: int | None
    questions: int
    accuracy: float
    normalised_utility: float
    tied: int
    undecided: int
    published_accuracy: float | None
    published_normalised_utility: float | None
    by_actions: tuple[SizeScore, ...]

    @classmethod
    def of(
        cls,
        run: RecordedRun,
        method: str,
        sample_size: int | None,
        decisions: Sequence[ReplayedDecision],
    ) -> Score:
        """Count what came of a run's questions, of which there is at least one."""
        sizes = sorted({decision.actions for decision in decisions})
        parts = {size: [each for each in decisions if each.actions == size] for size in sizes}
        published = _published(run, method, sample_size)
        return cls(
            dataset=run.dataset,
            method=method,
            sample_size=sample_size,
            overlap=run.overlap,
            minibatch_size=run.batch,
            year=run.year,
            **_counted(decisions),
            published_accuracy=published[0],
            published_normalised_utility=published[1],
            by_actions=tuple(SizeScore(size, **_counted(part)) for size, part in parts.items()),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the score as it stands in JSON."""
        return asdict(self) | {"by_actions": [asdict(part) for part in self.by_actions]}


def _counted(decisions: Sequence[ReplayedDecision]) -> dict[str, Any]:
    count = len(decisions)
    return {
        "questions": count,
        "accuracy": 100.0 * sum(each.correct for each in decisions) / count,
        "normalised_utility": 100.0 * fsum(each.utility for each in decisions) / count,
        "tied": sum(each.tied for each in decisions),
        "undecided": sum(each.undecided for each in decisions),
    }


def _published(
    run: RecordedRun, method: str, sample_size: int | None
) -> tuple[float, float] | tuple[None, None]:
    """Return the published figures of a run, where it is what they are about."""
    if run.batch not in {None, PUBLISHED_BATCH} or run.year not in {None, KNOWN_YEAR}:
        return None, None
    return PUBLISHED.get((run.dataset, method, sample_size, run.overlap), (None, None))
