"""Negotiation as a world, held against OpenSpiel."""

from __future__ import annotations

from itertools import product
from math import hypot
from typing import Any

import numpy as np
import pytest

from dqa.core.errors import UsageError
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.games.episode import Start
from dqa_simulators.negotiation.position import Instance, NegotiationPosition, number_of, worth
from dqa_simulators.negotiation.world import (
    Negotiation,
    NegotiationEpisode,
    NegotiationSettings,
    compare,
)
from tests.worlds.playing import at_random, moves_of

pytest.importorskip("pyspiel")


def negotiation(**settings: Any) -> Negotiation:
    """Return the world."""
    return Negotiation(NegotiationSettings(**settings), None)


def position_of(episode: NegotiationEpisode) -> NegotiationPosition:
    """Return the position of the next move."""
    move = episode.next_move()
    assert move is not None
    assert isinstance(move.position, NegotiationPosition)
    return move.position


@pytest.mark.parametrize("utterances", [True, False])
def test_legal_actions_turns_and_returns_are_the_referees(utterances: bool) -> None:
    """In random negotiations. An utterance is a part of the pool, too."""
    world = negotiation(utterances=utterances)
    agreed = 0
    for seed in range(40):
        episode = world.start(seed, mirrored=seed % 2 == 1)
        choose, state = at_random(seed, cautious=0.9), episode._state
        while (move := episode.next_move()) is not None:
            position = move.position
            assert isinstance(position, NegotiationPosition)
            assert episode._seats[state.current_player()] == move.player
            numbers = {number_of(str(a), position.part) for a in position.actions}
            if position.part == "proposal":
                assert sorted(numbers) == state.legal_actions()
            else:
                assert numbers <= {*state.legal_actions()}
            expected = position.after(chosen := choose(move))
            episode.choose(chosen)
            assert episode._position(move.player) == expected
        assert state.is_terminal()
        for viewer in PLAYERS:
            end = episode._position(viewer)
            assert (end.node, end.actions, end.mover) == ("terminal", (), None)
            assert end.payoff() == episode.returns()[viewer]
        agreed += episode.facts()["agreed"] is True
    assert 0 < agreed < 40


def test_a_short_negotiation() -> None:
    """Proposal, utterance, agreement: the player who agrees gets the rest of the pool."""
    episode = NegotiationEpisode(
        Instance((3, 2, 1), ((1, 2, 3), (2, 1, 2)), 4), NegotiationSettings(turns=None), Start(0)
    )
    start = position_of(episode)
    assert (start.part, start.turn, start.last_turn, start.total) == ("proposal", 1, 4, 10)
    assert len(start.actions) == 4 * 3 * 2
    assert start.fallback == "[3, 2, 1]"
    with pytest.raises(UsageError, match=r"choose a part of the pool \[3, 2, 1\]"):
        start.after("[4, 0, 0]")
    with pytest.raises(UsageError, match="is not legal here"):
        start.after("agree")
    episode.choose("[0, 2, 1]")
    said = position_of(episode)
    assert (said.viewer, said.part, said.fallback) == ("player", "utterance", "[0, 2, 1]")
    episode.choose("[3, 0, 1]")
    answer = position_of(episode)
    assert (answer.viewer, answer.turn, answer.actions[0]) == ("opponent", 2, "agree")
    assert "you get [3, 0, 0], which is worth 6 to you" in answer.describe()
    assert answer.after("agree").payoff() == 6.0
    episode.choose("agree")
    assert episode.returns() == {"player": 7.0, "opponent": 6.0}
    facts = episode.facts()
    assert (facts["agreed"], facts["deal"], facts["turns"]) == (True, "[0, 2, 1]", 2)
    assert (facts["share of player"], facts["pareto optimal"]) == (0.7, True)


def test_the_comparison_is_that_of_every_split() -> None:
    """Pareto optimality and the Nash bargaining solution, by their definitions."""
    random = np.random.default_rng(0)
    for seed in range(20):
        drawn = negotiation().draw(seed)
        (first, second), pool = drawn.values, drawn.pool
        pairs = [
            (worth((a, b, c), first), worth((pool[0] - a, pool[1] - b, pool[2] - c), second))
            for a, b, c in product(*(range(n + 1) for n in pool))
        ]
        x, y = pairs[int(random.integers(len(pairs)))]
        is_optimal, distance = compare(pool, first, second, float(x), float(y))
        better = [(u, v) for u, v in pairs if u >= x and v >= y and (u > x or v > y)]
        assert is_optimal == (not better)
        best = max(u * v for u, v in pairs)
        total = worth(pool, first)
        expected = min(hypot(u - x, v - y) for u, v in pairs if u * v == best) / total
        assert distance == pytest.approx(expected)


def test_a_question_contains_only_own_values() -> None:
    """The values of the opponent change no text of the player."""
    world = negotiation()
    for seed in range(20):
        plain = world.draw(seed)
        changed = Instance(plain.pool, (plain.values[0], (1, 1, 1)), plain.turns)
        texts = []
        for instance in (plain, changed):
            episode = NegotiationEpisode(instance, NegotiationSettings(turns=None), Start(seed))
            told = [
                (move.question, move.position, move.position.describe())
                for move in moves_of(episode, at_random(seed, cautious=1.0))
                if move.player == "player"
            ]
            texts.append(told)
        assert texts[0] == texts[1]
        assert str(plain.pool[0]) in texts[0][0][2]
