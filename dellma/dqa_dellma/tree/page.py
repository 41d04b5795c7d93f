"""Render the tree of a decision as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dqa.models.registry import is_scripted
from dqa.report.pages import rendered, write_page
from dqa_dellma.findings import ActionFigures
from dqa_dellma.tree.decision_tree import DecisionTree


def render_tree(tree: DecisionTree) -> str:
    """Return the tree as one self-contained HTML page without scripts."""
    figures = [branch.figures for branch in tree.branches]
    return rendered(
        "dqa_dellma",
        "tree/page.html",
        tree=tree,
        scripted=is_scripted(tree.model),
        intervals={one.action: _interval(one, figures) for one in figures},
        items={sample.item: (one, sample) for one in tree.branches for sample in one.samples},
    )


def write_tree(tree: DecisionTree, file: Path | str) -> None:
    """Write the page to a file. Raise `UsageError` if that is impossible."""
    write_page(render_tree(tree), Path(file))


def _interval(
    figures: ActionFigures, every: Sequence[ActionFigures]
) -> tuple[float, float, float] | None:
    """Return the positions of an action's interval and value in a chart, or None without a value.

    The positions are percentages of the chart's width. All actions have the same scale.
    """
    value, (low, high) = figures.value, figures.interval
    if value is None:
        return None
    # The scale includes zero, so that distances from zero are proportional to values.
    known = [0.0, *(x for one in every for x in (one.value, *one.interval) if x is not None)]
    least, width = min(known), (max(known) - min(known)) or 1.0
    first, last, dot = (
        round(2 + 96 * ((value if x is None else x) - least) / width, 2) for x in (low, high, value)
    )
    return first, last, dot
