"""Write the books of a company: the tables that a decider can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa.worlds.world import GameEvent
from dqa_simulators.company.engine import Report, State
from dqa_simulators.company.parameters import NAMES, PAST, SITES, UNLIMITED, Company

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Cell, ...]

_SCHEMA: Final = Path(__file__).with_name("schema.sql").read_text("utf-8")
TABLES: Final = tuple(re.findall(r"CREATE TABLE (\w+)", _SCHEMA))
"""The names of the tables."""
CONTEXT: Final = tuple(Path(__file__).with_name("context.sql").read_text("utf-8").split(";\n")[:-1])
"""Statements whose rows summarise the current period."""


def item_id(index: int) -> str:
    """Return the id of an item."""
    return f"I{index + 1}"


def supplier_id(index: int) -> str:
    """Return the id of a supplier."""
    return f"S{index + 1}"


@dataclass
class Books:
    """Writes the tables, period by period.

    Parameters
    ----------
    company
        The company. The tables contain only its visible values.
    seed
        The seed of the errors in the data.

    Attributes
    ----------
    sold
        The units sold in the last period, by item and site.
    """

    company: Company
    seed: int
    tables: dict[str, list[Row]] = field(init=False)

    def __post_init__(self) -> None:
        self.tables = {name: [] for name in TABLES}
        self._random = np.random.default_rng([3_331, self.seed])
        self._bias = self._random.uniform(0.85, 1.3, len(self.company.reference))
        self._doubled = int(self._random.integers(len(self.company.reference)))
        first = int(self._random.integers(30, 60))
        self._double_periods = range(first, first + int(self._random.integers(6, 10)))
        self.sold = np.zeros(self.company.base.shape)
        self._pending: list[tuple[int, int, Row]] = []
        pairs = np.ndindex(self.company.base.shape)
        self._lines = [(item_id(item), SITES[site]) for item, site in pairs]
        self._write_items()

    def record(self, report: Report, state: State) -> None:
        """Write the rows of a finished period. `state` is the state after the period."""
        period, self.sold = state.period, report.sold
        moved = np.stack([report.opening, report.arrived, report.expired, report.closing], axis=-1)
        counts = moved.astype(int).reshape(-1, 4).tolist()
        self.tables["inventory"] += [
            (period, *names, *row) for names, row in zip(self._lines, counts, strict=True)
        ]
        for names, sold in zip(self._lines, report.sold.astype(int).ravel().tolist(), strict=True):
            self._write_sale(period, names, sold)
        self._write_orders(report, period)
        for item, level in enumerate(report.plan.level.tolist()):
            price, rival = float(report.price[item]), float(report.competitor[item])
            self.tables["prices"].append((period, item_id(item), level + 1, price, rival))
        profit = round(report.profit, 2) + 0.0
        self.tables["ledger"].append((period, *report.money.values(), profit))
        self._receive_orders(period, state)

    def prepare(self, state: State) -> None:
        """Write forecasts and new memos before a period, and refresh the offers and sites."""
        company, period = self.company, state.period
        memos = (memo for memo in company.memos if memo.period == period)
        self.tables["memos"] += [(period + 1, memo.text) for memo in memos]
        for item, mean in enumerate((company.base.sum(1) * company.season[period]).tolist()):
            guess = mean * self._bias[item] * np.exp(0.1 * self._random.standard_normal())
            self.tables["forecasts"].append((period + 1, item_id(item), int(guess + 0.5)))
        self._add_promotions(period + 1, state.promoted[0])
        if period >= PAST:
            self.refresh(state)

    def refresh(self, state: State) -> None:
        """Write the tables that the answer to a proposal changes: offers, sites and promotions."""
        company, now = self.company, state.period
        offers: list[Row] = []
        for item, supplier in np.argwhere(~np.isnan(company.cost)).tolist():
            price = company.cost[item, supplier] * company.cost_factor[now, supplier]
            if supplier == state.signed:
                price *= 1 - company.DISCOUNT
            lead = int(company.promised[item, supplier]) + company.settings.delay
            usual = int(company.default[item] == supplier)
            offers.append(
                (item_id(item), supplier_id(supplier), round(float(price), 4), lead, usual)
            )
        self.tables["offers"] = offers
        self.tables["sites"] = [
            (SITES[site], float(company.capacity[now, site]), float(cost), int(state.open[site]))
            for site, cost in enumerate(company.fixed.tolist())
        ]
        self._add_promotions(now + 2, state.promoted[2])

    def _add_promotions(self, period: int, promoted: NDArray[np.bool_]) -> None:
        rows = [(period, item_id(int(item))) for item in np.flatnonzero(promoted)]
        self.tables["promotions"] += [row for row in rows if row not in self.tables["promotions"]]

    def copy(self) -> Books:
        """Return an independent copy."""
        other = copy(self)
        tables = {name: list(rows) for name, rows in self.tables.items()}
        pending = list(self._pending)
        vars(other).update(tables=tables, _random=deepcopy(self._random), _pending=pending)
        return other

    def snapshot(self, game: int, events: Iterable[GameEvent]) -> dict[str, tuple[Row, ...]]:
        """Return the rows of all tables, including the events of a game."""
        written = [
            (game, one.number, one.stage, one.actor, one.action, one.detail) for one in events
        ]
        return {
            **{name: tuple(rows) for name, rows in self.tables.items()},
            "events": tuple(written),
        }

    def _write_items(self) -> None:
        company = self.company
        for item, name in enumerate(NAMES[: len(company.reference)]):
            shelf = int(company.shelf[item])
            amounts = (company.holding[item], company.penalty[item], company.salvage[item])
            self.tables["items"].append(
                (
                    *(item_id(item), name, float(company.reference[item])),
                    float(company.volume[item]),
                    shelf if shelf < UNLIMITED else None,
                    *map(float, amounts),
                )
            )
        span = self._double_periods
        self.tables["data_dictionary"].append(
            (
                "sales",
                (
                    f"known error: in periods {span[0]} to {span[-1]} the tills posted every sale "
                    f"of {item_id(self._doubled)} twice as high as it was; never corrected"
                ),
            )
        )

    def _write_orders(self, report: Report, period: int) -> None:
        """Write the orders of a period, and store their final rows until the orders arrive."""
        plan, company, rows = report.plan, self.company, self.tables["orders"]
        for item, site in np.argwhere(plan.quantity).tolist():
            supplier, number = int(plan.supplier[item, site]), len(rows)
            promised = int(company.promised[item, supplier]) + company.settings.delay
            names = (item_id(item), SITES[site], supplier_id(supplier))
            cost = round(float(report.unit_cost[item, site]), 4)
            placed = (number + 1, period, *names, int(plan.quantity[item, site]), cost)
            arrival = period + int(report.lead[item, site])
            rows.append((*placed, period + promised, None, None))
            arrived: Row = (*placed, period + promised, arrival, int(report.good[item, site]))
            self._pending.append((arrival, number, arrived))

    def _write_sale(self, period: int, names: tuple[str, str], sold: int) -> None:
        """Write a sale.

        Some rows have errors, as in real data: the quantity is doubled, or wrong and corrected
        later.
        """
        rows, random = self.tables["sales"], self._random
        posted = sold
        if names[0] == item_id(self._doubled) and period in self._double_periods:
            posted = 2 * sold
        elif period < PAST - 8 and sold > 20 and random.random() < 0.04:
            wrong = int(sold * random.uniform(0.2, 0.6)) * (1 if random.random() < 0.6 else -1)
            posted = sold + wrong
            later = period + int(random.integers(1, 5))
            rows.append((len(rows) + 1, later, *names, -wrong, "correction", period))
        rows.append((len(rows) + 1, period, *names, posted, "sale", period))

    def _receive_orders(self, period: int, state: State) -> None:
        """Complete the rows of orders that arrived in a period.

        Orders of a closed site never arrive.
        """
        closed = {SITES[site] for site in np.flatnonzero(~state.open)}
        pending, self._pending = self._pending, []
        for arrival, number, row in pending:
            if arrival <= period:
                self.tables["orders"][number] = row
            elif row[3] not in closed:
                self._pending.append((arrival, number, row))


def to_script(tables: Mapping[str, Sequence[Row]]) -> str:
    """Return SQL that creates and fills the tables. For equal rows, the text is always the same."""
    written = {
        name: ",\n".join(f"({', '.join(map(_literal, row))})" for row in tables[name])
        for name in TABLES
    }
    filled = [f"INSERT INTO {name} VALUES\n{rows};\n" for name, rows in written.items() if rows]
    return "".join([_SCHEMA, *filled])


def _literal(value: Cell) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)
