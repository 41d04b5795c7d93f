"""Situations in which two countries place merchants in turn, and their generator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.question import Question
from dqa.core.situation import Situation, Table
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.scenarios.generation import Difficulty
from dqa_simulators.distances import distances, places_of
from dqa_simulators.locating.generator import LocatingSize, build_locating
from dqa_simulators.locating.questions import steps_to_home
from dqa_simulators.placements.standing import Side, Standing

_LEAST, _MOST = 3, 10
"""From how many nodes a country's merchants steer value home, and at how many it can place."""
_PAIRS = 12
"""Most pairs of rivals in one situation."""
MERCHANTS = (2, 1)
"""What each side of a generated question has left; both have placed one before."""


@dataclass(frozen=True, slots=True)
class PlacementsSize(LocatingSize):
    """Rows of a situation: a smaller map than Locating's, whose countries trade at more nodes."""

    scenario: ClassVar[str] = "placements"

    def scaled(self, factor: float) -> PlacementsSize:
        """Return the size with the countries scaled; the map stays as it is."""
        scaled = super(PlacementsSize, self).scaled(factor)
        return PlacementsSize(scaled.nodes, scaled.edges, scaled.countries, scaled.node_countries)


SIZE = PlacementsSize(nodes=40, edges=78, countries=90, node_countries=420)


def build_placements(
    rng: np.random.Generator, name: str, size: LocatingSize, difficulty: Difficulty
) -> Situation:
    """Build a situation in which pairs of rivals have placed one merchant each.

    The first placement of a pair's first country is drawn, the second follows rule 12.
    """
    situation = build_map(rng, name, size, difficulty)
    for one, other in islice(find_rivals(situation, rng), _PAIRS):
        standing = Standing(situation, (one, other))
        drawn = standing.nodes[0][int(rng.integers(len(standing.nodes[0])))]
        standing = standing.placed(drawn)
        situation = standing.placed(standing.greedy()).situation
    return situation


def build_map(
    rng: np.random.Generator, name: str, size: LocatingSize, difficulty: Difficulty
) -> Situation:
    """Build the map of a situation: nothing was placed yet."""
    built = build_locating(rng, name, size, difficulty)
    schema = plugins.scenario("placements").schema
    empty = Table.from_rows(schema.table("placement"), [])
    return Situation(schema, name, {**built.tables, "placement": empty})


def find_rivals(
    situation: Situation, rng: np.random.Generator, left: tuple[int, int] = (1, 1)
) -> list[tuple[Side, Side]]:
    """Return pairs of countries that can both steer value home, in random order.

    They trade at some nodes in common. No country is in two pairs, so what one pair does is no
    other pair's business.
    """
    homes, at = _homes(situation), _presences(situation)
    upstream = _upstream(situation)
    able = [
        country
        for country, nodes in at.items()
        if len(nodes & upstream[homes[country]]) >= _LEAST and len(nodes) - 1 <= _MOST
    ]
    able = [able[i] for i in rng.permutation(len(able))]
    found: list[tuple[Side, Side]] = []
    while able:
        one = able.pop()
        near = [other for other in able if len(at[one] & at[other]) > 1]
        if near:
            able.remove(near[0])
            pair = (Side(c, homes[c], n) for c, n in zip((one, near[0]), left, strict=True))
            found.append((next(pair), next(pair)))
    return found


def _presences(situation: Situation) -> dict[str, set[str]]:
    """Return the nodes at which each country without a merchant trades."""
    rows = situation["node_country"]
    columns = ("country_name", "trade_node", "has_merchant")
    at: dict[str, set[str]] = {}
    busy = set()
    for country, node, merchant in zip(*(rows[column].tolist() for column in columns), strict=True):
        at.setdefault(country, set()).add(node)
        if merchant:
            busy.add(country)
    return {country: nodes for country, nodes in at.items() if country not in busy}


def _upstream(situation: Situation) -> dict[str, set[str]]:
    """Return, by node, the nodes from which routes lead to it."""
    nodes = situation["trade_node"]["trade_node"]
    source, dest = (places_of(situation["flow"][end], nodes) for end in ("source", "dest"))
    return {
        node: set(nodes[(steps > 0) & np.isfinite(steps)].tolist())
        for place, node in enumerate(nodes.tolist())
        for steps in (distances([dest], [source], len(nodes), place),)
    }


def _homes(situation: Situation) -> dict[str, str]:
    country = situation["country"]
    return dict(zip(country["country_name"].tolist(), country["home_node"].tolist(), strict=True))


def target_of(standing: Standing, side: int = 0) -> dict[str, str]:
    """Return what a question is about that a side is asked."""
    own, rival = standing.sides[side], standing.sides[1 - side]
    return {
        "country": own.country,
        "home": own.home,
        "rival": rival.country,
        "rival_home": rival.home,
        "merchants": str(own.left),
        "rival_merchants": str(rival.left),
    }


def _targets(situation: Situation, year: int, distractors: int) -> list[Mapping[str, str]]:
    """List the pairs that have placed, as the first of each is asked."""
    del year, distractors
    homes = _homes(situation)
    placed = situation["placement"]["country_name"].tolist()
    pairs = zip(islice(placed, 0, None, 2), islice(placed, 1, None, 2), strict=True)
    standings = (
        Standing(
            situation,
            (Side(one, homes[one], MERCHANTS[0]), Side(other, homes[other], MERCHANTS[1])),
        )
        for one, other in pairs
    )
    return [target_of(standing) for standing in standings]


def _steps(situation: Situation, question: Question) -> NDArray[np.float64]:
    """Count the routes from every candidate down to the home, shape (n,)."""
    nodes = situation["trade_node"]["trade_node"].tolist()
    nodes.remove(question.target["home"])
    counted = dict(zip(nodes, steps_to_home(situation, question).tolist(), strict=True))
    return np.array([counted[str(node)] for node in question.candidates or ()])


def _even(quantile: float) -> float:
    return 0.85 + 0.3 * quantile


GENERATOR = SimulatedGenerator(
    build=build_placements,
    targets=_targets,
    steps=_steps,
    size=SIZE,
    factor=_even,
    per_database=5,
    name="{realm} in {year}",
    year=1450,
    rules=("paper",),
)
