"""How scripted models play poker: by the strength of the own cards, and by what the other did."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Final

from dqa.core.errors import UsageError
from dqa.worlds.scripted import Shown
from dqa_simulators.games.betting import CALL, CHECK, FOLD, RAISE

_STATE: Final = re.compile(
    r"Your cards: (?P<own>[^.]+)\. Public cards: (?P<board>[^.]+)\. "
    r"Chips in the pot: (?P<pot>\d+), (?P<mine>\d+) of them put in by you\."
    r"(?: A call costs (?P<cost>\d+)\.)?(?: A raise adds (?P<size>\d+))?"
)
_NONE: Final = "none yet"
_RAISED, _CHECKED = 0.2, -0.1
"""What a raise and a check of the other tell of its strength, from 0 to 1."""
_FOLDS: Final = 0.3
"""How often the weakest other hand folds to a raise."""
_TRUST: Final = 0.5
"""What an inferred state counts for, beside the hands that there could be."""
_STRONG, _WEAK = 0.65, 0.3
"""From where on the other is expected to raise, and below which to fold."""
_MOST_RAISES: Final = 2
"""Raises of the other in one game, after which it is expected to call."""


class PokerScript:
    """A card-strength analyst; see `dqa.worlds.scripted.WorldScript`.

    Parameters
    ----------
    most
        The most chips that one player can put in.
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)

    @abstractmethod
    def strength(self, own: tuple[str, ...], board: tuple[str, ...]) -> float:
        """Return which share of the other's possible hands the own one beats; ties count half."""

    def infer(self, shown: Shown, player: str, name: str, states: tuple[str, ...]) -> str:
        """Return the state that what the other did speaks for: raises for a strong one."""
        del name
        place = round(self._told(shown, player) * (len(states) - 1))
        return states[place]

    def expect(self, shown: Shown) -> str:
        """Return a raise of a strong hand, a fold of a weak one, else a call or a check."""
        inferred = self._inferred(shown)
        strong = self._told(shown, shown.mover) if inferred is None else inferred
        own = [event.action for event in shown.events if event.actor == shown.mover]
        if strong > _STRONG and RAISE in shown.actions and own.count(RAISE) < _MOST_RAISES:
            return RAISE
        if strong < _WEAK and FOLD in shown.actions:
            return FOLD
        return CHECK if CHECK in shown.actions else CALL

    def estimate(self, shown: Shown) -> Mapping[str, float]:
        """Return what each action wins on average, scaled to 0 to 1."""
        found = _STATE.search(shown.state)
        if found is None:
            raise UsageError(f"This tells of no game of poker: '{shown.state[:100]}'.")
        board = () if found["board"] == _NONE else tuple(found["board"].split())
        wins = self.strength(tuple(found["own"].split()), board)
        inferred = self._inferred(shown)
        if inferred is not None:
            beats = min(max(0.5 + 2.0 * (wins - inferred), 0.0), 1.0)
            wins = (1.0 - _TRUST) * wins + _TRUST * beats
        pot, mine = float(found["pot"]), float(found["mine"])
        stays = mine + float(found["cost"] or 0)
        more = stays + float(found["size"] or 0)
        folds = _FOLDS * (1.0 - (0.5 if inferred is None else inferred))
        chips = {
            FOLD: -mine,
            CHECK: (2.0 * wins - 1.0) * stays,
            CALL: (2.0 * wins - 1.0) * stays,
            RAISE: folds * (pot - mine) + (1.0 - folds) * (2.0 * wins - 1.0) * more,
        }
        low, high = shown.scale or (-self._most, self._most)
        return {
            action: min(max((chips[action] - low) / (high - low), 0.0), 1.0)
            for action in shown.actions
        }

    def _told(self, shown: Shown, player: str) -> float:
        """Return how strong what a player did looks, from 0 to 1."""
        did = [event.action for event in shown.events if event.actor == player]
        told = 0.5 + _RAISED * did.count(RAISE) + _CHECKED * did.count(CHECK)
        return min(max(told, 0.0), 1.0)

    def _inferred(self, shown: Shown) -> float | None:
        """Return how strong the other is taken to be, from 0 to 1; None where nobody said."""
        for state in shown.hidden.values():
            return self.place(state)
        return None

    @abstractmethod
    def place(self, state: str) -> float:
        """Return how strong a hidden state is, from 0 to 1."""
