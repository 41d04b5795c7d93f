"""The company: its rules, its books, its bound, and the order of its programs."""

from __future__ import annotations

import hashlib
from itertools import product
from typing import Any

import numpy as np
import pytest

from dqa import plugins
from dqa.core.errors import QueryError
from dqa.core.question import Candidate
from dqa.worlds.base import PolicyDecider
from dqa_simulators.company.books import Books, to_script
from dqa_simulators.company.bound import bound_profit
from dqa_simulators.company.drawing import LEVELS, Company, draw_company
from dqa_simulators.company.engine import Plan, State, begin, play_period, settle, starting_cash
from dqa_simulators.company.history import play_history
from dqa_simulators.company.settings import CompanySettings
from dqa_simulators.company.world import CompanyEpisode

SMALL = CompanySettings(items=1, sites=1, periods=2, proposals=False)


def start(seed: int = 1, **settings: Any) -> CompanyEpisode:
    factory = plugins.world("company")
    episode = factory.make(factory.settings.model_validate(settings), None).start(seed)
    assert isinstance(episode, CompanyEpisode)
    return episode


def play(episode: CompanyEpisode, program: str, seed: int = 0) -> float:
    """Return the score of a program."""
    decider = PolicyDecider(program, plugins.world("company").policies[program].make(seed), seed)
    while (move := episode.next_move()) is not None:
        choice = decider.decide_at(move.question, move.position).choice
        assert choice is not None
        episode.choose(choice)
    return episode.returns()["agent"]


def small_company(seed: int, settings: CompanySettings = SMALL) -> tuple[Company, State]:
    """Return a company before its first decision."""
    company = draw_company(seed, settings)
    state = play_history(company, seed, begin(company), Books(company, seed))
    state.cash = starting_cash(company)
    return company, state


def best_by_search(company: Company, state: State, lots: range) -> float:
    """Return the best profit and value of all plans, by the rules themselves."""
    suppliers = np.flatnonzero(~np.isnan(company.cost[0])).tolist()
    orders = [(0, suppliers[0]), *product(lots, suppliers)]
    if state.period == company.settings.total:
        return state.profit + settle(company, state)
    if state.period == company.settings.total - 1:
        orders = orders[:1]  # an order of the last period cannot be sold any more
    best = -np.inf
    for (units, supplier), level in product(orders, range(len(LEVELS))):
        plan = Plan(np.array([[units]]), np.array([[supplier]]), np.array([level]))
        following, _ = play_period(company, state, plan)
        best = max(best, best_by_search(company, following, lots))
    return best


def test_no_plan_exceeds_the_bound_and_the_best_one_is_near() -> None:
    """The bound is checked against a search through all plans of small companies."""
    gaps = []
    for seed in range(4):
        company, state = small_company(seed)
        bound = bound_profit(company, state)
        best = best_by_search(company, state, range(20, 401, 40))
        revenue = float((company.base * company.reference[:, None]).sum()) * SMALL.periods
        assert best <= bound + 1e-6
        gaps.append((bound - best) / revenue)
    assert np.mean(gaps) < 0.1


@pytest.mark.parametrize("program", ["random", "analyst"])
def test_no_program_exceeds_the_bound(program: str) -> None:
    """Programs decide on proposals, too."""
    for seed in range(3):
        episode = start(seed, periods=6)
        assert play(episode, program) < 1
        facts = episode.facts()
        assert float(facts["profit"] or 0) < float(facts["bound"] or 0)


def test_the_naive_program_scores_zero() -> None:
    """The anchor is computed from the rules, and the program reads the books: both agree."""
    for seed in range(3):
        episode = start(seed)
        assert play(episode, "naive") == pytest.approx(0, abs=1e-9)


def test_the_same_seed_and_plans_give_the_same_books() -> None:
    """To the byte; the digest was computed on several versions of Python."""
    scripts = []
    for _ in range(2):
        episode = start(7, periods=3, proposals=False)
        for plan in ("plan[buy I1 north 120 S1; price I2 4]", "plan[nothing]"):
            move = episode.next_move()
            assert move is not None
            episode.choose(plan if "S1" in _offers(move) else "plan[nothing]")
        move = episode.next_move()
        assert move is not None
        scripts.append(to_script(move.position.tables))  # type: ignore[attr-defined]
    assert scripts[0] == scripts[1]
    assert hashlib.sha256(scripts[0].encode()).hexdigest()[:16] == DIGEST


DIGEST = "f76364ea941c1bd8"


def _offers(move: Any) -> set[Candidate]:
    return {row[1] for row in move.position.tables["offers"] if row[0] == "I1"}


def test_the_position_is_read_back_from_the_books() -> None:
    """By queries, for plans and proposals."""
    factory = plugins.world("company")
    world = factory.make(factory.settings.model_validate({"periods": 3}), None)
    episode, kinds = world.start(4), set[str]()
    while (move := episode.next_move()) is not None:
        if not kinds & {move.position.proposal}:  # type: ignore[attr-defined]
            assert world.position(move.question, move.database) == move.position
        kinds.add(move.position.proposal)  # type: ignore[attr-defined]
        episode.choose(move.question.candidates[-1])  # type: ignore[index]
    assert kinds == {"", "contract", "promotion", "closing"}
    episode.close()


def test_an_invalid_plan_is_asked_again_and_then_replaced() -> None:
    """With the reason; the default is counted."""
    episode = start(2, periods=3, proposals=False)
    for plan in (
        "plan[buy I1 north 99999 S1]",
        "plan[buy I9 north 10 S1]",
        "plan[price I1 6]",
        "plan[sell everything]",
    ):
        move = episode.next_move()
        assert move is not None
        before = move.question.target["actions left"]
        episode.choose(plan)
        asked = episode.next_move()
        if asked is not None and asked.question.target["actions left"] == before:
            assert "refused" in asked.question.text
    play(episode, "naive")
    assert episode.facts()["default plans"] == 2
    assert episode.facts()["periods"] == 3


def test_a_bankrupt_company_ends() -> None:
    """The episode is scored."""
    episode = start(3, proposals=False)
    while (move := episode.next_move()) is not None:
        position: Any = move.position
        offers = position.reading.offers
        parts = [
            f"buy {item} {site} 600 {max(offers[number])}"
            for number, item in enumerate(position.reading.items)
            for site in position.reading.sites
        ]
        episode.choose(f"plan[{'; '.join(parts)}]")
    facts = episode.facts()
    assert facts["bankrupt"] is True
    assert episode.returns()["agent"] < 0
    assert float(facts["periods"] or 0) < 12


HIDDEN = (
    "elasticity",
    "cross",
    "base",
    "follow",
    "undercut",
    "defects",
    "leads",
    "season",
    "shift",
)


def test_no_query_reads_a_hidden_value() -> None:
    """No cell holds a planted parameter, and the books do not depend on the future."""
    episode = start(5, periods=3)
    move = episode.next_move()
    assert move is not None
    tables = move.position.tables  # type: ignore[attr-defined]
    cells = {
        round(float(cell), 4)
        for rows in tables.values()
        for row in rows
        for cell in row
        if isinstance(cell, float)
    }
    company = draw_company(5, CompanySettings(periods=3))
    for name in HIDDEN:
        values = np.round(getattr(company, name).ravel(), 4)
        fractions = {float(value) for value in values if value != round(value, 1)}
        assert not fractions & cells, name
    with pytest.raises(QueryError):
        move.database.query("SELECT * FROM hidden")
    episode.close()


def test_the_books_do_not_show_the_future() -> None:
    """Other luck after the history leaves the books before the first decision as they are."""
    settings = CompanySettings(periods=3)
    written = []
    for changed in (False, True):
        company = draw_company(6, settings)
        if changed:
            for name in ("demand_noise", "lead_noise", "defect_noise", "competitor_noise"):
                getattr(company, name)[104:] = 0.5
            company.shift[104:] *= 3
        books = Books(company, 6)
        state = play_history(company, 6, begin(company), books)
        books.prepare(state, [])
        kept = {name: rows for name, rows in books.tables.items() if name != "orders"}
        known = [row for row in books.tables["orders"] if row[-1] is not None]
        written.append((kept, known))
    assert written[0] == written[1]


@pytest.mark.deep
def test_programs_are_ordered() -> None:
    """Over 50 seeds, each better than the one before it, with an interval above 0."""
    names = ("repeat", "naive", "base-stock", "newsvendor", "analyst")
    scores = np.array([[play(start(seed), name) for name in names] for seed in range(50)])
    gaps = np.diff(scores, axis=1)
    half_width = 2.01 * gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
    assert (gaps.mean(axis=0) > half_width).all()
    assert scores[:, -1].mean() < 0.7
