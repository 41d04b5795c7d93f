"""Poker for two: positions, episodes and worlds.

A subclass of `PokerPosition` defines the cards, the betting rules and the words of a game.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self, TypeAlias

import numpy as np
from pydantic import BaseModel

from dqa.core.database import Database
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.worlds.world import CHANCE, GameEvent, HiddenVariable, Node, Position, Shown
from dqa_simulators.games.betting import (
    CALL,
    CHECK,
    FOLD,
    PLAYERS,
    RAISE,
    Betting,
    BettingRules,
    begin,
)
from dqa_simulators.games.episode import Facts, GameWorld, RefereedEpisode, Start, load_game
from dqa_simulators.games.reading import Record, Seated, read_record, replay

if TYPE_CHECKING:
    from dqa.worlds.history import History

Cards: TypeAlias = tuple[int, ...]
DEAL: Final = "deal"
"""The action of chance that deals public cards."""
_NODES: Final[Mapping[str, Node]] = {
    "bet": "decision",
    "deal": "chance",
    "folded": "terminal",
    "showdown": "terminal",
}


@dataclass(frozen=True)
class PokerPosition(Position):
    """A state of a game with everything that one player, the viewer, knows.

    Attributes
    ----------
    hole
        The private cards of the viewer.
    board
        The public cards.
    betting
        The bets of each seat, and the next step.
    seats
        The player at each seat. In a mirrored game the players are swapped.
    """

    viewer: str
    hole: Cards
    board: Cards
    betting: Betting
    events: tuple[GameEvent, ...] = ()
    seats: tuple[str, str] = PLAYERS

    world: ClassVar[str]
    """The name of the world."""
    title: ClassVar[str]
    """The name of the game in questions."""
    text: ClassVar[str]
    """The rules in questions."""
    referee: ClassVar[str]
    """The name and the parameters of the game in OpenSpiel."""
    codes: ClassVar[Mapping[str, int]] = {FOLD: 0, CHECK: 1, CALL: 1, RAISE: 2}
    """OpenSpiel's number of each action."""
    rules: ClassVar[BettingRules]
    deck: ClassVar[tuple[str, ...]]
    """The name of each card."""
    hidden_names: ClassVar[tuple[str, ...]]
    """The names of a player's private cards in the history."""
    seat_names: ClassVar[tuple[str, str]] = ("act first", "act second")
    """The role of each seat."""

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The kind of the next step."""
        return _NODES[self.betting.phase]

    @property
    def mover(self) -> str | None:  # type: ignore[override]
        """The player who acts next."""
        return self.seats[self.betting.seat] if self.betting.phase == "bet" else None

    @property
    def seat(self) -> int:
        """The seat of the viewer."""
        return self.seats.index(self.viewer)

    @property
    def actions(self) -> tuple[Candidate, ...]:  # type: ignore[override]
        """The legal actions, from the most cautious to the boldest."""
        return self.betting.actions

    @property
    def bets(self) -> tuple[int, int]:
        """The chips that 'player' and 'opponent' have put in."""
        bets = self.betting.bets
        return bets if self.seats == PLAYERS else (bets[1], bets[0])

    @property
    def key(self) -> Hashable:
        """Everything that the viewer knows: names, cards and actions."""
        actions = tuple([event.action for event in self.events])
        return self.viewer, self.seats, self.hole, self.board, actions

    def after(self, action: Candidate) -> Self:
        """Return the state after an action, for the same viewer."""
        before = self.betting
        betting = before.after(str(action))
        chips = betting.bets[before.seat]
        detail = f"{chips} chips in all" if chips != before.bets[before.seat] else ""
        event = GameEvent(
            *(len(self.events) + 1, before.stage_name, self.seats[before.seat], str(action), detail)
        )
        return replace(self, betting=betting, events=(*self.events, event))

    def dealt(self, cards: Cards) -> Self:
        """Return the state after public cards are dealt.

        Raises
        ------
        UsageError
            The number of cards is wrong, or a card is already in the viewer's hand or public.
        """
        known = (*self.hole, *self.board, *cards)
        if len(cards) != self.betting.next_cards or len(set(known)) != len(known):
            shown = self.names(cards)
            raise UsageError(
                f"The cards '{shown}' cannot be dealt here. The rules require "
                f"{self.betting.next_cards} different cards that '{self.viewer}' has not seen."
            )
        betting = self.betting.next_round()
        number, shown = len(self.events) + 1, self.names(cards)
        event = GameEvent(number, betting.stage_name, CHANCE, DEAL, shown)
        return replace(
            self, betting=betting, board=self.board + cards, events=(*self.events, event)
        )

    def payoff(self) -> float | None:
        """Return the payoff of the viewer after a fold; None otherwise."""
        if self.betting.phase != "folded":
            return None
        lost = min(self.betting.bets)
        return float(-lost if self.betting.seat == self.seat else lost)

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The smallest and the largest payoff: the maximum bet, lost or won."""
        return -float(self.rules.most), float(self.rules.most)

    @property
    def stakes(self) -> tuple[float, float]:
        """The payoffs of a lost and a won game, if the next player's boldest action is called.

        If no player acts next, they are the payoffs with the present bets.
        """
        betting = self.betting
        most = float(max((betting.after(self.betting.actions[-1]) if self.mover else betting).bets))
        return -most, most

    @property
    def fallback(self) -> Candidate:
        """The action 'check' if it is legal, otherwise 'fold'."""
        return CHECK if CHECK in self.betting.actions else FOLD

    def describe(self) -> str:
        """Describe the viewer's cards, the public cards and the bets."""
        bets, seat = self.betting.bets, self.seat
        public = self.names(self.board) or "none yet"
        own = f"Your cards: {self.names(self.hole)}. " if self.hole else ""
        text = (
            f"You {self.seat_names[seat]}. Round: {self.betting.stage_name}. "
            f"{own}Public cards: {public}. "
            f"Chips in the pot: {sum(bets)}, {bets[seat]} of them put in by you."
        )
        if self.betting.phase != "bet":
            return text
        missing = max(bets) - bets[self.betting.seat]
        size = self.rules.raises[self.betting.stage]
        if missing:
            text += f" A call costs {missing}."
        left = self.rules.most_raises - self.betting.raises
        if left:
            text += f" A raise adds {size} to the bet. Raises left in this round: {left}."
        else:
            text += " All raises of this round are used."
        whose = "your turn" if self.mover == self.viewer else f"the turn of '{self.mover}'"
        return f"{text} It is {whose}."

    def for_mover(self) -> Self:
        """Return the state from the view of the next player, without private cards."""
        return replace(self, viewer=self.mover or self.viewer, hole=())

    def shown_in(self, text: str) -> Shown:
        """Return "all" if a prompt's text contains the state's description, otherwise "nothing"."""
        return "all" if self.describe() in text else "nothing"

    @classmethod
    def names(cls, cards: Iterable[int]) -> str:
        """Return the names of cards as text, for example ``"Ah Td"``."""
        deck = cls.deck
        return " ".join([deck[card] for card in cards])

    @classmethod
    def hand_facts(cls, hand: Cards, board: Cards) -> Facts:
        """Return facts about a hand at the end of a game, by name, such as the hand's category."""
        del hand, board
        return {}

    @classmethod
    def read(cls, record: Record[Seated]) -> Self:
        """Rebuild a position from a player's record of a game.

        Raises
        ------
        DataError
            A card is unknown or repeated, or an event breaks the rules. The message names the
            event.
        """
        names = cls.hidden_names
        try:
            hole = cls._cards(" ".join(record.own.get(name, "") for name in names), len(names))
        except UsageError as error:
            raise record.fail(f"table 'hidden': {error}") from error
        position = cls(record.player, hole, (), begin(cls.rules), seats=record.settings.seats)
        return replay(
            record, position, lambda one, text: one.dealt(cls._cards(text, one.betting.next_cards))
        )

    @classmethod
    def _cards(cls, text: str, count: int) -> Cards:
        names = text.split()
        if len(set(names) & set(cls.deck)) != count or len(names) != count:
            example = cls.names(range(count))
            raise UsageError(f"'{text}' must be a list of different cards such as '{example}'.")
        return tuple(map(cls.deck.index, names))

    @property
    @abstractmethod
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """The hidden variables of the other player."""


class Deal(NamedTuple):
    """The private cards of each seat, and the public cards in the order of dealing."""

    hands: tuple[Cards, Cards]
    board: Cards


class PokerEpisode(RefereedEpisode):
    """One game of poker.

    Parameters
    ----------
    kind
        The class of the game's positions.
    deal
        The cards of the game.
    start, settings
        The start of the episode, and the settings of the world; see `GameEpisode`.
    """

    def __init__(
        self, kind: type[PokerPosition], deal: Deal, start: Start, settings: Mapping[str, Any]
    ) -> None:
        self._kind, self._deal = kind, deal
        self._hands = dict(zip(start.seats, deal.hands, strict=True))
        self._public = kind(PLAYERS[0], (), (), begin(kind.rules), seats=start.seats)
        hidden = {
            player: dict(zip(kind.hidden_names, [kind.deck[card] for card in hand], strict=True))
            for player, hand in self._hands.items()
        }
        state = load_game(kind.referee).new_initial_state()
        for card in (*deal.hands[0], *deal.hands[1]):
            state.apply_action(card)
        super().__init__(kind.world, start, state, settings, hidden)

    def facts(self) -> Facts:
        """Return the cards, the facts about each hand, and the player who folded."""
        self._require_end("its cards")
        kind, board, betting = self._kind, self._public.board, self._public.betting
        facts: dict[str, Candidate | float | bool | None] = {
            "board": kind.names(board),
            "last round": betting.stage_name,
            "folded": self._seats[betting.seat] if betting.phase == "folded" else None,
            "pot": sum(betting.bets),
        }
        for player, hand in self._hands.items():
            facts[f"hand of {player}"] = kind.names(hand)
            for name, value in kind.hand_facts(hand, board).items():
                facts[f"{name} of {player}"] = value
        return facts

    def _mover(self) -> str | None:
        return self._public.mover

    def _position(self, viewer: str) -> PokerPosition:
        return replace(self._public, viewer=viewer, hole=self._hands[viewer])

    def _ask(self, position: Position) -> tuple[str, str]:
        other = PLAYERS[1 - PLAYERS.index(position.viewer)]
        text = (
            f"You are '{position.viewer}' in a game of {self._kind.title} against '{other}'. "
            f"{position.describe()} {describe_events(position.events)} "
            "Which action will win you the most chips?"
        )
        return text, self._kind.text

    def _apply(self, action: str) -> Iterable[GameEvent]:
        before = self._public
        after = before.after(action)
        self._state.apply_action(self._kind.codes[action])
        if after.node == "chance":
            dealt = len(after.board)
            cards = self._deal.board[dealt : dealt + after.betting.next_cards]
            after = after.dealt(cards)
            for card in cards:
                self._state.apply_action(card)
        self._public = after
        return after.events[len(before.events) :]


def describe_events(events: Iterable[GameEvent]) -> str:
    """Describe the events so far in one sentence."""
    texts = [
        f"{event.stage} {event.detail}"
        if event.actor == CHANCE
        else f"{event.actor} {event.action}"
        for event in events
    ]
    return f"So far: {', '.join(texts)}." if texts else "No one has acted yet."


class PokerWorld(GameWorld[BaseModel, PokerEpisode]):
    """A world of poker for two. All players may read the settings.

    In a mirrored game, the players swap seats and cards. Over both games, luck therefore favours
    neither player. If both players use the same deterministic policy, the payoffs of 'player' in
    the two games sum to exactly 0.

    Parameters
    ----------
    kind
        The class of the game's positions.
    draw
        Draws the cards of a game.
    settings, history
        The settings of the world, and the store of its games; see `GameWorld`.
    """

    players = PLAYERS

    def __init__(
        self,
        kind: type[PokerPosition],
        draw: Callable[[np.random.Generator], Deal],
        settings: BaseModel,
        history: History | None,
    ) -> None:
        super().__init__(settings, history)
        self.name, self._kind, self._draw = kind.world, kind, draw

    def begin(self, start: Start) -> PokerEpisode:
        """Deal the game of a seed."""
        deal = self.deal(start.seed)
        return PokerEpisode(self._kind, deal, start, self._settings.model_dump())

    def deal(self, seed: int) -> Deal:
        """Return the cards of the game with a seed."""
        return self._draw(np.random.default_rng(seed))

    def position(self, question: Question, database: Database) -> PokerPosition:
        """Return the state that a question is about. Read it from the question's database."""
        return self._kind.read(read_record(question, database, self.name, Seated))
