"""Generate Agriculture worlds: reports on uncertain factors and their effects on crops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dqa import plugins
from dqa.core.situation import Cell, Situation, Table
from dqa.loaders.generator.names import stems, with_suffixes
from dqa_simulators.uncertain import (
    UncertainFactor,
    UncertainGenerator,
    UncertainWorld,
    draw_factors,
)

CROPS = 7
"""The number of crops in a world. It equals the number of fruits in the paper."""

_YEAR = 2030
_KINDS = ("berry", "plum", "melon", "nut", "citrus", "fig", "currant")
_FACTORS = (
    ("rainfall", ("drought", "usual rain", "flooding")),
    ("demand from abroad", ("falling", "steady", "rising")),
    ("pests", ("few", "as usual", "many")),
    ("cost of freight", ("low", "as usual", "high")),
)
_STEPS: Mapping[float, str] = {
    0.7: "much lower",
    0.85: "lower",
    1.0: "unchanged",
    1.15: "higher",
    1.3: "much higher",
}
_LEGEND = (
    "Much lower is 30 percent less than last season, lower 15 percent less, higher 15 percent "
    "more, much higher 30 percent more; what several factors do multiplies."
)


def build_agriculture(rng: np.random.Generator, name: str) -> tuple[UncertainWorld, Situation]:
    """Draw a world, and a situation with the knowledge of a grower about the world.

    The overview of the report states the likelihood of every value of every factor. The outlooks
    state the effect of each value on a crop. Both texts together determine the expected revenue per
    acre exactly.

    Parameters
    ----------
    rng
        The source of all random choices.
    name
        Name of the situation.

    Returns
    -------
    tuple
        The world, and the situation before the season. Utilities are in dollars per acre.
    """
    words = stems(rng, CROPS)
    crops = tuple(sorted(with_suffixes(words, _KINDS, rng.permutation(CROPS)).tolist()))
    acre_yield = np.round(rng.uniform(3.0, 20.0, CROPS), 1)
    price = np.round(rng.uniform(6_000.0, 10_000.0, CROPS) / acre_yield)
    factors = draw_factors(rng, _FACTORS, CROPS, ("yield", "price"), tuple(_STEPS))
    world = UncertainWorld(crops, acre_yield * price, factors)
    title = f"{name} outlook for {_YEAR + 1}"
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "report": [(title, _overview(factors))],
        "crop": [(crop,) for crop in crops],
        "season": [(_YEAR,)],
        "outlook": [(title, crop, _outlook(factors, i)) for i, crop in enumerate(crops)],
        "harvest": [
            (crop, _YEAR, amount, "TONS / ACRE", paid, "$ / TON")
            for crop, amount, paid in zip(crops, acre_yield.tolist(), price.tolist(), strict=True)
        ],
    }
    schema = plugins.scenario("agriculture").schema
    tables = {table.name: Table.from_rows(table, rows[table.name]) for table in schema.tables}
    return world, Situation(schema, name, tables)


def agriculture_target(situation: Situation) -> Mapping[str, str]:
    """Return the target values that all questions about a world share."""
    return {"year": str(_YEAR + 1), "world": situation.name}


def _overview(factors: tuple[UncertainFactor, ...]) -> str:
    """Describe the likelihood of each value of each factor."""
    sentences = []
    for factor in factors:
        text = ", ".join(f"{v} is {w}" for v, w in zip(factor.values, factor.words, strict=True))
        sentences.append(f"{factor.name.capitalize()}: {text}.")
    return " ".join([*sentences, _LEGEND])


def _outlook(factors: tuple[UncertainFactor, ...], crop: int) -> str:
    """Describe how each value of each factor affects a crop."""
    sentences = []
    for factor in factors:
        for index, value in enumerate(factor.values):
            changes = [
                f"{quantity} {_STEPS[float(effect[crop, index])]}"
                for quantity, effect in factor.effects.items()
                if effect[crop, index] != 1.0
            ]
            if changes:
                sentences.append(f"With {factor.name} {value}: {', '.join(changes)}.")
    return " ".join(sentences) or "Nothing that is foreseen changes its yield or its price."


GENERATOR = UncertainGenerator(
    scenario="agriculture",
    build=build_agriculture,
    target=agriculture_target,
    listed="crops",
    name="valley{number}",
)
