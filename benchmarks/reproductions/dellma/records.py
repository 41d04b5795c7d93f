"""The scores of the release's recorded answers, as ``--json`` prints them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from dqa.core.records import Record

Share: TypeAlias = float
"""In percent."""


class _Counted(Record):
    """How well questions were decided.

    Attributes
    ----------
    questions
        How many there are.
    accuracy
        How many of them got the best action, %.
    normalised_utility
        Mean share of the best action's true utility that was reached, %.
    tied
        Questions where two or more actions share the largest expected utility, but for rounding.
    all_tied
        Those of them where all actions do.
    undecided
        Questions whose answer names no action; they count as wrong, with a utility of 0.
    """

    questions: int
    accuracy: Share
    normalised_utility: Share
    tied: int
    all_tied: int
    undecided: int


class SizeScore(_Counted):
    """How well a run decides its questions of one number of actions.

    Attributes
    ----------
    actions
        The number of actions.
    """

    actions: int


class Score(_Counted):
    """How well the recorded answers of one run decide by one method.

    Attributes
    ----------
    dataset, method
        The questions and the method: ``zero-shot``, ``chain-of-thought``, ``self-consistency`` are
        the deciders of these names; ``naive``, ``pairs`` and ``top1`` are ``dellma-naive``,
        ``dellma-pairs`` and ``dellma-top1``.
    scored_by
        How rankings became utilities: ``all`` is one softmax over all items, ``action`` one within
        each action; None where the answer is in words.
    sample_size
        Samples an action, or of all actions together for ``naive``.
    overlap
        Percent of a minibatch that the next one shares.
    minibatch_size
        Items of a minibatch; None where there are none.
    year
        Of agriculture: whose report was the context. Else None.
    interval
        95 % Wilson score interval of the accuracy, as if questions were independent.
    clustered_interval
        95 % bootstrap interval of the accuracy that resamples clusters: questions with the
        same action is the best. They are right or wrong together, as all hang on how one action was
        judged. None where all questions are of one cluster.
    accuracy_by_tie_break
        The least and the largest accuracy that a choice among tied best actions gives.
    scripts_accuracy, scripts_normalised_utility
        The released scripts' figures for the recorded answers to all 120 questions; None if this
        is not known. The paper prints none of these figures.
    by_actions
        The same by number of actions, smallest first.
    """

    dataset: str
    method: str
    scored_by: Literal["all", "action"] | None
    sample_size: int | None
    overlap: int | None
    minibatch_size: int | None
    year: int | None
    interval: tuple[Share, Share]
    clustered_interval: tuple[Share, Share] | None
    accuracy_by_tie_break: tuple[Share, Share]
    scripts_accuracy: Share | None
    scripts_normalised_utility: Share | None
    by_actions: tuple[SizeScore, ...]


class Yardstick(Record):
    """What needs no answer at all, over every question of a data set that has one.

    Attributes
    ----------
    dataset, questions
        Which, and how many.
    first_listed
        Accuracy of always taking the first action that is listed, %.
    chance
        Accuracy of drawing an action, %.
    """

    dataset: str
    questions: int
    first_listed: Share
    chance: Share


class Replay(Record):
    """The scores of a release's recorded answers.

    Attributes
    ----------
    rule_set
        How rankings were scored.
    scores
        One for each run and method, in the order of the runs' folders.
    yardsticks
        One for each data set.
    notes
        Notes for readers of the scores.
    """

    rule_set: str
    scores: tuple[Score, ...]
    yardsticks: tuple[Yardstick, ...]
    notes: tuple[str, ...]
