"""Ways of drawing states, compared in worlds of known utilities (docs/dellma.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from benchmarks.dellma_draws import KINDS, measure
from dqa_dellma.settings import Draws

EXACT = KINDS["rankings without error"]


@pytest.mark.deep
def test_even_draws_lose_less_than_independent_ones() -> None:
    """Rankings make no error, so all losses come from the draws."""
    found = {
        draws: measure(replace(EXACT, samples=16, draws=draws), 300) for draws in get_args(Draws)
    }
    independent = found.pop("independent")
    assert independent.miss > 0.2
    for even in found.values():
        assert even.miss < 0.08
        assert even.regret < 0.8 * independent.regret
        assert even.right > independent.right
