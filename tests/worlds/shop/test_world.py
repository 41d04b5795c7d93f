"""Visits to the shop: pages, actions, the end, and what is written and read of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, fits_form
from dqa.core.world import Move
from dqa.evaluation.play import play_episode
from dqa.worlds.base import Policy, PolicyDecider
from dqa.worlds.history import History
from dqa.worlds.observed import AGENT, ObservedPosition, trajectory_of
from dqa_simulators.shop.pages import BACK, BUY, NEXT, PREVIOUS, click
from dqa_simulators.shop.world import ShopSettings
from tests.worlds.playing import open_history
from tests.worlds.shop.shops import Scripted, make_shop, policy, visit

SEEDS = range(100)


@pytest.mark.slow
def test_expert_is_always_right_and_chance_hardly_ever() -> None:
    """Of 100 goals; the fair players lie between."""
    shop = make_shop()
    played = {
        name: [visit(shop.start(seed), player, seed) for seed in SEEDS]
        for name, player in (
            ("expert", policy("expert")),
            ("rule", policy("rule")),
            ("script", Scripted()),
            ("random", policy("random")),
        )
    }
    mean = {name: sum(one.reward for one in visits) / 100 for name, visits in played.items()}
    right = {name: sum(one.reward == 1.0 for one in visits) for name, visits in played.items()}
    assert right["expert"] >= 99
    assert mean["random"] < 0.4
    assert right["random"] <= 10
    for fair in ("rule", "script"):
        assert mean["random"] + 0.3 < mean[fair] < 1.0
        assert 50 <= right[fair] < 100


def test_what_a_seed_gives_follows_from_it_alone() -> None:
    """Two worlds give the same visit, and a mirrored one is no other; the next seed's is."""
    one, other = (visit(make_shop().start(7), policy("rule")) for _ in range(2))
    mirrored = visit(make_shop().start(7, mirrored=True), policy("rule"))
    assert one.actions == other.actions == mirrored.actions
    assert [move.position for move in one.moves] == [move.position for move in other.moves]
    assert one.facts == other.facts == mirrored.facts
    next_goal = make_shop().start(8).next_move()
    assert next_goal is not None
    assert next_goal.question.target["goal"] != one.moves[0].question.target["goal"]


def test_seed_below_zero_is_refused() -> None:
    """As in every world."""
    with pytest.raises(UsageError, match="0 or more"):
        make_shop().start(-1)


@pytest.mark.parametrize("player", ["expert", "rule", "random"])
def test_position_read_back_by_query_is_the_one_that_was_played(
    tmp_path: Path, player: str
) -> None:
    """At every move, free searches and ends included."""
    history = open_history(tmp_path)
    shop = make_shop(history)
    for seed in range(4):
        episode = shop.start(seed)
        chooser = policy(player)
        while (move := episode.next_move()) is not None:
            assert shop.position(move.question, move.database) == move.position
            assert isinstance(move.position, ObservedPosition)
            assert move.question.free_form == move.position.free_form
            episode.choose(_decided(chooser, move, seed))
        episode.close()
    history.close()


def _decided(chooser: Policy, move: Move, seed: int) -> Candidate:
    decider = PolicyDecider("player", chooser, seed)
    choice = decider.decide_at(move.question, move.position, (), move.reveal).choice
    assert choice is not None
    return choice


def test_pages_are_as_the_paper_shows_them() -> None:
    """Search, results, product, chosen options, features and the end."""
    episode = make_shop().start(0)
    first = episode.next_move()
    assert first is not None
    goal = first.question.target["goal"]
    assert first.position.events[0].detail == f"Instruction: [SEP] {goal} [SEP] Search"
    assert first.question.free_form == "search[...]"
    assert 1 <= len(first.position.actions) <= 3
    assert all(fits_form(str(one), "search[...]") for one in first.position.actions)

    episode.choose("search[men women pants wash free black]")
    results = episode.next_move()
    assert results is not None
    assert results.question.free_form == ""
    strings = results.position.describe().partition("\n")[2].split(" [SEP] ")
    assert strings[:3] == [BACK, "Page 1 (Total results: 50)", NEXT]
    assert len(strings) == 3 + 3 * 10
    assert strings[5].startswith("$")
    ids = [str(action) for action in results.position.actions[2:]]
    assert ids == [click(asin) for asin in strings[3::3]]

    episode.choose(click(NEXT))
    second = episode.next_move()
    assert second is not None
    assert second.position.actions[:3] == (click(BACK), click(PREVIOUS), click(NEXT))
    episode.choose(second.position.actions[3])
    product = episode.next_move()
    assert product is not None
    shown = _observed(product).split(" [SEP] ")
    assert shown[:3] == [BACK, PREVIOUS, "color"]
    assert shown[-6].startswith("Price: $")
    assert shown[-5:] == ["Rating: N.A.", "Description", "Features", "Reviews", BUY]

    colour = str(product.position.actions[2])
    other = str(product.position.actions[3])
    for action in (colour, other, click("Features"), click(PREVIOUS)):
        episode.choose(action)
        assert episode.next_move() is not None
    chosen = episode.next_move()
    assert chosen is not None
    label = other.removeprefix("click[").removesuffix("]")
    assert _observed(chosen).endswith(f"{BUY} [SEP] You have clicked {label}.")
    episode.choose(click(BUY))
    assert episode.next_move() is None
    assert 0.0 <= episode.returns()[AGENT] <= 1.0
    assert episode.facts()["options"] == f"color: {label}"
    assert episode.facts()["steps"] == 8


def _observed(move: Move) -> str:
    assert isinstance(move.position, ObservedPosition)
    return move.position.observation


def test_who_buys_nothing_in_time_gets_nothing() -> None:
    """After as many actions as are set; the last one may still buy."""
    shop = make_shop(steps=3)
    late = visit(shop.start(0), policy("rule"))
    assert (late.reward, len(late.actions)) == (0.0, 3)
    assert late.facts["bought"] is None
    assert late.facts["success"] is False
    episode = shop.start(0)
    for choose in (lambda one: one[0], lambda one: one[2], lambda _: click(BUY)):
        move = episode.next_move()
        assert move is not None
        episode.choose(choose(move.position.actions))
    assert episode.next_move() is None
    assert episode.facts()["bought"] is not None


@pytest.mark.parametrize(
    "action", ["click[Buy Now]", "search[]", "search[ ]", "buy", "click[]", "search shoes", ""]
)
def test_what_cannot_be_done_is_refused(action: str) -> None:
    """And the visit goes on as if nothing had been said."""
    episode = make_shop().start(0)
    before = episode.next_move()
    with pytest.raises(UsageError, match="is no candidate"):
        episode.choose(action)
    assert episode.next_move() is before


@pytest.mark.parametrize(
    "text", ["x" * 5000, "a\nb\tc", "men's [wide] shoes]", "qqqq zzzz", "''--%", "\u00e9t\u00e9"]
)
def test_any_search_is_carried_out(tmp_path: Path, text: str) -> None:
    """Long ones are cut, line breaks become spaces, and nothing may be found."""
    history = open_history(tmp_path)
    shop = make_shop(history)
    episode = shop.start(0)
    assert episode.next_move() is not None
    episode.choose(f"search[{text}]")
    move = episode.next_move()
    assert move is not None
    assert shop.position(move.question, move.database) == move.position
    action = move.position.events[-1].action
    assert len(action) <= 410
    assert "\n" not in action
    assert "(Total results: " in _observed(move)
    episode.close()
    history.close()


def test_no_question_and_no_query_tells_the_wanted_product_or_the_reward(tmp_path: Path) -> None:
    """Before the wanted product is found by a search, its id stands nowhere; nor does a payoff."""
    history = open_history(tmp_path)
    shop = make_shop(history)
    for seed in range(5):
        episode = shop.start(seed)
        move = episode.next_move()
        assert move is not None
        assert move.reveal is not None
        wanted = move.reveal().goal.asin  # type: ignore[attr-defined]
        asked = move.question
        assert wanted not in f"{asked} {asked.target} {move.position}"
        for table in ("games", "events", "outcomes", "hidden"):
            rows = move.database.query(f"SELECT * FROM {table}").rows
            assert wanted not in str(rows)
            assert bool(rows) == (table in {"games", "events"})
        episode.choose("search[qqqq]")
        late = episode.next_move()
        assert late is not None
        assert not late.database.query("SELECT * FROM outcomes").rows
        assert not late.database.query("SELECT * FROM hidden").rows
        episode.close()
    history.close()


def test_whoever_owns_the_history_reads_what_was_wanted_and_got(tmp_path: Path) -> None:
    """Also the trajectory, which ends with the purchase."""
    history = open_history(tmp_path)
    episode = make_shop(history).start(3)
    played = visit(episode, policy("expert"))
    history.close()
    with closing(sqlite3.connect(tmp_path / "games.sqlite")) as opened:
        assert opened.execute("SELECT payoff FROM outcomes").fetchall() == [(1.0,)]
        ((wanted,),) = opened.execute("SELECT value FROM hidden").fetchall()
    assert wanted == played.facts["bought"]
    last = played.moves[-1].position
    assert isinstance(last, ObservedPosition)
    told = trajectory_of(last.goal, last.events, "shop 3")
    assert [step.action for step in told.steps] == list(played.actions[:-1])
    assert told.steps[0].observation.startswith("Instruction: ")


def test_a_visit_is_played_like_any_episode() -> None:
    """By deciders, free searches included, with no move counted as a fallback."""
    shop = make_shop()
    for name in ("expert", "rule", "random"):
        deciders = {AGENT: PolicyDecider(name, policy(name), 0)}
        played = play_episode(shop, deciders, 5)
        assert played.returns is not None
        assert played.fallbacks(AGENT) == 0
        assert played.facts["task"]


def test_the_world_is_registered_and_cannot_be_foreseen() -> None:
    """By its entry points; every setting has a default."""
    factory = plugins.world("shop")
    assert factory.foreseen is False
    assert set(factory.policies) == {"expert", "rule", "random"}
    assert factory.settings() == ShopSettings()
    assert factory.make(factory.settings(), None).players == (AGENT,)
    move = make_shop().start(0).next_move()
    assert move is not None
    with pytest.raises(UsageError, match="only once it is done"):
        move.position.after(move.position.actions[0])


def test_a_history_is_optional() -> None:
    """Without one there is no database to read."""
    move = make_shop().start(0).next_move()
    assert move is not None
    with pytest.raises(UsageError, match="without a history"):
        _ = move.database


def test_history_in_another_process_reads_the_same(tmp_path: Path) -> None:
    """The statements of a player run isolated."""
    history = History(str(tmp_path / "games.sqlite"))
    shop = make_shop(history)
    episode = shop.start(1)
    move = episode.next_move()
    assert move is not None
    assert shop.position(move.question, move.database) == move.position
    episode.close()
    history.close()
