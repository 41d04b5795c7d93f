"""A Locating situation as arrays, and its powers and flows under a rule set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
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
    """One way of counting.

    Attributes
    ----------
    continues
        Whether total_power and ingoing start from the tables' values, so that both count twice,
        and the outgoing value of home is subtracted.
    per_bonus
        How much development is worth one of a merchant's inland bonus.
    by_name
        Whether a merchant without a route straight home takes the first by its dest's name, and
        not the first in table order.
    """

    continues: bool
    per_bonus: float
    by_name: bool


RULE_SETS: Mapping[str, RuleSet] = MappingProxyType(
    {
        "released": RuleSet(continues=True, per_bonus=1.0, by_name=False),
        "clean": RuleSet(continues=False, per_bonus=1.0, by_name=False),
        "paper": RuleSet(continues=False, per_bonus=3.0, by_name=True),
    }
)
"""By name; `dqa_simulators.locating.outcomes` describes each of them."""

ARRIVAL = 1.05
"""The arrivals at the end of a route, per unit that leaves (PlanRAG, Eq. 2)."""

MERCHANT = 1.05
"""The factor of a merchant on its country's power (PlanRAG, figure 7)."""

ADDED = 2.0
"""The addition of a merchant to its country's power before that (PlanRAG, figure 7)."""

INLAND = 50.0
"""The least that it adds at an inland node besides (PlanRAG, figure 7)."""


class World:
    """A Locating situation as arrays: n nodes, m flows, r rows of `node_country`.

    Attributes
    ----------
    nodes, countries
        Row of each name in its table.
    graph
        The flow graph.
    row_node, row_country : arrays of shape (r,)
        What each row of `node_country` is about, as rows of the two tables.
    base : array of shape (r,)
        Trading power without merchants.
    at_home, merchant : arrays of shape (r,)
        The columns is_home and has_merchant of `node_country`.

    Raises
    ------
    SituationError
        A cycle of flows; a negative or missing number; an unknown node or country; a key that
        stands twice; a merchant whose country's home is no node.
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
        """Return a country's home node; `SituationError` where it is no node of the world."""
        table = self.situation["country"]
        name = table["home_node"][country]
        if name not in self.nodes:
            raise SituationError(
                f"Situation '{self.situation.name}': home_node of row {country} of table "
                f"'country' ({table['country_name'][country]}) is {name!r}, which table "
                "'trade_node' does not have."
            )
        return self.nodes[name]

    @cached_property
    def steering(self) -> tuple[IntArray, IntArray]:
        """Rows of merchants away from home, and the home that each of them steers to."""
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
        """Return powers and flows under a rule set, computed once."""
        if rules not in self._states:
            self._states[rules] = State(self, rules)
        return self._states[rules]


class State:
    """Powers and flows of a world under a rule set, where nothing is decided.

    Attributes
    ----------
    power : array of shape (r,)
        Trading power of each row of `node_country`, with the merchants that the table has.
    supports : array of shape (m,)
        Power of the merchants that steer along each flow.
    total, away : arrays of shape (n,)
        Power of all countries at each node (with what `released` starts from), and of those that
        are not at home there.
    ratio : array of shape (n,)
        away / total; 0 at a node without power, from which nothing leaves.
    start_power, start_ingoing : arrays of shape (n,)
        What total_power and ingoing start from.
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
        self.total = sums(  # the table's own total comes first
            np.concatenate((np.arange(n), world.row_node)),
            np.concatenate((self.start_power, self.power)),
            n,
        )
        self.away = sums(world.row_node, np.where(world.at_home, 0.0, self.power), n)
        self.ratio = np.divide(self.away, self.total, out=np.zeros(n), where=self.total > 0.0)

    def power_with_merchant(self, rows: IntArray) -> FloatArray:
        """Return the power of rows of `node_country` with a merchant; shape (k,).

        1.05 * (base + 2), and at an inland node 1.05 * (base + 2 + bonus), with a bonus of
        max(development / 3, 50) (PlanRAG, figure 7) or, in the released program,
        max(development, 50).
        """
        world = self.world
        development = world.development[world.row_country[rows]]
        bonus = np.maximum(development / self.rules.per_bonus, INLAND)
        coast: FloatArray = world.base[rows] + ADDED
        return MERCHANT * np.where(world.inland[world.row_node[rows]], coast + bonus, coast)

    @cached_property
    def steering(self) -> tuple[IntArray, IntArray]:
        """Rows of merchants away from home that support a flow, and the flow each supports.

        A merchant from whose node no flow leads home supports none.
        """
        rows, homes = self.world.steering
        edges = self.steered_edges(self.world.row_node[rows], homes)
        found = edges >= 0
        return rows[found], edges[found]

    def steered_edges(self, nodes: IntArray, homes: IntArray) -> IntArray:
        """Return the flow that a merchant supports from each node towards a home, or -1."""
        return self.world.graph.steered_edges(nodes, homes, by_name=self.rules.by_name)

    def profit(self, ingoing: FloatArray, home: int, power: float) -> FloatArray:
        """Return the profit at home from what arrives there and the country's power there.

        (local_value + ingoing) * power / total_power (PlanRAG, Eq. 1 and 3); ``released``
        subtracts what leaves home: local_value - outgoing + ingoing. 0 at a home without power.
        """
        if not self.total[home] > 0.0:
            return np.zeros_like(ingoing)
        local = self.world.local[home]
        kept = local + ingoing
        if self.rules.continues:
            kept = local - kept * self.ratio[home] + ingoing
        return np.asarray(kept * (power / self.total[home]))
