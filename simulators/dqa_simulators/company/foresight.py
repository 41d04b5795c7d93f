"""Estimate the demand from the books, and calculate the expected result of a plan."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dqa_simulators.company.books import Row, supplier_id
from dqa_simulators.company.parameters import LEVELS, PAST, Floats, Integers
from dqa_simulators.company.plans import read_plan
from dqa_simulators.company.reading import Reading

REPLIES: Final = {"lower its prices": 0.95, "keep its prices": 1.0, "raise its prices": 1.05}
"""The competitor's possible replies, and the factor on the competitor's prices for each reply."""
BELOW: Final = 0.97
"""A price just below a competitor's price, as a share of that price."""
_YEAR: Final = 52


class DemandModel:
    """The demand for an item, estimated by a ridge regression on the logarithm of its sales.

    Parameters
    ----------
    reading
        The books.
    item
        The item's index.
    """

    _PRIOR: Final = np.array([0.0, -2.0, 0.5, 0.35, -0.1] + [0.0] * 6)
    _WEIGHT: Final = np.array([0.0, 0.02, 0.2, 0.3, 0.3] + [0.3] * 6)

    def __init__(self, reading: Reading, item: int) -> None:
        self.item, self._reading = item, reading
        self._reference = float(reading.column("items", 2)[item])
        total = reading.sales[:, item].sum(1)
        used = reading.is_complete[:, item][:, reading.is_open].all(1) & (total > 0)
        own = np.log(reading.own_prices[:, item] / self._reference)
        rival = np.log(reading.rival_prices[:, item] / self._reference)
        promoted = reading.promoted[: reading.periods, item].astype(float)
        before = np.r_[0.0, promoted[:-1]]
        columns = [np.ones(len(total)), own, rival, promoted, before]
        design = np.column_stack([*columns, self._season(np.arange(reading.periods))])
        answer = np.log(np.maximum(total, 1))
        matrix, target = design[used], answer[used]
        weight = np.diag(self._WEIGHT)
        self._weights = np.linalg.solve(
            matrix.T @ matrix + weight, matrix.T @ target + weight @ self._PRIOR
        )
        residual = answer - design @ self._weights
        self.spread = float(residual[used].std())
        # Recent residuals show changes that no regressor explains, such as a new customer.
        recent = residual[-4:][used[-4:]]
        self._recent = float(recent.sum() / (len(recent) + 2)) if len(recent) else 0.0
        recent_sales = reading.sales[-_YEAR // 2 :, item].sum(0) * reading.is_open
        self._share = recent_sales / max(1.0, recent_sales.sum())

    def mean(self, price: float, ahead: int, *, follows: bool = False) -> Floats:
        """Return the expected demand by site in a future period.

        Parameters
        ----------
        price
            Our price.
        ahead
            The number of periods from the next period to the future period; 0 for the next period.
        follows
            Whether to assume that the competitor's price has moved half of the way to a price just
            below ours.
        """
        reading, period = self._reading, self._reading.periods + ahead
        rival = float(reading.rival_prices[-1, self.item])
        if follows:
            rival = (rival + BELOW * price) / 2
        known = np.append(reading.promoted[:, self.item], np.zeros(ahead + 1, dtype=bool))
        before, promoted = known[period - 1], known[period]
        row = np.array(
            [
                *(1.0, np.log(price / self._reference), np.log(rival / self._reference)),
                *(float(promoted), float(before)),
                *self._season(np.array([period]))[0],
            ]
        )
        level = float(row @ self._weights) + self._recent + self.spread**2 / 2
        return np.asarray(np.exp(level) * self._share)

    def promotion_gain(self) -> float:
        """Return the additional margin of a promotion, without subtracting the promotion's cost."""
        price = float(self._reading.own_prices[-1, self.item])
        cost = min(offer.cost for offer in self._reading.offers[self.item].values())
        lift = float(np.exp(self._weights[3]) + np.exp(self._weights[4]) - 2)
        return lift * float(self.mean(price, 1).sum()) * (price - cost)

    @staticmethod
    def _season(periods: Integers) -> Floats:
        angle = 2 * np.pi * periods / _YEAR
        pay = [(periods % 4 == phase) - 0.25 for phase in range(3)]
        return np.column_stack([np.sin(angle), np.cos(angle), *pay, (periods - PAST) / _YEAR])


def expect_period(reading: Reading, text: str, reply: str) -> tuple[Reading, str]:
    """Return the expected books after a period, and a description of the expected result.

    Demand comes from `DemandModel`. Orders arrive after the mean past lead time. The share of
    usable units is the same as in past deliveries. No units expire.

    Parameters
    ----------
    reading
        The books before the period.
    text
        The plan.
    reply
        The competitor's reply to the plan: one of `REPLIES`.
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
    """Return the orders after a period, and the units that are expected to arrive in the period."""
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
