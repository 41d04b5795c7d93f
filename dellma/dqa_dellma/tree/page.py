"""The tree of a decision as a page: one self-contained HTML file that unfolds, offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dqa.models.registry import is_scripted
from dqa.report.pages import rendered, write_page
from dqa_dellma.tree.decision_tree import ComparedAction, DecisionTree, TriedState

_ACTIONS = 12
"""Actions beside each other; the others are folded away."""
_SAMPLES, _FEWEST = 1_500, 6
"""States of all actions together, and of one: a browser stays quick."""
_RANKINGS, _FAILURES = 40, 40


@dataclass(frozen=True, slots=True)
class _Interval:
    """Where an action's figures stand on the scale of all actions, in percent of its width."""

    low: float
    high: float
    value: float


@dataclass(frozen=True, slots=True)
class _Branch:
    """An action as the page shows it.

    Attributes
    ----------
    action
        What it is.
    interval
        Its picture; None where nothing is known.
    samples
        The states that are shown, the best first.
    left_out
        How many states between the best and the worst are not.
    """

    action: ComparedAction
    interval: _Interval | None
    samples: Sequence[TriedState]
    left_out: int


def render_tree(tree: DecisionTree, index: str | None = None) -> str:
    """Return the tree as one self-contained HTML page without scripts.

    A large tree is folded, and what is left out of the page is said there.

    Parameters
    ----------
    tree
        What to show.
    index
        The file beside it that lists all pages of a run, where there is one.
    """
    most = max(_FEWEST, _SAMPLES // max(1, len(tree.actions)))
    branches = [_branch(action, tree.actions, most) for action in tree.actions]
    items = {sample.item: (action, sample) for action in tree.actions for sample in action.samples}
    return rendered(
        "dqa_dellma",
        "tree/page.html",
        tree=tree,
        index=index,
        scripted=is_scripted(tree.model),
        branches=branches[:_ACTIONS],
        more_branches=branches[_ACTIONS:],
        items=items,
        rankings=tree.rankings[:_RANKINGS],
        most_rankings=_RANKINGS,
        failures=tree.failures[:_FAILURES],
    )


def write_tree(tree: DecisionTree, file: Path | str, index: str | None = None) -> None:
    """Write `render_tree` to a file; `UsageError` where that cannot be done."""
    write_page(render_tree(tree, index), Path(file))


def _branch(action: ComparedAction, actions: Sequence[ComparedAction], most: int) -> _Branch:
    samples, left_out = action.extremes(most)
    return _Branch(action, _interval(action, actions), samples, left_out)


def _interval(action: ComparedAction, actions: Sequence[ComparedAction]) -> _Interval | None:
    if action.value is None:
        return None
    values = [other.value for other in actions if other.value is not None]
    bounds = [bound for other in actions if other.interval for bound in other.interval]
    # Zero is on the scale, so that what is twice as much looks like it.
    least, largest = min(0.0, *values, *bounds), max(0.0, *values, *bounds)
    width = (largest - least) or 1.0
    low, high = action.interval or (action.value, action.value)
    figures = (low, high, action.value)
    return _Interval(*(round(2 + 96 * (figure - least) / width, 2) for figure in figures))
