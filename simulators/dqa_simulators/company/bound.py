"""Compute a profit that no player can exceed in an episode, even by knowing the future.

The bound relaxes the rules: units are divisible, storage is unlimited, small orders cost no fee. A
sold unit costs as much as the cheapest order that brings it to the site in time. With these
relaxations, items are independent, and a dynamic program over the price levels and the competitor's
price computes the best profit of each item. The competitor's price is continuous. The program
therefore divides the price range into intervals. For each interval, it uses the end that gives the
larger profit. No relaxation can lower the best profit, so no plan exceeds the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from dqa_simulators.company.engine import State, order_terms
from dqa_simulators.company.parameters import LEVELS, PAST, UNLIMITED, Company, Floats

_SHADOWS: Final = 10
"""The number of shadow prices that are tried for units in stock."""
_CELLS: Final = 40
"""The number of intervals of the competitor's price."""


@dataclass(frozen=True)
class _Scenarios:
    """All combinations of answers to the proposals, as far as they affect one item.

    Each row of an array is one combination.

    Attributes
    ----------
    signed
        Whether the contract is signed.
    closed
        The index of the closed site; -1 for none.
    promoted
        For each proposed promotion, whether it promotes this item.
    """

    signed: np.ndarray
    closed: np.ndarray
    promoted: np.ndarray


def bound_profit(company: Company, state: State) -> float:
    """Return an upper bound on the profit of an episode, with the final value of the stock."""
    kinds = [proposal.kind for proposal in company.proposals]
    slots = kinds.count("promotion")
    closings = range(-1, company.base.shape[1] if "closing" in kinds else 0)
    rows = list(
        product((False, True)[: 1 + kinds.count("contract")], closings, *[(False, True)] * slots)
    )
    table = np.array(rows, dtype=int)
    scenarios = _Scenarios(table[:, 0] > 0, table[:, 1], table[:, 2:] > 0)
    values = np.stack(
        [_bound_item(company, state, item, scenarios) for item in range(len(company.base))]
    )
    best = -np.inf
    for signed, closed in {(row[0], row[1]) for row in rows}:
        chosen = np.flatnonzero((scenarios.signed == signed) & (scenarios.closed == closed))
        value = _allocate(values[:, chosen], scenarios.promoted[chosen])
        best = max(best, value - _overhead(company, closed))
    return float(best)


def _allocate(values: Floats, promoted: np.ndarray) -> float:
    """Return the best total value of all items. Each promotion can promote at most one item."""
    slots, total = promoted.shape[1], float(values[:, ~promoted.any(1)].sum())
    plain = values[:, ~promoted.any(1)][:, 0]
    best = total
    for owners in product(range(-1, len(values)), repeat=slots):
        gain = -Company.PROMOTION * sum(owner >= 0 for owner in owners)
        for item in set(owners) - {-1}:
            own = np.array([owner == item for owner in owners])
            column = int(np.flatnonzero((promoted == own).all(1))[0])
            gain += values[item, column] - plain[item]
        best = max(best, total + gain)
    return best


def _overhead(company: Company, closed: int) -> float:
    """Return the fixed costs of an episode, including the cost and the savings of a closed site."""
    periods = company.settings.periods
    cost = float(company.fixed.sum()) * periods
    if closed >= 0:
        saved = company.settings.total - 1 - _period_of(company, "closing")
        cost += company.CLOSING - float(company.fixed[closed]) * saved
    return cost


def _period_of(company: Company, kind: str) -> int:
    """Return the period of the first proposal of a kind; `settings.total` if there is none."""
    periods = (proposal.period for proposal in company.proposals if proposal.kind == kind)
    return next(periods, company.settings.total)


def _bound_item(company: Company, state: State, item: int, scenarios: _Scenarios) -> Floats:
    """Return the bound of an item in each scenario, without fixed costs.

    Selling a unit from stock costs a shadow price. Every shadow price gives a bound (Lagrangian
    relaxation). The function minimises the bound of the scenario without proposals, and uses the
    resulting shadow prices in all scenarios.
    """
    sites = company.base.shape[1]
    highest = company.reference[item] * LEVELS[-1] + company.penalty[item]
    grid = np.linspace(company.salvage[item], highest, _SHADOWS)
    cost = _unit_costs(company, item, scenarios, highest)
    edges = _edges(company, state, item)
    demands = _demands(company, item, scenarios, edges)
    moves = [_moves(company, item, PAST + number, edges) for number in range(len(demands))]
    # In the first scenario nothing is signed, closed or promoted.
    plain = [demand[..., :1] for demand in demands]
    best = np.full((2, sites), highest)
    for batch, site in product(range(2), range(sites)):
        shadow = np.tile(best, (_SHADOWS, 1, 1))
        shadow[:, batch, site] = grid
        values = _solve(company, state, item, plain, moves, cost[:1], shadow)
        best[batch, site] = grid[int(np.argmin(values))]
    shadow = np.tile(best, (len(cost), 1, 1))
    return _solve(company, state, item, demands, moves, cost, shadow)


def _solve(  # noqa: PLR0913, PLR0917
    company: Company,
    state: State,
    item: int,
    demands: list[Floats],
    moves: list[list[np.ndarray]],
    cost: Floats,
    shadow: Floats,
) -> Floats:
    """Return the best value for each row of shadow prices.

    `demands` and `moves` contain the results of `_demands` and `_moves` for each period. Shadow
    prices have the axes row, batch and site. The first batch contains the units that can be sold in
    the first period. The second batch contains the units that arrive later. All of them can be sold
    from the earliest arrival on.
    """
    prices = np.round(company.reference[item] * LEVELS, 2)[:, None, None]
    now = state.stock[item].sum(1) + state.coming[item, :, 0]
    later = state.coming[item, :, 1:]
    first_arrival = 1 + (later > 0).argmax(1)
    is_available = np.arange(cost.shape[1])[:, None] >= first_arrival[None, :]
    cost = np.minimum(cost, shadow[:, None, 0])
    cost = np.where(is_available[None], np.minimum(cost, shadow[:, None, 1]), cost)
    value = np.zeros((len(LEVELS), _CELLS, len(shadow)))  # by last level, interval and row
    relabel = (company.RELABELLING * (1 - np.eye(len(LEVELS))))[:, :, None, None]
    for number in reversed(range(len(demands))):
        margin = prices - cost[:, number].T[:, None, None]  # by site, level, edge and row
        margin = np.maximum(margin, -company.penalty[item])
        demand = demands[number]
        reward = np.maximum(demand[:, :, :-1] * margin, demand[:, :, 1:] * margin).sum(0)
        first, *others = moves[number]
        following = value.take(first, axis=1)  # by level, last level, interval and row
        for cells in others:
            np.maximum(following, value.take(cells, axis=1), out=following)
        following += reward[:, None] - relabel
        value = following.max(0)
    cell = int(np.searchsorted(_edges(company, state, item), state.competitor[item], side="right"))
    units = np.stack([now, later.sum(1)])
    level, cell = int(state.level[item]), min(max(cell - 1, 0), _CELLS - 1)
    return np.asarray(value[level, cell] + (shadow * units).sum((1, 2)))


def _edges(company: Company, state: State, item: int) -> Floats:
    """Return the ends of the intervals for the competitor's price.

    The intervals cover every price that the competitor can set.
    """
    reference = company.reference[item]
    most = highest = float(state.competitor[item])
    aim = company.undercut[item] * np.round(reference * LEVELS[-1], 2)
    for noise in company.competitor_noise[PAST : company.settings.total, item].tolist():
        moved = most + company.follow[item] * (aim - most) + 0.015 * reference * noise
        most = max(company.floor[item], moved) + 0.01
        highest = max(highest, most)
    usual = max(float(state.competitor[item]), reference * LEVELS[-1]) + 0.1 * reference
    return np.linspace(float(company.floor[item]) - 0.01, max(usual, highest), _CELLS + 1)


def _moves(company: Company, item: int, period: int, edges: Floats) -> list[np.ndarray]:
    """Return the possible moves of the competitor's price in a period.

    The result lists the intervals that can contain the next price, by our last price level and the
    interval of the competitor's last price.
    """
    aim = company.undercut[item] * np.round(company.reference[item] * LEVELS, 2)[:, None]
    wobble = 0.015 * company.reference[item] * company.competitor_noise[period, item]
    moved = edges + company.follow[item] * (aim - edges) + wobble
    moved = np.maximum(company.floor[item], moved)  # by last level and edge
    low = np.searchsorted(edges, moved[:, :-1] - 0.01, side="right") - 1
    high = np.searchsorted(edges, moved[:, 1:] + 0.01, side="right") - 1
    low, high = low.clip(0, _CELLS - 1), high.clip(0, _CELLS - 1)
    return [low, *(np.minimum(low + step, high) for step in range(1, int((high - low).max()) + 1))]


def _demands(company: Company, item: int, scenarios: _Scenarios, edges: Floats) -> list[Floats]:
    """Return the demand of each period, by site, level, edge and scenario."""
    open_sites = np.tile(company.base[item], (len(scenarios.signed), 1))
    closed_site = open_sites.copy()
    for row, closed in enumerate(scenarios.closed.tolist()):
        if closed >= 0:
            others = max(1, len(company.base[item]) - 1)
            closed_site[row] += closed_site[row, closed] * company.moved / others
            closed_site[row, closed] = 0
    prices = np.round(company.reference[item] * LEVELS, 2)
    relative = (prices / company.reference[item]) ** -company.elasticity[item]
    rival = (edges / company.reference[item]) ** company.cross[item]
    market = (relative[:, None] * rival[None, :])[:, :, None]
    closing = _period_of(company, "closing")
    slots = [one.period for one in company.proposals if one.kind == "promotion"]
    spread, demands = company.settings.noise, []
    for period in range(PAST, company.settings.total):
        promoted = np.zeros((2, len(open_sites)), dtype=bool)
        promoted[1] = period == PAST and company.promoted[PAST - 1, item]
        for number, slot in enumerate(slots):
            promoted[0] |= scenarios.promoted[:, number] & (period == slot + 1)
            promoted[1] |= scenarios.promoted[:, number] & (period == slot + 2)
        effect = (1 + company.lift * promoted[0]) * (1 - company.dip * promoted[1])
        factor = company.season[period, item] * company.shift[period, item]
        base = closed_site if period > closing else open_sites
        by_site = np.ascontiguousarray((base * (factor * effect)[:, None]).T)
        mean = by_site[:, None, None] * market
        luck = np.exp(spread * company.demand_noise[period, item] - spread**2 / 2)
        demands.append(np.floor(mean * luck[:, None, None, None] + 0.5 + 1e-9))
    return demands


def _unit_costs(company: Company, item: int, scenarios: _Scenarios, most: float) -> Floats:
    """Return the minimum cost of a unit in stock, by scenario, period of the episode and site.

    The cost is `most` if no order can arrive in time.
    """
    periods, sites = company.settings.periods, company.base.shape[1]
    costs = np.full((len(scenarios.signed), periods, sites), most)
    life = int(company.shelf[item])
    contract = next((one for one in company.proposals if one.kind == "contract"), None)
    offered = np.flatnonzero(~np.isnan(company.cost[item])).tolist()
    for ordered, supplier, site in product(range(periods), offered, range(sites)):
        everywhere = np.full(company.base.shape, supplier)
        terms = order_terms(company, PAST + ordered, everywhere)
        price, lead, defective = (values[item, site] for values in terms)
        arrival = ordered + int(lead)
        unit = np.full(len(scenarios.signed), price / (1 - defective))
        if contract and contract.supplier == supplier and PAST + ordered >= contract.period:
            unit = np.where(scenarios.signed, unit * (1 - company.DISCOUNT), unit)
        last = periods if life >= UNLIMITED else min(periods, arrival + life)
        if arrival >= last:
            continue
        stored = unit[:, None] + company.holding[item] * np.arange(last - arrival)
        cheapest = costs[:, arrival:last, site]
        np.minimum(cheapest, stored, out=cheapest)
    return costs
