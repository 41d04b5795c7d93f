"""DeLLMa's settings: the paper's defaults and invalid values."""

from __future__ import annotations

import pytest

from dqa.core.errors import UsageError
from dqa.deciders.base import Settings
from dqa_dellma.factories import DELLMA_PAIRS
from dqa_dellma.settings import DellmaSettings, NaiveSettings, Top1Settings
from tests.dellma.talking import replying


def test_the_paper_s_settings_are_the_defaults() -> None:
    """64 samples per action in minibatches of 32 that share 25 %; naive has one batch of 50."""
    pairs, top1, naive = DellmaSettings(), Top1Settings(), NaiveSettings()
    assert (pairs.samples, pairs.batch, pairs.overlap, pairs.values) == (64, 32, 0.25, 3)
    assert (pairs.elicitation, pairs.alpha, pairs.shared) == ("pairs", 2e-3, True)
    assert (top1.elicitation, top1.alpha, top1.samples) == ("top1", 1e-3, 64)
    assert (naive.shared, naive.samples) == (False, 50)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"attitude": "cvar", "scale": "action"}, "attitude=cvar needs scale=all"),
        ({"general": "0", "own": "0"}, "ask for no factor"),
    ],
)
def test_conflicting_settings_are_refused(options: dict[str, str], problem: str) -> None:
    """The error names the decider and the conflict."""
    qualified = {f"dellma.{name}": value for name, value in options.items()}
    with pytest.raises(UsageError, match=f"'dellma-pairs': .*{problem}"):
        DELLMA_PAIRS(replying("x"), Settings(options=qualified))
