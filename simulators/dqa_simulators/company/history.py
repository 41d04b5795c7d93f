"""Plays the periods before the first decision, and the naive policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dqa_simulators.company.drawing import NORMAL, UNLIMITED, Company
from dqa_simulators.company.engine import Plan, State, decide_proposal, play_period, settle
from dqa_simulators.company.plans import round_order
from dqa_simulators.company.settings import PAST

if TYPE_CHECKING:
    from dqa_simulators.company.books import Books


def play_history(company: Company, seed: int, state: State, books: Books) -> State:
    """Play the history with a wandering policy that tries prices and suppliers."""
    rng = np.random.default_rng([5_551, seed])
    count, sites = company.base.shape
    mean, level = company.base.copy(), np.full(count, NORMAL)
    while state.period < PAST:
        memos = [memo for memo in company.memos if memo.period == state.period]
        books.prepare(state, memos)
        for item in np.flatnonzero(rng.random(count) < 0.08):
            level[item] = int(rng.choice(5, p=[0.15, 0.2, 0.3, 0.2, 0.15]))
        if state.period == PAST - 1:
            level[:] = NORMAL
        supplier = np.repeat(company.default[:, None], sites, axis=1)
        for item in np.flatnonzero(rng.random(count) < 0.4):
            supplier[item] = int(rng.choice(np.flatnonzero(~np.isnan(company.cost[item]))))
        cover = np.where(company.shelf < UNLIMITED, 3.3, 4.3)[:, None]
        wanted = mean * cover * rng.uniform(0.85, 1.15, (count, sites))
        held = state.stock.sum(2) + state.coming.sum(2)
        plan = Plan(round_order(wanted - held), supplier, level.copy())
        state, report = play_period(company, state, plan)
        books.record(report, state)
        mean = 0.8 * mean + 0.2 * (report.sold + 0.5 * report.lost)
    return state


def play_naive(company: Company, state: State, books: Books) -> float:
    """Return the profit and final value of the naive policy: score 0."""
    state, sold = state.copy(), books.last_sold()
    normal = np.full(len(company.base), NORMAL)
    supplier = np.repeat(company.default[:, None], company.base.shape[1], axis=1)
    while state.period < company.settings.total and state.cash >= 0:
        for proposal in company.proposals:
            if proposal.period == state.period:
                decide_proposal(state, proposal, proposal.choices[0])
        state, report = play_period(company, state, Plan(round_order(sold), supplier, normal))
        sold = report.sold
    return round(state.profit + settle(company, state), 2)
