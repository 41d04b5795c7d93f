"""Read the books of a company as arrays, after all corrections are applied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.company.parameters import Floats, Integers

_RECENT: Final = 26
"""The number of periods that count as recent: half a year."""
_DOUBLED: Final = re.compile(r"periods (\d+) to (\d+) .* of (I\d+) twice")


@dataclass(frozen=True)
class Offer:
    """The offer of a supplier for an item, and its past deliveries.

    Attributes
    ----------
    supplier
        The id of the supplier.
    price
        The list price.
    leads
        The observed lead times; only the promised lead time if there are no observations.
    usable
        The share of usable units in past deliveries. 100 assumed units, with 94 usable units, are
        added.
    """

    supplier: str
    price: float
    leads: tuple[int, ...]
    usable: float

    @property
    def lead(self) -> float:
        """The mean lead time."""
        return float(np.mean(self.leads))

    @property
    def cost(self) -> float:
        """The cost of a usable unit."""
        return self.price / self.usable


@dataclass(frozen=True)
class Reading:
    """The books as arrays with the axes period, item and site.

    Attributes
    ----------
    tables
        All rows by table.
    """

    tables: Mapping[str, Sequence[Any]]

    @cached_property
    def items(self) -> list[str]:
        """The ids of the items."""
        return self.column("items", 0)

    @cached_property
    def sites(self) -> list[str]:
        """The ids of the sites."""
        return self.column("sites", 0)

    @cached_property
    def periods(self) -> int:
        """The number of finished periods."""
        return max(self.column("ledger", 0), default=0)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of items and sites."""
        return len(self.items), len(self.sites)

    @cached_property
    def sales(self) -> Floats:
        """Units sold, by period, item and site.

        Corrections and known double postings are accounted for.
        """
        units = np.zeros((self.periods, *self.shape))
        _, _, items, sites, posted, _, periods = self._columns("sales")
        np.add.at(units, self._index(periods, items, sites), posted)
        for _, note in self.tables["data_dictionary"]:
            if found := _DOUBLED.search(note):
                first, last = int(found[1]), int(found[2])
                units[first - 1 : last, self.items.index(found[3])] /= 2
        return units

    @cached_property
    def _inventory(self) -> Floats:
        counts = np.zeros((self.periods, *self.shape, 2))
        periods, items, sites, _, _, expired, closing = self._columns("inventory")
        counts[self._index(periods, items, sites)] = np.array([closing, expired]).T
        return counts

    @property
    def stock(self) -> Floats:
        """Units in stock now, by item and site."""
        return self._inventory[-1, :, :, 0]

    @cached_property
    def is_complete(self) -> NDArray[np.bool_]:
        """Whether units were left at the end of a period, by period, item and site.

        In this case, the sales of the period are equal to the demand.
        """
        return np.asarray(self._inventory.sum(3) > 0)

    @cached_property
    def _prices(self) -> Floats:
        values = np.zeros((self.periods, len(self.items), 3))
        periods, items, *figures = self._columns("prices")
        values[self._index(periods, items)] = np.array(figures).T
        return values

    @property
    def levels(self) -> Integers:
        """The present price levels, from 1, by item."""
        return self._prices[-1, :, 0].astype(np.int64)

    @property
    def own_prices(self) -> Floats:
        """Our prices by period and item."""
        return self._prices[:, :, 1]

    @property
    def rival_prices(self) -> Floats:
        """The competitor's prices by period and item."""
        return self._prices[:, :, 2]

    @cached_property
    def promoted(self) -> NDArray[np.bool_]:
        """Whether an item is promoted, by period and item. The last two rows are future periods."""
        found = np.zeros((self.periods + 2, len(self.items)), dtype=bool)
        for period, item in self.tables["promotions"]:
            found[period - 1, self.items.index(item)] = True
        return found

    @cached_property
    def coming(self) -> Floats:
        """Ordered units that have not arrived, by item and site."""
        units = np.zeros(self.shape)
        for _, _, item, site, _, quantity, *_, good in self.tables["orders"]:
            if good is None:
                units[self.items.index(item), self.sites.index(site)] += quantity
        return units

    @cached_property
    def offers(self) -> list[dict[str, Offer]]:
        """The offers for each item, by supplier."""
        arrived: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        for _, period, item, _, supplier, quantity, _, _, arrival, good in self.tables["orders"]:
            if good is not None:
                arrived.setdefault((item, supplier), []).append((arrival - period, quantity, good))
        found: list[dict[str, Offer]] = [{} for _ in self.items]
        for item, supplier, price, promised, _ in self.tables["offers"]:
            orders = arrived.get((item, supplier), [])
            usable = (94 + sum(good for *_, good in orders)) / (
                100 + sum(quantity for _, quantity, _ in orders)
            )
            leads = tuple(lead for lead, *_ in orders) or (promised,)
            found[self.items.index(item)][supplier] = Offer(supplier, price, leads, usable)
        return found

    @cached_property
    def usual(self) -> list[str]:
        """The usual supplier of each item."""
        names = {item: supplier for item, supplier, *_, usual in self.tables["offers"] if usual}
        return [names[item] for item in self.items]

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """Whether each site is open."""
        return np.array(self.column("sites", 3), dtype=bool)

    def recent_demand(self, weeks: int = _RECENT) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of recent demand, by item and site.

        Periods that ended without stock are omitted if at least five periods remain.
        """
        mean, spread = np.zeros(self.shape), np.zeros(self.shape)
        for item, site in np.ndindex(*self.shape):
            units = self.sales[-weeks:, item, site]
            complete = units[self.is_complete[-weeks:, item, site]]
            used = complete if len(complete) >= 5 else units
            mean[item, site], spread[item, site] = used.mean(), used.std()
        return mean, spread

    def column(self, table: str, number: int) -> list[Any]:
        """Return a column of a table."""
        return [row[number] for row in self.tables[table]]

    def _columns(self, table: str) -> tuple[tuple[Any, ...], ...]:
        return tuple(zip(*self.tables[table], strict=True))

    def _index(self, periods: Iterable[int], *names: Iterable[str]) -> tuple[list[int], ...]:
        """Return the array positions of rows with these periods, items and sites."""
        indexes = (
            {name: index for index, name in enumerate(of)} for of in (self.items, self.sites)
        )
        found = [[at[name] for name in of] for of, at in zip(names, indexes, strict=False)]
        return ([period - 1 for period in periods], *found)
