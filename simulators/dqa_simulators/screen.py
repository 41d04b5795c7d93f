"""Prices after every candidate decision of a Building situation, by vectors over goods.

Every building that needs a goods receives the same share q = min(1, supply / demand) of what it
asks for, so a cycle needs no row a building and input, only q: with M the (buildings, goods)
matrix that takes the mean over a building's inputs, and S what it makes at full output::

    supply = transpose(S) @ (M @ q) + what buildings without inputs keep making

The (goods, goods) matrix transpose(S) @ M is the same for all candidates; raising building c adds
(scale[c] - 1) * S[c] * (M[c] @ q) to supply, which touches only c's own rows.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from dqa_simulators.checks import FloatArray, IntArray, sums
from dqa_simulators.economy import CYCLES, Economy, prices
from dqa_simulators.graph import Grouped

__all__ = ["Screen"]

_BLOCK = 2_000_000
"""Most cells of a (goods, candidates) array: 16 MB."""


class Screen:
    """Fast prices of an economy under a rule set; sums round in an order of their own."""

    def __init__(self, economy: Economy, rules: str) -> None:
        self._economy = economy
        g, b = len(economy.goods), len(economy.buildings)
        start = economy.start(rules)
        self._demand = (
            start.demand + economy.pop_demand + sums(economy.demand_goods, economy.max_demand, g)
        )
        self._supply = start.supply + sums(economy.supply_goods, economy.max_supply, g)
        # An input of which nothing is needed is met whatever q: it counts apart from M.
        inputs = np.maximum(economy.inputs, 1)
        weight = 1.0 / inputs[economy.demand_building]
        real = economy.max_demand > 0.0
        self._always_met = sums(economy.demand_building, weight * ~real, b)
        self._weight = weight * real
        makes = economy.inputs[economy.supply_building] > 0
        self._kept = sums(economy.supply_goods, economy.output * ~makes, g)
        self._made = economy.max_supply * makes
        self._kept += sums(
            economy.supply_goods, self._made * self._always_met[economy.supply_building], g
        )
        self._supply_rows = Grouped.by(economy.supply_building, b)
        self._demand_rows = Grouped.by(economy.demand_building, b)
        self._spread = self._transfer()

    def _transfer(self) -> sparse.csr_array:
        """Return transpose(S) @ M: what goods (rows) gain from goods (columns) met in full."""
        economy = self._economy
        rows, counts = self._supply_rows.of(economy.demand_building)
        gains = self._made[rows] * np.repeat(self._weight, counts)
        cells = (economy.supply_goods[rows], np.repeat(economy.demand_goods, counts))
        return sparse.csr_array((gains, cells), (len(economy.goods), len(economy.goods)))

    def prices(self, goods: IntArray) -> FloatArray:
        """Return prices after raising each building, and in a last row after raising none.

        Parameters
        ----------
        goods
            Rows of the goods that are asked about.

        Returns
        -------
        array of shape (b + 1, len(goods))
        """
        b = len(self._economy.buildings)
        width = max(1, _BLOCK // max(1, len(self._economy.goods)))
        found = np.empty((b + 1, len(goods)))
        for first in range(0, b + 1, width):
            end = min(first + width, b + 1)
            found[first:end] = self._block(first, end, goods)
        return found

    def _block(self, first: int, end: int, goods: IntArray) -> FloatArray:
        """Return prices after raising buildings first..end - 1, of which the last may be none."""
        economy, k = self._economy, end - first
        raised = np.arange(first, min(end, len(economy.buildings)))
        needs, counts = self._demand_rows.of(raised)
        needs_of = np.repeat(raised - first, counts)
        makes, counts = self._supply_rows.of(raised)
        makes_of = np.repeat(raised - first, counts)
        more = economy.scale[raised] - 1.0
        needs_goods, makes_goods = economy.demand_goods[needs], economy.supply_goods[makes]
        demand = np.repeat(self._demand[:, None], k, axis=1)
        demand[needs_goods, needs_of] += more[needs_of] * economy.max_demand[needs]
        supply = np.repeat(self._supply[:, None], k, axis=1)
        supply[makes_goods, makes_of] += more[makes_of] * economy.max_supply[makes]
        # Goods without demand have no input that asks for them, so any q will do.
        inverse = np.divide(1.0, demand, out=np.zeros_like(demand), where=demand > 0.0)
        weight, always = self._weight[needs], np.zeros(k)
        always[: len(raised)] = self._always_met[raised]
        extra = more[makes_of] * self._made[makes]
        kept = self._kept[:, None]
        for _ in range(CYCLES):
            met = np.minimum(np.multiply(supply, inverse, out=supply), 1.0, out=supply)
            mean = always + sums(needs_of, weight * met[needs_goods, needs_of], k)
            supply = self._spread @ met
            supply += kept
            supply[makes_goods, makes_of] += extra * mean[makes_of]
        return prices(economy.base_price[goods, None], demand[goods], supply[goods]).T
