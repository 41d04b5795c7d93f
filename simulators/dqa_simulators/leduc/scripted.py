"""How scripted models play Leduc poker (entry point `dqa.world_scripts`)."""

from __future__ import annotations

from typing import Final

from dqa_simulators.games.scripted import PokerScript
from dqa_simulators.leduc.position import DECK, RULES

_RANKS: Final = ("J", "Q", "K")


class LeducScript(PokerScript):
    """Counts the cards that the own one beats; a pair with the public one beats all."""

    def strength(self, own: tuple[str, ...], board: tuple[str, ...]) -> float:
        """Return the share of the other's possible cards that the own one beats."""
        left = [card for card in DECK if card not in own and card not in board]
        mine = _worth(own[0], board)
        worths = [_worth(card, board) for card in left]
        return sum((mine > one) + 0.5 * (mine == one) for one in worths) / len(worths)

    def place(self, state: str) -> float:
        """Return a rank's place."""
        return _RANKS.index(state) / (len(_RANKS) - 1)


def _worth(card: str, board: tuple[str, ...]) -> int:
    pair = any(card[0] == public[0] for public in board)
    return _RANKS.index(card[0]) + len(_RANKS) * pair


SCRIPT = LeducScript(RULES.most)
