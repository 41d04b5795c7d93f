"""Find the actions that the rows of a context name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from dqa.core.question import Candidate
from dqa.deciders.prompting import fold

_NEARLY_ALL = 0.9
"""Share of a column's cells that have to be actions before it is taken to list them."""
_HALF = 0.5
"""Share above which a column's cells count, once another column lists the actions."""
_FEWEST = 2
"""Fewest actions that a list of them has: less leaves nothing to compare."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]{1,3})?")

_Key: TypeAlias = Decimal | str


@dataclass(frozen=True, slots=True)
class _Column:
    """The share of a column's cells that are actions, and these actions."""

    header: object
    share: float
    named: frozenset[_Key]


def find_named_actions(
    actions: tuple[Candidate, ...], tables: Sequence[str]
) -> tuple[Candidate, ...]:
    """Return the actions that rows name; all of them where no column lists actions.

    Columns of one name list them where nearly all of their cells are actions, two at least. A
    quantity that happens to equal an id does not make its column one. All actions in a column that
    is mostly actions count: an omitted action cannot be chosen, and a surplus one costs only its
    comparison.

    Parameters
    ----------
    actions
        The actions.
    tables
        As `dqa.core.database.Rows.to_text` writes them.

    Returns
    -------
    tuple of Candidate
        In order; two at least, where there are two.
    """
    keys = {action: _key(action) for action in actions}
    among = frozenset(keys.values())
    columns = [_measured(*column, among) for table in tables for column in _columns(table)]
    listed: dict[object, set[_Key]] = {}
    for one in columns:
        if one.share >= _NEARLY_ALL:
            listed.setdefault(one.header, set()).update(one.named)
    if max(map(len, listed.values()), default=0) < _FEWEST:
        return actions
    named = frozenset[_Key]().union(*(one.named for one in columns if one.share > _HALF))
    return tuple(action for action in actions if keys[action] in named)


def find_leading_actions(
    actions: tuple[Candidate, ...], tables: Sequence[str]
) -> tuple[Candidate, ...]:
    """Return the actions that the first column names which lists any, in the order of its rows.

    Of very many actions nearly every number is one, so only that column of each table counts.

    Parameters
    ----------
    actions
        The actions.
    tables
        As `find_named_actions` takes them.
    """
    keys = {_key(action): action for action in actions}
    named: dict[Candidate, None] = {}
    for table in tables:
        for _, cells in _columns(table):
            found = [keys[cell] for cell in cells if cell in keys]
            if len(found) >= max(_FEWEST, _NEARLY_ALL * len(cells)):
                named |= dict.fromkeys(found)
                break
    return tuple(named)


def cell_texts(tables: Sequence[str]) -> frozenset[str]:
    """Return the cells of the rows as texts."""
    found: set[str] = set()
    for table in tables:
        for line in table.split("\n")[1:]:
            if line.startswith("["):
                found.update(
                    str(leaf) for cell in json.loads(line) for _, leaf in _leaves(cell, ())
                )
    return frozenset(found)


def _key(value: object) -> _Key:
    """Return a name in the form for comparisons: ``1``, ``1.0`` and ``"1"`` are equal."""
    text = fold(value)
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def _measured(header: object, cells: Sequence[_Key], among: frozenset[_Key]) -> _Column:
    found = [cell for cell in cells if cell in among]
    return _Column(header, len(found) / len(cells), frozenset(found))


def _columns(table: str) -> Iterator[tuple[object, Sequence[_Key]]]:
    """Yield the name of each column and what stands below it, but for NULL.

    The members of a list belong to its column; those of an object are columns of their own.
    """
    header, *lines = table.split("\n")
    names = json.loads(header)
    found: dict[tuple[int, tuple[object, ...]], list[_Key]] = {}
    for line in lines:
        if line.startswith("["):  # the last line says how many rows there are
            for number, cell in enumerate(json.loads(line)):
                for place, leaf in _leaves(cell, ()):
                    found.setdefault((number, place), []).append(_key(leaf))
    for (number, place), cells in found.items():
        yield (names[number], place), cells


def _leaves(
    cell: Any,  # noqa: ANN401  (any JSON value)
    place: tuple[object, ...],
) -> Iterator[tuple[tuple[object, ...], object]]:
    if isinstance(cell, dict):
        for name, inner in cell.items():
            yield from _leaves(inner, (*place, name))
    elif isinstance(cell, list):
        for inner in cell:
            yield from _leaves(inner, place)
    elif cell is not None:
        yield place, cell
