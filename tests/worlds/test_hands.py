"""Hands of poker, and deals with a share of strong ones."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb, prod

import numpy as np

from dqa_simulators.holdem.hands import FULL_HOUSE, category, strength
from dqa_simulators.holdem.position import deal_uniformly
from tests.worlds.playing import make_world

RANDOM = np.random.default_rng(0)


def test_every_category_has_as_many_hands_of_five_as_is_known() -> None:
    """All 2,598,960 of them, by ranks; straight and royal flushes are one category."""
    hands, ways_of = [], []
    for ranks in combinations_with_replacement(range(13), 5):
        often = Counter(ranks)
        if max(often.values()) > 4:
            continue
        ways = prod(comb(4, count) for count in often.values())
        # Each next card of a rank has another suit, and the last one is never of the first's.
        mixed = [rank * 4 + ranks[:place].count(rank) for place, rank in enumerate(ranks)]
        if len(often) == 5:
            mixed[-1] += 1
            hands.append([rank * 4 for rank in ranks])
            ways_of.append(4)
            ways -= 4
        hands.append(mixed)
        ways_of.append(ways)
    found = np.bincount(category(hands), ways_of)
    known = (1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40)
    assert found.tolist() == list(known)
    assert len(np.unique(strength(hands))) == 7462


def test_a_hand_is_worth_its_best_five() -> None:
    """Of six or seven cards. A small deck makes rare hands more frequent."""
    for number in range(200):
        hand = RANDOM.permutation(28)[: 6 + number % 2].tolist()
        assert strength(hand) == strength(list(combinations(hand, 5))).max()


def test_a_hundred_games_have_every_category() -> None:
    """As in the paper. No card is dealt twice."""
    world = make_world("holdem")
    deals = [world.deal(seed) for seed in range(100)]  # type: ignore[attr-defined]
    best = Counter(int(category([(*h, *deal.board) for h in deal.hands]).max()) for deal in deals)
    assert set(best) == set(range(9))
    for deal in deals:
        assert len({*deal.hands[0], *deal.hands[1], *deal.board}) == 9
    uniform = [deal_uniformly(RANDOM) for _ in range(300)]
    rare = sum(category((*deal.hands[0], *deal.board)) > FULL_HOUSE for deal in uniform)
    assert rare < best[7] + best[8]
