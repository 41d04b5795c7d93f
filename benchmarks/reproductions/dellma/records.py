"""The scores of the release's recorded answers, as ``--json`` prints them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from dqa.core.records import Record

Share: TypeAlias = float
"""A share in percent."""


class _Counted(Record):
    """The scores of decisions on some questions.

    Attributes
    ----------
    questions
        Number of questions.
    accuracy
        Share of questions whose best action was chosen, in percent.
    normalised_utility
        Mean utility of the chosen action as a share of the best action's utility, in percent.
    tied
        Number of questions on which several actions have the largest expected utility, except for
        rounding.
    all_tied
        Number of questions on which all actions have the same expected utility.
    undecided
        Number of questions whose answer names no action. They are wrong, with a utility of 0.
    """

    questions: int
    accuracy: Share
    normalised_utility: Share
    tied: int
    all_tied: int
    undecided: int


class SizeScore(_Counted):
    """The scores of a run on questions with a given number of actions.

    Attributes
    ----------
    actions
        The number of actions.
    """

    actions: int


class Score(_Counted):
    """The scores of the recorded answers of one run by one method.

    Attributes
    ----------
    dataset, method
        The questions and the method: ``zero-shot``, ``chain-of-thought``, ``self-consistency`` are
        the deciders of these names; ``naive``, ``pairs`` and ``top1`` are ``dellma-naive``,
        ``dellma-pairs`` and ``dellma-top1``.
    scored_by
        The softmax that turns rankings into utilities: over all items (``all``), or within each
        action (``action``). None if the answer is not a ranking.
    sample_size
        Number of samples per action; for ``naive``, for all actions together.
    overlap
        Percentage of items that consecutive minibatches share.
    minibatch_size
        Items of a minibatch; None without minibatches.
    year
        Year of the report, for agriculture; otherwise None.
    interval
        95 % Wilson score interval of the accuracy, as if questions were independent.
    clustered_interval
        95 % bootstrap interval of the accuracy that resamples clusters. The questions with the same
        best action form a cluster, because they tend to be right or wrong together. None if all
        questions form one cluster.
    accuracy_by_tie_break
        The lowest and the highest accuracy that a choice among tied best actions can give.
    scripts_accuracy, scripts_normalised_utility
        The released scripts' figures for the recorded answers to all 120 questions; None if this
        is not known. The paper prints none of these figures.
    by_actions
        The scores by number of actions, smallest number first.
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
    """The accuracies without a model on all questions of a data set that have an answer.

    Attributes
    ----------
    dataset, questions
        The data set, and its number of questions.
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
        The name of the rule set by which rankings were scored.
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
