"""Betting of two players in rounds: the rules and the public state of a poker game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from dqa.core.errors import UsageError

PLAYERS: Final = ("player", "opponent")
"""The names of the players in every two-player world, in the order of seats."""
FOLD: Final = "fold"
CHECK: Final = "check"
CALL: Final = "call"
RAISE: Final = "raise"

Phase: TypeAlias = Literal["bet", "deal", "folded", "showdown"]
"""The next step: a bet, a deal of public cards, or the end after a fold or a showdown."""


@dataclass(frozen=True, slots=True)
class BettingRules:
    """The rules of a game of limit poker for two.

    Attributes
    ----------
    stages
        The name of each round.
    blinds
        The chips that each seat puts in before the first bet.
    raises
        The chips of one raise, for each round.
    most_raises
        The maximum number of raises in one round.
    first
        The seat that acts first, for each round.
    dealt
        The number of public cards that are dealt before each round.
    """

    stages: tuple[str, ...]
    blinds: tuple[int, int]
    raises: tuple[int, ...]
    most_raises: int
    first: tuple[int, ...]
    dealt: tuple[int, ...]

    @property
    def most(self) -> int:
        """The maximum number of chips that one player can put in."""
        return max(self.blinds) + self.most_raises * sum(self.raises)


@dataclass(frozen=True, slots=True)
class Betting:
    """The bets so far, and the next step.

    Attributes
    ----------
    rules
        The rules of the game.
    bets
        The chips that each seat has put in.
    stage
        The index of the current round. It increases when the cards of the next round are dealt.
    raises
        The number of raises in this round.
    acted
        The number of actions in this round.
    seat
        The seat that acts next; if a fold ended the game, the seat that folded. The number has no
        meaning before a deal and at a showdown.
    phase
        The next step.
    """

    rules: BettingRules
    bets: tuple[int, int]
    stage: int
    raises: int
    acted: int
    seat: int
    phase: Phase

    @property
    def actions(self) -> tuple[str, ...]:
        """The legal actions of the next player, from the most cautious to the boldest."""
        if self.phase != "bet":
            return ()
        is_facing = self.bets[0] != self.bets[1]
        can_raise = self.raises < self.rules.most_raises
        return _ACTIONS[is_facing, can_raise]

    @property
    def stage_name(self) -> str:
        """The name of the current round."""
        return self.rules.stages[self.stage]

    @property
    def next_cards(self) -> int:
        """The number of public cards that are dealt next."""
        return self.rules.dealt[self.stage + 1] if self.phase == "deal" else 0

    def after(self, action: str) -> Betting:
        """Return the state after an action.

        Raises
        ------
        UsageError
            The action is not legal in this state.
        """
        if action not in self.actions:
            allowed = ", ".join(self.actions) or "none"
            raise UsageError(f"'{action}' is not legal here. Legal actions: {allowed}.")
        return _after(self, action)

    def next_round(self) -> Betting:
        """Return the state after the cards of the next round are dealt."""
        if self.phase != "deal":
            raise UsageError(
                f"Cards cannot be dealt now: the round '{self.stage_name}' has not ended."
            )
        stage = self.stage + 1
        return Betting(self.rules, self.bets, stage, 0, 0, self.rules.first[stage], "bet")


_ACTIONS: Final = {
    (True, True): (FOLD, CALL, RAISE),
    (True, False): (FOLD, CALL),
    (False, True): (CHECK, RAISE),
    (False, False): (CHECK,),
}


@lru_cache
def begin(rules: BettingRules) -> Betting:
    """Return the initial state of a game."""
    return Betting(rules, rules.blinds, 0, 0, 0, rules.first[0], "bet")


@lru_cache(maxsize=65_536)
def _after(betting: Betting, action: str) -> Betting:
    """Return the state after a legal action. Games have few states, so results are cached."""
    rules, seat, stage = betting.rules, betting.seat, betting.stage
    raises, acted = betting.raises, betting.acted + 1
    if action == FOLD:
        return Betting(rules, betting.bets, stage, raises, acted, seat, "folded")
    added = max(betting.bets)
    if action == RAISE:
        added += rules.raises[stage]
        raises += 1
    bets = (added, betting.bets[1]) if seat == 0 else (betting.bets[0], added)
    # A blind is not an action: after a call of the small blind, the big blind may still act.
    is_over = bets[0] == bets[1] and acted >= len(PLAYERS)
    phase: Phase = "bet"
    if is_over:
        phase = "showdown" if stage + 1 == len(rules.stages) else "deal"
    return Betting(rules, bets, stage, raises, acted, 1 - seat, phase)
