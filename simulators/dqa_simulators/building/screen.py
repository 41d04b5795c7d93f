"""Prices after every candidate decision of a Building situation, by vectors over goods.

Every building that needs a goods receives the same share q = min(1, supply / demand) of its
needs, so a cycle needs no row a building and input, only q: with M the (buildings, goods)
matrix that takes the mean over a building's inputs, and S the output at full supply::

    supply = transpose(S) @ (M @ q)

The (goods, goods) matrix transpose(S) @ M is the same for all candidates; raising building c adds
(scale[c] - 1) * S[c] * (M[c] @ q) to supply. Two additions cover constant parts: goods that
are always met (q = 1), in place of inputs with a need of 0; and a last building that is
never raised, needs only those, and makes what buildings without inputs keep making.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dqa_simulators.building.economy import CYCLES, Economy, prices
from dqa_simulators.checks import FloatArray, IntArray, sums

if TYPE_CHECKING:
    from scipy import sparse

_BLOCK = 100_000
"""Most cells of a (goods, candidates) array: 0.8 MB, so that a few fit into the cache."""

_DENSE = 100_000
"""Matrices of up to so many cells are multiplied faster in full than by their entries."""

_Matrix: TypeAlias = "FloatArray | sparse.csc_array"


def screen(economy: Economy, goods: IntArray, rules: str) -> FloatArray:
    """Return prices after raising each building, and in a last column after raising none.

    Sums round in an order of their own.

    Parameters
    ----------
    economy
        Of g goods and b buildings.
    goods
        Rows of the m goods that are asked about.
    rules
        Name of the rule set.

    Returns
    -------
    array of shape (m, b + 1)
    """
    columns = len(economy.scale) + 1
    simulate = _Screen(economy, rules)
    width = max(1, _BLOCK // max(1, len(economy.base_price)))
    if columns <= width:
        return simulate.prices(slice(0, columns), goods)
    found = np.empty((len(goods), columns))
    for first in range(0, columns, width):
        block = slice(first, min(first + width, columns))
        found[:, block] = simulate.prices(block, goods)
    return found


class _Screen:
    """The matrices of an economy, buildings as columns; see the module for the additions."""

    def __init__(self, economy: Economy, rules: str) -> None:
        self._base_price = economy.base_price
        g, b = len(economy.base_price), len(economy.scale)
        start_demand, start_supply = economy.start(rules)
        demanded = sums(economy.demand_goods, economy.max_demand, g)
        self._demand = start_demand + economy.pop_demand + demanded
        self._supply = start_supply + sums(economy.supply_goods, economy.max_supply, g)
        self._more = np.concatenate((economy.scale, (1.0,))) - 1.0
        needs = economy.demand_goods, economy.demand_building
        makes = economy.supply_goods, economy.supply_building
        self._needed = _matrix(*needs, economy.max_demand, (g, b + 1))
        self._made_first = _matrix(*makes, economy.max_supply, (g, b + 1))

        fed = economy.inputs[economy.supply_building] > 0
        kept = sums(economy.supply_goods, np.where(fed, 0.0, economy.output), g)
        self._made = _matrix(
            np.concatenate((economy.supply_goods, np.arange(g))),
            np.concatenate((economy.supply_building, np.full(g, b))),
            np.concatenate((np.where(fed, economy.max_supply, 0.0), kept)),
            (g, b + 1),
        )
        weight = 1.0 / economy.inputs[economy.demand_building]
        real = economy.max_demand > 0.0
        always_met = sums(economy.demand_building, np.where(real, 0.0, weight), b)
        self._mean = _matrix(
            np.concatenate((economy.demand_goods, np.full(b + 1, g))),
            np.concatenate((economy.demand_building, np.arange(b + 1))),
            np.concatenate((np.where(real, weight, 0.0), always_met, (1.0,))),
            (g + 1, b + 1),
        )
        self._spread = self._made @ self._mean.T

    def prices(self, block: slice, goods: IntArray) -> FloatArray:
        """Return prices of some goods after raising the buildings of a block of columns."""
        more = self._more[block]
        # Goods without demand have no input that asks for them, so any q will do.
        wanted = self._demand > 0.0
        demand = _columns(self._needed, block) * more
        demand += np.where(wanted, self._demand, 1.0)[:, None]
        supply = _columns(self._made_first, block) * more
        supply += self._supply[:, None]
        extra, mean = _columns(self._made, block) * more, _columns(self._mean, block)
        met = np.ones_like(mean)
        for _ in range(CYCLES):
            np.divide(supply, demand, out=met[:-1])
            np.minimum(met, 1.0, out=met)
            supply = self._spread @ met
            supply += extra * np.einsum("gk,gk->k", mean, met)
        asked = demand[goods] * wanted[goods, None]
        return prices(self._base_price[goods, None], asked, supply[goods])


def _matrix(
    rows: IntArray, columns: IntArray, values: FloatArray, shape: tuple[int, int]
) -> _Matrix:
    """Return the matrix with these entries, all different."""
    if shape[0] * shape[1] > _DENSE:
        from scipy import sparse  # few economies are so large that they are worth its import

        return sparse.csc_array((values, (rows, columns)), shape)
    matrix = np.zeros(shape)
    matrix[rows, columns] = values
    return matrix


def _columns(matrix: _Matrix, block: slice) -> FloatArray:
    part = matrix[:, block]
    return part if isinstance(part, np.ndarray) else part.toarray()
