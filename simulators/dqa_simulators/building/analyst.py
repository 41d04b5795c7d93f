"""Scripts for the Building scenario.

The analyst works by the business rules on the part of the economy that it has looked up: the
buildings that make the goods, what they need, and who makes that. How far back along the chain of
inputs it looks is what the agent's format invites: only the makers where it may read once or has
no plan, how scarce their inputs are with a plan, and the makers of those where it may re-plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dqa.core.errors import UsageError
from dqa.core.situation import Cell
from dqa.models.scripted.steps import (
    Answer,
    Observed,
    Script,
    Step,
    Task,
    compared,
    number,
    numbered,
    pick,
    quoted,
    settled,
)

_LEVELS = 5
_CYCLES = 10
_PRICE_SWING = 0.75
_MOST_HOPS = 4
_MOST_MAKERS = 150


@dataclass(slots=True)
class _Known:
    """What was looked up: goods ``code -> (base price, demand, supply)``, makers and needs."""

    goods: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    makes: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)
    needs: dict[tuple[int, int], float] = field(default_factory=dict)

    def add_goods(self, seen: Observed) -> None:
        for code, base, pop_demand, building_demand, supply in seen.rows:
            demand = number(pop_demand) + number(building_demand)
            self.goods[int(number(code))] = (number(base), demand, number(supply))

    def add_makers(self, seen: Observed) -> None:
        for code, building, level, most, output in seen.rows:
            self.levels[int(number(building))] = int(number(level))
            key = (int(number(code)), int(number(building)))
            self.makes[key] = (number(most), number(output))

    def add_needs(self, seen: Observed) -> None:
        for code, building, most in seen.rows:
            self.needs[int(number(code)), int(number(building))] = number(most)


def analyst(task: Task, seed: int) -> Script:
    """Look up who makes the goods and what that takes, and work out each expansion's price."""
    del seed
    name = _goods_name(task)
    if task.once:
        return (yield from _most_output_a_level(task, name))
    itself = Step(f"First {name} itself.", _goods_by_name(task, name))
    if task.simulates:
        return (yield from compared(itself, "price"))
    known = _Known()
    plan = numbered(
        [
            f"Look up price, demand and supply of {name}.",
            f"Look up the buildings that make {name}, their level and output.",
            "Look up what those buildings need, and how scarce that is.",
            f"Calculate the price of {name} with each building raised by {_LEVELS} levels.",
            "Compare, and choose the building with the lowest price.",
        ]
    )
    seen = yield replace(itself, plan=plan)
    if not seen.rows:
        return Answer(f"The database has no {name}.", "none")
    known.add_goods(seen)
    target = int(number(seen.rows[0][0]))
    frontier = [target]
    for hop in range(1, _hops(task) + 1):
        if hop > 1:
            plan = numbered(
                [
                    "Some inputs are scarce: look up who makes those, hop after hop.",
                    f"Calculate the price of {name} with each building raised by {_LEVELS} levels.",
                    "Compare, and choose the building with the lowest price.",
                ]
            )
        thought = f"Who makes goods {', '.join(map(str, frontier))}, and how much?"
        seen = yield Step(thought, _makers_of(task, frontier), plan)
        known.add_makers(seen)
        if seen.last:
            break
        seen = yield Step("What do they need?", _needs_of(task, frontier), plan)
        known.add_needs(seen)
        if seen.last or not task.plans:
            break
        fresh = sorted({code for code, _ in known.needs} - set(known.goods))
        if not fresh:
            break
        thought = "How scarce is what they need?"
        seen = yield Step(thought, _goods_by_code(task, fresh), plan)
        known.add_goods(seen)
        frontier = [code for code in fresh if known.goods.get(code, (0, 0, 0))[1] > 0.0]
        if seen.last or not frontier:
            break
    if not known.levels:
        return Answer(f"Nobody makes {name}.", "none")
    prices = _prices(known, target)
    best = min(prices, key=lambda building: (settled(prices[building]), building))
    return Answer(f"Raising {best} leads to a price of {prices[best]:.6g}.", str(best))


def greedy(task: Task, seed: int) -> Script:
    """Choose the building that makes most of the goods."""
    del seed
    name = _goods_name(task)
    names = quoted([name], graph=task.graph)
    seen = yield Step(
        "The biggest maker should be the one to raise.",
        (
            f"MATCH (b:Building)-[s:Supply]->(g:Goods) WHERE g.name IN {names} "
            "RETURN b.id, s.current_output ORDER BY s.current_output DESC, b.id LIMIT 1"
            if task.graph
            else "SELECT s.building_id, s.current_output FROM supply s JOIN goods g "
            f"ON g.code = s.goods_id WHERE g.goods_name IN {names} "
            "ORDER BY s.current_output DESC, s.building_id LIMIT 1"
        ),
        numbered(["Look up the biggest maker.", "Choose it."]),
    )
    if not seen.rows:
        return Answer(f"Nobody makes {name}.", "none")
    return Answer("It makes the most.", str(seen.rows[0][0]))


def random(task: Task, seed: int) -> Script:
    """Choose any building."""
    seen = yield Step(
        "Any building will do.",
        "MATCH (b:Building) RETURN b.id ORDER BY b.id"
        if task.graph
        else "SELECT id FROM building ORDER BY id",
        numbered(["Look up the buildings.", "Choose any."]),
    )
    if not seen.rows:
        return Answer("There is no building.", "none")
    return Answer("Chosen by chance.", str(pick([r[0] for r in seen.rows], task.question, seed)))


def _goods_name(task: Task) -> str:
    found = re.search(r'market price of "?([^"?]+?)"?(?:\?| as |\Z)', task.question)
    if found is None:
        raise UsageError(
            "A scripted model needs a Building question that says 'market price of' and the goods."
        )
    return found[1]


def _hops(task: Task) -> int:
    return _MOST_HOPS if task.replans else 1


def _most_output_a_level(task: Task, name: str) -> Script:
    names = quoted([name], graph=task.graph)
    seen = yield Step(
        "With one look, the output that each level of a maker brings says most.",
        (
            "MATCH (:Goods)-[:Demand]->(b:Building)-[s:Supply]->(g:Goods) "
            f"WHERE g.name IN {names} AND b.level > 0 "
            "RETURN DISTINCT b.id, s.current_output / b.level AS output_a_level "
            "ORDER BY output_a_level DESC, b.id LIMIT 20"
            if task.graph
            else "SELECT s.building_id, s.current_output / b.level AS output_a_level FROM supply s "
            "JOIN goods g ON g.code = s.goods_id JOIN building b ON b.id = s.building_id "
            f"WHERE g.goods_name IN {names} AND b.level > 0 "
            "AND b.id IN (SELECT d.building_id FROM demand d) "
            "ORDER BY output_a_level DESC, s.building_id LIMIT 20"
        ),
    )
    if not seen.rows:
        return Answer(f"Nobody makes {name}.", "none")
    return Answer("Each of its levels brings the most output.", str(seen.rows[0][0]))


def _goods_by_name(task: Task, name: str) -> str:
    names = quoted([name], graph=task.graph)
    return _goods(task, f"g.name IN {names}" if task.graph else f"g.goods_name IN {names}")


def _goods_by_code(task: Task, codes: Iterable[Cell]) -> str:
    return _goods(task, f"g.code IN {quoted(codes, graph=task.graph)}")


def _goods(task: Task, condition: str) -> str:
    if task.graph:
        return (
            f"MATCH (g:Goods) WHERE {condition} OPTIONAL MATCH (g)-[d:Demand]->(:Building) "
            "WITH g, SUM(d.max_demand) AS building_demand "
            "OPTIONAL MATCH (:Building)-[s:Supply]->(g) RETURN g.code, g.base_price, g.pop_demand, "
            "building_demand, SUM(s.current_output) AS supply ORDER BY g.code"
        )
    return (
        "SELECT g.code, g.base_price, g.pop_demand, "
        "(SELECT SUM(d.max_demand) FROM demand d WHERE d.goods_id = g.code) AS building_demand, "
        "(SELECT SUM(s.current_output) FROM supply s WHERE s.goods_id = g.code) AS supply "
        f"FROM goods g WHERE {condition} ORDER BY g.code"
    )


def _makers_of(task: Task, codes: Iterable[Cell]) -> str:
    listed = quoted(codes, graph=task.graph)
    if task.graph:
        return (
            f"MATCH (b:Building)-[s:Supply]->(g:Goods) WHERE g.code IN {listed} "
            "RETURN g.code, b.id, b.level, s.max_supply, s.current_output "
            f"ORDER BY s.current_output DESC, b.id, g.code LIMIT {_MOST_MAKERS}"
        )
    return (
        "SELECT s.goods_id, s.building_id, b.level, s.max_supply, s.current_output FROM supply s "
        f"JOIN building b ON b.id = s.building_id WHERE s.goods_id IN {listed} "
        f"ORDER BY s.current_output DESC, s.building_id, s.goods_id LIMIT {_MOST_MAKERS}"
    )


def _needs_of(task: Task, codes: Iterable[Cell]) -> str:
    listed = quoted(codes, graph=task.graph)
    if task.graph:
        return (
            "MATCH (h:Goods)-[d:Demand]->(b:Building)-[:Supply]->(g:Goods) "
            f"WHERE g.code IN {listed} RETURN DISTINCT h.code, b.id, d.max_demand "
            "ORDER BY d.max_demand DESC, b.id, h.code"
        )
    return (
        "SELECT DISTINCT d.goods_id, d.building_id, d.max_demand FROM demand d JOIN supply s "
        f"ON s.building_id = d.building_id WHERE s.goods_id IN {listed} "
        "ORDER BY d.max_demand DESC, d.building_id, d.goods_id"
    )


def _prices(known: _Known, target: int) -> dict[int, float]:
    """Price of the target goods with each known building raised (rules 3 to 10), all at once.

    Rows are candidates, columns are goods or buildings. Goods and buildings that were not looked
    up stay as they are.
    """
    goods, buildings = sorted(known.goods), sorted(known.levels)
    part = _Part(known, goods, buildings)
    demand, supply = part.settle(np.array([_LEVELS / max(known.levels[b], 1) for b in buildings]))
    at = goods.index(target)
    asked, given = demand[:, at], supply[:, at]
    swing = (asked - given) / np.maximum(asked, given)
    prices = known.goods[target][0] * (1 + _PRICE_SWING * swing)
    return dict(zip(buildings, prices.tolist(), strict=True))


class _Part:
    """The part of an economy that was looked up, as arrays: (b,) buildings by (g,) goods."""

    def __init__(self, known: _Known, goods: list[int], buildings: list[int]) -> None:
        g_at = {code: i for i, code in enumerate(goods)}
        b_at = {building: i for i, building in enumerate(buildings)}
        figures = np.array([known.goods[code] for code in goods])
        self.demand, self.supply = figures[:, 1], figures[:, 2]
        self.makes, self.made, self.needs = np.zeros((3, len(buildings), len(goods)))
        for (code, building), (most, output) in known.makes.items():
            self.makes[b_at[building], g_at[code]] = most
            self.made[b_at[building], g_at[code]] = output
        self.needy, self.unclear = np.zeros((2, len(buildings)), dtype=bool)
        for (code, building), most in known.needs.items():
            if building in b_at:
                self.needy[b_at[building]] = True
                if code in g_at:
                    self.needs[b_at[building], g_at[code]] = most
                else:
                    self.unclear[b_at[building]] = True

    def settle(self, growth: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return demand and supply, (b, g) each: row i after building i grew by ``growth[i]``."""
        demand = self.demand + growth[:, None] * self.needs
        scale = 1.0 + np.diag(growth)
        inputs = (self.needs > 0.0).astype(float)
        kinds = np.maximum(inputs.sum(axis=1), 1.0)
        most, output = self.makes.sum(axis=1), self.made.sum(axis=1)
        usual = np.divide(output, most, out=np.zeros_like(most), where=most > 0.0)
        # Buildings that need nothing keep their output, whatever their level (rule 7).
        elsewhere = self.supply - self.made[self.needy].sum(axis=0)
        current = np.broadcast_to(self.supply, demand.shape)
        for _ in range(_CYCLES):
            met = np.divide(current, demand, out=np.ones_like(demand), where=demand > 0.0)
            running = np.where(self.unclear, usual, np.minimum(met, 1.0) @ inputs.T / kinds)
            current = elsewhere + (scale * running * self.needy) @ self.makes
        return demand, current
