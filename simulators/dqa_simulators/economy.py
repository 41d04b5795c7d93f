"""A Building situation as arrays, and its exact simulation in the order of its tables."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from dqa.scenarios.building import LEVEL_INCREASE
from dqa.situation import Situation
from dqa_simulators.checks import (
    FloatArray,
    IntArray,
    amounts,
    index,
    positions,
    sums,
    unique_pairs,
)

__all__ = ["CYCLES", "RULE_SETS", "Economy", "Run", "Totals", "prices"]

RULE_SETS = ("released", "paper")

CYCLES = 10
"""How often inputs and outputs follow each other (PlanRAG, appendix A.4.2: cycle_cnt)."""

NOTHING = -1
"""In place of a building's row: nothing is decided."""


def prices(base: FloatArray, demand: FloatArray, supply: FloatArray) -> FloatArray:
    """Return market prices (PlanRAG, Eq. 6): base * (1 + 0.75 * (demand - supply) / max of both).

    The base price where demand and supply are both 0. Shapes broadcast.
    """
    larger = np.maximum(demand, supply)
    gap = demand - supply
    return base * (1.0 + np.divide(0.75 * gap, larger, out=np.zeros_like(gap), where=larger > 0.0))


class Totals(NamedTuple):
    """What rule set ``released`` starts from, shape (g,): sums the tables already hold."""

    demand: FloatArray
    supply: FloatArray


class Run(NamedTuple):
    """The exact state after k decisions, one a column: s supply rows, d demand rows, g goods."""

    max_supply: FloatArray
    current_output: FloatArray
    max_demand: FloatArray
    current_input: FloatArray
    price: FloatArray


class Economy:
    """A Building situation as arrays: g goods, b buildings, s rows of supply, d rows of demand.

    Attributes
    ----------
    goods, buildings
        Row of each goods code and building id in its table.
    supply_goods, supply_building : arrays of shape (s,)
        What each row of `supply` is about, as rows of the two tables.
    demand_goods, demand_building : arrays of shape (d,)
        The same for `demand`.
    inputs : array of shape (b,)
        How many goods each building needs.
    scale : array of shape (b,)
        What raising its level multiplies a building's quantities by: (level + 5) / level. 1 at
        level 0, where the tables do not say what a level would need and make.

    Raises
    ------
    SituationError
        A negative or missing number; an unknown code or id; a key that stands twice.
    """

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.goods: dict[int, int] = index(situation, "goods", "code")
        self.buildings: dict[int, int] = index(situation, "building", "id")
        self.base_price = amounts(situation, "goods", "base_price")
        self.pop_demand = amounts(situation, "goods", "pop_demand")
        level = amounts(situation, "building", "level")
        self.level = level.astype(np.float64)
        raised = self.level + LEVEL_INCREASE
        self.scale = np.divide(raised, self.level, out=np.ones(len(level)), where=level > 0)
        self.supply_goods, self.supply_building = self._ends("supply")
        self.demand_goods, self.demand_building = self._ends("demand")
        self.max_supply = amounts(situation, "supply", "max_supply")
        self.output = amounts(situation, "supply", "current_output")
        self.max_demand = amounts(situation, "demand", "max_demand")
        self.inputs = np.bincount(self.demand_building, minlength=len(self.buildings))

    def _ends(self, table: str) -> tuple[IntArray, IntArray]:
        goods = positions(self.situation, table, "goods_id", self.goods, "goods")
        building = positions(self.situation, table, "building_id", self.buildings, "building")
        unique_pairs(self.situation, table, goods, building, len(self.buildings))
        return goods, building

    @cached_property
    def totals(self) -> Totals:
        """Sums of max_demand and of current_output as the tables have them."""
        g = len(self.goods)
        return Totals(
            sums(self.demand_goods, self.max_demand, g),
            sums(self.supply_goods, self.output, g),
        )

    def start(self, rules: str) -> Totals:
        """Return what demand and supply start from: the tables' totals, or 0."""
        if rules == "released":
            return self.totals
        return Totals(np.zeros(len(self.goods)), np.zeros(len(self.goods)))

    def run(self, raised: IntArray, rules: str) -> Run:
        """Simulate k decisions (rows of `building`, or -1 for none) in the order of the tables.

        PlanRAG, algorithm 2, with every product, quotient and sum in the order in which it is
        written there, and sums over rows in table order; O(k * (s + d)) a cycle.
        """
        k, b = len(raised), len(self.buildings)
        max_supply = self._scaled(self.max_supply, self.supply_building, raised)
        max_demand = self._scaled(self.max_demand, self.demand_building, raised)
        start = self.start(rules)
        demand = self._total(start.demand, self.demand_goods, max_demand)
        supply = self._total(start.supply, self.supply_goods, max_supply)
        demand += self.pop_demand[:, None]
        # Where nothing is needed a divisor of 1 stands in for 0, and the input is met in full.
        needs_nothing = max_demand == 0.0
        some = bool(needs_nothing.any())
        needed = _nonzero(demand[self.demand_goods])
        at_most = _nonzero(max_demand)
        inputs = np.maximum(self.inputs, 1)[:, None]
        makes = self.inputs[self.supply_building] > 0
        makers, most = self.supply_building[makes], max_supply[makes]
        output = np.repeat(self.output[:, None], k, axis=1)
        received = max_demand
        sum_by_building = _OrderedSum(self.demand_building, b, k)
        sum_by_goods = _OrderedSum(self.supply_goods, len(self.goods), k)
        for _ in range(CYCLES):
            received = max_demand * supply[self.demand_goods] / needed
            met = np.minimum(received, max_demand) / at_most
            if some:
                met[needs_nothing] = 1.0
            output[makes] = most * (sum_by_building(met) / inputs)[makers]
            supply = sum_by_goods(output)
        price = prices(self.base_price[:, None], demand, supply)
        return Run(max_supply, output, max_demand, received, price)

    def _scaled(self, amount: FloatArray, building: IntArray, raised: IntArray) -> FloatArray:
        """Return an amount a row (shape (n,)) after each decision; shape (n, k)."""
        scaled = np.repeat(amount[:, None], len(raised), axis=1)
        row, column = np.nonzero(building[:, None] == raised[None, :])
        scaled[row, column] *= self.scale[building[row]]
        return scaled

    def _total(self, start: FloatArray, goods: IntArray, values: FloatArray) -> FloatArray:
        """Add (n, k) values by goods onto `start` (shape (g,)), in row order; shape (g, k)."""
        g, k = len(self.goods), values.shape[1]
        first = np.repeat(start[:, None], k, axis=1)
        add = _OrderedSum(np.concatenate((np.arange(g), goods)), g, k)
        return add(np.concatenate((first, values)))


class _OrderedSum:
    """Sums (n, k) values by group, one row after another, into shape (count, k)."""

    def __init__(self, groups: IntArray, count: int, k: int) -> None:
        self._shape = (count, k)
        self._cells = (groups[:, None] * k + np.arange(k)).ravel()

    def __call__(self, values: FloatArray) -> FloatArray:
        count, k = self._shape
        return sums(self._cells, values.ravel(), count * k).reshape(self._shape)


def _nonzero(divisor: FloatArray) -> FloatArray:
    return np.where(divisor > 0.0, divisor, 1.0)
