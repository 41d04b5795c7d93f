"""The expected result of a plan, by the books alone: assumed demand, deliveries and costs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dqa_simulators.company.books import Row, supplier_id
from dqa_simulators.company.demand import DemandModel
from dqa_simulators.company.drawing import LEVELS, Floats
from dqa_simulators.company.plans import read_plan
from dqa_simulators.company.reading import Reading

REPLIES: Final = {"lower its prices": 0.95, "keep its prices": 1.0, "raise its prices": 1.05}
"""The competitor's replies, with the factor of its prices."""


def expect_period(reading: Reading, text: str, reply: str) -> tuple[Reading, str]:
    """Return the books after a period as expected, and its result in words.

    Demand is that of a regression on the books, orders arrive after their mean lead time in the
    past with the usual share of usable units, and nothing expires.

    Parameters
    ----------
    reading
        The books before the period.
    text
        The plan.
    reply
        One of `REPLIES`.
    """
    plan, period = read_plan(reading, text), reading.periods + 1
    reference = np.array(reading.column("items", 2))
    prices = np.round(reference * LEVELS[plan.level], 2)
    rivals = np.round(reading.rival_prices[-1] * REPLIES[reply], 2)
    demand = np.array(
        [DemandModel(reading, item).mean(price, 0) for item, price in enumerate(prices)]
    )
    orders, arrived = _deliver(reading, period)
    available = reading.stock + arrived
    sold = np.minimum(available, np.round(demand))
    closing = available - sold
    new: dict[str, list[Row]] = {"sales": [], "inventory": []}
    placed: list[Any] = []
    for item, site in np.ndindex(*reading.shape):
        names = (reading.items[item], reading.sites[site])
        units = int(sold[item, site])
        new["sales"].append((0, period, *names, units, "sale", period))
        counts = (reading.stock, arrived, np.zeros(reading.shape), closing)
        new["inventory"].append((period, *names, *(int(one[item, site]) for one in counts)))
        if quantity := int(plan.quantity[item, site]):
            offer = reading.offers[item][supplier_id(int(plan.supplier[item, site]))]
            due = period + max(1, round(offer.lead))
            order = (0, period, *names, offer.supplier, quantity, offer.price, due)
            placed.append((*order, None, None))
    new["prices"] = [
        (period, name, int(plan.level[item]) + 1, float(prices[item]), float(rivals[item]))
        for item, name in enumerate(reading.items)
    ]
    money = {
        "revenue": (sold * prices[:, None]).sum(),
        "purchases": -sum(row[5] * row[6] for row in placed),
        "holding": -(closing.sum(1) * reading.column("items", 5)).sum(),
        "stockouts": -((demand - sold).sum(1) * reading.column("items", 6)).sum(),
        "fixed_costs": -sum(row[2] for row in reading.tables["sites"] if row[3]),
    }
    profit = round(float(sum(money.values())), 2)
    new["ledger"] = [(period, *(0.0 for _ in range(9)), profit)]
    after = {name: (*rows, *new.get(name, ())) for name, rows in reading.tables.items()}
    after["orders"] = (*orders, *placed)
    amounts = ", ".join(f"{name} {amount:.0f}" for name, amount in money.items())
    return Reading(after), f"Expected in period {period}: profit {profit:.0f} ({amounts})."


def _deliver(reading: Reading, period: int) -> tuple[list[Row], Floats]:
    """Return the orders after the expected deliveries of a period, and the units that arrive."""
    arrived, orders = np.zeros(reading.shape), []
    for row in reading.tables["orders"]:
        _, _, name, where, supplier, quantity, _, due, _, good = row
        if good is not None or due > period:
            orders.append(row)
            continue
        item, site = reading.items.index(name), reading.sites.index(where)
        usable = int(quantity * reading.offers[item][supplier].usable)
        arrived[item, site] += usable
        orders.append((*row[:-2], period, usable))
    return orders, arrived
