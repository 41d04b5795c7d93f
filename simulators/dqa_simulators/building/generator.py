"""Generate Building worlds (buildings turn goods into other goods) and their questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.loaders.generator.names import stems, with_suffixes
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.scenarios.generation import Difficulty, require
from dqa_simulators.checks import distances, index, position_of, positions
from dqa_simulators.sampling import apportion, heavy_tailed, pick, ragged, situation_of

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]

_LARGEST = 500  # highest level of a building
# the minimum number of different goods that the makers of one goods can make or need
_WINDOW = 64

_FARM, _MINE, _MAKER, _CONSUMER, _IDLE = range(5)
_SHARES = (0.12, 0.08, 0.50, 0.18, 0.12)  # the share of each class of building
_OUTPUTS = np.array(
    [700, 130, 150, 0, 0]
)  # relative number of goods that a building of each class makes
_INPUTS = np.array(
    [0, 0, 200, 170, 0]
)  # relative number of goods that a building of each class needs
_BUILDING_KINDS = ("homesteads", "diggings", "works", "hall", "monument")
_GOODS_KINDS = (  # the last part of a goods' name, for each tier
    ("ore", "grain", "fibre", "timber", "clay"),
    ("ingots", "flour", "cloth", "planks", "brick"),
    ("parts", "dye", "glass", "fittings", "leather"),
    ("wares", "tools", "garments", "engines", "fine_ware"),
)


@dataclass(frozen=True, slots=True)
class BuildingSize:
    """Row counts of a Building world. The defaults are the means of PlanRAG, Table 3 (579 rows).

    Attributes
    ----------
    goods, buildings, demands, supplies
        The number of rows of each table.

    Raises
    ------
    UsageError
        The numbers contradict each other. The message states the violated bound.
    """

    goods: int = 52
    buildings: int = 152
    demands: int = 121
    supplies: int = 254

    scenario: ClassVar[str] = "building"

    def __post_init__(self) -> None:
        require(self.goods >= 2, f"A Building world needs at least 2 goods, not {self.goods}.")
        require(
            self.buildings >= 2,
            f"A Building world needs at least 2 buildings, not {self.buildings}.",
        )
        require(
            self.demands >= 1 and self.supplies >= 1,
            "A Building world needs at least 1 demand and 1 supply, "
            f"not {self.demands} and {self.supplies}.",
        )
        most = self.goods * self.buildings
        rows = self.demands + self.supplies
        require(
            rows <= most,
            f"{self.buildings} buildings and {self.goods} goods have at most {most} demands and "
            f"supplies together (no building needs its own output), not {rows}.",
        )

    def scaled(self, factor: float) -> BuildingSize:
        """Return the size with a scaled number of buildings and the same number of goods."""
        buildings = max(4, round(self.buildings * factor))
        demands = max(2, round(self.demands * factor))
        supplies = max(4, round(self.supplies * factor))
        return BuildingSize(self.goods, buildings, demands, supplies)


def build_building(
    rng: np.random.Generator, name: str, size: BuildingSize, difficulty: Difficulty
) -> Situation:
    """Draw a Building situation whose inputs and prices are not computed yet.

    Goods are in tiers. Most buildings turn goods of lower tiers into goods of their own tier.
    Buildings of the lowest tier need refined goods, so chains of inputs form cycles. Some
    buildings make a constant output without inputs, some need goods but make none, and some neither
    make nor need goods. Needs are scaled so that they are about as large as the output.

    Parameters
    ----------
    rng
        The source of all random choices.
    name
        Name of the situation.
    size
        Rows of the tables, before distractors.
    difficulty
        More `hops` give more tiers. If `hops` is above 1, inputs are scarce and buildings of higher
        tiers are larger, so the expansion of a building has the largest effect in low tiers.
        `distractors` is the number of extra goods, appended to the tables. Each extra goods has one
        building. The extra goods form a chain that is not connected to the other goods.

    Returns
    -------
    Situation
        A Building situation. A simulation must fill `current_price` and `current_input`, which
        are 0. `current_output` is the constant output of buildings without inputs.
    """
    tiers = max(len(_GOODS_KINDS), difficulty.hops + 1)
    tier = rng.permutation(np.arange(size.goods) % tiers)
    economy = _draw(rng, size, tier, deep=difficulty.hops > 1)
    economy = _with_distractors(rng.spawn(1)[0], economy, difficulty.distractors)
    first_id = 1000 + int(rng.integers(9000))
    return _situation(rng, name, economy, first_id)


_Flows: TypeAlias = tuple[_Ints, _Ints, _Floats]
"""The goods, building and amount of each row of `supply` or `demand`; arrays of shape (r,)."""


class _Buildings(NamedTuple):
    """The buildings as arrays of shape (b,); see `_Economy`."""

    main: _Ints
    kind: _Ints
    level: _Ints


@dataclass(frozen=True, slots=True)
class _Economy:
    """The economy as arrays: g goods, b buildings, s rows of `supply`, d rows of `demand`."""

    tier: _Ints  # (g,)
    base_price: _Floats  # (g,)
    pop_demand: _Floats  # (g,)
    main: _Ints  # (b,) the goods in the name of the building
    kind: _Ints  # (b,) class of building
    level: _Ints  # (b,)
    supplied: _Ints  # (s,) the goods
    supplier: _Ints  # (s,) the building
    output: _Floats  # (s,)
    demanded: _Ints  # (d,) the goods
    consumer: _Ints  # (d,) the building
    need: _Floats  # (d,)


def _draw(rng: np.random.Generator, size: BuildingSize, tier: _Ints, *, deep: bool) -> _Economy:
    goods = size.goods
    buildings = _buildings(rng, size, tier, steepness=3 if deep else 1)
    plenty = rng.uniform(1.0, 3.0, goods) if deep else rng.uniform(0.3, 1.3, goods)
    goods_of_makers = _goods_of_makers(rng, size, tier)
    supplies, needed = _counts(rng, size, buildings.kind, goods_of_makers.shape[1])
    supply = _supply(rng, goods_of_makers, buildings, supplies)
    sold: _Floats = np.bincount(supply[0], supply[2], minlength=goods).astype(np.float64)
    base_price = 20.0 + 10.0 * rng.integers(0, 4, goods) + 15.0 * tier
    pop_demand = _pop_demand(rng, sold)
    demand = _demand(rng, goods_of_makers, buildings, needed, sold * plenty)
    return _Economy(tier, base_price, pop_demand, *buildings, *supply, *demand)


def _buildings(
    rng: np.random.Generator, size: BuildingSize, tier: _Ints, *, steepness: int
) -> _Buildings:
    """Draw the buildings.

    The levels of buildings are on average `steepness` times as high as in the tier below.
    """
    count = size.buildings
    kind = np.searchsorted(np.cumsum(_SHARES)[:-1], rng.random(count), side="right")
    main = pick(rng, rng.gamma(1.5, size=size.goods) + 0.1, count)
    primary = kind <= _MINE
    main[primary] = rng.choice(np.flatnonzero(tier == 0), int(primary.sum()))
    level = np.minimum(_levels(rng, kind) * steepness ** tier[main], _LARGEST)
    return _Buildings(main, kind, level)


def _pop_demand(rng: np.random.Generator, sold: _Floats) -> _Floats:
    """Draw the population's demand for each goods: often 0, otherwise a share of the output."""
    goods = len(sold)
    consumed = np.where(rng.random(goods) < 0.55, sold * rng.uniform(0.1, 0.9, goods), 0.0)
    missed = (sold == 0.0) & (rng.random(goods) < 0.3)
    consumed[missed] = rng.uniform(5.0, 100.0, int(missed.sum()))
    return np.asarray(np.round(consumed, 3), dtype=np.float64)


def _levels(rng: np.random.Generator, kind: _Ints) -> _Ints:
    ordinary = 1 + np.floor(heavy_tailed(rng, len(kind), 2.7, 1.1))
    farms = 20 + np.floor(heavy_tailed(rng, len(kind), 45.0, 0.9))
    return np.where(kind == _FARM, farms, ordinary).astype(np.int64)


def _goods_of_makers(rng: np.random.Generator, size: BuildingSize, tier: _Ints) -> _Ints:
    """Return, for each goods, the goods that its makers can make or need; shape (goods, window).

    A row starts with the goods itself and by-products, and ends with inputs. A building makes goods
    from the start of the row, and needs goods from the end of the row. Therefore no building needs
    its own output.
    """
    a_building = -(-(size.demands + size.supplies) // size.buildings)
    window = min(size.goods, max(_WINDOW, 4 * a_building))
    offsets = np.append(0, 1 + rng.choice(size.goods - 1, window - 1, replace=False))
    near = (np.arange(size.goods)[:, None] + offsets) % size.goods
    below = tier[:, None] - tier[near]
    score = np.select([below == 0, below == 1, below == 2], [0.0, 3.0, 2.0], 1.0)
    score += rng.uniform(0.0, 1.5, score.shape)
    score[:, 0] = -1.0
    return np.take_along_axis(near, np.argsort(score, axis=1, kind="stable"), axis=1)


def _counts(
    rng: np.random.Generator, size: BuildingSize, kind: _Ints, window: int
) -> tuple[_Ints, _Ints]:
    """Return the numbers of supply rows and demand rows of each building; shape (buildings,)."""
    luck = rng.integers(40, 160, (2, size.buildings))
    caps = np.full(size.buildings, window)
    supplies = apportion(_OUTPUTS[kind] * luck[0], size.supplies, caps)
    needed = apportion(_INPUTS[kind] * luck[1], size.demands, caps - supplies)
    return supplies, needed


def _supply(
    rng: np.random.Generator, goods_of_makers: _Ints, buildings: _Buildings, supplies: _Ints
) -> _Flows:
    building, position = ragged(supplies)
    rate = 5.0 * rng.integers(2, 20, len(goods_of_makers))  # output of the main goods per level
    bonus = 1.0 + 0.01 * rng.integers(0, 25, len(supplies))
    poor = np.where(buildings.kind == _FARM, 0.05, 1.0)
    amount = (buildings.level * bonus * poor * rate[buildings.main])[building] / (1.0 + position)
    goods = goods_of_makers[buildings.main[building], position]
    return goods, building, np.round(amount, 3)


def _demand(
    rng: np.random.Generator,
    goods_of_makers: _Ints,
    buildings: _Buildings,
    needed: _Ints,
    total: _Floats,
) -> _Flows:
    """Draw the needs of the buildings.

    `total` has the shape (goods,). The needs for a goods add up to about its total. Needs for a
    goods with a total of 0 are not scaled.
    """
    building, position = ragged(needed)
    main = buildings.main[building]
    goods = goods_of_makers[main, goods_of_makers.shape[1] - 1 - position]
    rate = 5.0 * rng.integers(1, 9, len(goods_of_makers))  # amount of the first input, per level
    amount = buildings.level[building] * rate[main] / (1.0 + 0.5 * position)
    requested = np.bincount(goods, amount, minlength=len(goods_of_makers))
    balance = total / np.where(requested > 0.0, requested, 1.0)
    scale = np.where(total > 0.0, np.clip(balance, 0.001, 20.0), 1.0)
    return goods, building, np.round(np.maximum(amount * scale[goods], 0.01), 3)


def _with_distractors(rng: np.random.Generator, economy: _Economy, count: int) -> _Economy:
    """Append `count` goods and buildings. New building i turns new goods i - 1 into goods i."""
    if not count:
        return economy
    goods, buildings = len(economy.tier), len(economy.main)
    level = 1 + rng.integers(0, 40, count)
    new_goods, new_buildings = goods + np.arange(count), buildings + np.arange(count)

    more = {
        "tier": np.arange(count) % len(_GOODS_KINDS),
        "base_price": 20.0 + 10.0 * rng.integers(0, 9, count),
        "pop_demand": np.round(rng.uniform(5.0, 300.0, count), 3),
        "main": new_goods,
        "kind": np.full(count, _MAKER),
        "level": level,
        "supplied": new_goods,
        "supplier": new_buildings,
        "output": level * 5.0 * rng.integers(2, 20, count),
        "demanded": new_goods[:-1],
        "consumer": new_buildings[1:],
        "need": level[1:] * 5.0 * rng.integers(1, 9, count - 1),
    }
    longer = {name: np.append(getattr(economy, name), values) for name, values in more.items()}
    return replace(economy, **longer)


def _situation(rng: np.random.Generator, name: str, economy: _Economy, first_id: int) -> Situation:
    """Write the economy into tables. Supplies and demands are in the order of buildings."""
    goods, level = len(economy.tier), economy.level
    words = stems(rng, goods)
    kinds = [kind for tier in _GOODS_KINDS for kind in tier]
    width = len(_GOODS_KINDS[0])
    tier = np.minimum(economy.tier, len(_GOODS_KINDS) - 1)
    ids = first_id + np.arange(len(level))
    luck = 0.8 + 0.01 * rng.integers(0, 41, len(ids))  # for buildings without inputs
    columns: dict[str, dict[str, NDArray[Any]]] = {
        "goods": {
            "goods_name": with_suffixes(words, tuple(kinds), tier * width + np.arange(goods) % 5),
            "code": np.arange(goods),
            "base_price": economy.base_price,
            "current_price": np.zeros(goods),
            "pop_demand": economy.pop_demand,
        },
        "building": {
            "id": ids,
            "name": with_suffixes(words[economy.main], _BUILDING_KINDS, economy.kind),
            "level": level,
        },
        "supply": {
            "goods_id": economy.supplied,
            "building_id": ids[economy.supplier],
            "max_supply": economy.output,
            "current_output": np.round(economy.output * luck[economy.supplier], 3),
            "level": level[economy.supplier],
        },
        "demand": {
            "goods_id": economy.demanded,
            "building_id": ids[economy.consumer],
            "max_demand": economy.need,
            "current_input": np.zeros(len(economy.need)),
            "level": level[economy.consumer],
        },
    }
    return situation_of("building", name, columns)


def _targets(situation: Situation, year: int, distractors: int) -> list[Mapping[str, str]]:
    """List the targets: the goods whose price a decision may change.

    The goods must have demand. Without demand, every supply leads to the same price. At least one
    building with inputs must make the goods, because the output of a building without inputs does
    not depend on its level.
    """
    del year  # the situation's name contains the year
    goods, supply, demand = (situation[table] for table in ("goods", "supply", "demand"))
    fed = np.isin(supply["building_id"], demand["building_id"])
    wanted = (goods["pop_demand"] > 0.0) | np.isin(goods["code"], demand["goods_id"])
    eligible = wanted & np.isin(goods["code"], supply["goods_id"][fed])
    eligible[len(eligible) - distractors :] = False
    names = goods["goods_name"][eligible].tolist()
    return [{"goods": name, "country": situation.name} for name in names]


def steps_to_goods(situation: Situation, question: Question) -> NDArray[np.float64]:
    """Return the number of steps from every building to the goods of a question.

    A building that makes the goods is 1 step away. A building that makes an input for a building
    at distance n is n + 1 steps away.

    Returns
    -------
    NDArray[np.float64]
        Shape (n,), in table order; infinite if no chain of inputs leads to the goods.

    Raises
    ------
    UnknownNameError
        The situation lacks the goods.
    """
    codes, ids = index(situation, "goods", "code"), index(situation, "building", "id")
    made, maker, needed, user = (
        positions(situation, table, column, rows, keyed)
        for table in ("supply", "demand")
        for rows, column, keyed in ((codes, "goods_id", "goods"), (ids, "building_id", "building"))
    )
    target = position_of(question.target["goods"], situation["goods"]["goods_name"], "goods")
    first = len(codes)  # buildings are numbered after the goods
    links = distances([made, first + user], [first + maker, needed], first + len(ids), target)
    return (links[first:] + 1.0) / 2.0  # a step is two links: goods to maker, maker to input


def _lopsided(quantile: float) -> float:
    """Return the scale factor of an economy: a quantile of a log-normal distribution.

    With this distribution, few economies are large and many are small.
    """
    return math.exp(0.7 * NormalDist().inv_cdf(0.02 + 0.96 * quantile) - 0.2)


GENERATOR = SimulatedGenerator(
    build=build_building,
    targets=_targets,
    steps=steps_to_goods,
    size=BuildingSize(),
    factor=_lopsided,
    per_database=4,
    name="{realm}{year}",
    year=1850,
)
