"""Calculate the scores of a replay of the DeLLMa release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from dqa.evaluation.statistics.clusters import wilson
from dqa_dellma.release.questions import KNOWN_YEAR

from .recordings import RecordedRun
from .records import Score, SizeScore, Yardstick
from .rules import SCRIPTS, SCRIPTS_BATCH, ScoringRule

__all__ = ["ReplayedDecision", "cluster_interval", "note_on_rounding", "score_of", "yardstick_of"]

_RESAMPLES = 20_000
_TAILS = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class ReplayedDecision:
    """The recorded decision on a question, compared with the truth.

    Attributes
    ----------
    actions
        The possible actions, in order.
    best
        The best action.
    correct
        Whether the best action was chosen, or an equally good one.
    utility
        Normalised utility (`dqa.evaluation.statistics.normalised_utility`).
    tied
        Number of actions that have the largest expected utility, except for rounding.
    surely, possibly
        Whether all tied actions are correct, and whether at least one is correct.
    undecided
        Whether the answer names no action.
    """

    actions: tuple[str, ...]
    best: str
    correct: bool
    utility: float
    tied: int
    surely: bool
    possibly: bool
    undecided: bool


def score_of(
    run: RecordedRun,
    method: str,
    rule: ScoringRule | None,
    sample_size: int | None,
    decisions: Sequence[ReplayedDecision],
) -> Score:
    """Calculate the score of a run from the results of its questions (at least one).

    Parameters
    ----------
    run, method, sample_size
        As in `Score`.
    rule
        The rule that scored the rankings; None for decisions in words.
    decisions
        The result of each question.
    """
    sizes = sorted({len(decision.actions) for decision in decisions})
    parts = {size: [each for each in decisions if len(each.actions) == size] for size in sizes}
    accuracy, utility = _figures_of_scripts(run, method, rule, sample_size)
    low, high = wilson(sum(each.correct for each in decisions), len(decisions)) or (0.0, 1.0)
    least, most = (sum(each.surely for each in decisions), sum(each.possibly for each in decisions))
    return Score(
        dataset=run.dataset,
        method=method,
        scored_by=None if rule is None else "action" if rule.within else "all",
        sample_size=sample_size,
        overlap=run.overlap,
        minibatch_size=run.batch,
        year=run.year,
        **_counted(decisions),
        interval=(100.0 * low, 100.0 * high),
        clustered_interval=cluster_interval(decisions),
        accuracy_by_tie_break=(100.0 * least / len(decisions), 100.0 * most / len(decisions)),
        scripts_accuracy=accuracy,
        scripts_normalised_utility=utility,
        by_actions=tuple(SizeScore(actions=size, **_counted(part)) for size, part in parts.items()),
    )


def cluster_interval(decisions: Sequence[ReplayedDecision]) -> tuple[float, float] | None:
    """Return a 95 % interval of the accuracy by a bootstrap over clusters.

    Questions with the same best action form a cluster, because they tend to be right or wrong
    together: AMD is the best action of 63 of the 120 questions about stocks. The percentile
    bootstrap resamples whole clusters `_RESAMPLES` times (Cameron, Gelbach and Miller, 2008). With
    six clusters of very different sizes, the interval is wide.

    Returns
    -------
    tuple of float, or None
        In percent; None for a single cluster, which cannot be resampled.
    """
    clusters: dict[str, list[bool]] = {}
    for decision in decisions:
        clusters.setdefault(decision.best, []).append(decision.correct)
    if len(clusters) < 2:
        return None
    right = np.array([sum(cluster) for cluster in clusters.values()], dtype=np.float64)
    sizes = np.array([len(cluster) for cluster in clusters.values()], dtype=np.float64)
    even = np.full(len(clusters), 1.0 / len(clusters))
    drawn = np.random.default_rng(0).multinomial(len(clusters), even, size=_RESAMPLES)
    low, high = np.quantile((drawn @ right) / (drawn @ sizes), _TAILS)
    return 100.0 * float(low), 100.0 * float(high)


def yardstick_of(dataset: str, decisions: Sequence[ReplayedDecision]) -> Yardstick:
    """Return the accuracies without a model. `decisions` has one decision per question."""
    count = len(decisions)
    first = sum(decision.actions[0] == decision.best for decision in decisions)
    chance = fsum(1.0 / len(decision.actions) for decision in decisions)
    return Yardstick(
        dataset=dataset,
        questions=count,
        first_listed=100.0 * first / count,
        chance=100.0 * chance / count,
    )


def note_on_rounding(scores: Sequence[Score], yardstick: Yardstick) -> str:
    """Return a note about the decisions that depend only on rounding; "" if there are none."""
    own = [
        score
        for score in scores
        if score.dataset == yardstick.dataset and score.scored_by == "action" and score.overlap
    ]
    if not own:
        return ""
    samples = " or 1/".join(sorted({str(score.sample_size) for score in own}))
    accuracies = " and ".join(f"{score.accuracy:.1f}" for score in own)
    return (
        f"{yardstick.dataset.capitalize()}: the released rule applies a softmax within each action "
        f"and takes the mean. For any ranking, this mean is 1/{samples} except for rounding. So "
        f"rounding decides {sum(score.all_tied for score in own)} of "
        f"{sum(score.questions for score in own)} decisions of "
        f"{' and '.join(score.method for score in own)}, and the result can differ on another "
        f"machine. Their accuracy is {accuracies} %. Always taking the first listed action reaches "
        f"{yardstick.first_listed:.1f} %, and chance {yardstick.chance:.1f} %. In the lines 'one "
        "softmax', the rankings decide. Naive has different numbers of samples per action, so the "
        "action with the fewest samples wins."
    )


def _counted(decisions: Sequence[ReplayedDecision]) -> dict[str, Any]:
    count = len(decisions)
    return {
        "questions": count,
        "accuracy": 100.0 * sum(each.correct for each in decisions) / count,
        "normalised_utility": 100.0 * fsum(each.utility for each in decisions) / count,
        "tied": sum(each.tied > 1 for each in decisions),
        "all_tied": sum(1 < each.tied == len(each.actions) for each in decisions),
        "undecided": sum(each.undecided for each in decisions),
    }


def _figures_of_scripts(
    run: RecordedRun, method: str, rule: ScoringRule | None, sample_size: int | None
) -> tuple[float, float] | tuple[None, None]:
    """Return the figures of the released scripts for a run, if they use the same rule."""
    if run.batch not in {None, SCRIPTS_BATCH} or run.year not in {None, KNOWN_YEAR}:
        return None, None
    if rule is not None and not rule.released:
        return None, None
    return SCRIPTS.get((run.dataset, method, sample_size, run.overlap), (None, None))
