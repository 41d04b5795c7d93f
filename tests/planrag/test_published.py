"""The paper's printed tables agree with each other."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa.evaluation.papers import PublishedTable
from dqa_planrag.published import PAPER

TABLES = {table.name: table for table in PAPER.tables}


def shares(table: PublishedTable, decider: str) -> dict[tuple[str, str], float | None]:
    """Return a decider's shares in a table."""
    (row,) = (row for row in table.rows if row.decider == decider)
    return {(figure.scenario, figure.column): figure.value for figure in row.figures}


def test_every_row_names_a_decider() -> None:
    assert plugins.publication("planrag") is PAPER
    known = plugins.names("decider")
    assert {row.decider for table in PAPER.tables for row in table.rows} <= set(known)


@pytest.mark.parametrize("decider", ["singlerag", "iterrag", "planrag"])
def test_table_4_is_the_mean_of_table_5(decider: str) -> None:
    """Up to the printed digit."""
    means, kinds = shares(TABLES["Table 4"], decider), shares(TABLES["Table 5"], decider)
    for scenario in ("locating", "building"):
        both = [kinds[scenario, kind] for kind in ("relational", "graph")]
        mean = sum(share for share in both if share is not None) / 2
        assert means[scenario, ""] == pytest.approx(mean, abs=0.00051)


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


@pytest.mark.parametrize("decider", ["iterrag", "planrag"])
def test_figure_6_is_the_complement_of_table_4(decider: str) -> None:
    """Values that the figure only draws stay unknown."""
    failed, right = shares(TABLES["Figure 6"], decider), shares(TABLES["Table 4"], decider)
    for scenario in ("locating", "building"):
        accuracy = right[scenario, ""]
        assert accuracy is not None
        assert failed[scenario, "failed"] == pytest.approx(1 - accuracy)
    assert {share for (_, column), share in failed.items() if column != "failed"} == {None}
