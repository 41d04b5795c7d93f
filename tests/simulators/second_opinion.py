"""Second opinion on what decisions of the Locating and Building scenarios lead to.

Written from `rules.md`, `question.txt` and the tables of `scenario.toml` alone (those in
`schemas/locating` and `schemas/building`), by an author who had seen neither the simulators nor
their tests; but for a type annotation the code is as it was handed in. So where it agrees with the
simulators, rules and schema say all that decides an answer. Numbers in brackets name the rules.

Do not mend it by the simulators: where the two differ, find out which reading the rules support,
and make the rules say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]

MERCHANT_FACTOR = 1.05
MERCHANT_POWER = 2
INLAND_DIVISOR = 3
INLAND_POWER = 50
ROUTE_GROWTH = 1.05

LEVELS_RAISED = 5
ROUNDS = 10
PRICE_SWING = 0.75


# ---------------------------------------------------------------------------------- Locating


@dataclass(frozen=True)
class TradeMap:
    """Everything about the trade that no merchant changes.

    Attributes
    ----------
    local_values, inland
        Columns `local_value` and `is_inland` by trade node.
    homes, developments
        Columns `home_node` and `development` by country.
    dests
        Dest nodes of the outgoing routes by trade node, in alphabetical order.
    order
        All trade nodes, each one after all nodes upstream of it.
    reachable
        Nodes that can be reached by trade node, the node itself included.
    """

    local_values: Mapping[str, float]
    inland: Mapping[str, bool]
    homes: Mapping[str, str]
    developments: Mapping[str, float]
    dests: Mapping[str, Sequence[str]]
    order: Sequence[str]
    reachable: Mapping[str, Collection[str]]


class Split(NamedTuple):
    """What a trade node does with a value of 1.

    Attributes
    ----------
    powers
        Trading power by country that trades at the node.
    total_power
        Sum of all trading powers.
    flows
        What is carried by each outgoing route, by dest node.
    """

    powers: Mapping[str, float]
    total_power: float
    flows: Mapping[str, float]


def locating_profits(tables: Tables, country: str, home: str) -> dict[str, float]:
    """Compute the profit of a country for every place of its merchant.

    Parameters
    ----------
    tables
        Rows of `country`, `trade_node`, `flow` and `node_country`.
    country
        Name of the country that places a merchant.
    home
        Home node of the country.

    Returns
    -------
    dict[str, float]
        Profit of the country at home by candidate node (every trade node but home).
    """
    trade_map = read_trade_map(tables)
    rows_by_node: dict[str, list[Row]] = {node: [] for node in trade_map.order}
    for row in tables["node_country"]:
        rows_by_node[row["trade_node"]].append(row)
    splits = {node: split_node(trade_map, node, rows) for node, rows in rows_by_node.items()}

    unchanged = profit_at(trade_map, splits, country, home)
    profits = {node: unchanged for node in trade_map.local_values if node != home}
    for node in profits:
        rows = rows_by_node[node]
        if any(row["country_name"] == country and not row["has_merchant"] for row in rows):
            changed = split_node(trade_map, node, rows, extra_merchant=country)
            profits[node] = profit_at(trade_map, {**splits, node: changed}, country, home)
    return profits


def read_trade_map(tables: Tables) -> TradeMap:
    """Collect everything about the trade that no merchant changes."""
    nodes = tables["trade_node"]
    countries = tables["country"]
    dests: dict[str, list[str]] = {row["trade_node"]: [] for row in nodes}
    for row in tables["flow"]:
        dests[row["source"]].append(row["dest"])
    for names in dests.values():
        names.sort()

    # Taking the dest nodes for predecessors yields every node after all nodes downstream of it.
    upwards = list(TopologicalSorter(dests).static_order())
    reachable: dict[str, set[str]] = {}
    for node in upwards:
        reachable[node] = {node}.union(*(reachable[dest] for dest in dests[node]))
    return TradeMap(
        local_values={row["trade_node"]: row["local_value"] for row in nodes},
        inland={row["trade_node"]: row["is_inland"] for row in nodes},
        homes={row["country_name"]: row["home_node"] for row in countries},
        developments={row["country_name"]: row["development"] for row in countries},
        dests=dests,
        order=upwards[::-1],
        reachable=reachable,
    )


def split_node(
    trade_map: TradeMap, node: str, rows: Iterable[Row], extra_merchant: str | None = None
) -> Split:
    """Compute the powers at a node and how its value is split [3, 6, 7, 8].

    Parameters
    ----------
    trade_map
        What no merchant changes.
    node
        Name of the trade node.
    rows
        Rows of `node_country` for the node.
    extra_merchant
        Country that has a merchant at the node in addition to those in the rows.

    Returns
    -------
    Split
        Powers and flows per value of 1.
    """
    powers: dict[str, float] = {}
    moving_power = 0.0
    support = dict.fromkeys(trade_map.dests[node], 0.0)
    for row in rows:
        country = row["country_name"]
        has_merchant = row["has_merchant"] or country == extra_merchant
        powers[country] = power = trading_power(trade_map, row, has_merchant)
        if trade_map.homes[country] != node:
            moving_power += power
            dest = steered_dest(trade_map, node, country) if has_merchant else None
            if dest is not None:
                support[dest] += power

    total_power = sum(powers.values())
    leaving = moving_power / total_power if total_power > 0 else 0.0
    flows = {dest: leaving * share for dest, share in route_shares(support).items()}
    return Split(powers, total_power, flows)


def trading_power(trade_map: TradeMap, row: Row, has_merchant: bool) -> float:
    """Compute the trading power for a row of `node_country` [3]."""
    power: float = row["base_trading_power"]
    if not has_merchant:
        return power
    power += MERCHANT_POWER
    if trade_map.inland[row["trade_node"]]:
        development = trade_map.developments[row["country_name"]]
        power += max(development / INLAND_DIVISOR, INLAND_POWER)
    return MERCHANT_FACTOR * power


def steered_dest(trade_map: TradeMap, node: str, country: str) -> str | None:
    """Find the dest node of the route that a country with a merchant supports, if any [7]."""
    home = trade_map.homes[country]
    dests = trade_map.dests[node]
    if home in dests:
        return home
    return next((dest for dest in dests if home in trade_map.reachable[dest]), None)


def route_shares(support: Mapping[str, float]) -> dict[str, float]:
    """Compute the share of each route by dest node from the power that supports it [8]."""
    total = sum(support.values())
    if total > 0:
        return {dest: power / total for dest, power in support.items()}
    return {dest: 1 / len(support) for dest in support}


def profit_at(trade_map: TradeMap, splits: Mapping[str, Split], country: str, home: str) -> float:
    """Send the value down all routes and compute the profit of a country at home [5, 6, 9]."""
    home_split = splits[home]
    if country not in home_split.powers or home_split.total_power <= 0:
        return 0.0
    values = dict(trade_map.local_values)
    for node in trade_map.order:
        if node == home:
            break
        for dest, flow in splits[node].flows.items():
            values[dest] += ROUTE_GROWTH * (values[node] * flow)
    return values[home] * home_split.powers[country] / home_split.total_power


# ---------------------------------------------------------------------------------- Building


@dataclass(frozen=True)
class Economy:
    """The part of an economy that the price of some goods depends on.

    Attributes
    ----------
    goods
        Codes of the goods that count.
    demand
        Demand for the goods by code [4].
    needs
        Needed goods (code -> max_demand) by building; none for a building that needs nothing.
    makes
        Made goods that count (code -> (max_supply, current_output)) by building.
    """

    goods: Collection[int]
    demand: Mapping[int, float]
    needs: Mapping[int, Mapping[int, float]]
    makes: Mapping[int, Mapping[int, tuple[float, float]]]


def building_prices(tables: Tables, goods: str) -> dict[int, float]:
    """Compute the market price of goods for every building that can be raised.

    Parameters
    ----------
    tables
        Rows of `goods`, `building`, `supply` and `demand`.
    goods
        Name of the goods.

    Returns
    -------
    dict[int, float]
        Market price of the goods by id of the building whose level is raised by 5.
    """
    goods_row = next(row for row in tables["goods"] if row["goods_name"] == goods)
    code, base_price = goods_row["code"], goods_row["base_price"]
    economy = read_economy(tables, code)

    unchanged = market_price(economy, code, base_price)
    prices: dict[int, float] = {}
    for row in tables["building"]:
        building, level = row["id"], row["level"]
        if matters(economy, building):
            raised = raise_building(economy, building, (level + LEVELS_RAISED) / level)
            prices[building] = market_price(raised, code, base_price)
        else:
            prices[building] = unchanged
    return prices


def read_economy(tables: Tables, code: int) -> Economy:
    """Collect the part of the economy that the price of the goods with a code depends on."""
    demand: dict[int, float] = {row["code"]: row["pop_demand"] for row in tables["goods"]}
    needs: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for row in tables["demand"]:
        demand[row["goods_id"]] += row["max_demand"]
        needs[row["building_id"]][row["goods_id"]] = row["max_demand"]
    makers: defaultdict[int, list[int]] = defaultdict(list)
    for row in tables["supply"]:
        makers[row["goods_id"]].append(row["building_id"])

    goods = {code}
    pending = [code]
    while pending:
        for building in makers[pending.pop()]:
            new = needs[building].keys() - goods
            goods |= new
            pending.extend(new)

    makes: defaultdict[int, dict[int, tuple[float, float]]] = defaultdict(dict)
    for row in tables["supply"]:
        if row["goods_id"] in goods:
            outputs = row["max_supply"], row["current_output"]
            makes[row["building_id"]][row["goods_id"]] = outputs
    return Economy(goods, demand, dict(needs), dict(makes))


def matters(economy: Economy, building: int) -> bool:
    """Tell whether raising the building changes any of the goods that count."""
    return building in economy.makes or any(
        code in economy.goods for code in economy.needs.get(building, ())
    )


def raise_building(economy: Economy, building: int, factor: float) -> Economy:
    """Multiply max_demand and max_supply of a building by a factor [3, 4]."""
    old_needs = economy.needs.get(building, {})
    new_needs = {code: amount * factor for code, amount in old_needs.items()}
    demand = dict(economy.demand)
    for code, amount in old_needs.items():
        demand[code] += new_needs[code] - amount
    makes = dict(economy.makes)
    if building in makes:
        makes[building] = {
            code: (max_supply * factor, output)
            for code, (max_supply, output) in makes[building].items()
        }
    needs = {**economy.needs, building: new_needs}
    return Economy(economy.goods, demand, needs, makes)


def market_price(economy: Economy, code: int, base_price: float) -> float:
    """Compute the market price of goods after all rounds [10]."""
    demand = economy.demand[code]
    supply = final_supply(economy)[code]
    if demand == 0 and supply == 0:
        return base_price
    return base_price * (1 + PRICE_SWING * (demand - supply) / max(demand, supply))


def final_supply(economy: Economy) -> dict[int, float]:
    """Compute the supply by code of the goods after the last round [5, 6, 7, 8, 9].

    A need of 0 counts as met in full whatever the supply, so such needs are only counted.
    """
    first = dict.fromkeys(economy.goods, 0.0)
    constant = dict.fromkeys(economy.goods, 0.0)
    working: list[tuple[list[int], int, list[tuple[int, float]]]] = []
    for building, makes in economy.makes.items():
        needs = economy.needs.get(building, {})
        for code, (max_supply, current_output) in makes.items():
            first[code] += max_supply
            if not needs:
                constant[code] += current_output
        if needs:
            wanted = [code for code, amount in needs.items() if amount > 0]
            outputs = [(code, max_supply) for code, (max_supply, _) in makes.items()]
            working.append((wanted, len(needs) - len(wanted), outputs))

    supply = first
    for _ in range(ROUNDS):
        met = {code: met_share(supply[code], economy.demand[code]) for code in economy.goods}
        supply = dict(constant)
        for wanted, unneeded, outputs in working:
            share = (unneeded + sum(met[code] for code in wanted)) / (unneeded + len(wanted))
            for code, max_supply in outputs:
                supply[code] += max_supply * share
    return supply


def met_share(supply: float, demand: float) -> float:
    """Compute min(current_input / max_demand, 1), which is the same for all buildings [5, 6]."""
    return 1.0 if supply >= demand else supply / demand
