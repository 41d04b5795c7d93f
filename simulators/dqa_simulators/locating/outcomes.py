"""Ground truth of the Locating scenario: the node where a merchant brings the most profit.

The rule set ``paper`` follows ``schemas/locating/rules.md``. These are the rules of PlanRAG,
section 3.1, Figure 7 and Algorithm 1. Powers and values are in the units of the game:

1. Power (Figure 7). Let b be the base_trading_power of a country at a node. The country's power
   is b without a merchant, and 1.05 * (b + 2) with a merchant. With a merchant at an inland node
   it is 1.05 * (b + 2 + max(development / 3, 50)). total_power is the sum over all countries
   (TP_total).
2. Flow (Eq. 1, 2), in topological order. outgoing = (local_value + ingoing) * power of the
   countries that are not at home at the node / total_power. A merchant away from home supports the
   direct flow to its home. Without a direct flow, it supports a flow to a node from which its home
   can be reached. Of several such flows, it supports the first by name of the dest. outgoing is
   divided among the flows in proportion to their supporting power, or equally if no flow is
   supported. Each flow adds 1.05 * flow to the ingoing of its dest.
3. Profit at the home (Eq. 3) = (local_value + ingoing) * the country's power / total_power.

The other rule sets follow the released program, reconstructed from its published answers:

- ``clean`` differs from ``paper`` in two points. The inland bonus is max(development, 50). If no
  flow leads directly to the home node, the merchant supports the first flow in table order.
- ``released`` reproduces the published answers. It differs from ``clean`` in two points.
  total_power and ingoing start from the values in the tables, so both are counted twice. The profit
  is (local_value - outgoing + ingoing) * power / total_power.

The rules define cases that the paper does not define:

- The candidates are all nodes except the question's home. A merchant has no effect at a node where
  its country already has a merchant. A merchant also has no effect at a node without a row of its
  country in `node_country`.
- The column is_home decides whether a row is "at home". A merchant steers towards
  country.home_node. The profit is computed at the home in the question.
- A node without power has no outgoing value. The profit is 0 at a home without power, and at a
  home where the country has no row in `node_country`.
- A merchant supports no flow if its home cannot be reached from its node.

A `SituationError` is raised if flows form a cycle, if a name is unknown or repeated, or if a number
is negative or missing.

Order of summation: powers are summed in the order of `node_country`, arrivals at a node in the
order of `flow` (`dqa_simulators.locating.flows`). A different row order changes outcomes of
``paper`` only by rounding errors. The answer can change only if the outcomes of two candidates
differ only by rounding errors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqa.core.errors import SituationError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import CountingRules, Outcomes
from dqa.core.situation import Situation
from dqa_simulators.cache import PerSituation
from dqa_simulators.checks import FloatArray, IntArray, chosen_rules
from dqa_simulators.locating.flows import NOWHERE, Placements, flows_with
from dqa_simulators.locating.world import RULE_SETS, State, World

_BLOCK = 4_000_000
"""The maximum number of cells of a (flows, placements) array (32 MB)."""

_PROGRAM_BONUS = "the program's inland bonus"

_COUNTING = CountingRules(
    text="paper",
    described={
        "released": (
            "The rules of the published labels. Powers and values start from tables that already "
            "contain the result of a simulation, so they are counted twice. The inland bonus of a "
            "merchant is that of the released program, max(development, 50)."
        ),
        "clean": (
            "One clean simulation per candidate, with the bonus of the released program, "
            "max(development, 50)."
        ),
        "paper": (
            "The text of the paper and of every question: one clean simulation per candidate, "
            "with the bonus max(development / 3, 50)."
        ),
    },
    grounds={
        "released": ("double counting", _PROGRAM_BONUS),
        "clean": ("one clean run", _PROGRAM_BONUS),
        "paper": ("one clean run", "the text's inland bonus"),
    },
)

_world = PerSituation(World)


class LocatingSimulator:
    """Compute the outcomes of placing a merchant, under one of the rule sets of the module."""

    scenario = "locating"
    rule_sets: tuple[str, ...] = tuple(RULE_SETS)
    counting = _COUNTING

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the profit from a merchant at each candidate node, for each question.

        Each candidate takes O(nodes + flows). All candidates share one pass over the nodes.

        Raises
        ------
        UnknownNameError
            The rule set is unknown.
        SituationError
            The situation breaks the rules (see the module), or lacks a name from a question.
        """
        rules = chosen_rules(rules, self.rule_sets)
        world = _world(situation)
        if not questions:
            return []
        state = world.state(rules)
        targets = [_target(world, question) for question in questions]
        placed = [_placements(state, country, home) for country, home in targets]
        homes = np.repeat([home for _, home in targets], [len(one.rows) for one in placed])
        rows = np.concatenate([one.rows for one in placed])
        edges = np.concatenate([one.edges for one in placed])
        arriving = _arriving(state, Placements(rows, edges), homes)
        ends = np.cumsum([len(one.rows) for one in placed])[:-1]
        return [
            _outcomes(state, question, target, one.rows, values)
            for question, target, one, values in zip(
                questions, targets, placed, np.split(arriving, ends), strict=True
            )
        ]

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Return the world with a merchant placed at `decision`. None places no merchant.

        The computed columns have the values of algorithm 1: has_merchant and
        calculated_trading_power of `node_country`; total_power, outgoing and ingoing of
        `trade_node`; flow of `flow`. The simulation takes O(nodes + flows).

        Raises
        ------
        UnknownNameError
            The rule set is unknown.
        SituationError
            The situation breaks the rules (see the module), or `decision` is not a candidate.
        """
        rules = chosen_rules(rules, self.rule_sets)
        if decision is not None:
            situation = _with_merchant(situation, question, decision)
        world = World(situation) if decision is not None else _world(situation)
        state = world.state(rules)
        nowhere = np.array([NOWHERE])
        flows = flows_with(state, Placements(nowhere, nowhere))
        return situation.replace(
            node_country=situation["node_country"].replace(calculated_trading_power=state.power),
            trade_node=situation["trade_node"].replace(
                total_power=state.total, outgoing=flows.outgoing[:, 0], ingoing=flows.ingoing[:, 0]
            ),
            flow=situation["flow"].replace(flow=flows.flow[:, 0]),
        )


SIMULATOR = LocatingSimulator()


def _placements(state: State, country: int, home: int) -> Placements:
    """Return the placements of a country's merchant that may have an effect.

    The last placement is `NOWHERE`: no merchant is placed.
    """
    world = state.world
    rows, _ = world.rows_of_country.of(np.array([country]))
    steers_to = np.full(len(rows), world.home(country))
    edges = np.where(
        world.at_home[rows], NOWHERE, state.steered_edges(world.row_node[rows], steers_to)
    )
    matters = ~world.merchant[rows] & (world.row_node[rows] != home)
    return Placements(np.append(rows[matters], NOWHERE), np.append(edges[matters], NOWHERE))


def _arriving(state: State, placed: Placements, homes: IntArray) -> FloatArray:
    """Return the ingoing value at the home of each placement; shape (k,)."""
    found = np.empty(len(homes))
    width = max(1, _BLOCK // max(1, len(state.world.graph.targets)))
    for first in range(0, len(homes), width):
        block = slice(first, first + width)
        ingoing = flows_with(state, Placements(placed.rows[block], placed.edges[block])).ingoing
        found[block] = ingoing[homes[block], np.arange(ingoing.shape[1])]
    return found


def _outcomes(
    state: State, question: Question, target: tuple[int, int], rows: IntArray, values: FloatArray
) -> Outcomes:
    """Return the profits of a question's candidates.

    The last elements of `rows` and `values` belong to the decision to place no merchant.
    """
    world, (country, home) = state.world, target
    own, _ = world.rows_of_country.of(np.array([country]))
    power = float(state.power[own[world.row_node[own] == home]].sum())
    at_nodes = np.full(world.n, values[-1])
    at_nodes[world.row_node[rows[:-1]]] = values[:-1]
    candidates, chosen = _candidates(world, question, home)
    return Outcomes(
        candidates=candidates,
        values=state.profit(at_nodes[chosen], home, power),
        goal="maximise",
        baseline=float(state.profit(values[-1:], home, power)[0]),
    )


def _candidates(
    world: World, question: Question, home: int
) -> tuple[tuple[Candidate, ...], IntArray]:
    """Return the candidates of a question, and their rows in the table of nodes.

    If the question lists no candidates, all nodes except the home are candidates.
    """
    listed = question.candidates or (*world.names[:home], *world.names[home + 1 :])
    if not listed:
        raise SituationError(
            f"Situation '{world.situation.name}' has no trade node except the home of question "
            f"{question.key}, so there is nothing to decide."
        )
    rows = [_candidate(world, question, candidate, home) for candidate in listed]
    return listed, np.array(rows, np.intp)


def _candidate(world: World, question: Question, candidate: Candidate, home: int) -> int:
    node = world.nodes.get(str(candidate))
    if node is None or node == home:
        raise SituationError(
            f"'{candidate}' is not a candidate of question {question.key}: a candidate is a trade "
            f"node of situation '{world.situation.name}', except the home '{world.names[home]}'."
        )
    return node


def _with_merchant(situation: Situation, question: Question, decision: Candidate) -> Situation:
    """Return a copy of the situation with a merchant of the question's country at `decision`."""
    world = _world(situation)
    country, home = _target(world, question)
    node = _candidate(world, question, decision, home)
    rows, _ = world.rows_of_country.of(np.array([country]))
    table = situation["node_country"]
    merchant = np.array(table["has_merchant"])
    merchant[rows[world.row_node[rows] == node]] = True
    return situation.replace(node_country=table.replace(has_merchant=merchant))


def _target(world: World, question: Question) -> tuple[int, int]:
    """Return the rows of the question's country and home."""
    country, home = question.target.get("country", ""), question.target.get("home", "")
    for name, known, table in (
        (country, world.countries, "country"),
        (home, world.nodes, "trade_node"),
    ):
        if name not in known:
            raise SituationError(
                f"Question {question.key} is about '{name}', but table '{table}' of situation "
                f"'{world.situation.name}' has no row of this name."
            )
    return world.countries[country], world.nodes[home]
