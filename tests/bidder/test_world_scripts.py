"""What the worlds' scripts make of states, as prompts show them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.world import GameEvent, Position
from dqa.worlds.scripted import Shown, WorldScript
from dqa_simulators.games.betting import begin
from dqa_simulators.holdem.hands import DECK
from dqa_simulators.holdem.position import RULES, HoldemPosition
from dqa_simulators.holdem.scripted import SCRIPT
from dqa_simulators.negotiation.position import NegotiationPosition


def shown(position: Position, hidden: dict[tuple[str, str], str] | None = None) -> Shown:
    """Return a position as a prompt shows it."""
    return Shown(
        viewer=position.viewer,
        mover=position.mover or "",
        state=position.describe(),
        events=position.events,
        actions=tuple(map(str, position.actions)),
        hidden=hidden or {},
        scale=position.payoff_range,
    )


def script(name: str) -> WorldScript:
    """Return a world's script."""
    found = plugins.world_script(name)
    assert found is not None
    return found


def cards(text: str) -> tuple[int, ...]:
    """Return cards by their names."""
    return tuple(map(DECK.index, text.split()))


def test_worlds_without_a_script_have_none() -> None:
    """Then scripted models go by the rows."""
    assert plugins.world_script("nobody's") is None


@pytest.mark.parametrize(
    ("weaker", "stronger", "board"),
    [
        ("7d 2c", "Ah As", ""),
        ("9c 4d", "Kh Qh", ""),
        ("7d 2c", "Ah Kd", "As 6h 3s"),
        ("Ah Kd", "6c 6d", "As 6h 3s"),
        ("Ac 6d", "4d 5d", "As 6h 3s 2c 9d"),
    ],
)
def test_stronger_hands_beat_more(weaker: str, stronger: str, board: str) -> None:
    """Before the flop by ranks, then by counting all hands that there can be."""
    public = tuple(board.split())
    low, high = (SCRIPT.strength(tuple(one.split()), public) for one in (weaker, stronger))
    assert 0.0 <= low < high <= 1.0


def test_a_strong_hand_raises_and_a_weak_one_folds() -> None:
    """Unless the other is taken for the weakest."""
    start = HoldemPosition("player", cards("Ah Kd"), (), begin(RULES)).after("raise")
    strong = script("holdem").estimate(shown(start))
    assert max(strong, key=lambda action: strong[action]) == "raise"
    weak_cards = HoldemPosition("player", cards("7d 2c"), (), begin(RULES)).after("raise")
    weak = script("holdem").estimate(shown(weak_cards, {("opponent", "strength"): "5"}))
    assert max(weak, key=lambda action: weak[action]) == "fold"
    assert weak["fold"] == pytest.approx((-2 + 50) / 100)


@pytest.mark.parametrize(("did", "states"), [("raise", "45"), ("call", "3"), ("check", "12345")])
def test_raises_speak_for_a_strong_hand(did: str, states: str) -> None:
    """And checks do not."""
    start = HoldemPosition("player", cards("Ah Kd"), (), begin(RULES))
    position = start.after("raise") if did == "raise" else start.after("call")
    found = script("holdem").infer(shown(position), "opponent", "strength", tuple("12345"))
    assert found in states


TABLE = NegotiationPosition("player", (2, 2, 2), (4, 1, 1), 6, has_utterances=False)


def test_what_is_asked_for_is_taken_to_be_valued() -> None:
    """By proposals of the other."""
    position = TABLE.after("[2, 0, 0]").after("[0, 2, 0]")
    names = ("value of peppers", "value of strawberries", "value of cherries")
    states = tuple(map(str, range(1, 11)))
    found = [
        int(script("negotiation").infer(shown(position), "opponent", n, states)) for n in names
    ]
    assert found[1] > max(found[0], found[2])


def test_the_negotiator_takes_what_is_good_and_asks_for_what_can_be_had() -> None:
    """Agreeing is worth what it brings; others accept what contents them."""
    talk = script("negotiation")
    position = TABLE.after("[0, 0, 0]").after("[0, 2, 2]")
    worth = talk.estimate(shown(position))
    assert worth["agree"] == pytest.approx(8 / 12)
    assert set(worth) == set(map(str, position.actions))
    hidden = {
        ("opponent", f"value of {item}"): value
        for item, value in zip(
            ("peppers", "strawberries", "cherries"), ("1", "3", "2"), strict=True
        )
    }
    generous = TABLE.after("[2, 0, 0]")
    assert talk.expect(shown(generous, hidden)) == "agree"
    assert talk.expect(shown(TABLE.after("[2, 2, 1]"), hidden)) != "agree"


@pytest.mark.parametrize(
    "ask",
    [
        lambda shown: script("holdem").estimate(shown),
        lambda shown: script("negotiation").estimate(shown),
    ],
)
def test_a_state_of_another_game_is_refused(ask: Callable[[Shown], object]) -> None:
    """With what it says."""
    event = GameEvent(1, "play", "first", "3")
    other = Shown("first", "first", "5 are left.", (event,), ("1", "2"))
    with pytest.raises(UsageError, match="5 are left"):
        ask(other)
