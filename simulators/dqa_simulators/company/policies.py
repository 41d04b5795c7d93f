"""Programs that manage the company: simple rules, and an analyst with a regression.

The programs read only the books, like every decider.
"""

from __future__ import annotations

from abc import abstractmethod
from statistics import NormalDist
from typing import Final, cast

import numpy as np

from dqa.core.question import Candidate
from dqa.worlds.base import RANDOM, Policy, PolicyFactory
from dqa.worlds.world import Position
from dqa_simulators.company.engine import round_order
from dqa_simulators.company.foresight import BELOW, DemandModel
from dqa_simulators.company.parameters import LEVELS, PAST, Company, Floats, Integers
from dqa_simulators.company.plans import normal_levels, write_plan
from dqa_simulators.company.position import CompanyPosition
from dqa_simulators.company.reading import Offer, Reading

_SERVICE: Final = 0.9
"""The service level of the base stock policy."""


class Manager(Policy):
    """Makes plans by a rule. Answers each proposal with the first choice, which changes nothing."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the plan of a period, or the answer to a proposal."""
        del random
        view = cast("CompanyPosition", position)
        if view.proposal:
            return self.decide(view)
        return self.plan(view.reading, view.left)

    def decide(self, view: CompanyPosition) -> Candidate:
        """Answer a proposal with the choice that changes nothing."""
        return view.actions[0]

    @abstractmethod
    def plan(self, reading: Reading, left: int) -> str:
        """Return the plan of a period.

        `left` is the number of remaining periods, including this period.
        """


class Naive(Manager):
    """Orders the units sold in the last period, at reference prices."""

    def plan(self, reading: Reading, left: int) -> str:
        """Return the default plan at reference prices."""
        del left
        units = round_order(reading.sales[-1])
        return write_plan(reading, units, reading.usual, normal_levels(reading))


class Repeat(Manager):
    """Repeats the orders and prices of the last period of the history in every period."""

    def plan(self, reading: Reading, left: int) -> str:
        """Return the plan with the last orders of the history and unchanged prices."""
        del left
        units, suppliers = np.zeros(reading.shape, dtype=np.int64), list(reading.usual)
        for _, period, item, site, supplier, quantity, *_ in reading.tables["orders"]:
            if period == PAST:
                units[reading.items.index(item), reading.sites.index(site)] = quantity
                suppliers[reading.items.index(item)] = supplier
        return write_plan(reading, units, suppliers, reading.levels)


class BaseStock(Manager):
    """Fills the stock up to the demand during the lead time and one period, plus a safety stock."""

    def plan(self, reading: Reading, left: int) -> str:
        """Return orders from the usual suppliers at reference prices."""
        mean, spread = reading.recent_demand()
        units = np.zeros(reading.shape, dtype=np.int64)
        for item, name in enumerate(reading.usual):
            offer = reading.offers[item][name]
            if offer.lead < left:
                wanted = missing_units(
                    reading, item, offer, mean[item], spread[item], _SERVICE, left
                )
                units[item] = round_order(wanted)
        return write_plan(reading, units, reading.usual, normal_levels(reading))


class Newsvendor(Manager):
    """Fills the stock up to a target, like `BaseStock`.

    The newsvendor formula gives the service level. Demand is estimated from recent periods. Every
    item is ordered from its best supplier.
    """

    def plan(self, reading: Reading, left: int) -> str:
        """Return orders that fill the stock up to the quantile of demand at the critical ratio."""
        mean, spread = reading.recent_demand()
        mean = (mean + reading.recent_demand(6)[0]) / 2
        units, suppliers = np.zeros(reading.shape, dtype=np.int64), []
        for item, price in enumerate(reading.column("items", 2)):
            offer = best_offer(reading, item)
            suppliers.append(offer.supplier)
            if offer.lead < left:
                ratio = critical_ratio(reading, item, offer, price)
                wanted = missing_units(reading, item, offer, mean[item], spread[item], ratio, left)
                units[item] = round_order(wanted / offer.usable)
        return write_plan(reading, units, suppliers, self._levels(reading))

    def _levels(self, reading: Reading) -> Integers:
        return normal_levels(reading)


class PriceFollower(Newsvendor):
    """Orders like the newsvendor. Its prices are just below the competitor's prices if possible."""

    def _levels(self, reading: Reading) -> Integers:
        reference = np.array(reading.column("items", 2))
        wanted = BELOW * reading.rival_prices[-1]
        levels = (reference[:, None] * LEVELS <= wanted[:, None]).sum(1)
        return np.asarray(np.clip(levels, 1, 5), dtype=np.int64)


class Analyst(Manager):
    """Chooses suppliers, prices, orders and promotions with a regression on demand."""

    def plan(self, reading: Reading, left: int) -> str:
        """Return the plan with the largest expected margin."""
        reference = np.array(reading.column("items", 2))
        units = np.zeros(reading.shape, dtype=np.int64)
        suppliers, levels = list(reading.usual), reading.levels.copy()
        for item in range(len(reading.items)):
            model = DemandModel(reading, item)
            offer = best_offer(reading, item)
            suppliers[item] = offer.supplier
            levels[item] = self._best_level(reading, model, offer, reference[item])
            price = round(float(reference[item] * LEVELS[levels[item] - 1]), 2)
            ratio = critical_ratio(reading, item, offer, price)
            ahead = max(1, min(left, round(offer.lead) + 1))
            mean = np.array([model.mean(price, step) for step in range(ahead)]).mean(0)
            if min(offer.leads) < left:
                spread = mean * model.spread
                wanted = missing_units(reading, item, offer, mean, spread, ratio, left)
                units[item] = round_order(wanted / offer.usable)
        return write_plan(reading, units, suppliers, levels)

    def decide(self, view: CompanyPosition) -> Candidate:
        """Promote the item with the largest gain. Decline contracts, and keep all sites."""
        if view.proposal != "promotion":
            return view.actions[0]
        reading = view.reading
        gains = [DemandModel(reading, item).promotion_gain() for item in range(len(reading.items))]
        best = int(np.argmax(gains))
        return view.actions[best + 1] if gains[best] > Company.PROMOTION else view.actions[0]

    def _best_level(
        self, reading: Reading, model: DemandModel, offer: Offer, reference: float
    ) -> int:
        """Return the level with the largest margin, after the competitor's reaction."""
        margins = []
        for share in LEVELS:
            price = round(reference * float(share), 2)
            margins.append((price - offer.cost) * model.mean(price, 2, follows=True).sum())
        best, present = int(np.argmax(margins)), int(reading.levels[model.item]) - 1
        gain = (margins[best] - margins[present]) * 2
        return 1 + (best if gain > Company.RELABELLING else present)


def best_offer(reading: Reading, item: int) -> Offer:
    """Return the offer with the lowest cost, including an extra cost for irregular lead times."""
    penalty = reading.column("items", 6)[item]
    return min(
        reading.offers[item].values(),
        key=lambda offer: offer.cost + penalty * 0.5 * float(np.std(offer.leads)),
    )


def critical_ratio(reading: Reading, item: int, offer: Offer, price: float) -> float:
    """Return the service level by the newsvendor formula, at most 0.98."""
    _, _, _, _, shelf, holding, penalty, _ = reading.tables["items"][item]
    short = price - offer.price + penalty
    over = 2 * holding if shelf is None else 0.6 * offer.price
    return float(min(0.98, short / (short + over)))


def missing_units(  # noqa: PLR0913, PLR0917
    reading: Reading,
    item: int,
    offer: Offer,
    mean: Floats,
    spread: Floats,
    service: float,
    left: int,
) -> Floats:
    """Return the usable units that an item lacks at each site to reach its target stock.

    The target stock is at most the demand until the end of the episode. For perishable units, it is
    at most the demand until they expire.
    """
    span, shelf = offer.lead + 1, reading.column("items", 4)[item]
    variance = span * spread**2 + mean**2 * np.var(offer.leads)
    most = left if shelf is None else min(left, offer.lead + shelf - 1)
    safety = NormalDist().inv_cdf(service)
    target = np.minimum(mean * span + safety * np.sqrt(variance), mean * most)
    return np.asarray(np.maximum(0, target - (reading.stock[item] + reading.coming[item])))


def _factory(name: str, description: str, policy: type[Manager]) -> PolicyFactory:
    return PolicyFactory(name, description, lambda _: policy())


POLICIES: Final = {
    factory.name: factory
    for factory in (
        RANDOM,
        _factory("naive", "orders the units that were sold last, at reference prices", Naive),
        _factory("repeat", "repeats the last orders and prices of the history", Repeat),
        _factory(
            "base-stock", "fills the stock up to the mean demand plus a safety stock", BaseStock
        ),
        _factory("newsvendor", "like base-stock, with the newsvendor's service level", Newsvendor),
        _factory("follower", "like newsvendor, with prices below the competitor's", PriceFollower),
        _factory("analyst", "chooses suppliers, prices and orders by a regression", Analyst),
    )
}
"""The programs by name."""
