"""Ground truth of the Building scenario: the building whose expansion gives the lowest price.

The rule set ``paper`` follows ``schemas/building/rules.md``. These are the rules of PlanRAG,
section 3.2, Figure 7 and Algorithm 2. Without a decision, they reproduce every released price to
the last bit. The rules, with quantities and prices in the units of the game:

1. Raising a building's level by 5 (appendix A.2) multiplies its max_demand and max_supply by
   (level + 5) / level.
2. Demand of goods (Eq. 4) = pop_demand + sum of max_demand. Supply (Eq. 5) starts as the sum of
   max_supply.
3. Ten cycles (cycle_cnt): current_input = max_demand * supply / demand; current_output =
   max_supply * mean over the building's inputs of min(current_input, max_demand) / max_demand;
   supply = sum of current_output. A building without inputs keeps the current_output in the
   table.
4. Price (Eq. 6) = base_price * (1 + 0.75 * (demand - supply) / max(demand, supply)).

The rule set ``released`` reproduces the published answers. Demand starts from the sum of max_demand
in the tables, and supply from the sum of current_output. Then the program adds the sums of
``paper``. So demand counts twice in every cycle. Supply counts twice only in the first cycle. There
is no rule set ``clean`` as in Locating. It would be equal to ``paper``, because the released
program differs from the paper only in double counting.

The rules define cases that the paper does not define:

- Goods without demand and supply cost their base price.
- A need of 0 is met in full.
- Raising a building of level 0 changes only its level. The tables do not contain the needs and the
  output of one level.

A `SituationError` is raised if a code or an id is unknown or repeated, or if a number is negative
or missing.

Order of summation: rows of `supply` and `demand` are summed in table order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqa.core.errors import SituationError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import CountingRules, Outcomes
from dqa.core.situation import Situation
from dqa_simulators.building.economy import LEVEL_INCREASE, NOTHING, RULE_SETS, Economy
from dqa_simulators.cache import PerSituation
from dqa_simulators.checks import FloatArray, IntArray, chosen_rules, index

_BLOCK = 2_000_000
"""The maximum number of cells of an array over rows and candidates (16 MB)."""

_COUNTING = CountingRules(
    text="paper",
    described={
        "released": (
            "The rules of the published labels. Demand and supply start from tables that already "
            "contain the result of a simulation, so they are counted twice."
        ),
        "paper": "The text of the paper: one clean simulation per candidate.",
    },
    grounds={"released": ("double counting",), "paper": ("one clean run",)},
)

_economy = PerSituation(Economy.of)


class BuildingSimulator:
    """Compute the outcomes of expanding a building, under one of the rule sets of the module."""

    scenario = "building"
    rule_sets: tuple[str, ...] = RULE_SETS
    counting = _COUNTING

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the price of each question's goods after the expansion of each building.

        The candidates are simulated once for all questions.

        Raises
        ------
        UnknownNameError
            The rule set is unknown.
        SituationError
            The situation breaks the rules (see the module), or lacks a name from a question.
        """
        rules = chosen_rules(rules, self.rule_sets)
        if not questions:
            return []
        economy = _economy(situation)
        buildings: tuple[Candidate, ...] = tuple(situation["building"]["id"].tolist())
        if not buildings:
            raise SituationError(
                f"Situation '{situation.name}' has no buildings, so there is nothing to decide in "
                f"question {questions[0].key}."
            )
        goods = _goods(situation, questions)
        values, baselines = _prices(economy, goods, rules)
        found = []
        for question, prices, baseline in zip(questions, values, baselines.tolist(), strict=True):
            listed = question.candidates or buildings
            judged = prices[_rows(situation, question, listed)]
            found.append(Outcomes(listed, judged, goal="minimise", baseline=baseline))
        return found

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Return the situation after the expansion of a building; None expands no building.

        The computed columns have the values of algorithm 2: level in all tables; max_supply and
        current_output of `supply`; max_demand and current_input of `demand`; current_price.

        Raises
        ------
        UnknownNameError
            The rule set is unknown.
        SituationError
            The situation breaks the rules (see the module), or `decision` is not a building.
        """
        rules = chosen_rules(rules, self.rule_sets)
        economy = _economy(situation)
        chosen = NOTHING if decision is None else _rows(situation, question, (decision,))[0]
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


def _goods(situation: Situation, questions: Sequence[Question]) -> IntArray:
    """Return the row number of each question's goods, shape (m,)."""
    names = situation["goods"]["goods_name"].tolist()
    rows = np.empty(len(questions), np.intp)
    for number, question in enumerate(questions):
        name = question.target.get("goods", "")
        if names.count(name) != 1:
            raise SituationError(
                f"Question {question.key} is about goods '{name}'. Table 'goods' of situation "
                f"'{situation.name}' must have exactly one row with this name, but it has "
                f"{names.count(name)}."
            )
        rows[number] = names.index(name)
    return rows


def _rows(situation: Situation, question: Question, candidates: Sequence[Candidate]) -> list[int]:
    known = index(situation, "building", "id")
    for candidate in candidates:
        if not isinstance(candidate, int) or candidate not in known:
            raise SituationError(
                f"'{candidate}' is not a candidate of question {question.key}: a candidate is the "
                f"id of a building of situation '{situation.name}'."
            )
    return [known[candidate] for candidate in candidates]


def _prices(economy: Economy, goods: IntArray, rules: str) -> tuple[FloatArray, FloatArray]:
    """Return the prices of m goods after raising each building, and without a decision.

    The arrays have shapes (m, b) and (m,).
    """
    decisions = np.append(np.arange(len(economy.scale)), NOTHING)
    found = np.empty((len(goods), len(decisions)))
    width = max(1, _BLOCK // max(1, len(economy.supply_goods) + len(economy.demand_goods)))
    for first in range(0, len(decisions), width):
        block = slice(first, first + width)
        found[:, block] = economy.run(decisions[block], rules).price[goods]
    return found[:, :-1], found[:, -1]
