"""Ground truth of the Building scenario: which building to expand for the lowest price.

The rules (PlanRAG, section 3.2, figure 7 and algorithm 2; quantities and prices have the game's
own units):

1. Raising a building's level by 5 multiplies its max_demand and max_supply by (level + 5) / level.
2. Demand of goods (Eq. 4) = pop_demand + sum of max_demand. Supply (Eq. 5) starts as the sum of
   max_supply.
3. Ten cycles: current_input = max_demand * supply / demand; current_output = max_supply * mean
   over the building's inputs of min(current_input, max_demand) / max_demand; supply = sum of
   current_output. A building without inputs keeps the current_output that its table has.
4. Price (Eq. 6) = base_price * (1 + 0.75 * (demand - supply) / max(demand, supply)).

Rule set ``paper`` is exactly that; with nothing decided it reproduces every released price to the
last bit. Rule set ``released`` is what the published answers follow: sums of max_demand and of
current_output go on from what the tables hold, so that demand counts twice throughout, and supply
in the first cycle.

What the rules leave open is defined here:

- Goods that nobody wants and nobody makes cost their base price.
- An input of which a building needs 0 is met in full.
- Raising a building of level 0 changes nothing but its level: its rows do not say what a level
  needs and makes.
- An unknown or repeated code or id, a negative or missing number is a `SituationError`.

Order of summation: rows of `supply` and `demand` in table order. All candidates are screened with
vectors over goods, since current_input / max_demand is supply / demand of the goods whatever the
building; those within 1e-12 of the best are then recomputed in exactly that order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqa.errors import SituationError
from dqa.question import Candidate, Question
from dqa.scenarios.building import LEVEL_INCREASE
from dqa.simulator import Outcomes
from dqa.situation import Situation
from dqa_simulators.cache import PerSituation
from dqa_simulators.checks import FloatArray, IntArray, check_rules
from dqa_simulators.economy import NOTHING, RULE_SETS, Economy
from dqa_simulators.screen import Screen

__all__ = ["SIMULATOR", "BuildingSimulator"]

_NEAR = 1e-12
"""Prices this close, relative to the best, are recomputed: some thousand times what one rounding
changes. Where they still differ then, rounding decides."""

_BLOCK = 2_000_000
"""Most cells of an array over rows and candidates: 16 MB."""

_economy = PerSituation(Economy)


class BuildingSimulator:
    """Outcomes of expanding a building, under the rule sets ``released`` and ``paper``."""

    scenario = "building"
    rule_sets: tuple[str, ...] = RULE_SETS

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str
    ) -> list[Outcomes]:
        """Return the price of each question's goods after expanding each building.

        All questions share one run over candidates and goods.

        Raises
        ------
        UnknownNameError
            No such rule set.
        SituationError
            The situation breaks the rules (see the module), or lacks what a question names.
        """
        check_rules(rules, self.rule_sets)
        if not questions:
            return []
        economy = _economy(situation)
        if not economy.buildings:
            raise SituationError(
                f"Situation '{situation.name}' has no buildings, so there is nothing to decide in "
                f"question {questions[0].key}."
            )
        asked = [_goods(situation, question) for question in questions]
        goods, column = np.unique(asked, return_inverse=True)
        screened = Screen(economy, rules).prices(goods)
        values, baseline = screened[:-1], screened[-1]
        near = values <= values.min(axis=0) * (1.0 + _NEAR)
        near &= near.sum(axis=0) > 1
        contested = np.flatnonzero(near.any(axis=1))
        if contested.size:
            values = np.where(near, _exact(economy, contested, goods, rules, values), values)
        return [
            _outcomes(economy, question, values[:, i], float(baseline[i]))
            for question, i in zip(questions, column.tolist(), strict=True)
        ]

    def simulate(
        self, situation: Situation, question: Question, decision: Candidate | None, rules: str
    ) -> Situation:
        """Return the economy after `decision` was expanded (None: after nothing was).

        Every computed column is as algorithm 2 leaves it: level everywhere; max_supply and
        current_output of `supply`; max_demand and current_input of `demand`; current_price.

        Raises
        ------
        UnknownNameError
            No such rule set.
        SituationError
            As `outcomes`, or `decision` is no building.
        """
        check_rules(rules, self.rule_sets)
        economy = _economy(situation)
        chosen = NOTHING if decision is None else _building(economy, question, decision)
        run = economy.run(np.array([chosen]), rules)
        goods, building, supply, demand = (
            situation[name] for name in ("goods", "building", "supply", "demand")
        )
        raised = np.arange(len(building)) == chosen
        return situation.replace(
            goods=goods.replace(current_price=run.price[:, 0]),
            building=building.replace(level=building["level"] + LEVEL_INCREASE * raised),
            supply=supply.replace(
                max_supply=run.max_supply[:, 0],
                current_output=run.current_output[:, 0],
                level=supply["level"] + LEVEL_INCREASE * raised[economy.supply_building],
            ),
            demand=demand.replace(
                max_demand=run.max_demand[:, 0],
                current_input=run.current_input[:, 0],
                level=demand["level"] + LEVEL_INCREASE * raised[economy.demand_building],
            ),
        )


SIMULATOR = BuildingSimulator()


def _goods(situation: Situation, question: Question) -> int:
    """Return the row of the goods that a question asks about."""
    name = question.target.get("goods", "")
    rows = np.flatnonzero(situation["goods"]["goods_name"] == name)
    if rows.size != 1:
        raise SituationError(
            f"Question {question.key} is about goods '{name}', which stand in {rows.size} rows of "
            f"table 'goods' of situation '{situation.name}', not in one."
        )
    return int(rows[0])


def _building(economy: Economy, question: Question, candidate: Candidate) -> int:
    row = economy.buildings.get(candidate) if isinstance(candidate, int) else None
    if row is None:
        raise SituationError(
            f"'{candidate}' is no candidate of question {question.key}: a candidate is the id of "
            f"a building of situation '{economy.situation.name}'."
        )
    return row


def _exact(
    economy: Economy, contested: IntArray, goods: IntArray, rules: str, screened: FloatArray
) -> FloatArray:
    """Return the screened prices with the contested candidates' recomputed in table order."""
    prices = screened.copy()
    width = max(1, _BLOCK // max(1, len(economy.supply_goods) + len(economy.demand_goods)))
    for start in range(0, len(contested), width):
        block = contested[start : start + width]
        prices[block] = economy.run(block, rules).price[goods].T
    return prices


def _outcomes(
    economy: Economy, question: Question, prices: FloatArray, baseline: float
) -> Outcomes:
    every = tuple(economy.buildings)
    candidates = question.candidates
    if candidates is None or candidates == every:
        candidates = every
    else:
        prices = prices[[_building(economy, question, c) for c in candidates]]
    least = prices.min(initial=np.inf)
    return Outcomes(
        candidates=candidates,
        values=prices,
        goal="minimise",
        baseline=baseline,
        decided_by_last_bit=bool(((prices > least) & (prices <= least * (1.0 + _NEAR))).any()),
    )
