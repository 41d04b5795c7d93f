"""The paper's printed tables agree with each other."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa_planrag.published import PAPER

TABLES = {table.name: table for table in PAPER.tables}


def test_every_row_names_a_decider() -> None:
    assert plugins.publication("planrag") is PAPER
    known = plugins.names("decider")
    assert {row.decider for table in PAPER.tables for row in table.rows} <= set(known)


def test_table_7_adds_up() -> None:
    """Its rows are all questions, and their accuracies give the total."""
    (row,) = TABLES["Table 7"].rows
    for scenario in ("locating", "building"):
        figures = {f.column: f for f in row.figures if f.scenario == scenario}
        total = figures.pop("total")
        assert sum(figure.of or 0 for figure in figures.values()) == total.of
        right = sum((figure.value or 0.0) * (figure.of or 0) for figure in figures.values())
        assert total.of is not None
        assert total.value == pytest.approx(right / total.of, abs=0.001)
