"""Generate questions about Building worlds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa_simulators.building.generator import BuildingSize, build_building
from dqa_simulators.checks import index, positions
from dqa_simulators.distances import distances, place_of


def _targets(situation: Situation, year: int, distractors: int) -> list[Mapping[str, str]]:
    """List the goods whose price a decision may change.

    They must have demand: without demand, the price is a quarter of the base price for every
    supply. A building with inputs must make them: the output of a building without inputs does
    not depend on its level.
    """
    del year  # it is part of the situation's name
    goods, supply, demand = (situation[table] for table in ("goods", "supply", "demand"))
    fed = np.isin(supply["building_id"], demand["building_id"])
    wanted = (goods["pop_demand"] > 0.0) | np.isin(goods["code"], demand["goods_id"])
    asked = wanted & np.isin(goods["code"], supply["goods_id"][fed])
    asked[len(asked) - distractors :] = False
    names = goods["goods_name"][asked].tolist()
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
    asked = place_of(question.target["goods"], situation["goods"]["goods_name"], "goods")
    first = len(codes)  # buildings are numbered after the goods
    links = distances([made, first + user], [first + maker, needed], first + len(ids), asked)
    return (links[first:] + 1.0) / 2.0  # a step is two links: goods to maker, maker to input


def _lopsided(quantile: float) -> float:
    """Return a quantile of a log-normal distribution: few economies are large, many are small."""
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
