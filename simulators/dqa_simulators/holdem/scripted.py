"""How scripted models play limit Texas hold'em (entry point `dqa.world_scripts`)."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Final

from dqa_simulators.games.scripted import PokerScript
from dqa_simulators.holdem.hands import DECK, RANKS, strength
from dqa_simulators.holdem.position import RULES

_STATES: Final = 5
_HIGHEST: Final = len(RANKS) - 1


class HoldemScript(PokerScript):
    """Counts the hands that the own one beats now; before the flop by ranks."""

    def strength(self, own: tuple[str, ...], board: tuple[str, ...]) -> float:
        """Return the share of the other's possible hands that the own one beats."""
        hole = tuple(sorted(map(DECK.index, own)))
        return _share(hole, tuple(sorted(map(DECK.index, board))))

    def place(self, state: str) -> float:
        """Return the middle of a fifth of all hands."""
        return (int(state) - 0.5) / _STATES


@lru_cache(maxsize=4096)
def _share(hole: tuple[int, ...], board: tuple[int, ...]) -> float:
    if not board:
        low, high = sorted(card // 4 for card in hole)
        if low == high:
            return 0.5 + 0.45 * high / _HIGHEST
        suited = hole[0] % 4 == hole[1] % 4
        near = high - low <= 2
        return 0.15 + (0.4 * high + 0.2 * low) / _HIGHEST + 0.04 * suited + 0.03 * near
    mine = strength((*hole, *board))
    left = [card for card in range(len(DECK)) if card not in hole and card not in board]
    others = [strength((*pair, *board)) for pair in combinations(left, 2)]
    beaten = sum(other < mine for other in others) + 0.5 * sum(other == mine for other in others)
    return beaten / len(others)


SCRIPT = HoldemScript(RULES.most)
