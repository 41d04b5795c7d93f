"""Represent a Building situation as arrays, and simulate it exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from dqa.core.situation import Situation
from dqa_simulators.checks import (
    FloatArray,
    IntArray,
    amounts,
    index,
    positions,
    sums,
    unique_pairs,
)

RULE_SETS = ("released", "paper")

LEVEL_INCREASE = 5
"""The number of levels that a decision adds to a building (PlanRAG, appendix A.2)."""

PRICE_SWING = 0.75
"""The largest change of a price, as a share of its base price (PlanRAG, Eq. 6)."""

CYCLES = 10
"""The number of cycles of inputs and outputs (PlanRAG, appendix A.4.2: cycle_cnt)."""

NOTHING = -1
"""The decision to do nothing. Every other decision is the row number of a building."""


def prices(base: FloatArray, demand: FloatArray, supply: FloatArray) -> FloatArray:
    """Return prices (PlanRAG, Eq. 6): base * (1 + 0.75 * (demand - supply) / max(demand, supply)).

    If demand and supply are both 0, the price is the base price. The arguments are broadcast.
    """
    larger = np.maximum(demand, supply)
    gap = demand - supply
    return base * (
        1.0 + np.divide(PRICE_SWING * gap, larger, out=np.zeros_like(gap), where=larger > 0.0)
    )


class Run(NamedTuple):
    """The exact states after k alternative decisions.

    In each array, column j is the state after decision j. A row of an array is a row of the table
    `supply` (s rows), `demand` (d rows) or `goods` (g rows).
    """

    max_supply: FloatArray
    current_output: FloatArray
    max_demand: FloatArray
    current_input: FloatArray
    price: FloatArray


@dataclass(frozen=True)
class Economy:
    """A Building situation as arrays: g goods, b buildings, s rows of supply, d rows of demand.

    Attributes
    ----------
    base_price, pop_demand : arrays of shape (g,)
        The columns of `goods`.
    inputs : array of shape (b,)
        The number of goods that each building needs.
    scale : array of shape (b,)
        The factor of a building's needs and outputs after its level is raised: (level + 5) / level.
        At level 0, the factor is 1.
    supply_goods, supply_building, max_supply, output : arrays of shape (s,)
        For each row of `supply`: the row numbers of its goods and of its building in their
        tables, and the columns max_supply and current_output.
    demand_goods, demand_building, max_demand : arrays of shape (d,)
        For each row of `demand`: the same row numbers, and the column max_demand.
    """

    base_price: FloatArray
    pop_demand: FloatArray
    inputs: IntArray
    scale: FloatArray
    supply_goods: IntArray
    supply_building: IntArray
    max_supply: FloatArray
    output: FloatArray
    demand_goods: IntArray
    demand_building: IntArray
    max_demand: FloatArray

    @classmethod
    def of(cls, situation: Situation) -> Economy:
        """Read a situation.

        Raises
        ------
        SituationError
            A number is negative or missing, a code or an id is unknown, or a key is repeated.
        """
        goods = index(situation, "goods", "code")
        buildings = index(situation, "building", "id")
        level = amounts(situation, "building", "level").astype(np.float64)
        b = len(level)
        ends = []
        for table in ("supply", "demand"):
            of_goods = positions(situation, table, "goods_id", goods, "goods")
            of_building = positions(situation, table, "building_id", buildings, "building")
            unique_pairs(situation, table, of_goods, of_building, b)
            ends.append((of_goods, of_building))
        (supply_goods, supply_building), (demand_goods, demand_building) = ends
        return cls(
            base_price=amounts(situation, "goods", "base_price"),
            pop_demand=amounts(situation, "goods", "pop_demand"),
            inputs=np.bincount(demand_building, minlength=b),
            scale=np.divide(level + LEVEL_INCREASE, level, out=np.ones(b), where=level > 0),
            supply_goods=supply_goods,
            supply_building=supply_building,
            max_supply=amounts(situation, "supply", "max_supply"),
            output=amounts(situation, "supply", "current_output"),
            demand_goods=demand_goods,
            demand_building=demand_building,
            max_demand=amounts(situation, "demand", "max_demand"),
        )

    def start(self, rules: str) -> tuple[FloatArray, FloatArray]:
        """Return the initial demand and supply of each goods, shape (g,).

        Under the rule set ``released``, demand and supply are the sums in the tables. Otherwise
        both are 0.
        """
        goods = len(self.base_price)
        if rules == "released":
            demand = sums(self.demand_goods, self.max_demand, goods)
            return demand, sums(self.supply_goods, self.output, goods)
        return np.zeros(goods), np.zeros(goods)

    def run(self, raised: IntArray, rules: str) -> Run:
        """Simulate k different decisions: row numbers of `building`, or `NOTHING`.

        Products, quotients and sums are computed in the order of PlanRAG, algorithm 2. Rows are
        summed in table order. A cycle takes O(k * (s + d)).
        """
        max_supply = self._scaled(self.max_supply, self.supply_building, raised)
        max_demand = self._scaled(self.max_demand, self.demand_building, raised)
        start_demand, start_supply = self.start(rules)
        demand = self._total(start_demand, self.demand_goods, max_demand)
        supply = self._total(start_supply, self.supply_goods, max_supply)
        demand += self.pop_demand[:, None]
        # A need of 0 is always met. A divisor of 0 is replaced by 1.
        needed, at_most = _nonzero(demand[self.demand_goods]), _nonzero(max_demand)
        makes = self.inputs[self.supply_building, None] > 0
        by_goods = _summing(self.supply_goods, len(self.base_price))
        by_building = _summing(self.demand_building, len(self.inputs))
        for _ in range(CYCLES):
            received = max_demand * supply[self.demand_goods] / needed
            met = np.where(max_demand > 0.0, np.minimum(received, max_demand) / at_most, 1.0)
            mean = (by_building @ met) / np.maximum(self.inputs, 1)[:, None]
            produced = max_supply * mean[self.supply_building]
            output = np.where(makes, produced, self.output[:, None])
            supply = by_goods @ output
        price = prices(self.base_price[:, None], demand, supply)
        return Run(max_supply, output, max_demand, received, price)

    def _scaled(self, amount: FloatArray, building: IntArray, raised: IntArray) -> FloatArray:
        """Return the amounts of n rows after each of k decisions, shape (n, k).

        A decision changes only the amounts of the building that it raises.
        """
        scaled = np.repeat(amount[:, None], len(raised), axis=1)
        # The index -1 (do nothing) writes to an extra element at the end, which no row reads.
        decision = np.full(len(self.scale) + 1, NOTHING)
        decision[raised] = np.arange(len(raised))
        column = decision[building]
        row = np.flatnonzero(column >= 0)
        scaled[row, column[row]] *= self.scale[building[row]]
        return scaled

    def _total(self, start: FloatArray, goods: IntArray, values: FloatArray) -> FloatArray:
        """Return the sum of the values for each goods, plus `start`; shape (g, k).

        Values are added in row order.
        """
        g, k = len(start), values.shape[1]
        first = np.repeat(start[:, None], k, axis=1)
        summing = _summing(np.concatenate((np.arange(g), goods)), g)
        return np.asarray(summing @ np.concatenate((first, values)))


def _summing(groups: IntArray, count: int) -> Any:  # noqa: ANN401  (SciPy's stubs are incomplete)
    """Return a matrix whose product with values, shape (n, k), is the sum of values by group."""
    rows = np.arange(len(groups))
    return csr_array((np.ones(len(groups)), (groups, rows)), shape=(count, len(groups)))


def _nonzero(divisor: FloatArray) -> FloatArray:
    return np.where(divisor > 0.0, divisor, 1.0)
