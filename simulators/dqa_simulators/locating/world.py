"""Represent a Locating situation as arrays, and compute its powers and flows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dqa.core.errors import SituationError
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
from dqa_simulators.locating.graph import FlowGraph, Grouped


class RuleSet(NamedTuple):
    """The differences between the rule sets.

    Attributes
    ----------
    continues
        Whether total_power and ingoing start from the values in the tables, so that both are
        counted twice. If so, the outgoing value of home is also subtracted from the profit.
    per_bonus
        The development that gives a merchant one point of inland bonus.
    by_name
        Whether a merchant without a direct route home takes the route whose dest has the first
        name. Otherwise it takes the first route in table order.
    """

    continues: bool
    per_bonus: float
    by_name: bool


RULE_SETS: Mapping[str, RuleSet] = {
    "released": RuleSet(continues=True, per_bonus=1.0, by_name=False),
    "clean": RuleSet(continues=False, per_bonus=1.0, by_name=False),
    "paper": RuleSet(continues=False, per_bonus=3.0, by_name=True),
}
"""The rule sets by name; `dqa_simulators.locating.outcomes` describes them."""

ARRIVAL = 1.05
"""The value that arrives at the end of a route per unit that leaves (PlanRAG, Eq. 2)."""

MERCHANT = 1.05
"""A merchant multiplies its country's power by this factor (PlanRAG, figure 7)."""

ADDED = 2.0
"""A merchant adds this number to its country's power, before the factor (PlanRAG, figure 7)."""

INLAND = 50.0
"""The minimum bonus of a merchant at an inland node, before the factor (PlanRAG, figure 7)."""


class World:
    """A Locating situation as arrays: n nodes, m flows, r rows of `node_country`.

    Attributes
    ----------
    nodes, countries
        Row number of each name in its table.
    graph
        The flow graph.
    row_node, row_country : arrays of shape (r,)
        For each row of `node_country`: the row numbers of its node and its country.
    base : array of shape (r,)
        Trading power without merchants.
    at_home, merchant : arrays of shape (r,)
        The columns is_home and has_merchant of `node_country`.

    Raises
    ------
    SituationError
        The flows form a cycle, a number is negative or missing, a node or country is unknown, a
        key is repeated, or the home of a merchant's country is not a node.
    """

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.nodes: dict[str, int] = index(situation, "trade_node", "trade_node")
        self.countries: dict[str, int] = index(situation, "country", "country_name")
        self.names = tuple(self.nodes)
        self.n = len(self.names)
        self.local = amounts(situation, "trade_node", "local_value")
        self.inland = situation["trade_node"]["is_inland"]
        self.development = amounts(situation, "country", "development")
        self.graph = self._flow_graph()
        self.row_node = self._ends("node_country", "trade_node")
        self.row_country = positions(
            situation, "node_country", "country_name", self.countries, "country"
        )
        unique_pairs(
            situation, "node_country", self.row_node, self.row_country, len(self.countries)
        )
        rows = situation["node_country"]
        self.base = amounts(situation, "node_country", "base_trading_power")
        self.at_home: NDArray[np.bool_] = rows["is_home"]
        self.merchant: NDArray[np.bool_] = rows["has_merchant"]
        self._states: dict[str, State] = {}

    def _ends(self, table: str, column: str) -> IntArray:
        return positions(self.situation, table, column, self.nodes, "trade_node")

    def _flow_graph(self) -> FlowGraph:
        sources, targets = self._ends("flow", "source"), self._ends("flow", "dest")
        unique_pairs(self.situation, "flow", sources, targets, self.n)
        return FlowGraph(self.names, sources, targets, self.situation.name)

    def home(self, country: int) -> int:
        """Return the home node of a country. Raise `SituationError` if it is not a node."""
        table = self.situation["country"]
        name = table["home_node"][country]
        if name not in self.nodes:
            raise SituationError(
                f"Situation '{self.situation.name}': country "
                f"'{table['country_name'][country]}' (row {country}) has the home_node {name!r}, "
                "but table 'trade_node' does not have this node."
            )
        return self.nodes[name]

    @cached_property
    def steering(self) -> tuple[IntArray, IntArray]:
        """The rows of merchants away from home, and the home that each merchant steers to."""
        rows = np.flatnonzero(self.merchant & ~self.at_home)
        owners, owner = np.unique(self.row_country[rows], return_inverse=True)
        homes = np.array([self.home(country) for country in owners.tolist()], np.intp)
        return rows, homes[owner]

    @cached_property
    def rows_of_country(self) -> Grouped:
        """Rows of `node_country` grouped by country."""
        return Grouped.by(self.row_country, len(self.countries))

    @cached_property
    def rows_of_node(self) -> Grouped:
        """Rows of `node_country` grouped by node."""
        return Grouped.by(self.row_node, self.n)

    def state(self, rules: str) -> State:
        """Return the powers and flows under a rule set. The result is cached."""
        if rules not in self._states:
            self._states[rules] = State(self, rules)
        return self._states[rules]


class State:
    """Powers of a world under a rule set, without a decision.

    Attributes
    ----------
    power : array of shape (r,)
        Trading power of each row of `node_country`, including the merchants in the table.
    supports : array of shape (m,)
        Power of the merchants that steer along each flow.
    total : array of shape (n,)
        Power of all countries at each node, plus `start_power`.
    away : array of shape (n,)
        Power of the countries that are not at home at each node.
    ratio : array of shape (n,)
        away / total; 0 at a node without power, which has no outgoing value.
    start_power, start_ingoing : arrays of shape (n,)
        The initial values of total_power and ingoing: for ``released`` the values in the tables,
        otherwise 0.
    """

    def __init__(self, world: World, rules: str) -> None:
        self.world, self.rules = world, RULE_SETS[rules]
        graph, n = world.graph, world.n
        self.power = np.array(world.base)
        merchants = np.flatnonzero(world.merchant)
        self.power[merchants] = self.power_with_merchant(merchants)
        rows, edges = self.steering
        self.supports = sums(edges, self.power[rows], len(graph.sources))
        self.start_power, self.start_ingoing = np.zeros(n), np.zeros(n)
        if self.rules.continues:
            self.start_power = amounts(world.situation, "trade_node", "total_power")
            self.start_ingoing = amounts(world.situation, "trade_node", "ingoing")
        self.total = sums(  # the total in the table is the first summand
            np.concatenate((np.arange(n), world.row_node)),
            np.concatenate((self.start_power, self.power)),
            n,
        )
        self.away = sums(world.row_node, np.where(world.at_home, 0.0, self.power), n)
        self.ratio = np.divide(self.away, self.total, out=np.zeros(n), where=self.total > 0.0)

    def power_with_merchant(self, rows: IntArray) -> FloatArray:
        """Return the power of rows of `node_country` with a merchant; shape (k,).

        The power is 1.05 * (base + 2), and 1.05 * (base + 2 + bonus) at an inland node. The bonus
        is max(development / 3, 50) (PlanRAG, figure 7). In the released program it is
        max(development, 50).
        """
        world = self.world
        development = world.development[world.row_country[rows]]
        bonus = np.maximum(development / self.rules.per_bonus, INLAND)
        coast: FloatArray = world.base[rows] + ADDED
        return MERCHANT * np.where(world.inland[world.row_node[rows]], coast + bonus, coast)

    @cached_property
    def steering(self) -> tuple[IntArray, IntArray]:
        """The rows of merchants away from home that support a flow, and the supported flows.

        A merchant supports no flow if no flows lead from its node to its home.
        """
        rows, homes = self.world.steering
        edges = self.steered_edges(self.world.row_node[rows], homes)
        found = edges >= 0
        return rows[found], edges[found]

    def steered_edges(self, nodes: IntArray, homes: IntArray) -> IntArray:
        """Return the flow that a merchant supports from each node to its home, or -1."""
        return self.world.graph.steered_edges(nodes, homes, by_name=self.rules.by_name)

    def profit(self, ingoing: FloatArray, home: int, power: float) -> FloatArray:
        """Return the profit at the node `home`; `ingoing` and `power` are the values at this node.

        The profit is (local_value + ingoing) * power / total_power (PlanRAG, Eq. 1 and 3), and 0
        at a home without power. The rule set ``released`` subtracts the outgoing value of home:
        (local_value - outgoing + ingoing) * power / total_power.
        """
        if not self.total[home] > 0.0:
            return np.zeros_like(ingoing)
        local = self.world.local[home]
        retained = local + ingoing
        if self.rules.continues:
            retained = local - retained * self.ratio[home] + ingoing
        return np.asarray(retained * (power / self.total[home]))
