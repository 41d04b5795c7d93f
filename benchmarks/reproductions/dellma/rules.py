"""The rules by which the DeLLMa release scores its recorded rankings, and the release's figures.

For agriculture, the release applies one softmax to the scores of all items. The expected utility of
an action is the mean over its items.

For stocks, the release applies a softmax to the items of each action, and then takes the mean. This
mean is always 1/m for m samples of an action. All actions tie, so rounding alone decides
(`rounding`). Naive has different numbers of samples per action, so the action with the fewest
samples has the largest utility.

The evaluation script of the release does this, and the release's figures confirm it. A mean
weighted by the softmax, or the best score of each action, would be right for 30 to 45 % of the
questions about two or three stocks (chance is 40 %). It could hardly reach the 58 to 62 % for all
questions. The mean of a softmax is right for 55 to 64 %: it takes the first stock of most ties,
AMD, which was the best stock. The figures for stocks therefore say nothing about the rankings. The
rule set ``paper`` scores the same rankings by the rule of agriculture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

__all__ = ["BY_ACTION", "RULES", "SCRIPTS", "SCRIPTS_BATCH", "Elicitation", "ScoringRule"]

Elicitation: TypeAlias = Literal["pairs", "top1"]


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """A rule that turns rankings into expected utilities.

    Attributes
    ----------
    elicitation
        ``pairs`` compares all pairs of items in a ranking. ``top1`` compares the first item with
        all other items.
    alpha
        Regularisation of the Bradley-Terry model.
    within
        Whether there is one softmax per action, instead of one softmax over all items.
    temperature
        Temperature of the softmax.
    released
        Whether this is a rule of the release. Then each occurrence of a repeated item counts;
        otherwise only the first.
    """

    elicitation: Elicitation
    alpha: float
    within: bool = False
    temperature: float = 1.0
    released: bool = False


_PAPER = {
    "pairs": ScoringRule("pairs", 2e-3),
    "top1": ScoringRule("top1", 1e-3),
    "naive": ScoringRule("pairs", 1e-3),
}
_RELEASED = {method: replace(rule, released=True) for method, rule in _PAPER.items()}
_STOCKS = ScoringRule("pairs", 2e-8, within=True, temperature=0.1, released=True)
_STOCK_RULES = {"pairs": _STOCKS, "top1": replace(_STOCKS, elicitation="top1"), "naive": _STOCKS}
RULES: Mapping[str, Mapping[str, Mapping[str, ScoringRule]]] = {
    "released": {"agriculture": _RELEASED, "stocks": _STOCK_RULES},
    "paper": {"agriculture": _PAPER, "stocks": _PAPER},
}
"""The scoring rules of each rule set, by data set and method.

``released`` reproduces the release's figures; ``paper`` always uses one softmax over all items.
"""

BY_ACTION = frozenset({"stocks"})
"""The data sets that the release scores by a softmax within each action."""

SCRIPTS: Mapping[tuple[str, str, int | None, int | None], tuple[float, float]] = {
    ("agriculture", "pairs", 64, 25): (70.000, 95.526),
    ("agriculture", "top1", 64, 25): (66.667, 94.573),
    ("agriculture", "naive", 50, None): (55.833, 87.661),
    ("agriculture", "zero-shot", None, None): (30.833, 82.747),
    ("agriculture", "chain-of-thought", None, None): (34.167, 80.493),
    ("agriculture", "self-consistency", None, None): (30.000, 82.858),
    ("stocks", "pairs", 64, 50): (58.333, 63.729),
    ("stocks", "top1", 64, 50): (61.667, 63.990),
    ("stocks", "naive", 50, None): (30.833, 51.112),
    ("stocks", "zero-shot", None, None): (27.500, 53.361),
    ("stocks", "chain-of-thought", None, None): (23.333, 49.621),
    ("stocks", "self-consistency", None, None): (25.833, 51.835),
}
"""Accuracy and normalised utility (%) that the released scripts calculate from recorded answers.

The keys are data set, method, sample size and overlap. The figures cover all 120 questions of a
data set; agriculture is with the report of 2021. They are not in the text of the paper, because its
tables are images.
"""
SCRIPTS_BATCH = 32
"""The minibatch size of the runs in `SCRIPTS`."""
