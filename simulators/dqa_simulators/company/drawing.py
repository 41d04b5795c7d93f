"""Draw a company from a seed: its hidden parameters, its future, and its memos.

Arrays have the axes period (0 is the first of the history), item, site and supplier, in this order.
All random values are drawn before the first decision, so no decision changes them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dqa_simulators.company.parameters import (
    LONGEST,
    PAST,
    SITES,
    SUPPLIERS,
    UNLIMITED,
    Company,
    CompanySettings,
    Floats,
    Memo,
    Proposal,
)

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
"""The kind of supplier that promises a lead time of one period, but is rarely in time."""


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
