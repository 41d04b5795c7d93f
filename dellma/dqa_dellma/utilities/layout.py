"""Rankings as arrays: the items of each, laid out so that those of a ranking are close together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from dqa.core.errors import DataError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Rankings: TypeAlias = Sequence[Sequence[int]]
"""Item numbers from 0, best first."""
Ranks: TypeAlias = Sequence[Sequence[int]]
"""For each ranking the rank of each of its items: never falling, and the same for equal items."""


class Group(NamedTuple):
    """The r rankings of one length m, all with equal items or all without.

    Attributes
    ----------
    places
        Shape (r, m): the items' places in a layout, best first.
    ranks
        Shape (r, m): their ranks; None where no two items are equal.
    """

    places: Ints
    ranks: Ints | None = None


@dataclass(frozen=True)
class Layout:
    """An order of the items in which the items of a ranking are close together.

    Attributes
    ----------
    place
        Shape (n,): each item's place.
    band
        The most that places of items of a ranking differ.
    """

    place: Ints
    band: int

    @classmethod
    def of(cls, rankings: Rankings, count: int, *, repeats: bool = False) -> Layout:
        """Return the items' own order where that is narrow, and a narrower one elsewhere.

        Raises
        ------
        DataError
            A ranking names an item that does not exist, or one twice unless `repeats` lets it.
        """
        longest = _checked(rankings, count, repeats=repeats)
        own = cls(np.arange(count), _width(rankings, np.arange(count)))
        if not own.band or own.band < 2 * longest:
            return own
        links = np.concatenate([_links(ranking) for ranking in rankings if len(ranking) > 1])
        graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), (count, count))
        place = np.empty(count, dtype=np.int64)
        place[reverse_cuthill_mckee(graph.tocsr() + graph.T.tocsr(), symmetric_mode=True)] = (
            np.arange(count)
        )
        other = cls(place, _width(rankings, place))
        return other if other.band < own.band else own

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self.place)

    def groups(self, rankings: Rankings, ranks: Ranks | None = None) -> list[Group]:
        """Return the rankings as arrays, those of a length together.

        Rankings of fewer than two items say nothing and are left out.

        Parameters
        ----------
        rankings
            What the layout was made of.
        ranks
            Which items are equal; None where none are.

        Raises
        ------
        DataError
            The ranks of a ranking are not one an item, or fall.
        """
        of_each = [range(len(ranking)) for ranking in rankings] if ranks is None else ranks
        _check_ranks(rankings, of_each)
        alike: dict[tuple[int, bool], list[int]] = {}
        for number, (ranking, own) in enumerate(zip(rankings, of_each, strict=True)):
            if len(ranking) > 1:
                alike.setdefault((len(ranking), len(set(own)) < len(own)), []).append(number)
        return [
            Group(
                self.place[np.array([rankings[number] for number in numbers])],
                np.array([of_each[number] for number in numbers]) if equal else None,
            )
            for (_, equal), numbers in sorted(alike.items())
        ]


def _checked(rankings: Rankings, count: int, *, repeats: bool) -> int:
    """Return the length of the longest ranking, or raise what is wrong with one."""
    for number, ranking in enumerate(rankings):
        if not repeats and len(set(ranking)) < len(ranking):
            raise DataError(f"Ranking {number} names an item twice: {list(ranking)}.")
        if ranking and not (min(ranking) >= 0 and max(ranking) < count):
            raise DataError(
                f"Ranking {number} names an item that is none of 0 to {count - 1}: {list(ranking)}."
            )
    return max(map(len, rankings), default=0)


def _check_ranks(rankings: Rankings, ranks: Ranks) -> None:
    """Raise what is wrong with the ranks of a ranking's items."""
    for number, (ranking, own) in enumerate(zip(rankings, ranks, strict=True)):
        if len(ranking) != len(own) or any(later < rank for rank, later in pairwise(own)):
            raise DataError(
                f"Ranking {number} of {len(ranking)} items needs a rank for each that never "
                f"falls, not {list(own)}."
            )


def _width(rankings: Rankings, place: Ints) -> int:
    spans = (np.ptp(place[np.array(ranking)]) for ranking in rankings if len(ranking) > 1)
    return int(max(spans, default=0))


def _links(ranking: Sequence[int]) -> Ints:
    """Return all pairs of a ranking's items, shape (m * (m - 1) / 2, 2)."""
    items = np.array(ranking)
    first, second = np.triu_indices(len(items), 1)
    return np.stack([items[first], items[second]], axis=1)
