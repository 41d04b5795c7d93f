"""What has to be known to read the scores of a replay, said where they are printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .records import Score, Yardstick

__all__ = ["notes_on"]

_NOTE = (
    "{dataset}: the released rule takes a softmax within each action and then the mean, which for "
    "every action is 1/{samples} up to rounding, whatever was ranked. Rounding decides {tied} of "
    "{questions} decisions of {methods}, and another machine may decide them otherwise. They reach "
    '{accuracies} %, and "always the first listed" {first:.1f} %. The lines "one softmax" are what '
    "the rankings decide; chance is {chance:.1f} %."
)
_BY_COUNT = (
    " Naive has not as many samples of every action, so by this rule the one with the fewest wins."
)


def notes_on(scores: Sequence[Score], yardsticks: Sequence[Yardstick]) -> Iterator[str]:
    """Yield a note for each data set that has scores of minibatches which rounding decides."""
    rounded = [
        score
        for score in scores
        if score.scored_by == "action" and score.minibatch_size is not None and score.all_tied
    ]
    for yardstick in yardsticks:
        if own := [score for score in rounded if score.dataset == yardstick.dataset]:
            by_count = any(
                score.scored_by == "action" and score.minibatch_size is None
                for score in scores
                if score.dataset == yardstick.dataset
            )
            note = _NOTE.format(
                dataset=yardstick.dataset.capitalize(),
                samples=" or 1/".join(sorted({str(score.sample_size) for score in own})),
                tied=sum(score.all_tied for score in own),
                questions=sum(score.questions for score in own),
                methods=" and ".join(score.method for score in own),
                accuracies=" and ".join(f"{score.accuracy:.1f}" for score in own),
                first=yardstick.first_listed,
                chance=yardstick.chance,
            )
            yield note + _BY_COUNT if by_count else note
