"""Generate questions about Locating worlds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa_simulators.checks import index, positions
from dqa_simulators.distances import distances, place_of
from dqa_simulators.locating.generator import LocatingSize, build_locating


def _targets(situation: Situation, year: int, distractors: int) -> list[Mapping[str, str]]:
    """List the countries without a merchant whose home has at least one incoming route."""
    country, presence = situation["country"], situation["node_country"]
    busy = set(presence["country_name"][presence["has_merchant"]].tolist())
    reached = set(situation["flow"]["dest"].tolist())
    pairs = zip(country["country_name"].tolist(), country["home_node"].tolist(), strict=True)
    return [
        {"country": name, "home": home, "year": str(year)}
        for name, home in islice(pairs, len(country) - distractors)
        if name not in busy and home in reached
    ]


def steps_to_home(situation: Situation, question: Question) -> NDArray[np.float64]:
    """Return the number of routes on the shortest path from every candidate to the home.

    Returns
    -------
    NDArray[np.float64]
        Shape (n,), in table order without the home; infinite if no path leads home.

    Raises
    ------
    UnknownNameError
        The situation lacks the home.
    """
    nodes = situation["trade_node"]["trade_node"]
    rows = index(situation, "trade_node", "trade_node")
    source, dest = (
        positions(situation, "flow", end, rows, "trade_node") for end in ("source", "dest")
    )
    home = place_of(question.target["home"], nodes, "trade node")
    return np.delete(distances([dest], [source], len(nodes), home), home)


def _even(quantile: float) -> float:
    return 0.75 + 0.5 * quantile


GENERATOR = SimulatedGenerator(
    build=build_locating,
    targets=_targets,
    steps=steps_to_home,
    size=LocatingSize(),
    factor=_even,
    per_database=20,
    name="q{first}",  # the naming scheme of the release
    year=1450,
    rules=("paper", "clean", "released"),
)
