"""Scripts for the Locating scenario.

The analyst works by the business rules: value reaches home along routes, what leaves a node is
the foreign share of its power, and a merchant strengthens and steers it. How far upstream it looks
is what the agent's format invites: one hop where it may read once, two without a plan, three with
a plan, and everything upstream where it may re-plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

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

_MOST_HOPS = 12
_NUMBER = r"(\d+(?:\.\d+)?)"
_DEVELOPMENT = r"(development(?:\s*/\s*\d+)?)"

_FURTHER = numbered(
    [
        "Value arrives from further upstream: look up hop after hop until none brings a new node.",
        "Calculate for each node what a merchant there would add to what arrives at home.",
        "Compare, and choose the node that adds most.",
    ]
)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The constants of the business rules, as the conversation states them (PlanRAG, figure 7).

    Attributes
    ----------
    arrival
        What a flow is multiplied by when it arrives.
    merchant
        What a merchant multiplies its country's power by.
    added
        What a merchant adds to the power before that.
    inland
        The least that it adds at an inland node on top.
    development_share
        What the country's development is divided by where that is more.
    """

    arrival: float = 1.05
    merchant: float = 1.05
    added: float = 2.0
    inland: float = 50.0
    development_share: float = 3.0

    @classmethod
    def read(cls, text: str) -> _Rules:
        """Find the constants in the rules' text; what it does not state keeps its usual value."""
        plain = " ".join(text.split())
        arrival = re.search(rf"increased by {_NUMBER} times|{_NUMBER} \* flow", plain)
        merchant = re.search(
            rf"adds {_NUMBER} to .{{0,60}}?amplifies it by {_NUMBER}"
            rf"|{_NUMBER} \* \(base_trading_power \+ {_NUMBER}\)",
            plain,
        )
        inland = re.search(
            rf"max\((?:{_DEVELOPMENT}, ?{_NUMBER}|{_NUMBER}, ?{_DEVELOPMENT})", plain
        )
        usual = cls()
        found = {}
        if arrival is not None:
            found["arrival"] = float(arrival[1] or arrival[2])
        if merchant is not None:
            found["added"] = float(merchant[1] or merchant[4])
            found["merchant"] = float(merchant[2] or merchant[3])
        if inland is not None:
            divisor = re.search(r"/\s*(\d+)", inland[1] or inland[4])
            found["inland"] = float(inland[2] or inland[3])
            found["development_share"] = float(divisor[1]) if divisor is not None else 1.0
        return replace(usual, **found)

    def power(self, node: _Node, development: float) -> float:
        """Return the power of a country with a merchant at a node where it has its own."""
        more = max(self.inland, development / self.development_share) if node.inland else 0.0
        return self.merchant * ((node.own or 0.0) + self.added + more)


@dataclass(slots=True)
class _Node:
    """A node upstream of home: its figures, and its known routes as ``dest -> flow``."""

    value: float
    inland: bool
    total: float
    foreign: float
    steering: float
    own: float | None
    leaving: float
    routes_out: float
    routes: dict[str, float] = field(default_factory=dict)

    def shares(self, support: dict[str, float]) -> dict[str, float]:
        """Share of what leaves that each known route takes, with extra supporting power."""
        extra = sum(support.values())
        if self.steering + extra > 0.0:
            now = self._current()
            whole = self.steering + extra
            return {d: (now[d] * self.steering + support.get(d, 0.0)) / whole for d in now}
        return self._current()

    def _current(self) -> dict[str, float]:
        if self.leaving > 0.0:
            return {dest: flow / self.leaving for dest, flow in self.routes.items()}
        return dict.fromkeys(self.routes, 1.0 / max(self.routes_out, 1.0))


def analyst(task: Task, seed: int) -> Script:
    """Follow the value upstream and work out what a merchant at each node would add at home."""
    del seed
    country, home = _names(task)
    at_home = Step(f"First the home of {country}.", _home_statement(task, country, home))
    if task.simulates:
        return (yield from compared(at_home, "profit"))
    plan = numbered(
        [
            f"Look up the development of {country} and the figures of its home {home}.",
            f"Look up the nodes with a route to {home}, their value, power and routes.",
            "Look up the nodes behind those, and the ones behind them.",
            "Calculate for each node what a merchant there would add to what arrives at home.",
            "Compare, and choose the node that adds most.",
        ]
    )
    if not task.once:
        yield replace(at_home, plan=plan)
    upstream: dict[str, _Node] = {}
    frontier, development = [home], 0.0
    for hop in range(1, _hops(task) + 1):
        if hop > 3 and task.replans:
            plan = _FURTHER
        thought = f"Which nodes have a route to {', '.join(frontier)}, and how strong are they?"
        seen = yield Step(thought, _routes_statement(task, country, frontier), plan)
        development = number(seen.rows[0][-1]) if seen.rows else development
        frontier = _add(upstream, seen, home)
        if seen.last or not frontier:
            break
    gains = _gains(upstream, home, development, _Rules.read(task.rules))
    if not gains:
        if not task.once:
            seen = yield Step("Nothing flows here; any node will do.", _any_statement(task, home))
            if seen.rows:
                return Answer("No node leads home, so all are alike.", str(seen.rows[0][0]))
        return Answer("No node leads home, so all are alike.", "any trade node")
    best = min(gains, key=lambda name: (-settled(gains[name]), name))
    return Answer(f"A merchant at {best} adds {gains[best]:.6g} to what arrives at {home}.", best)


def greedy(task: Task, seed: int) -> Script:
    """Choose the node that sends the most to home."""
    del seed
    _, home = _names(task)
    names = quoted([home], graph=task.graph)
    seen = yield Step(
        "The node that sends the most to home should be the one to strengthen.",
        (
            f"MATCH (s:Trade_node)-[f:source]->(d:Trade_node) WHERE d.name IN {names} "
            "RETURN s.name, f.flow ORDER BY f.flow DESC, s.name LIMIT 1"
            if task.graph
            else f"SELECT source, flow FROM flow WHERE dest IN {names} "
            "ORDER BY flow DESC, source LIMIT 1"
        ),
        numbered(["Look up which node sends the most to home.", "Choose it."]),
    )
    if not seen.rows:
        return Answer("Nothing flows to home.", "any trade node")
    return Answer("It sends the most to home.", str(seen.rows[0][0]))


def random(task: Task, seed: int) -> Script:
    """Choose any node."""
    _, home = _names(task)
    seen = yield Step(
        "Any node will do.",
        _any_statement(task, home),
        numbered(["Look up the nodes.", "Choose any."]),
    )
    if not seen.rows:
        return Answer("There is no other node.", "none")
    return Answer("Chosen by chance.", str(pick([r[0] for r in seen.rows], task.question, seed)))


def _names(task: Task) -> tuple[str, str]:
    found = list(dict.fromkeys(re.findall(r'"([^"]+)"', task.question)))
    if len(found) < 2:
        raise UsageError(
            "A scripted model needs a Locating question that names the country and its home in "
            'double quotes, e.g. country "ABC", home node "harbour".'
        )
    return found[0], found[1]


def _hops(task: Task) -> int:
    if task.once:
        return 1
    if not task.plans:
        return 2
    return _MOST_HOPS if task.replans else 3


def _home_statement(task: Task, country: str, home: str) -> str:
    who, where = quoted([country], graph=task.graph), quoted([home], graph=task.graph)
    if task.graph:
        return (
            "MATCH (c:Country)-[p:NodeCountry]->(n:Trade_node) "
            f"WHERE c.name IN {who} AND n.name IN {where} RETURN c.development, n.local_value, "
            "n.ingoing, n.total_power, p.calculated_trading_power"
        )
    return (
        "SELECT c.development, n.local_value, n.ingoing, n.total_power, p.calculated_trading_power "
        "FROM country c JOIN node_country p ON p.country_name = c.country_name "
        f"JOIN trade_node n ON n.trade_node = p.trade_node WHERE c.country_name IN {who} "
        f"AND n.trade_node IN {where}"
    )


def _routes_statement(task: Task, country: str, dests: Iterable[str]) -> str:
    who, to = quoted([country], graph=task.graph), quoted(dests, graph=task.graph)
    if task.graph:
        return (
            f"MATCH (s:Trade_node)-[f:source]->(d:Trade_node) WHERE d.name IN {to} "
            "MATCH (s)-[o:source]->(:Trade_node) "
            "WITH s, d, f, SUM(o.flow) AS leaving, COUNT(o) AS routes "
            "OPTIONAL MATCH (c:Country)-[p:NodeCountry]->(s) "
            "WITH s, d, f, leaving, routes, "
            "SUM(CASE WHEN p.is_home THEN 0.0 ELSE p.calculated_trading_power END) "
            "AS foreign_power, "
            "SUM(CASE WHEN p.has_merchant AND NOT p.is_home THEN p.calculated_trading_power "
            "ELSE 0.0 END) AS steering_power, "
            f"MAX(CASE WHEN c.name IN {who} THEN p.base_trading_power ELSE -1.0 END) AS own_power "
            f"OPTIONAL MATCH (us:Country) WHERE us.name IN {who} "
            "RETURN s.name, d.name, f.flow, s.local_value, s.ingoing, s.is_inland, s.total_power, "
            "foreign_power, steering_power, own_power, leaving, routes, us.development "
            "ORDER BY s.name, d.name"
        )
    return (
        "SELECT f.source, f.dest, f.flow, n.local_value, n.ingoing, n.is_inland, n.total_power, "
        "(SELECT SUM(p.calculated_trading_power) FROM node_country p "
        "WHERE p.trade_node = f.source AND NOT p.is_home) AS foreign_power, "
        "(SELECT SUM(p.calculated_trading_power) FROM node_country p WHERE p.trade_node = f.source "
        "AND p.has_merchant AND NOT p.is_home) AS steering_power, "
        "COALESCE((SELECT MAX(p.base_trading_power) FROM node_country p WHERE p.trade_node = "
        f"f.source AND p.country_name IN {who}), -1.0) AS own_power, "
        "(SELECT SUM(o.flow) FROM flow o WHERE o.source = f.source) AS leaving, "
        "(SELECT COUNT(*) FROM flow o WHERE o.source = f.source) AS routes, "
        f"(SELECT MAX(c.development) FROM country c WHERE c.country_name IN {who}) AS development "
        f"FROM flow f JOIN trade_node n ON n.trade_node = f.source WHERE f.dest IN {to} "
        "ORDER BY f.source, f.dest"
    )


def _any_statement(task: Task, home: str) -> str:
    names = quoted([home], graph=task.graph)
    if task.graph:
        return f"MATCH (n:Trade_node) WHERE NOT n.name IN {names} RETURN n.name ORDER BY n.name"
    return f"SELECT trade_node FROM trade_node WHERE trade_node NOT IN {names} ORDER BY trade_node"


def _add(upstream: dict[str, _Node], seen: Observed, home: str) -> list[str]:
    """Take the rows of `_routes_statement` in; return the nodes that were not known before."""
    fresh = []
    for source, dest, flow, *figures in seen.rows:
        name = str(source)
        if name == home:
            continue
        if name not in upstream:
            upstream[name] = _node(figures)
            fresh.append(name)
        upstream[name].routes[str(dest)] = number(flow)
    return fresh


def _node(figures: list[Cell]) -> _Node:
    local, ingoing, inland, total, foreign, steering, own, leaving, routes, _ = figures
    return _Node(
        value=number(local) + number(ingoing),
        inland=bool(inland),
        total=number(total),
        foreign=number(foreign),
        steering=number(steering),
        own=number(own) if number(own) >= 0.0 else None,
        leaving=number(leaving),
        routes_out=number(routes),
    )


def _gains(
    upstream: dict[str, _Node], home: str, development: float, rules: _Rules
) -> dict[str, float]:
    """Return what a merchant at each node adds to what arrives at home."""
    worth = _worth(upstream, home, rules)
    gains = {}
    for name, node in upstream.items():
        leads = [dest for dest in node.routes if worth.get(dest, 0.0) > 0.0]
        if node.own is None or not leads:
            continue
        power = rules.power(node, development)
        more = power - node.own
        steered = home if home in leads else min(leads)
        before = node.value * _ratio(node.foreign, node.total)
        after = node.value * _ratio(node.foreign + more, node.total + more)
        shares, steered_shares = node.shares({}), node.shares({steered: power})
        gains[name] = rules.arrival * sum(
            worth[dest] * (after * steered_shares[dest] - before * shares[dest]) for dest in leads
        )
    return gains


def _worth(upstream: dict[str, _Node], home: str, rules: _Rules) -> dict[str, float]:
    """Return what one unit of value at each node brings home; 1 at home itself."""
    worth = {home: 1.0}
    waiting = list(upstream)
    while waiting:
        # Routes run in no circle, so each round settles at least the nodes furthest downstream.
        ready = [
            n for n in waiting if all(d in worth or d not in upstream for d in upstream[n].routes)
        ]
        if not ready:
            break
        for name in ready:
            node = upstream[name]
            arriving = sum(s * worth.get(d, 0.0) for d, s in node.shares({}).items())
            worth[name] = rules.arrival * _ratio(node.foreign, node.total) * arriving
        waiting = [name for name in waiting if name not in worth]
    return worth


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0
