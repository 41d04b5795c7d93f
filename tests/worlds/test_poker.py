"""Hold'em, Kuhn and Leduc poker as worlds, held against OpenSpiel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dqa.core.errors import UsageError
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.games.poker import PokerPosition, PokerWorld
from dqa_simulators.holdem.hands import DECK, strength
from tests.worlds.playing import at_random, make_world, moves_of

pytest.importorskip("pyspiel")
GAMES = {"holdem": 150, "kuhn": 60, "leduc": 100}


def poker(name: str, **settings: Any) -> PokerWorld:
    """Return a world of poker."""
    world = make_world(name, **settings)
    assert isinstance(world, PokerWorld)
    return world


@pytest.mark.parametrize("name", GAMES)
def test_legal_actions_turns_and_chips_are_the_referees(name: str) -> None:
    """In random games. The result of an action is that of looking ahead."""
    world = poker(name)
    for seed in range(GAMES[name]):
        episode = world.start(seed)
        codes, state = episode._kind.codes, episode._state
        choose = at_random(seed, cautious=0.8)
        while (move := episode.next_move()) is not None:
            position = move.position
            assert isinstance(position, PokerPosition)
            assert not state.is_chance_node()
            assert PLAYERS[state.current_player()] == move.player == position.mover
            legal = sorted(codes[str(action)] for action in position.actions)
            assert legal == state.legal_actions()
            if name == "holdem":
                assert position.bets == spent(state)
            following = {action: position.after(action) for action in position.actions}
            assert len({one.key for one in following.values()}) == len(following)
            expected = following[chosen := choose(move)]
            episode.choose(chosen)
            found = episode._position(move.player)
            if expected.node == "chance":
                expected = expected.dealt(found.board[len(position.board) :])
            assert expected == found
        assert state.is_terminal()
        returns = episode.returns()
        assert sum(returns.values()) == 0
        for viewer in PLAYERS:
            end = episode._position(viewer)
            assert end.node == "terminal"
            known = end.payoff()
            assert known == (returns[viewer] if episode.facts()["folded"] else None)


def spent(state: Any) -> tuple[int, int]:
    """Return the chips that OpenSpiel says both have put in."""
    line = next(line for line in str(state).splitlines() if line.startswith("Spent"))
    first, second = (int(part.split(":")[1]) for part in line[8:-3].split("  "))
    return first, second


def test_the_better_hand_takes_the_pot() -> None:
    """Ours and OpenSpiel's evaluator agree on who wins and on ties."""
    world, ties = poker("holdem"), 0
    for seed in range(150):
        episode = world.start(seed)
        for _ in moves_of(episode, lambda move: move.position.actions[-2]):
            pass
        deal = world.deal(seed)
        first, second = (strength((*hand, *deal.board)) for hand in deal.hands)
        assert np.sign(episode.returns()["player"]) == np.sign(first - second)
        ties += first == second
    assert ties


def test_ends_of_looking_ahead() -> None:
    """A fold is known, a showdown is not, and new cards come by chance."""
    move = poker("holdem").start(0).next_move()
    assert move is not None
    start = move.position
    assert isinstance(start, PokerPosition)
    folded = start.after("fold")
    assert (folded.node, folded.mover, folded.actions, folded.payoff()) == (
        *("terminal", None, ()),
        -1.0,
    )
    flop = start.after("call").after("check")
    assert (flop.node, flop.mover, flop.actions, flop.payoff()) == ("chance", None, (), None)
    assert start.after("raise").after("fold").payoff() == 2.0
    with pytest.raises(UsageError, match=r"'check' is not legal here\. .*fold, call, raise"):
        start.after("check")
    for cards in ((*start.hole[:1], 0, 1), (5, 6), (7, 7, 8)):
        with pytest.raises(UsageError, match="cannot be dealt here"):
            flop.dealt(cards)
    river = flop
    free = [card for card in range(52) if card not in start.hole]
    for stage, count in enumerate((3, 1, 1)):
        dealt = tuple(free[5 * stage : 5 * stage + count])
        river = river.dealt(dealt).after("check").after("check")
    assert (river.node, river.payoff(), river.betting.stage) == ("terminal", None, 3)
    assert river.payoff_range == (-50.0, 50.0)


def test_a_question_contains_only_known_cards() -> None:
    """It contains own cards, board, pot, bets and events; never the other's cards."""
    world = poker("holdem")
    for seed in range(25):
        episode = world.start(seed)
        for move in moves_of(episode, at_random(seed, cautious=0.9)):
            position = move.position
            assert isinstance(position, PokerPosition)
            told = f"{move.question.text} {position.describe()} {position.events}"
            seat = PLAYERS.index(move.player)
            own, other = episode._deal.hands[seat], episode._deal.hands[1 - seat]
            later = episode._deal.board[len(position.board) :]
            assert all(DECK[card] in told for card in (*own, *position.board))
            assert not any(DECK[card] in told for card in (*other, *later))
            assert f"Chips in the pot: {sum(position.bets)}" in told
            assert move.question.candidates == position.actions
