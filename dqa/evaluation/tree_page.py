"""The tree of a decision as a page: one self-contained HTML file that unfolds, offline."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from dqa.deciders.dellma.why import percent
from dqa.errors import UsageError
from dqa.evaluation.tree import Action, Sample, Tree
from dqa.models.registry import is_scripted

__all__ = ["render_tree", "rendered", "write_page"]

_ACTIONS = 12
"""Actions beside each other; the others are folded away."""
_SAMPLES, _FEWEST = 1_500, 6
"""States of all actions together, and of one: a browser stays quick."""
_RANKINGS = 40
_UNSEEN = {"Cc", "Cf", "Cs"}


@dataclass(frozen=True, slots=True)
class _Interval:
    """Where an action's figures stand on the scale of all actions, in percent of its width."""

    low: float
    high: float
    decisive: float


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

    action: Action
    interval: _Interval | None
    samples: tuple[Sample, ...]
    left_out: int


def render_tree(tree: Tree, index: str | None = None) -> str:
    """Return the tree as one HTML page, without scripts, or styles from elsewhere.

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
        "tree_page.html",
        tree=tree,
        index=index,
        scripted=is_scripted(tree.model),
        branches=branches[:_ACTIONS],
        more_branches=branches[_ACTIONS:],
        items=items,
        rankings=tree.rankings[:_RANKINGS],
        most_rankings=_RANKINGS,
    )


def rendered(template: str, **values: Any) -> str:  # noqa: ANN401  (whatever the template names)
    """Fill in a template of this package; text in it is never markup, and nothing acts unseen."""
    return _environment().get_template(template).render(values)


def write_page(page: str, file: Path) -> None:
    """Write a page; `UsageError` where that cannot be done."""
    try:
        file.write_text(page, "utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error


def _branch(action: Action, actions: Sequence[Action], most: int) -> _Branch:
    samples = sorted(
        action.samples,
        key=lambda sample: (sample.utility is None, -(sample.utility or 0.0), sample.item),
    )
    shown = samples
    if len(samples) > most:
        half = most // 2
        shown = samples[: most - half] + samples[len(samples) - half :]
    left_out = len(samples) - len(shown)
    return _Branch(action, _interval(action, actions), tuple(shown), left_out)


def _interval(action: Action, actions: Sequence[Action]) -> _Interval | None:
    if action.decisive is None:
        return None
    values = [other.decisive for other in actions if other.decisive is not None]
    bounds = [bound for other in actions if other.interval for bound in other.interval]
    # Zero is on the scale, so that what is twice as much looks like it.
    least, largest = min(0.0, *values, *bounds), max(0.0, *values, *bounds)
    width = (largest - least) or 1.0
    low, high = action.interval or (action.decisive, action.decisive)
    figures = (low, high, action.decisive)
    return _Interval(*(round(2 + 96 * (figure - least) / width, 2) for figure in figures))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dqa.evaluation", "."),
        autoescape=True,
        finalize=_spelt_out,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = _figure
    environment.filters["percent"] = percent
    return environment


def _figure(number: float | None) -> str:
    return "unknown" if number is None else f"{number:.3g}"


def _spelt_out(value: object) -> object:
    """Spell out what acts in a text without being seen: controls, and turns of its direction."""
    if type(value) is not str or (value.isascii() and value.isprintable()):
        return value
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _UNSEEN and character not in "\n\t"
        else character
        for character in value
    )
