"""Visits to the shop: pages, actions, the end, and their history."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.errors import UsageError
from dqa.core.question import fits_form
from dqa.worlds.observed import AGENT, ObservedPosition
from dqa.worlds.world import Move
from dqa_simulators.shop.pages import BACK, BUY, NEXT, PREVIOUS, click
from tests.worlds.playing import open_history
from tests.worlds.shop.shops import make_shop, policy, visit


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.deep)])
def test_the_fair_program_is_better_than_random_moves(count: int) -> None:
    """It succeeds in at least half of all visits, but not in all; random moves hardly ever do."""
    shop = make_shop()
    rewards = {
        name: [visit(shop.start(seed), policy(name), seed).reward for seed in range(count)]
        for name in ("rule", "random")
    }
    mean = {name: sum(found) / count for name, found in rewards.items()}
    assert mean["random"] < 0.4
    assert rewards["random"].count(1.0) <= 0.1 * count
    assert mean["random"] + 0.3 < mean["rule"] < 1.0
    assert 0.5 * count <= rewards["rule"].count(1.0) < count


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


def test_a_visit_without_a_purchase_has_no_reward() -> None:
    """The visit ends after the maximum number of actions. The last one may still buy."""
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


def test_an_invalid_action_is_refused() -> None:
    """The visit continues unchanged."""
    episode = make_shop().start(0)
    before = episode.next_move()
    for action in ("click[Buy Now]", "search[]", "search[ ]", "buy", "search shoes", ""):
        with pytest.raises(UsageError, match="is not a candidate"):
            episode.choose(action)
    assert episode.next_move() is before


def test_odd_searches_are_cut_to_one_line(tmp_path: Path) -> None:
    """Their results are read back from the history."""
    history = open_history(tmp_path)
    shop = make_shop(history)
    for seed, text in enumerate(("x" * 5000, "a\nb\tc", "men's [wide] shoes]", "''--%", "\u00e9t")):
        episode = shop.start(seed)
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
    """Before a search finds the wanted product, no text contains its id or the payoff."""
    history = open_history(tmp_path)
    shop = make_shop(history)
    for seed in range(5):
        episode = shop.start(seed)
        move = episode.next_move()
        assert move is not None
        assert move.reveal is not None
        wanted = move.reveal().asin  # type: ignore[attr-defined]
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
