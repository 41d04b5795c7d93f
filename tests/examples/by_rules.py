"""The outcomes of the example's warehouse by its rules, in plain Python over the rows.

Written from the three ``rules.md`` and the tables alone; no statement of the folder is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from examples.warehouse_shape import Rows

_Row = Mapping[str, Any]


def outcomes(rows: Rows, scenario: str, target: Mapping[str, Any]) -> dict[str, float]:
    """Return what every candidate leads to, by name."""
    told = {name: table.to_pylist() for name, table in rows.items()}
    quarter = date.fromisoformat(target["quarter"])
    if scenario == "stop-plant":
        return _stop(told, target["region"], quarter)
    if scenario == "switch-supplier":
        return _switch(told, target["family"], quarter)
    return _add(told, target["family"], quarter, target["units"])


def _lines(told: Mapping[str, list[_Row]], quarter: date) -> list[tuple[_Row, int]]:
    """Return the lines of the quarter's orders, each with its warehouse."""
    orders = {
        o["order_id"]: o["warehouse_id"] for o in told["customer_order"] if o["quarter"] == quarter
    }
    there = [line for line in told["order_line"] if line["order_id"] in orders]
    return [(line, orders[line["order_id"]]) for line in there]


def _costs(told: Mapping[str, list[_Row]]) -> dict[tuple[int, int], dict[int, Decimal]]:
    """Return by product and warehouse what a unit costs from each plant."""
    freight: dict[int, dict[int, Decimal]] = defaultdict(dict)
    for lane in told["lane"]:
        freight[lane["plant_id"]][lane["warehouse_id"]] = lane["unit_freight"]
    found: dict[tuple[int, int], dict[int, Decimal]] = defaultdict(dict)
    for able in told["plant_product"]:
        for warehouse, carried in freight[able["plant_id"]].items():
            cost = able["unit_cost"] + carried
            found[able["product_id"], warehouse][able["plant_id"]] = cost
    return found


def _sold_products(told: Mapping[str, list[_Row]], family: str) -> set[int]:
    return {
        product["product_id"]
        for product in told["product"]
        if product["family"] == family and product["discontinued_on"] is None
    }


def _stop(told: Mapping[str, list[_Row]], region: str, quarter: date) -> dict[str, float]:
    costs = _costs(told)
    plants = {p["plant_id"]: p for p in told["plant"] if p["region"] == region}
    lost = {plant: -row["quarterly_cost"] for plant, row in plants.items()}
    for line, warehouse in _lines(told, quarter):
        plant, units = line["plant_id"], line["shipped_quantity"]
        if plant not in plants:
            continue
        by_plant = costs[line["product_id"], warehouse]
        others = [cost for other, cost in by_plant.items() if other != plant]
        worth = min(others) if others else line["unit_price"]
        lost[plant] += units * (worth - by_plant[plant])
    return {plants[plant]["name"]: float(value) for plant, value in lost.items()}


def _switch(told: Mapping[str, list[_Row]], family: str, quarter: date) -> dict[str, float]:
    wanted = _sold_products(told, family)
    of_family = {p["product_id"] for p in told["product"] if p["family"] == family}
    units: dict[int, int] = defaultdict(int)
    revenue = Decimal(0)
    for line, _ in _lines(told, quarter):
        if line["product_id"] in wanted:
            units[line["product_id"]] += line["shipped_quantity"]
            revenue += line["shipped_quantity"] * line["unit_price"]
    found = {}
    for supplier in told["supplier"]:
        key = supplier["supplier_id"]
        asked = {
            o["product_id"]: o["unit_cost"]
            for o in told["product_supplier"]
            if o["supplier_id"] == key
        }
        came = [
            s["delivered_on"] is not None and s["delivered_on"] <= s["due_on"]
            for s in told["shipment"]
            if s["supplier_id"] == key and s["quarter"] == quarter and s["product_id"] in of_family
        ]
        if supplier["certified"] and wanted <= asked.keys() and came:
            cost = sum(float(asked[product] * units[product]) for product in wanted)
            late = came.count(False) / len(came)
            found[supplier["name"]] = cost + 0.25 * float(revenue) * late
    return found


def _add(
    told: Mapping[str, list[_Row]], family: str, quarter: date, added: int
) -> dict[str, float]:
    wanted, costs = _sold_products(told, family), _costs(told)
    lost: dict[tuple[int, int], list[Decimal]] = defaultdict(list)
    for line, warehouse in _lines(told, quarter):
        short = line["quantity"] - line["shipped_quantity"]
        lost[line["product_id"], warehouse] += [line["unit_price"]] * short
    lying: dict[int, int] = defaultdict(int)
    for stock in told["stock"]:
        lying[stock["warehouse_id"]] += stock["on_hand"]
    found = {}
    for kept in told["warehouse"]:
        key = kept["warehouse_id"]
        if kept["capacity"] - lying[key] < added * len(wanted):
            continue
        earned = 0.0
        for product in wanted:
            prices = lost[product, key]
            served = min(added, len(prices))
            cost = min(costs[product, key].values())
            if served:
                earned += served * (float(sum(prices)) / len(prices) - float(cost))
            earned -= (added - served) * float(kept["holding_cost"])
        found[kept["name"]] = earned
    return found
