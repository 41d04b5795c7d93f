"""How scripted models play Kuhn poker (entry point `dqa.world_scripts`)."""

from __future__ import annotations

from dqa_simulators.games.scripted import PokerScript
from dqa_simulators.kuhn.position import DECK, RULES


class KuhnScript(PokerScript):
    """Goes by the rank of the card."""

    def strength(self, own: tuple[str, ...], board: tuple[str, ...]) -> float:
        """Return the share of the other cards that the own one beats."""
        del board
        return self.place(own[0])

    def place(self, state: str) -> float:
        """Return a rank's place."""
        return DECK.index(state) / (len(DECK) - 1)


SCRIPT = KuhnScript(RULES.most)
