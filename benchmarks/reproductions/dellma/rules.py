"""How the DeLLMa release scores the rankings it recorded, and what came out there.

For agriculture the release takes a softmax over all scores and each action's mean. For stocks it
takes a softmax within each action, and then the mean: that is 1 over the number of samples for
every action, whatever was ranked, so rounding alone decides (`rounding`). Naive has not as many
samples of every action, so there the action with the fewest has the largest utility.
That is what its evaluation script does, and what its figures look like: a mean weighted by that
softmax, or an action's best score, would be right in 30 to 45 % of the questions of two and three
stocks (chance is 40 %), and would need far more elsewhere to reach the 58 to 62 % of all;
the mean of a softmax is right in some 55 to 64 %, by taking the first stock of most ties, AMD,
which was the best. So the figures of stocks tell nothing of the rankings; the rule set ``paper``
scores the same rankings by the rule of agriculture.
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
        ``pairs`` compares all items of a ranking, ``top1`` only the first item with all others.
    alpha
        Regularisation of the Bradley-Terry model.
    within
        Whether the softmax is within each action, instead of over all scores.
    temperature
        Temperature of the softmax.
    released
        Whether this is a rule of the release. Then a repeated item of a ranking counts every time;
        otherwise only its first place counts.
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
"""Accuracy and normalised utility (%) that the released scripts give for the recorded answers.

Over all 120 questions. The paper's text prints none of them; its tables are pictures.

By data set, method, sample size and overlap; of agriculture by the report of 2021.
"""
SCRIPTS_BATCH = 32
"""Minibatch size of the runs behind the figures of `SCRIPTS`."""
