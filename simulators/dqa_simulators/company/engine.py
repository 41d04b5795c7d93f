"""The rules of a period: orders, deliveries, customers, costs, and the competitor."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.company.parameters import (
    LONGEST,
    NORMAL,
    PAST,
    SUPPLIERS,
    UNLIMITED,
    Company,
    Floats,
    Integers,
    Proposal,
)

if TYPE_CHECKING:
    from dqa_simulators.company.books import Books

_AGES: Final = UNLIMITED
_AHEAD: Final = LONGEST + 4
"""The maximum number of periods until an order arrives, including all delays."""
LOT: Final = 10
MOST: Final = 600
"""The largest order, in units. Every order is a multiple of `LOT`."""


@dataclass
class Plan:
    """The decision of a period.

    Attributes
    ----------
    quantity
        By item and site, the units to order.
    supplier
        By item and site, the index of the supplier.
    level
        By item, the index of the price level.
    """

    quantity: Integers
    supplier: Integers
    level: Integers


@dataclass
class State:
    """The state before a period.

    Attributes
    ----------
    period
        The index of the period, from 0.
    stock
        Units in stock, by item, site and age.
    coming
        Usable units that arrive in 0, 1, ... periods, by item and site.
    competitor
        The competitor's prices, by item.
    level
        The price levels of the last period, by item.
    cash, profit
        The money of the company, and the profit since the end of the history.
    open
        Whether each site is open.
    promoted
        Whether each item is promoted in this period, the last period and the next period; shape
        (3, items).
    signed
        The supplier of the contract; -1 without a contract.
    committed
        The units ordered under the contract.
    closing
        The site that closes at the end of this period; -1 for none.
    """

    period: int
    stock: Floats
    coming: Floats
    competitor: Floats
    level: Integers
    cash: float
    profit: float
    open: NDArray[np.bool_]
    promoted: NDArray[np.bool_]
    signed: int = -1
    committed: float = 0.0
    closing: int = -1


@dataclass(frozen=True)
class Report:
    """The result of a period. Arrays are by item and site unless stated otherwise.

    Attributes
    ----------
    plan
        The decision.
    opening, closing
        The units in stock at the start and at the end.
    arrived, sold, expired
        The units that were delivered, sold, or expired.
    lost
        The units that customers wanted but did not find in stock.
    unit_cost
        The price of a unit in each order.
    lead
        The number of periods until each order arrives.
    good
        The usable units of each order.
    price, competitor
        By item: our price and the competitor's price.
    money
        The amounts of the ledger, by name. Costs are negative.
    """

    plan: Plan
    opening: Floats
    arrived: Floats
    sold: Floats
    lost: Floats
    expired: Floats
    closing: Floats
    unit_cost: Floats
    lead: Integers
    good: Floats
    price: Floats
    competitor: Floats
    money: dict[str, float]

    @property
    def profit(self) -> float:
        """The profit of the period: the sum of the ledger's amounts."""
        return sum(self.money.values())


def begin(company: Company) -> State:
    """Return the state before the history."""
    count, sites = company.base.shape
    stock, coming = np.zeros((count, sites, _AGES)), np.zeros((count, sites, _AHEAD))
    stock[:, :, 0], coming[:, :, :2] = company.start[:, :, 0], company.start[:, :, 1:]
    return State(
        period=0,
        stock=stock,
        coming=coming,
        competitor=np.round(company.reference * 0.97, 2),
        level=np.full(count, NORMAL),
        cash=0.0,
        profit=0.0,
        open=np.ones(sites, dtype=bool),
        promoted=np.zeros((3, count), dtype=bool),
    )


def mean_demand(
    company: Company, state: State, price: Floats, competitor: Floats, period: int
) -> Floats:
    """Return the mean demand by item and site."""
    relative = (price / company.reference) ** -company.elasticity
    rival = (competitor / company.reference) ** company.cross
    promoted = 1 + company.lift * state.promoted[0]
    after = 1 - company.dip * state.promoted[1]
    item = company.season[period] * company.shift[period] * relative * rival * promoted * after
    base = np.where(state.open, company.base, 0.0)
    if not state.open.all():
        moving = company.base[:, ~state.open].sum(1, keepdims=True) * company.moved
        base = base + np.where(state.open, moving / max(1, int(state.open.sum())), 0.0)
    return np.asarray(base * item[:, None])


def play_period(company: Company, state: State, plan: Plan) -> tuple[State, Report]:
    """Execute a plan: order, receive, sell and pay. Then the competitor sets new prices."""
    period, price = state.period, company.price(plan.level)
    items = np.arange(len(price))[:, None]
    quantity = np.where(state.open, plan.quantity, 0).astype(float)
    unit_cost, lead, defective = order_terms(company, period, plan.supplier)
    if state.signed >= 0:
        unit_cost = np.where(
            plan.supplier == state.signed, unit_cost * (1 - company.DISCOUNT), unit_cost
        )
    good = np.floor(quantity * (1 - defective))
    stock, coming = state.stock.copy(), np.zeros_like(state.coming)
    coming[:, :, :-1] = state.coming[:, :, 1:]
    sites = np.arange(quantity.shape[1])[None, :]
    np.add.at(coming, (items, sites, lead - 1), good)
    opening, arrived = stock.sum(2), state.coming[:, :, 0]
    stock[:, :, 0] += arrived

    mean = mean_demand(company, state, price, state.competitor, period)
    spread = company.settings.noise
    luck = np.exp(spread * company.demand_noise[period] - spread**2 / 2)
    demand = np.floor(mean * luck + 0.5)
    sold = np.minimum(stock.sum(2), demand)
    _take_oldest(stock, sold)
    expired = _grow_older(stock, company.shelf)
    closing = stock.sum(2)
    lost = demand - sold

    ordered = _by_supplier(plan.supplier, quantity)
    small = (ordered > 0) & (ordered < company.least[period])
    space = (closing * company.volume[:, None]).sum(0) - company.capacity[period]
    money = {
        "revenue": (sold * price[:, None]).sum(),
        "purchases": -np.where(quantity > 0, quantity * unit_cost, 0).sum(),
        "holding": -(closing * company.holding[:, None]).sum(),
        "stockouts": -(lost * company.penalty[:, None]).sum(),
        "overflow": -company.OVERFLOW * np.maximum(0, space).sum(),
        "relabelling": -company.RELABELLING * (plan.level != state.level).sum(),
        "fees": -company.ORDER_FEE * small.sum(),
        "fixed_costs": -company.fixed[state.open].sum(),
        "proposals": -_cost_of_proposals(company, state, stock, coming),
    }
    money = {name: round(float(amount), 2) + 0.0 for name, amount in money.items()}
    report = Report(
        *(plan, opening, arrived, sold, lost, expired, closing, unit_cost, lead, good),
        price,
        state.competitor,
        money,
    )
    return _next_state(company, state, report, stock, coming, ordered), report


def order_terms(
    company: Company, period: int, supplier: Integers
) -> tuple[Floats, Integers, Floats]:
    """Return the terms of orders from a supplier for each item and site.

    The terms are the list price, the lead time, and the share of defective units.
    """
    items = np.arange(len(supplier))[:, None]
    cost = company.cost[items, supplier] * company.cost_factor[period][supplier]
    chances = np.cumsum(company.leads[items, supplier], axis=2)[:, :, : LONGEST - 1]
    lead = 1 + (company.lead_noise[period][:, :, None] > chances).sum(2)
    luck = -np.log(company.defect_noise[period] + 1e-12)
    defective = np.minimum(0.6, company.defects[items, supplier] * luck)
    return cost, lead + company.late[period][supplier], defective


def _take_oldest(stock: Floats, sold: Floats) -> None:
    """Remove sold units from the stock, the oldest units first."""
    from_oldest = stock[:, :, ::-1]
    left = np.maximum(from_oldest.cumsum(axis=2) - sold[:, :, None], 0.0)
    from_oldest[:, :, 0] = left[:, :, 0]
    from_oldest[:, :, 1:] = left[:, :, 1:] - left[:, :, :-1]


def _grow_older(stock: Floats, shelf: Integers) -> Floats:
    """Increase the age of perishable stock by a period. Return the units that expire."""
    expired = np.zeros(stock.shape[:2])
    for item in np.flatnonzero(shelf < UNLIMITED):
        life = int(shelf[item])
        expired[item] = stock[item, :, life - 1]
        stock[item, :, 1:life] = stock[item, :, : life - 1].copy()
        stock[item, :, 0] = 0
    return expired


def _by_supplier(supplier: Integers, quantity: Floats) -> Floats:
    """Return the ordered units of each supplier."""
    counts = np.bincount(supplier.ravel(), quantity.ravel(), minlength=SUPPLIERS)
    return counts.astype(np.float64)


def _cost_of_proposals(company: Company, state: State, stock: Floats, coming: Floats) -> float:
    """Return the cost of a booked promotion plus the cost of closing a site.

    The salvage value of the units at the closed site lowers the cost.
    """
    cost = company.PROMOTION * float(state.promoted[2].sum())
    if state.closing >= 0:
        units = stock[:, state.closing].sum(1) + coming[:, state.closing].sum(1)
        cost += company.CLOSING - float((units * company.salvage).sum())
    return cost


def _next_state(  # noqa: PLR0913, PLR0917
    company: Company, state: State, report: Report, stock: Floats, coming: Floats, ordered: Floats
) -> State:
    following = state.period + 1
    aim = company.undercut * company.price(state.level)
    moved = state.competitor + company.follow * (aim - state.competitor)
    wobble = 0.015 * company.reference * company.competitor_noise[state.period]
    is_open, promoted = state.open.copy(), np.zeros_like(state.promoted)
    if state.closing >= 0:
        is_open[state.closing] = False
        stock[:, state.closing] = 0
        coming[:, state.closing] = 0
    promoted[1] = state.promoted[0]
    promoted[0] = state.promoted[2]
    if following < PAST:
        promoted[0] |= company.promoted[following]
    return State(
        period=following,
        stock=stock,
        coming=coming,
        competitor=np.round(np.maximum(company.floor, moved + wobble), 2),
        level=report.plan.level,
        cash=round(state.cash + report.profit, 2),
        profit=round(state.profit + (report.profit if state.period >= PAST else 0.0), 2),
        open=is_open,
        promoted=promoted,
        signed=state.signed,
        committed=state.committed + (ordered[state.signed] if state.signed >= 0 else 0.0),
    )


def settle(company: Company, state: State) -> float:
    """Return the profit with the salvage value of the stock, minus the penalty of the contract."""
    units = state.stock.sum(2) + state.coming.sum(2)
    value = float((units * company.salvage[:, None]).sum())
    if state.signed >= 0:
        minimum = next(one.minimum for one in company.proposals if one.kind == "contract")
        value -= company.SHORTFALL * max(0.0, minimum - state.committed)
    return round(state.profit + round(value, 2), 2)


def decide_proposal(state: State, proposal: Proposal, choice: str) -> None:
    """Store the answer to a proposal in a state. `play_period` applies the answer."""
    if choice == proposal.choices[0]:
        return
    if proposal.kind == "contract":
        state.signed = proposal.supplier
    elif proposal.kind == "promotion":
        state.promoted[2, proposal.choices.index(choice) - 1] = True
    else:
        state.closing = proposal.choices.index(choice) - 1


def round_order(units: Floats) -> Integers:
    """Round units to the nearest quantities that can be ordered."""
    return np.clip(np.round(units / LOT) * LOT, 0, MOST).astype(np.int64)


def play_history(company: Company, seed: int, state: State, books: Books) -> State:
    """Play the history with a policy that tries different prices and suppliers at random."""
    rng = np.random.default_rng([5_551, seed])
    count, sites = company.base.shape
    mean, level = company.base.copy(), np.full(count, NORMAL)
    cover = np.where(company.shelf < UNLIMITED, 3.3, 4.3)[:, None]
    while state.period < PAST:
        books.prepare(state)
        for item in np.flatnonzero(rng.random(count) < 0.08):
            level[item] = int(rng.choice(5, p=[0.15, 0.2, 0.3, 0.2, 0.15]))
        if state.period == PAST - 1:
            level[:] = NORMAL
        supplier = np.repeat(company.default[:, None], sites, axis=1)
        for item in np.flatnonzero(rng.random(count) < 0.4):
            supplier[item] = int(rng.choice(np.flatnonzero(~np.isnan(company.cost[item]))))
        wanted = mean * cover * rng.uniform(0.85, 1.15, (count, sites))
        held = state.stock.sum(2) + state.coming.sum(2)
        plan = Plan(round_order(wanted - held), supplier, level.copy())
        state, report = play_period(company, state, plan)
        books.record(report, state)
        mean = 0.8 * mean + 0.2 * (report.sold + 0.5 * report.lost)
    return state


def play_naive(company: Company, state: State, books: Books) -> float:
    """Return the profit of the naive policy, with the final value of the stock: the score 0."""
    state, sold = deepcopy(state), books.sold
    normal = np.full(len(company.base), NORMAL)
    supplier = np.repeat(company.default[:, None], company.base.shape[1], axis=1)
    while state.period < company.settings.total and state.cash >= 0:
        for proposal in company.proposals:
            if proposal.period == state.period:
                decide_proposal(state, proposal, proposal.choices[0])
        state, report = play_period(company, state, Plan(round_order(sold), supplier, normal))
        sold = report.sold
    return settle(company, state)
