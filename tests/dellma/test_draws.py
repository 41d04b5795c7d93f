"""What the way of drawing states is worth, in worlds of known utilities (docs/dellma.md)."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.dellma_draws import KINDS, SAMPLES, measure
from dqa_dellma.settings import DellmaSettings, Draws

EXACT = KINDS["rankings without error"]
DOCS = (Path(__file__).parents[2] / "docs" / "dellma.md").read_text("utf-8")


@pytest.mark.deep
def test_even_draws_lose_less_than_independent_ones() -> None:
    """Where rankings make no error: what is lost comes from the draws alone."""
    found = {
        draws: measure(replace(EXACT, samples=16, draws=draws), 300) for draws in get_args(Draws)
    }
    independent = found.pop("independent")
    assert independent.miss > 0.2
    for even in found.values():
        assert even.miss < 0.08
        assert even.regret < 0.8 * independent.regret
        assert even.right > independent.right


def test_the_table_of_the_docs_has_every_way_of_drawing() -> None:
    """And its figures say the same as the default: the first of the ways."""
    lines = re.findall(r"^\| rankings (?:without error|with noise) \|.*$", DOCS, re.MULTILINE)
    assert len(lines) == len(KINDS) * len(SAMPLES) * len(get_args(Draws))
    regrets = {
        (cells[1], cells[2], cells[3]): float(cells[5].split()[0])
        for cells in ([cell.strip() for cell in line.split("|")] for line in lines)
    }
    for (kind, samples, draws), regret in regrets.items():
        assert regret <= regrets[kind, samples, "independent"], draws
    assert DellmaSettings().draws == "stratified"
