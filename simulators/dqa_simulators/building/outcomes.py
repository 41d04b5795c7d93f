"""Ground truth of the Building scenario: which building to expand for the lowest price.

Rule set ``paper`` counts by ``schemas/building/rules.md``, whose rules are those of PlanRAG's
section 3.2, Figure 7 and Algorithm 2 (quantities and prices have the game's own units); with
nothing decided it reproduces every released price to the last bit:

1. Raising a building's level by 5 (appendix A.2) multiplies its max_demand and max_supply by
   (level + 5) / level.
2. Demand of goods (Eq. 4) = pop_demand + sum of max_demand. Supply (Eq. 5) starts as the sum of
   max_supply.
3. Ten cycles (cycle_cnt): current_input = max_demand * supply / demand; current_output =
   max_supply * mean over the building's inputs of min(current_input, max_demand) / max_demand;
   supply = sum of current_output. A building without inputs keeps the current_output that its
   table has.
4. Price (Eq. 6) = base_price * (1 + 0.75 * (demand - supply) / max(demand, supply)).

Rule set ``released`` gives the published answers: sums of max_demand and of current_output
start from the tables' values, so that demand counts twice throughout, and supply in the first
cycle. There is no rule set ``clean`` as Locating has it: but for double counting the released
program follows the text, so it would be ``paper`` again.

The rules define the points that the paper leaves open:

- Goods without demand and supply cost their base price.
- A need of 0 is met in full.
- Raising a building of level 0 changes nothing but its level: its rows lack the needs and
  output of a level.

An unknown or repeated code or id, a negative or missing number is a `SituationError`.

Order of summation: rows of `supply` and `demand` in table order, for all candidates at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqa.core.errors import SituationError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import CountingRules, Outcomes, StatedRule
from dqa.core.situation import Situation
from dqa_simulators.building.economy import (
    LEVEL_INCREASE,
    NOTHING,
    PRICE_SWING,
    RULE_SETS,
    Economy,
)
from dqa_simulators.cache import PerSituation
from dqa_simulators.checks import FloatArray, IntArray, chosen_rules, index

_BLOCK = 2_000_000
"""Most cells of an array over rows and candidates: 16 MB."""

_GAP = "(demand - supply) / max(demand, supply)"

_COUNTING = CountingRules(
    stated=(
        StatedRule("Goods", ("base_price", "pop_demand")),
        StatedRule("Buildings", ("max_demand", "max_supply")),
        StatedRule("Level", (f"(L + {LEVEL_INCREASE}) / L", "max_demand", "max_supply")),
        StatedRule("Demand", ("pop_demand", "max_demand")),
        StatedRule("Input", ("max_demand * supply / demand",)),
        StatedRule("Output", ("max_supply", "mean", "min(current_input / max_demand, 1)")),
        StatedRule("Constant output", ("keeps", "current_output")),
        StatedRule("Supply", ("current_output", "max_supply")),
        StatedRule("Rounds", ("ten rounds",)),
        StatedRule("Price", (f"{PRICE_SWING} * {_GAP}", "base_price")),
        StatedRule("Calculation", ("once",)),
    ),
    text="paper",
    described={
        "released": (
            "The rules of the published labels: demand and supply start from tables that already "
            "contain the result of a simulation, so they count twice."
        ),
        "paper": "The paper's text: one clean simulation a candidate.",
    },
    grounds={"released": ("double counting",), "paper": ("one clean run",)},
)

_economy = PerSituation(Economy.of)


class BuildingSimulator:
    """Outcomes of expanding a building, under the rule sets ``released`` and ``paper``."""

    scenario = "building"
    rule_sets: tuple[str, ...] = RULE_SETS
    counting = _COUNTING

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the price of each question's goods after expanding each building.

        All questions share one run over candidates and goods.

        Raises
        ------
        UnknownNameError
            No such rule set.
        SituationError
            The situation breaks the rules (see the module), or lacks a name of a question.
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
        judged = [_judged(situation, question, buildings) for question in questions]
        return [
            Outcomes(
                candidates=buildings if rows is None else question.candidates or (),
                values=prices if rows is None else prices[rows],
                goal="minimise",
                baseline=baseline,
            )
            for question, prices, rows, baseline in zip(
                questions, values, judged, baselines.tolist(), strict=True
            )
        ]

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
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
    """Return the row of the goods that each question asks about, shape (m,)."""
    names = situation["goods"]["goods_name"].tolist()
    rows = np.empty(len(questions), np.intp)
    for number, question in enumerate(questions):
        name = question.target.get("goods", "")
        if names.count(name) != 1:
            raise SituationError(
                f"Question {question.key} is about goods '{name}', which stand in "
                f"{names.count(name)} rows of table 'goods' of situation '{situation.name}', "
                "not in one."
            )
        rows[number] = names.index(name)
    return rows


def _judged(
    situation: Situation, question: Question, every: tuple[Candidate, ...]
) -> IntArray | None:
    """Return the rows of the buildings that a question lets choose; None where it is all."""
    if question.candidates is None or question.candidates == every:
        return None
    return np.array(_rows(situation, question, question.candidates), np.intp)


def _rows(situation: Situation, question: Question, candidates: Sequence[Candidate]) -> list[int]:
    known = index(situation, "building", "id")
    for candidate in candidates:
        if not isinstance(candidate, int) or candidate not in known:
            raise SituationError(
                f"'{candidate}' is no candidate of question {question.key}: a candidate is the id "
                f"of a building of situation '{situation.name}'."
            )
    return [known[candidate] for candidate in candidates]


def _prices(economy: Economy, goods: IntArray, rules: str) -> tuple[FloatArray, FloatArray]:
    """Return prices of m goods after raising each building, (m, b), and after nothing, (m,)."""
    decisions = np.append(np.arange(len(economy.scale)), NOTHING)
    found = np.empty((len(goods), len(decisions)))
    width = max(1, _BLOCK // max(1, len(economy.supply_goods) + len(economy.demand_goods)))
    for first in range(0, len(decisions), width):
        block = slice(first, first + width)
        found[:, block] = economy.run(decisions[block], rules).price[goods]
    return found[:, :-1], found[:, -1]
