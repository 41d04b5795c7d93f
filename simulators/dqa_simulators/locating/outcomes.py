"""Ground truth of the Locating scenario: where a merchant brings its country the most profit.

Rule set ``paper`` counts by ``schemas/locating/rules.md``, whose rules are those of PlanRAG's
section 3.1, Figure 7 and Algorithm 1 (powers and values have the game's own units):

1. Power (Figure 7). A country's trading power at a node is its base_trading_power b, with a
   merchant 1.05 * (b + 2), and with a merchant at an inland node
   1.05 * (b + 2 + max(development / 3, 50)). total_power is the sum over countries (TP_total).
2. Flow (Eq. 1, 2), in topological order: outgoing = (local_value + ingoing) * power of the
   countries not at home there / total_power. A merchant away from home supports the flow that
   leads straight home, or else, of those from which home can be reached, the one to the first
   dest by name. Flows share outgoing in proportion to the power that supports them, equally where
   nothing supports any. The dest's ingoing gains 1.05 * flow.
3. Profit (Eq. 3) at home h = (local_value + ingoing) * the country's power / total_power.

The other rule sets follow the released program, as its published answers show:

- ``clean``: one clean run as in ``paper``, but with the program's bonus max(development, 50), and
  with the first flow in table order where ``paper`` goes by name.
- ``released``, which gives the published answers: as ``clean``, but total_power and ingoing start
  from the tables' values, so both count twice, and
  profit = (local_value - outgoing + ingoing) * power / total_power.

The rules define the points that the paper leaves open:

- The candidates are all nodes but the question's home. A merchant where its country has no row in
  `node_country`, or already has a merchant, changes nothing.
- A row counts as "at home" by its is_home; a merchant steers towards country.home_node; profit is
  taken at the home that the question names.
- From a node without power nothing leaves, and at a home without power, or without a row of the
  country in `node_country`, the profit is 0.
- A merchant from whose node home cannot be reached supports no flow.

A cycle of flows, an unknown or repeated name, a negative or missing number is a `SituationError`.

Order of summation: powers in the order of `node_country`, what arrives at a node in the order of
`flow`. All candidates are screened by one forward and one backward solution of a triangular system
(`State`); those within `ROUNDING` of the best are then recomputed in exactly that order. Rows in
another order change outcomes of ``paper`` by rounding alone, and no answer that leads by more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from dqa.core.errors import SituationError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import ROUNDING, CountingRules, Outcomes, StatedRule
from dqa.core.situation import Situation
from dqa_simulators.cache import PerSituation
from dqa_simulators.checks import FloatArray, IntArray, chosen_rules
from dqa_simulators.locating.replay import Placement, Replay
from dqa_simulators.locating.world import (
    ADDED,
    ARRIVAL,
    INLAND,
    MERCHANT,
    RULE_SETS,
    State,
    World,
)

_BLOCK = 4_000_000
"""Most cells of a (nodes, homes) array: 32 MB."""

_PROGRAM_BONUS = "the program's inland bonus"

_COUNTING = CountingRules(
    stated=(
        StatedRule("Value", ("local_value", "ingoing")),
        StatedRule("Presence", ("node_country", "home_node", "is_home")),
        StatedRule(
            "Power",
            (
                f"{MERCHANT} * (base_trading_power + {ADDED:g})",
                f"max(development / {RULE_SETS['paper'].per_bonus:g}, {INLAND:g})",
                "inland",
                "total_power",
            ),
        ),
        StatedRule("Merchants", ("changes nothing",)),
        StatedRule("Profit", ("(local_value + ingoing)", "total_power", "not subtracted")),
        StatedRule("Leaving", ("outgoing", "total_power", "elsewhere")),
        StatedRule("Steering", ("straight", "alphabetical")),
        StatedRule("Sharing", ("in proportion", "the same")),
        StatedRule("Arrival", (f"{ARRIVAL} * flow",)),
        StatedRule("Calculation", ("once", "upstream")),
    ),
    text="paper",
    described={
        "released": (
            "The rules of the published labels: powers and values start from tables that "
            "already contain the result of a simulation, so they count twice, and a merchant's "
            "inland bonus is the released program's, max(development, 50)."
        ),
        "clean": "One clean simulation a candidate, by the program's bonus.",
        "paper": (
            "The paper's text, which is every question's: one clean simulation a candidate, by the "
            "text's bonus, max(development / 3, 50)."
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
    """Outcomes of placing a merchant, under ``released``, ``clean`` and ``paper``."""

    scenario = "locating"
    rule_sets: tuple[str, ...] = tuple(RULE_SETS)
    counting = _COUNTING

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the profit that each candidate node brings, for each question.

        O(nodes + flows + rows of `node_country`) for all candidates of a question together; what
        does not depend on the question is computed once a situation.

        Raises
        ------
        UnknownNameError
            No such rule set.
        SituationError
            The situation breaks the rules (see the module), or lacks a name of a question.
        """
        rules = chosen_rules(rules, self.rule_sets)
        world = _world(situation)
        state = world.state(rules)
        replay = Replay(state)
        width = max(1, _BLOCK // max(1, world.n))
        found: list[Outcomes] = []
        for start in range(0, len(questions), width):
            block = questions[start : start + width]
            screened = _screen(state, [_target(world, question) for question in block])
            found += map(partial(_settle, state, replay), block, screened)
        return found

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Return the world after the merchant was placed at `decision` (None: nowhere).

        Every computed column is as algorithm 1 leaves it: has_merchant and
        calculated_trading_power of `node_country`; total_power, outgoing and ingoing of
        `trade_node`; flow of `flow`. A plain loop in the order of summation: O(nodes + flows).

        Raises
        ------
        UnknownNameError
            No such rule set.
        SituationError
            As `outcomes`, or `decision` is no candidate of the question.
        """
        rules = chosen_rules(rules, self.rule_sets)
        if decision is not None:
            situation = _with_merchant(situation, question, decision)
        world = World(situation) if decision is not None else _world(situation)
        state = world.state(rules)
        flows = Replay(state).run()
        return situation.replace(
            node_country=situation["node_country"].replace(calculated_trading_power=state.power),
            trade_node=situation["trade_node"].replace(
                total_power=state.total,
                outgoing=flows.outgoing,
                ingoing=flows.ingoing,
            ),
            flow=situation["flow"].replace(flow=flows.flow),
        )


SIMULATOR = LocatingSimulator()


class _Screened(NamedTuple):
    """One question's candidates before near-ties are settled.

    Attributes
    ----------
    home
        Row of the question's home.
    power
        The country's power at home; 0 where it has none.
    baseline
        Ingoing value at home where no merchant is placed.
    rows, edges : arrays of shape (k,)
        Rows of `node_country` where a merchant changes what reaches home, and the flow that it
        would support there, or -1.
    values : array of shape (k,)
        Ingoing value at home with the merchant there.
    """

    home: int
    power: float
    baseline: float
    rows: IntArray
    edges: IntArray
    values: FloatArray


def _screen(state: State, targets: Sequence[tuple[int, int]]) -> list[_Screened]:
    """Compute what arrives at home with a merchant at every node, for many questions at once.

    A merchant changes the ratio and the shares of its own node only, and no value upstream of it
    or at it, so the value at home changes by x * (what home gains from one unit of value there
    with the merchant - without it).
    """
    world, graph = state.world, state.world.graph
    homes, column = np.unique([home for _, home in targets], return_inverse=True)
    gains = state.gains(homes)
    downstream = state.shares @ gains  # what home gains from one unit that leaves a node
    rows, counts = world.rows_of_country.of(np.array([country for country, _ in targets]))
    question = np.repeat(np.arange(len(targets)), counts)
    node, home = world.row_node[rows], column[question]
    steers_to = np.repeat([world.home(country) for country, _ in targets], counts)
    edges = np.where(world.at_home[rows], -1, state.steered_edges(node, steers_to))

    power = state.power_with_merchant(rows)
    added = np.where(world.merchant[rows], 0.0, power - state.power[rows])
    away = np.where(world.at_home[rows], 0.0, added)
    total = state.total[node] + added
    ratio = np.divide(state.away[node] + away, total, out=np.zeros(len(rows)), where=total > 0.0)
    before = downstream[node, home]
    steered = state.steered[node]
    ends = graph.targets[edges] if len(graph.targets) else node
    towards = (steered * before + power * gains[ends, home]) / (steered + power)
    after = np.where(edges >= 0, towards, before)
    ingoing = state.value - world.local
    values = ingoing[homes[home]] + state.value[node] * ARRIVAL * (
        ratio * after - state.ratio[node] * before
    )
    counts_for = (
        ~world.merchant[rows] & (state.value[node] > 0.0) & ((before > 0.0) | (after > 0.0))
    )
    counts_for &= node != homes[home]
    return [
        _Screened(
            home=own_home,
            power=_power_at(state, rows[start:end], own_home),
            baseline=float(ingoing[own_home]),
            rows=rows[start:end][counts_for[start:end]],
            edges=edges[start:end][counts_for[start:end]],
            values=values[start:end][counts_for[start:end]],
        )
        for (_, own_home), start, end in zip(
            targets, (np.cumsum(counts) - counts).tolist(), np.cumsum(counts).tolist(), strict=True
        )
    ]


def _power_at(state: State, rows: IntArray, node: int) -> float:
    """Return the power in those of a country's rows that are about `node`; 0 if none is."""
    return float(state.power[rows[state.world.row_node[rows] == node]].sum())


def _settle(state: State, replay: Replay, question: Question, screened: _Screened) -> Outcomes:
    """Recompute near-ties in the documented order, and list the outcomes."""
    world = state.world
    home, rows, values = screened.home, screened.rows, screened.values.copy()
    baseline = screened.baseline
    best = float(values.max(initial=baseline))
    bound = best - ROUNDING * (best + float(world.local[home]))
    near = values >= bound
    # Candidates that change nothing all have the baseline's value, exactly.
    if np.count_nonzero(near) + (baseline >= bound) > 1 and near.any():
        baseline = replay.ingoing_at(home, None)
        for i in np.flatnonzero(near).tolist():
            placement = Placement(int(rows[i]), int(screened.edges[i]))
            values[i] = replay.ingoing_at(home, placement)
    at_nodes = np.full(world.n, baseline)
    at_nodes[world.row_node[rows]] = values
    candidates, chosen = _candidates(world, question, home)
    return Outcomes(
        candidates=candidates,
        values=state.profit(at_nodes[chosen], home, screened.power),
        goal="maximise",
        baseline=float(state.profit(np.array([baseline]), home, screened.power)[0]),
    )


def _candidates(
    world: World, question: Question, home: int
) -> tuple[tuple[Candidate, ...], IntArray]:
    """Return the question's candidates (all nodes but home, unless it lists its own) and rows."""
    names = (*world.names[:home], *world.names[home + 1 :])
    listed = question.candidates
    if listed is None or listed == names:
        if not names:
            raise SituationError(
                f"Situation '{world.situation.name}' has no trade node but the home of question "
                f"{question.key}, so there is nothing to decide."
            )
        every = np.arange(world.n - 1)
        every[home:] += 1
        return names, every
    rows = [_candidate(world, question, candidate, home) for candidate in listed]
    return listed, np.array(rows, np.intp)


def _candidate(world: World, question: Question, candidate: Candidate, home: int) -> int:
    node = world.nodes.get(str(candidate))
    if node is None or node == home:
        raise SituationError(
            f"'{candidate}' is no candidate of question {question.key}: a candidate is a trade "
            f"node of situation '{world.situation.name}' other than '{world.names[home]}'."
        )
    return node


def _with_merchant(situation: Situation, question: Question, decision: Candidate) -> Situation:
    """Return the situation with a merchant of the question's country at `decision`."""
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
                f"Question {question.key} is about '{name}', which table '{table}' of situation "
                f"'{world.situation.name}' does not have."
            )
    return world.countries[country], world.nodes[home]
