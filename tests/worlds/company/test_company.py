"""The company: its rules, its books, its bound, and the order of its programs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from typing import Any

import numpy as np
import pytest

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.errors import QueryError
from dqa.worlds.base import PolicyDecider
from dqa_simulators.company.books import TABLES, Books, to_script
from dqa_simulators.company.bound import bound_profit
from dqa_simulators.company.drawing import draw_company
from dqa_simulators.company.engine import (
    Plan,
    State,
    begin,
    decide_proposal,
    play_history,
    play_period,
    settle,
)
from dqa_simulators.company.parameters import LEVELS, Company, CompanySettings
from dqa_simulators.company.world import CompanyEpisode

WHOLE = Limits(rows=100_000, bytes=10_000_000, cell=1_000_000)


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


def small_company(seed: int, settings: CompanySettings) -> tuple[Company, State]:
    """Return a company before its first decision."""
    company = draw_company(seed, settings)
    state = play_history(company, seed, begin(company), Books(company, seed))
    state.cash = company.cash
    return company, state


def best_by_search(company: Company, state: State, lots: range) -> float:
    """Return the best profit and value of all answers and plans, by the rules themselves."""
    if state.period == company.settings.total:
        return settle(company, state)
    due = [one for one in company.proposals if one.period == state.period]
    best = -np.inf
    for choices in product(*[one.choices for one in due]):
        decided = deepcopy(state)
        for proposal, choice in zip(due, choices, strict=True):
            decide_proposal(decided, proposal, choice)
        for plan in plans(company, state, lots):
            following, _ = play_period(company, decided, plan)
            best = max(best, best_by_search(company, following, lots))
    return best


def plans(company: Company, state: State, lots: range) -> Iterator[Plan]:
    """Yield the plans of a company with one item."""
    suppliers = np.flatnonzero(~np.isnan(company.cost[0])).tolist()
    orders = [(0, suppliers[0]), *product(lots, suppliers)]
    if state.period == company.settings.total - 1:
        orders = orders[:1]  # an order of the last period cannot be sold any more
    for placed in product(orders, repeat=company.settings.sites):
        for level in range(len(LEVELS)):
            units, chosen = np.array(placed).T
            yield Plan(units[None, :], chosen[None, :], np.array([level]))


@pytest.mark.parametrize(
    ("settings", "lots", "gap"),
    [
        ({"proposals": False}, range(20, 401, 40), 0.1),
        ({}, range(60, 401, 80), 0.15),  # a contract and a promotion
        # And the closing of a site.
        pytest.param({"sites": 2}, range(90, 200, 90), 0.4, marks=pytest.mark.deep),
    ],
)
def test_no_plan_exceeds_the_bound_and_the_best_one_is_near(
    settings: dict[str, Any], lots: range, gap: float
) -> None:
    """The bound is checked against a search through all answers and plans of small companies."""
    gaps = []
    for seed in range(2):
        small = CompanySettings(**{"items": 1, "sites": 1, "periods": 2, **settings})
        company, state = small_company(seed, small)
        bound = bound_profit(company, state)
        best = best_by_search(company, state, lots)
        revenue = float((company.base * company.reference[:, None]).sum()) * small.periods
        assert best <= bound + 1e-6
        gaps.append((bound - best) / revenue)
    assert np.mean(gaps) < gap


def test_the_naive_program_scores_zero() -> None:
    """The anchor is computed from the rules, and the program reads the books: both agree."""
    for seed in range(3):
        episode = start(seed)
        assert play(episode, "naive") == pytest.approx(0, abs=1e-9)


def test_the_same_seed_and_plans_give_the_same_books() -> None:
    """To the byte: the digest of a whole game is that of Python 3.11 and 3.13."""
    episode, digest = start(7, periods=4), hashlib.sha256()
    while (move := episode.next_move()) is not None:
        digest.update(to_script(move.position.reading.tables).encode())  # type: ignore[attr-defined]
        episode.choose(move.question.candidates[-1])  # type: ignore[index]
    assert digest.hexdigest()[:16] == DIGEST


DIGEST = "8c8caec6a88345ca"


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


@pytest.mark.parametrize(
    ("part", "is_legal"),
    [
        ("buy I1 north 600 {}", True),
        ("buy I1 north 610 {}", False),
        ("buy I1 north -10 {}", False),
        ("buy I1 north 10 S9", False),
        ("buy I9 north 10 {}", False),
        ("buy I1 east 10 {}", False),
        ("buy I1 north 10 {}; buy I1 north 10 {}", False),
        ("price I1 1; price I2 5", True),
        ("price I1 6", False),
        ("price I1 2; price I1 3", False),
        ("sell everything", False),
    ],
)
def test_an_invalid_plan_is_asked_again_and_then_replaced(part: str, is_legal: bool) -> None:
    """With the reason; after the second one the default counts."""
    episode = start(2, periods=2, proposals=False)
    for repeat in (1, 2):
        move = episode.next_move()
        assert move is not None
        supplier = min(move.position.reading.offers[0])  # type: ignore[attr-defined]
        episode.choose(f"plan[{part.replace('{}', supplier)}]")
        following = episode.next_move()
        assert following is not None
        is_again = following.question.target["actions left"] == "2"
        assert is_again is (repeat == 1 and not is_legal)
        assert ("refused" in following.question.text) is is_again
        if is_legal:
            break
    play(episode, "naive")
    assert episode.facts()["default plans"] == (0 if is_legal else 1)
    assert episode.facts()["periods"] == 2


def test_a_bankrupt_company_ends() -> None:
    """The episode is scored; cash of exactly 0 is enough."""
    episode = start(3, proposals=False)
    episode._state.cash = 0.0
    assert episode.next_move() is not None
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


PLANTED = {
    "elasticity": 2.71828,
    "cross": 0.57722,
    "base": 141.4213,
    "moved": 0.36788,
    "lift": 0.43429,
    "dip": 0.13137,
    "follow": 0.47713,
    "undercut": 0.95532,
    "leads": 0.24159,
    "defects": 0.06931,
    "shift": 1.61803,
    "season": 1.20206,
}


def test_no_query_reads_a_hidden_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a player can read has a planted value or a multiple of it."""

    def plant(seed: int, settings: CompanySettings) -> Company:
        company = draw_company(seed, settings)
        for name, value in PLANTED.items():
            drawn = getattr(company, name)
            setattr(
                company, name, value if isinstance(drawn, float) else np.full_like(drawn, value)
            )
        return company

    monkeypatch.setattr("dqa_simulators.company.world.draw_company", plant)
    episode = start(5001, periods=3, unannounced=6)
    shown = []
    while (move := episode.next_move()) is not None:
        question, database = move.question, move.database
        shown += [question.text, question.rules, str(question.candidates), str(question.target)]
        assert {table.name for table in database.schema().tables} == set(TABLES)
        for table in TABLES:
            rows = database.query(f"SELECT * FROM {table}", WHOLE)
            assert rows.cut is None
            shown.append(str(rows.rows))
        with pytest.raises(QueryError):
            database.query("SELECT * FROM hidden")
        episode.choose(move.question.candidates[-1])  # type: ignore[index]
    numbers = {float(number) for number in re.findall(r"\d+\.\d+|\d{3,}", "\n".join(shown))}
    for name, value in PLANTED.items():
        for wanted in (value, 1 + value, abs(1 - value), 2 * value, 100 * value):
            assert not {one for one in numbers if abs(one - wanted) < 1e-4 * wanted}, name
    assert "canteen" not in "".join(shown), "an event without a memo"


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
        books.prepare(state)
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
