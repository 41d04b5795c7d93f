"""Algorithms 1 and 2 of PlanRAG in plain Python, written for reading.

The oracle of the fast simulators for every rule set: one candidate and one row at a time, sums in
the order of the tables. It shares no code with the simulators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dqa.core.question import Candidate
from dqa.core.situation import Situation


@dataclass
class LocatingState:
    """The results of algorithm 1, by node, by (source, dest) and by (node, country)."""

    power: dict[tuple[str, str], float]
    total_power: dict[str, float]
    ingoing: dict[str, float]
    outgoing: dict[str, float]
    flow: dict[tuple[str, str], float]


def rows(situation: Situation, table: str) -> list[tuple[Any, ...]]:
    """Rows of a table, in order."""
    return list(situation[table].rows())


def trading_power(
    base: float, merchant: bool, inland: bool, development: float, rules: str
) -> float:
    """Return the power of a country at a node."""
    if not merchant:
        return base
    worth = development / 3 if rules == "paper" else development
    bonus = max(50.0, worth) if inland else 0.0
    return 1.05 * (base + 2 + bonus)


def leads_to(flows: list[tuple[str, str]], start: str, goal: str) -> bool:
    """Return whether value that leaves `start` can arrive at `goal`."""
    reached, unseen = {start}, [start]
    while unseen:
        here = unseen.pop()
        for source, dest in flows:
            if source == here and dest not in reached:
                reached.add(dest)
                unseen.append(dest)
    return goal in reached


def supported_flow(
    flows: list[tuple[str, str]], node: str, home: str, rules: str
) -> tuple[str, str] | None:
    """Return the flow that a merchant at `node` supports for a country whose home is `home`."""
    if (node, home) in flows:
        return node, home
    for source, dest in sorted(flows) if rules == "paper" else flows:
        if source == node and leads_to(flows, dest, home):
            return source, dest
    return None


def upstream_first(nodes: list[str], flows: list[tuple[str, str]]) -> list[str]:
    """Sort nodes so that every flow leads from an earlier to a later one (find_top_n)."""
    ordered: list[str] = []
    while len(ordered) < len(nodes):
        ordered.append(
            next(
                node
                for node in nodes
                if node not in ordered
                and all(source in ordered for source, dest in flows if dest == node)
            )
        )
    return ordered


def locating(
    situation: Situation, country: str, merchant_at: Candidate | None, rules: str
) -> LocatingState:
    """Run algorithm 1 with one more merchant of `country` at a node, or with none."""
    countries = {name: (home, dev) for name, home, dev in rows(situation, "country")}
    nodes = rows(situation, "trade_node")
    names = [str(node[0]) for node in nodes]
    local = {name: value for name, value, *_ in nodes}
    inland = {name: is_inland for name, _, is_inland, *_ in nodes}
    flows = [(str(source), str(dest)) for source, dest, _ in rows(situation, "flow")]

    again = rules == "released"  # starts from the tables, so that some sums count twice
    total = {node[0]: node[3] if again else 0.0 for node in nodes}
    start = {node[0]: node[5] if again else 0.0 for node in nodes}
    power: dict[tuple[str, str], float] = {}
    away = dict.fromkeys(names, 0.0)
    support = dict.fromkeys(flows, 0.0)
    for node, owner, is_home, has_merchant, base, _ in rows(situation, "node_country"):
        merchant = has_merchant or (owner == country and node == merchant_at)
        home, development = countries[owner]
        power[node, owner] = trading_power(base, merchant, inland[node], development, rules)
        total[node] += power[node, owner]
        if not is_home:
            away[node] += power[node, owner]
            supported = supported_flow(flows, node, home, rules) if merchant else None
            if supported is not None:
                support[supported] += power[node, owner]

    ingoing: dict[str, float] = {}
    outgoing: dict[str, float] = {}
    flow = dict.fromkeys(flows, 0.0)
    for node in upstream_first(names, flows):
        ingoing[node] = start[node]
        for source, dest in flows:
            if dest == node:
                ingoing[node] += 1.05 * flow[source, dest]
        moved = away[node] / total[node] if total[node] > 0 else 0.0
        outgoing[node] = (local[node] + ingoing[node]) * moved
        leaving = [(source, dest) for source, dest in flows if source == node]
        steered = 0.0
        for edge in leaving:
            steered += support[edge]
        for edge in leaving:
            if steered > 0:
                flow[edge] = outgoing[node] * support[edge] / steered
            else:
                flow[edge] = outgoing[node] / len(leaving)
    return LocatingState(power, total, ingoing, outgoing, flow)


def profit(
    situation: Situation, country: str, home: str, merchant_at: Candidate | None, rules: str
) -> float:
    """Return the profit of `country` at `home` with a merchant placed, or with none."""
    state = locating(situation, country, merchant_at, rules)
    if state.total_power[home] <= 0:
        return 0.0
    local: float = next(node[1] for node in rows(situation, "trade_node") if node[0] == home)
    value = local + state.ingoing[home]
    if rules == "released":
        value = local - state.outgoing[home] + state.ingoing[home]
    return value * (state.power.get((home, country), 0.0) / state.total_power[home])


def price(base: float, demand: float, supply: float) -> float:
    """Return the market price (equation 6)."""
    if demand == 0 and supply == 0:
        return base
    return base * (1 + 0.75 * (demand - supply) / max(demand, supply))


def building(situation: Situation, raised: Candidate | None, rules: str) -> Mapping[str, float]:
    """Run algorithm 2 with the level of one building or none raised by 5; return all prices."""
    goods = rows(situation, "goods")
    levels = {key: level for key, _, level in rows(situation, "building")}
    demand = {code: 0.0 for _, code, *_ in goods}
    supply = {code: 0.0 for _, code, *_ in goods}
    if rules == "released":  # starts from the tables, so that some sums count twice
        for code, _, max_demand, _, _ in rows(situation, "demand"):
            demand[code] += max_demand
        for code, _, _, output, _ in rows(situation, "supply"):
            supply[code] += output

    def scale(key: int) -> float:
        level = levels[key]
        return (level + 5) / level if key == raised and level > 0 else 1.0

    needs = [
        (code, key, max_demand * scale(key))
        for code, key, max_demand, _, _ in rows(situation, "demand")
    ]
    makes = [
        (code, key, max_supply * scale(key), output)
        for code, key, max_supply, output, _ in rows(situation, "supply")
    ]
    for code, _, max_demand in needs:
        demand[code] += max_demand
    for code, _, max_supply, _ in makes:
        supply[code] += max_supply
    for _, code, _, _, pop_demand in goods:
        demand[code] += pop_demand

    for _ in range(10):
        met: dict[int, float] = {}
        inputs: dict[int, int] = {}
        for code, key, max_demand in needs:
            current_input = max_demand * supply[code] / demand[code] if demand[code] > 0 else 0.0
            share = min(current_input, max_demand) / max_demand if max_demand > 0 else 1.0
            met[key] = met.get(key, 0.0) + share
            inputs[key] = inputs.get(key, 0) + 1
        supply = dict.fromkeys(supply, 0.0)
        for code, key, max_supply, output in makes:
            # A building without inputs has the output of its table.
            made = max_supply * (met[key] / inputs[key]) if key in inputs else output
            supply[code] += made
    return {name: price(base, demand[code], supply[code]) for name, code, base, _, _ in goods}
