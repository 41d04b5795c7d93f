"""Render the tree of a decision as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dqa.models.registry import is_scripted
from dqa.report.pages import rendered, write_page
from dqa_dellma.findings import ActionFigures
from dqa_dellma.tree.decision_tree import Branch, DecisionTree, TriedState

_ACTIONS = 12
"""The number of actions that the page lists; the rest are folded into one section."""
_SAMPLES, _FEWEST = 1_500, 6
"""The maximum number of states on the page, and the number that every action may show."""
_RANKINGS, _FAILURES = 40, 40


@dataclass(frozen=True, slots=True)
class _Interval:
    """The figures of an action as positions in percent of a scale that all actions share."""

    low: float
    high: float
    value: float


@dataclass(frozen=True, slots=True)
class _Shown:
    """An action on the page: its interval, and its states, best first."""

    figures: ActionFigures
    interval: _Interval | None
    samples: Sequence[TriedState]
    left_out: int


def render_tree(tree: DecisionTree) -> str:
    """Return the tree as one self-contained HTML page without scripts.

    The page of a large tree omits parts and says which.
    """
    most = max(_FEWEST, _SAMPLES // max(1, len(tree.branches)))
    branches = [_shown(branch, tree.branches, most) for branch in tree.branches]
    items = {sample.item: (one, sample) for one in tree.branches for sample in one.samples}
    return rendered(
        "dqa_dellma",
        "tree/page.html",
        tree=tree,
        scripted=is_scripted(tree.model),
        branches=branches[:_ACTIONS],
        more_branches=branches[_ACTIONS:],
        items=items,
        rankings=tree.rankings[:_RANKINGS],
        most_rankings=_RANKINGS,
        failures=tree.failures[:_FAILURES],
    )


def write_tree(tree: DecisionTree, file: Path | str) -> None:
    """Write the page to a file. Raise `UsageError` if that is impossible."""
    write_page(render_tree(tree), Path(file))


def _shown(branch: Branch, branches: Sequence[Branch], most: int) -> _Shown:
    samples = branch.extremes(most)
    left_out = len(branch.samples) - len(samples)
    return _Shown(branch.figures, _interval(branch, branches), samples, left_out)


def _interval(branch: Branch, branches: Sequence[Branch]) -> _Interval | None:
    value = branch.figures.value
    if value is None:
        return None
    every = [one for other in branches for one in (other.figures.value, *other.figures.interval)]
    # The scale includes zero, so that distances from zero are proportional to values.
    known = [0.0, *(one for one in every if one is not None)]
    least, width = min(known), (max(known) - min(known)) or 1.0
    low, high = branch.figures.interval
    figures = (value if low is None else low, value if high is None else high, value)
    return _Interval(*(round(2 + 96 * (figure - least) / width, 2) for figure in figures))
