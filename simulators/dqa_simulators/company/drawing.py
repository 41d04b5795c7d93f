"""Draw a company from a seed: its hidden parameters, its future, and its memos.

Arrays have the axes period (0 is the first of the history), item, site and supplier, in this order.
All random values are drawn before the first decision, so no decision changes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

PAST: Final = 104
"""The number of periods (weeks) of history before the first decision."""
LEVELS: Final = np.array([0.8, 0.9, 1.0, 1.1, 1.2])
"""Price levels 1 to 5, as shares of the reference price."""
NORMAL: Final = 2
"""The index of the price level that equals the reference price."""
SUPPLIERS: Final = 5
LONGEST: Final = 4
"""The longest lead time of a supplier, in periods."""
UNLIMITED: Final = 9
"""The shelf life of an item that does not expire."""
NAMES: Final = ("olive oil", "rapeseed oil", "fresh pasta", "ground coffee", "ravioli", "muesli")
SITES: Final = ("north", "south", "west")

_LEADS: Final = (
    (0.75, 0.20, 0.05, 0.0),
    (0.45, 0.35, 0.15, 0.05),
    (0.10, 0.60, 0.20, 0.10),
    (0.15, 0.25, 0.30, 0.30),
    (0.0, 0.30, 0.45, 0.25),
)
"""The probabilities of lead times of 1 to 4 periods, for each kind of supplier."""
_PROMISED: Final = (1, 1, 2, 1, 2)
_DEFECTS: Final = (0.02, 0.04, 0.02, 0.10, 0.05)
_COSTS: Final = (1.10, 1.0, 0.97, 0.93, 0.90)
_LATE_KIND: Final = 3
"""The kind of supplier that promises one period and rarely delivers in it."""


class CompanySettings(BaseModel, extra="forbid", frozen=True):
    """The settings of the world.

    Attributes
    ----------
    periods
        The number of periods to decide.
    items, sites
        The size of the company.
    noise
        The standard deviation of the logarithm of demand.
    events
        The number of events during the episode, such as a supplier that raises its prices.
    unannounced
        The number of these events that no memo announces.
    delay
        The number of periods that are added to every lead time.
    proposals
        Whether the player decides on contracts, promotions and the closing of a site.
    """

    periods: int = Field(default=12, ge=2, le=24, description="number of periods to decide")
    items: int = Field(default=6, ge=1, le=6, description="number of items")
    sites: int = Field(default=2, ge=1, le=3, description="number of sites")
    noise: float = Field(
        default=0.17, ge=0.0, le=1.0, description="standard deviation of the logarithm of demand"
    )
    events: int = Field(default=6, ge=0, le=12, description="number of events during the episode")
    unannounced: int = Field(
        default=1, ge=0, le=12, description="number of events that no memo announces"
    )
    delay: int = Field(
        default=0, ge=0, le=2, description="number of periods that are added to every lead time"
    )
    proposals: bool = Field(
        default=True,
        description="whether the player decides on contracts, promotions and closing a site",
    )

    @property
    def total(self) -> int:
        """The number of periods, including the history."""
        return PAST + self.periods


class Memo(NamedTuple):
    """A text that the company receives in a period (from 0)."""

    period: int
    text: str


class Proposal(NamedTuple):
    """A decision that the player makes before the plan of a period.

    Attributes
    ----------
    period
        The period of the decision, from 0.
    kind
        ``"contract"``, ``"promotion"`` or ``"closing"``.
    text
        The question.
    choices
        The candidates. The first has no effect.
    supplier
        The supplier of a contract.
    minimum
        The number of units that a contract requires.
    """

    period: int
    kind: str
    text: str
    choices: tuple[str, ...]
    supplier: int = 0
    minimum: int = 0


@dataclass
class Company:
    """All hidden and visible parameters of an episode.

    Attributes
    ----------
    settings
        The settings of the world.
    reference
        By item, the reference price.
    volume
        By item, the storage volume of a unit.
    shelf
        By item, the shelf life in periods.
    holding
        By item, the cost of storing a unit for a period.
    penalty
        By item, the cost of a customer who finds no stock.
    salvage
        By item, the value of a unit after the end.
    base
        Mean demand by item and site at reference prices.
    elasticity, cross
        By item, the elasticity of demand: `elasticity` with respect to our price, `cross` with
        respect to the competitor's price.
    season, shift
        By period and item, the factors by which the season and the events multiply demand.
    promoted
        By period and item, whether the item was promoted in the history.
    lift, dip
        The effect of a promotion on demand: `lift` in its own period, `dip` in the next period.
    cost
        By item and supplier, the list price; NaN without an offer.
    promised
        By item and supplier, the promised lead time.
    leads
        By item and supplier, the probabilities of lead times of 1 to 4 periods.
    defects
        By item and supplier, the mean share of defective units.
    default
        The usual supplier of each item.
    cost_factor
        By period and supplier, the factor by which list prices are multiplied.
    late
        By period and supplier, the delay in periods.
    least
        By period and supplier, the smallest order without a fee.
    start
        By item and site, three numbers: the units in stock before the history, and the units that
        arrive in each of the first two periods of the history.
    cash
        The money at the end of the history.
    capacity
        The storage volume by period and site.
    fixed
        By site, the fixed cost of a period.
    moved
        The share of a closed site's customers who go to another site.
    follow
        By item, how fast the competitor's price follows ours.
    undercut
        By item, the competitor's target price, as a share of our price.
    floor
        By item, the competitor's lowest price.
    demand_noise, lead_noise, defect_noise, competitor_noise
        The random values of demand, lead times, defects and the competitor's prices, by period.
    memos, proposals
        The memos and the proposals of the episode, in the order of their periods.
    """

    settings: CompanySettings
    reference: Floats
    volume: Floats
    shelf: Integers
    holding: Floats
    penalty: Floats
    salvage: Floats
    base: Floats
    elasticity: Floats
    cross: Floats
    season: Floats
    shift: Floats
    promoted: NDArray[np.bool_]
    lift: float
    dip: float
    cost: Floats
    promised: Integers
    leads: Floats
    defects: Floats
    default: Integers
    cost_factor: Floats
    late: Integers
    least: Floats
    start: Floats
    cash: float
    capacity: Floats
    fixed: Floats
    moved: float
    follow: Floats
    undercut: Floats
    floor: Floats
    demand_noise: Floats
    lead_noise: Floats
    defect_noise: Floats
    competitor_noise: Floats
    memos: tuple[Memo, ...] = ()
    proposals: tuple[Proposal, ...] = ()

    ORDER_FEE: Final = 150.0
    OVERFLOW: Final = 2.0
    RELABELLING: Final = 25.0
    PROMOTION: Final = 400.0
    CLOSING: Final = 1500.0
    DISCOUNT: Final = 0.08
    SHORTFALL: Final = 1.5

    def price(self, levels: Integers) -> Floats:
        """Return the price of each item at its price level, rounded to cents."""
        return np.asarray(np.round(self.reference * LEVELS[levels], 2))


def draw_company(seed: int, settings: CompanySettings) -> Company:
    """Draw the company of a seed."""
    rng = np.random.default_rng([7_340, seed])
    count, sites, total = settings.items, settings.sites, settings.total
    costs = np.round(rng.uniform(5, 16, count), 2)
    reference = np.round(costs * rng.uniform(1.75, 2.0, count), 1)
    base = rng.uniform(100, 190, count)[:, None] * _shares(rng, count, sites)
    elasticity = np.array([0.9, 1.4, 1.9, 2.6, 3.1, 3.5])[rng.permutation(6)[:count]]
    shelf = np.array([UNLIMITED, UNLIMITED, 3, UNLIMITED, 2, UNLIMITED])[:count]
    volume = np.array([1.0, 1.5, 1.0, 2.0, 1.0, 1.5])[:count]
    offers = _draw_offers(rng, costs)
    company = Company(
        settings=settings,
        reference=reference,
        volume=volume,
        shelf=shelf,
        holding=np.round(costs * 0.02, 2),
        penalty=np.round(reference * 0.25, 2),
        salvage=np.round(np.nanmin(offers["cost"], 1) * np.where(shelf < UNLIMITED, 0.1, 0.5), 2),
        base=base,
        elasticity=elasticity + rng.uniform(-0.15, 0.15, count),
        cross=rng.uniform(0.3, 1.0, count),
        season=_draw_season(rng, count, total),
        shift=np.ones((total, count)),
        promoted=rng.random((total, count)) < np.where(np.arange(total) < PAST, 0.06, 0)[:, None],
        lift=float(rng.uniform(0.3, 0.6)),
        dip=float(rng.uniform(0.1, 0.2)),
        **offers,
        **_draw_sizes(seed, base, volume, offers["cost"], total),
        cost_factor=np.ones((total, SUPPLIERS)),
        late=np.full((total, SUPPLIERS), settings.delay),
        least=np.zeros((total, SUPPLIERS)),
        fixed=np.round((base * (reference - costs)[:, None]).sum(0) * rng.uniform(0.2, 0.6), 0),
        moved=float(rng.uniform(0.2, 0.6)),
        follow=rng.uniform(0.35, 0.6, count),
        undercut=rng.uniform(0.93, 1.0, count),
        floor=np.round(costs * 1.25, 2),
        demand_noise=rng.standard_normal((total, count, sites)),
        lead_noise=rng.random((total, count, sites)),
        defect_noise=rng.random((total, count, sites)),
        competitor_noise=rng.standard_normal((total, count)),
    )
    _draw_events(rng, company)
    if settings.proposals:
        company.proposals = _draw_proposals(rng, company)
    return company


def _shares(rng: np.random.Generator, count: int, sites: int) -> Floats:
    """Return the shares of the sites in an item's demand."""
    weights = rng.uniform(0.6, 1.4, (count, sites)) * np.linspace(1.3, 0.7, sites)
    return np.asarray(weights / weights.sum(1, keepdims=True))


def _draw_season(rng: np.random.Generator, count: int, total: int) -> Floats:
    """Return demand factors that combine a year of 52 weeks, a pay cycle of 4, and a trend."""
    weeks = np.arange(total)
    amplitude, phase = rng.uniform(0.12, 0.30, count), rng.uniform(0, 2 * np.pi, count)
    pay = np.array([0.18, -0.02, -0.12, -0.04])[(weeks + int(rng.integers(4))) % 4]
    trend = rng.uniform(-0.002, 0.004, count)
    year = amplitude * np.sin(2 * np.pi * weeks[:, None] / 52 + phase)
    cycle = rng.uniform(0.4, 1.3, count) * pay[:, None]
    return np.asarray(np.exp(year + cycle + trend * (weeks[:, None] - PAST)))


def _draw_offers(rng: np.random.Generator, costs: Floats) -> dict[str, Any]:
    """Draw two or three suppliers for each item, at least one of them reliable."""
    count = len(costs)
    kinds = rng.permutation(SUPPLIERS)
    cost = np.full((count, SUPPLIERS), np.nan)
    promised = np.zeros((count, SUPPLIERS), dtype=np.int64)
    leads, defects = np.zeros((count, SUPPLIERS, LONGEST)), np.zeros((count, SUPPLIERS))
    for item in range(count):
        chosen = set(rng.choice(SUPPLIERS, int(rng.integers(2, 4)), replace=False).tolist())
        if all(kinds[supplier] >= _LATE_KIND for supplier in chosen):
            chosen.add(int(np.argmin(kinds)))
        for supplier in sorted(chosen):
            kind = int(kinds[supplier])
            cost[item, supplier] = round(costs[item] * _COSTS[kind] * rng.uniform(0.97, 1.03), 2)
            promised[item, supplier] = _PROMISED[kind]
            leads[item, supplier] = _tilt(_LEADS[kind], rng.uniform(0.8, 1.25))
            defects[item, supplier] = _DEFECTS[kind] * rng.uniform(0.7, 1.3)
    return {
        "cost": cost,
        "promised": promised,
        "leads": leads,
        "defects": defects,
        "default": np.nanargmin(cost, axis=1),
    }


def _draw_sizes(
    seed: int, base: Floats, volume: Floats, cost: Floats, total: int
) -> dict[str, Any]:
    """Draw the initial stock, cash and storage.

    Random factors hide how these amounts depend on demand.
    """
    rng = np.random.default_rng([9_119, seed])
    weekly = (base.sum(1) * np.nanmin(cost, 1)).sum()
    capacity = (base * volume[:, None]).sum(0) * rng.uniform(2.6, 3.4, base.shape[1])
    units = rng.uniform((1.5, 0.5, 0.5), (2.5, 1.5, 1.5), (*base.shape, 3))
    return {
        "start": np.floor(base[:, :, None] * units),
        "cash": float(np.round(weekly * rng.uniform(7, 9), -2)),
        "capacity": np.tile(np.round(capacity, -1), (total, 1)),
    }


def _tilt(chances: tuple[float, ...], factor: float) -> Floats:
    """Return probabilities of lead times that differ slightly from `chances`.

    So a supplier has different lead times for different items.
    """
    tilted = np.array(chances) * factor ** np.arange(LONGEST)
    return np.asarray(tilted / tilted.sum())


def _draw_events(rng: np.random.Generator, company: Company) -> None:
    """Draw the events that change the future, and write the memos that announce them."""
    settings, memos = company.settings, []
    kinds = rng.permutation(len(_EVENTS)).tolist()
    for number in range(settings.events):
        start = PAST + int(rng.integers(1, max(2, settings.periods - 2)))
        text = _EVENTS[kinds[number % len(kinds)]](rng, company, start)
        if number >= settings.unannounced:
            memos.append(Memo(start - 1, text))
    if settings.unannounced < settings.events:
        rumour = "Local paper: the council may close the high street to cars. No date is set."
        memos.append(Memo(PAST + int(rng.integers(0, settings.periods)), rumour))
    late = int(np.argmax(company.leads[:, :, LONGEST - 1].max(0)))
    complaint = f"We complained to S{late + 1} about late deliveries; it calls its dates a guide."
    company.memos = tuple(sorted([Memo(87, complaint), *memos], key=lambda memo: memo.period))


def _raise_cost(rng: np.random.Generator, company: Company, start: int) -> str:
    supplier, rise = int(rng.integers(SUPPLIERS)), int(rng.integers(8, 20))
    company.cost_factor[start:, supplier] *= 1 + rise / 100
    return (
        f"S{supplier + 1}: all list prices rise by {rise} % for orders from period {start + 1} on."
    )


def _delay(rng: np.random.Generator, company: Company, start: int) -> str:
    supplier, end = int(rng.integers(SUPPLIERS)), start + int(rng.integers(3, 6))
    company.late[start:end, supplier] += 1
    return (
        f"S{supplier + 1} moves its warehouse: orders placed in periods {start + 1} to {end} take "
        "one period longer than usual."
    )


def _new_customer(rng: np.random.Generator, company: Company, start: int) -> str:
    item = int(rng.integers(company.settings.items))
    company.shift[start:, item] *= rng.uniform(1.3, 1.7)
    return (
        f"Sales: a canteen opens in period {start + 1} and will buy I{item + 1} in our shops for "
        "good. How much is unknown."
    )


def _new_rival(rng: np.random.Generator, company: Company, start: int) -> str:
    item = int(rng.integers(company.settings.items))
    company.shift[start:, item] *= rng.uniform(0.5, 0.75)
    return (
        f"Sales: from period {start + 1} on a discounter sells an own brand of I{item + 1} nearby."
    )


def _closed_rival(rng: np.random.Generator, company: Company, start: int) -> str:
    end = start + int(rng.integers(2, 4))
    company.shift[start:end] *= rng.uniform(1.25, 1.5)
    return f"Trade press: the competitor's shops are closed in periods {start + 1} to {end}."


def _less_storage(rng: np.random.Generator, company: Company, start: int) -> str:
    site = int(rng.integers(company.settings.sites))
    company.capacity[start:, site] = np.round(company.capacity[start:, site] * 0.6, -1)
    left = company.capacity[start, site]
    return (
        f"Landlord: storage at {SITES[site]} is {left:.0f} volume units from period {start + 1} on."
    )


def _order_fee(rng: np.random.Generator, company: Company, start: int) -> str:
    supplier, least = int(rng.integers(SUPPLIERS)), int(rng.integers(4, 8)) * 50
    company.least[start:, supplier] = least
    return (
        f"S{supplier + 1}: from period {start + 1} on a fee of {company.ORDER_FEE:.0f} is due for "
        f"a period in which all orders with us together are between 1 and {least - 1} units."
    )


_EVENTS: Final = (
    _raise_cost,
    _delay,
    _new_customer,
    _new_rival,
    _closed_rival,
    _less_storage,
    _order_fee,
)


def _draw_proposals(rng: np.random.Generator, company: Company) -> tuple[Proposal, ...]:
    """Draw a contract and promotions. With several sites, also draw the closing of a site."""
    settings = company.settings
    items, last = settings.items, settings.total - 2
    offered = np.flatnonzero(~np.isnan(company.cost).all(0))
    supplier = int(rng.choice(offered))
    minimum = int(rng.integers(6, 14)) * settings.periods * 10
    contract = Proposal(
        min(PAST + 1, last),
        "contract",
        f"S{supplier + 1} offers a contract until the end: {company.DISCOUNT * 100:.0f} % off its "
        f"list prices for all orders from this period on, against a minimum of {minimum} units in "
        f"all (items and sites together). Each unit below it costs {company.SHORTFALL} at the end.",
        ("decline", f"sign S{supplier + 1}"),
        supplier,
        minimum,
    )
    found = [contract]
    advertised = {min(PAST + number * settings.periods // 3, last) for number in (1, 2)}
    text = "Which item, if any, is advertised in period {}? {:.0f} is paid now."
    choices = ("none", *(f"I{item + 1}" for item in range(items)))
    found += [
        Proposal(period, "promotion", text.format(period + 2, company.PROMOTION), choices)
        for period in sorted(advertised)
    ]
    if settings.sites > 1:
        found.append(
            Proposal(
                min(PAST + settings.periods // 2, last),
                "closing",
                "Shall a site be closed at the end of this period? Closing costs "
                f"{company.CLOSING:.0f} and ends its fixed costs; its stock and its open orders "
                "are sold for their salvage value. Some of its customers go to our other sites.",
                ("keep all", *(f"close {site}" for site in SITES[: settings.sites])),
            )
        )
    return tuple(sorted(found, key=lambda proposal: proposal.period))
