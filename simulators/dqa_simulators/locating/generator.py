"""Generate Locating worlds (a trade graph, and countries with merchants) and their questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.loaders.generator.names import stems, with_suffixes
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.scenarios.generation import Difficulty, require
from dqa_simulators.checks import distances, index, position_of, positions
from dqa_simulators.sampling import contains, distinct_keys, heavy_tailed, pick, situation_of

_REACH = 0.06  # mean length of a route and mean reach of a country, as a share of all nodes
_INLAND = ("vale", "moor", "heath", "plain", "steppe", "ridge")
_COASTAL = ("port", "sound", "bay", "strand", "reach", "gulf")
_STEERED_HOMES = 256
"""The maximum number of homes that merchants steer to. Each such home requires a search of the
whole graph, so the number must not grow with the world."""

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LocatingSize:
    """Row counts of a Locating world. The defaults are the means of PlanRAG, Table 3 (2,039 rows).

    Attributes
    ----------
    nodes, edges, countries, node_countries
        The number of rows of `trade_node`, `flow`, `country` and `node_country`, in this order.

    Raises
    ------
    UsageError
        The numbers contradict each other. The message states the violated bound.
    """

    nodes: int = 80
    edges: int = 159
    countries: int = 527
    node_countries: int = 1273

    scenario: ClassVar[str] = "locating"

    def __post_init__(self) -> None:
        require(self.nodes >= 3, f"A Locating world needs at least 3 nodes, not {self.nodes}.")
        inner = self.nodes - self.end_nodes
        most = inner * (inner - 1) // 2 + inner * self.end_nodes
        require(
            inner <= self.edges <= most,
            f"A trade graph of {self.nodes} nodes, {self.end_nodes} of them end nodes, has "
            f"between {inner} and {most} edges, not {self.edges}.",
        )
        require(
            self.countries >= 1, f"A Locating world needs at least 1 country, not {self.countries}."
        )
        most = self.countries * self.nodes
        require(
            self.countries <= self.node_countries <= most,
            f"{self.countries} countries and {self.nodes} nodes need between {self.countries} (one "
            f"per home) and {most} rows of 'node_country', not {self.node_countries}.",
        )

    @property
    def end_nodes(self) -> int:
        """The number of nodes without outgoing routes."""
        return max(1, self.nodes // 26)

    def scaled(self, factor: float) -> LocatingSize:
        """Return the size with a scaled number of countries and the same map."""
        countries = max(1, round(self.countries * factor))
        rows = round(self.node_countries * factor)
        rows = min(max(rows, countries), countries * self.nodes)
        return LocatingSize(self.nodes, self.edges, countries, rows)


def build_locating(
    rng: np.random.Generator, name: str, size: LocatingSize, difficulty: Difficulty
) -> Situation:
    """Build a world with all computed columns at 0.

    Nodes are ordered from upstream to downstream. Routes only lead downstream, so the graph is
    acyclic. Some nodes are hubs with many incoming routes. The last nodes are end nodes. Each
    country has power at its home and at other nodes. About half of these other nodes are upstream
    of its home. Some countries have a merchant away from home.

    Parameters
    ----------
    rng
        The source of all random choices.
    name
        Name of the situation.
    size
        Rows of the tables, before distractors.
    difficulty
        `hops` is the number of routes between a country's home and its nodes upstream.
        `distractors` is the number of extra nodes without routes, appended to the tables. Each
        extra node is the home of an extra country, and up to 2 other countries have power there.

    Returns
    -------
    Situation
        A Locating situation. A simulation must fill `total_power`, `outgoing`, `ingoing`, `flow`
        and `calculated_trading_power`, which are 0.
    """
    edges = _routes(rng, size)
    weights = rng.gamma(1.5, size=size.nodes) + 0.05
    weights[size.nodes - size.end_nodes :] *= 2.0  # an end node keeps all its value
    homes = pick(rng, weights, size.countries)
    development = np.round(3.0 + heavy_tailed(rng, size.countries, 9.0, 1.35), 3)
    presences = _presences(
        rng, size, homes, np.sqrt(development), _Upstream(edges, size.nodes, difficulty.hops)
    )
    merchant = _merchants(rng, size, edges, homes, presences)
    sources, dests = np.divmod(edges, size.nodes)
    country, position = np.divmod(presences, size.nodes)
    world = _World(
        sources=sources,
        dests=dests,
        local_value=np.round(rng.gamma(3.0, 1.5, size=size.nodes), 3),
        inland=rng.random(size.nodes) < 0.33,
        homes=homes,
        development=development,
        country=country,
        node=position,
        merchant=merchant,
        base=_base_power(rng, size, development),
    )
    order = np.append(rng.permutation(size.nodes), size.nodes + np.arange(difficulty.distractors))
    world = _with_distractors(rng.spawn(1)[0], world, difficulty.distractors)
    return _situation(name, world, order, stems(rng, 2 * max(len(world.homes), len(order))))


@dataclass(frozen=True, slots=True)
class _World:
    """The world as arrays: m routes, n nodes (ordered downstream), c countries, r presences.

    A presence is a row of `node_country`: a country has power at a node.
    """

    sources: _Ints  # (m,) position of the first node of each route
    dests: _Ints  # (m,) position of the second node of each route
    local_value: _Floats  # (n,)
    inland: _Flags  # (n,)
    homes: _Ints  # (c,) position of each country's home
    development: _Floats  # (c,)
    country: _Ints  # (r,)
    node: _Ints  # (r,) position of the node
    merchant: _Flags  # (r,)
    base: _Floats  # (r,)


def _routes(rng: np.random.Generator, size: LocatingSize) -> _Ints:
    """Draw the edges as keys ``source * nodes + dest``, shape (edges,)."""
    nodes, inner = size.nodes, size.nodes - size.end_nodes
    reach = max(1.5, _REACH * nodes)
    hubs = np.unique(np.append(rng.integers(nodes, size=max(1, nodes // 10)), nodes - 1))

    def downstream(sources: _Ints) -> _Ints:
        jumps = 1 + np.floor(rng.exponential(reach, size=len(sources))).astype(np.int64)
        dests = sources + jumps
        over = dests >= nodes
        dests[over] = inner + rng.integers(size.end_nodes, size=int(over.sum()))
        to_hub = rng.random(len(sources)) < 0.25
        dests[to_hub] = hubs[np.searchsorted(hubs, dests[to_hub])]
        return np.asarray(sources * nodes + dests)

    def everything() -> _Ints:
        sources, dests = np.triu_indices(nodes, 1)
        return np.asarray((sources * nodes + dests)[sources < inner])

    first = downstream(np.arange(inner))  # every node except the end nodes has a route
    more = distinct_keys(
        lambda count: downstream(rng.integers(inner, size=count)),
        size.edges - inner,
        first,
        everything,
        rng,
    )
    return np.concatenate([first, more])


class _Upstream:
    """Random walks against the direction of the routes."""

    def __init__(self, edges: _Ints, nodes: int, hops: int) -> None:
        sources, dests = np.divmod(edges, nodes)
        self._feeders = sources[np.argsort(dests, kind="stable")]
        self._degree = np.bincount(dests, minlength=nodes)
        self._first = np.cumsum(self._degree) - self._degree
        self._hops = hops

    def walk(self, rng: np.random.Generator, nodes: _Ints) -> _Ints:
        """Walk `hops` routes upstream from each node. Stop at nodes without incoming routes."""
        for _ in range(self._hops):
            degree = self._degree[nodes]
            picked = self._first[nodes] + (rng.random(len(nodes)) * degree).astype(np.int64)
            picked = np.minimum(picked, len(self._feeders) - 1)
            nodes = np.where(degree > 0, self._feeders[picked], nodes)
        return nodes


def _presences(
    rng: np.random.Generator,
    size: LocatingSize,
    homes: _Ints,
    weights: _Floats,
    upstream: _Upstream,
) -> _Ints:
    """Draw the presences as keys ``country * nodes + node``. The presences at home are first.

    Half of the presences abroad are upstream of the home, where a merchant has an effect. The
    other half are anywhere near the home. Countries with more weight have more presences.
    """
    nodes, countries = size.nodes, size.countries

    def propose(count: int) -> _Ints:
        country = pick(rng, weights, count)
        home = homes[country]
        around = home + np.rint(rng.laplace(0.0, 1 + _REACH * nodes, size=count)).astype(np.int64)
        feeding = rng.random(count) < 0.5
        position = np.where(feeding, upstream.walk(rng, home), np.clip(around, 0, nodes - 1))
        return np.asarray(country * nodes + position)

    at_home = np.arange(countries) * nodes + homes
    away = distinct_keys(
        propose, size.node_countries - countries, at_home, lambda: np.arange(countries * nodes), rng
    )
    return np.concatenate([at_home, away])


def _merchants(
    rng: np.random.Generator, size: LocatingSize, edges: _Ints, homes: _Ints, presences: _Ints
) -> _Flags:
    """Choose the presences with a merchant: away from home, at most one per country."""
    country, position = np.divmod(presences, size.nodes)
    away = size.countries + rng.permutation(len(country) - size.countries)
    _, first = np.unique(country[away], return_index=True)
    rows = away[first]
    to = homes[country[rows]]
    direct = contains(np.sort(edges), position[rows] * size.nodes + to)
    steered = np.isin(to, rng.permutation(size.nodes)[:_STEERED_HOMES])
    sent = steered & (rng.random(len(rows)) < np.where(direct, 0.3, 0.15))
    merchant = np.zeros(len(country), dtype=np.bool_)
    merchant[rows[sent]] = True
    return merchant


def _base_power(rng: np.random.Generator, size: LocatingSize, development: _Floats) -> _Floats:
    """Draw base trading powers, proportional to development at home and smaller abroad."""
    at_home = 5.0 + development * rng.uniform(0.6, 1.1, size.countries)
    away = 0.4 + heavy_tailed(rng, size.node_countries - size.countries, 5.0, 1.1)
    return np.round(np.concatenate([at_home, away]), 3)


def _with_distractors(rng: np.random.Generator, world: _World, count: int) -> _World:
    """Append nodes without routes.

    Each new node is the home of a new country. Up to 2 other countries have power there.
    """
    if not count:
        return world
    countries, nodes = len(world.homes), len(world.local_value)
    added = nodes + np.arange(count)
    guests = min(2, countries)
    visitors = np.concatenate(
        [rng.choice(countries, guests, replace=False) for _ in range(count)]
    ).astype(np.int64)
    rows = count + len(visitors)
    more = {
        "local_value": np.round(rng.uniform(4.0, 12.0, count), 3),
        "inland": rng.random(count) < 0.33,
        "homes": added,
        "development": np.round(3.0 + heavy_tailed(rng, count, 20.0, 1.0), 3),
        "country": np.append(countries + np.arange(count), visitors),
        "node": np.append(added, np.repeat(added, guests)),
        "merchant": np.zeros(rows, dtype=np.bool_),
        "base": np.round(5.0 + heavy_tailed(rng, rows, 10.0, 0.8), 3),
    }
    longer = {name: np.append(getattr(world, name), values) for name, values in more.items()}
    return replace(world, **longer)


def _situation(name: str, world: _World, order: _Ints, words: NDArray[np.object_]) -> Situation:
    """Write the world into tables.

    `order` contains the positions of the nodes in table order. Routes and presences follow
    this order of nodes.
    """
    countries, nodes = len(world.homes), len(order)
    country_words, node_words = words[::2][:countries], words[1::2][:nodes]
    country_names = np.array([word.capitalize() for word in country_words], dtype=object)
    kinds = np.arange(nodes) % len(_INLAND) + np.where(world.inland, 0, len(_INLAND))
    node_names = with_suffixes(node_words, _INLAND + _COASTAL, kinds)
    rank = np.empty(nodes, dtype=np.int64)
    rank[order] = np.arange(nodes)
    routes = np.argsort(rank[world.sources], kind="stable")
    presences = np.argsort(rank[world.node], kind="stable")
    columns = {
        "country": {
            "country_name": country_names,
            "home_node": node_names[world.homes],
            "development": world.development,
        },
        "trade_node": {
            "trade_node": node_names[order],
            "local_value": world.local_value[order],
            "is_inland": world.inland[order],
            "total_power": np.zeros(nodes),
            "outgoing": np.zeros(nodes),
            "ingoing": np.zeros(nodes),
        },
        "flow": {
            "source": node_names[world.sources[routes]],
            "dest": node_names[world.dests[routes]],
            "flow": np.zeros(len(routes)),
        },
        "node_country": {
            "trade_node": node_names[world.node[presences]],
            "country_name": country_names[world.country[presences]],
            "is_home": (world.homes[world.country] == world.node)[presences],
            "has_merchant": world.merchant[presences],
            "base_trading_power": world.base[presences],
            "calculated_trading_power": np.zeros(len(presences)),
        },
    }
    return situation_of("locating", name, columns)


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
    """Return the number of routes on the shortest path from each candidate to the home.

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
    home = position_of(question.target["home"], nodes, "trade node")
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
