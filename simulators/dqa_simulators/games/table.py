"""Poker for two as worlds: definitions of games, episodes and worlds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict

from dqa.core.database import Database
from dqa.core.question import Candidate, Question
from dqa.worlds.world import CHANCE, GameEvent, Position
from dqa_simulators.games.betting import PLAYERS, begin
from dqa_simulators.games.episode import GameEpisode, GameWorld, random_of
from dqa_simulators.games.openspiel import load_game
from dqa_simulators.games.poker import Cards, PokerPosition
from dqa_simulators.games.reading import read_record

if TYPE_CHECKING:
    from dqa.worlds.history import History


class NoSettings(BaseModel):
    """A world without settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Deal:
    """All cards of a game.

    Attributes
    ----------
    hands
        The private cards of each seat.
    board
        The public cards, in the order of dealing.
    """

    hands: tuple[Cards, Cards]
    board: Cards


Facts: TypeAlias = Mapping[str, Candidate | float | bool | None]


@dataclass(frozen=True, slots=True)
class PokerGame:
    """The definition of a poker game.

    Attributes
    ----------
    kind
        The class of the game's positions.
    referee
        Name and parameters of the game in OpenSpiel.
    codes
        OpenSpiel's number of each action.
    title
        The name of the game in questions.
    text
        The rules in questions.
    draw
        Draws the cards of a game.
    facts
        Returns extra facts about a hand and the public cards at the end of a game, by name.
    """

    kind: type[PokerPosition]
    referee: str
    codes: Mapping[str, int]
    title: str
    text: str
    draw: Callable[[np.random.Generator], Deal]
    facts: Callable[[Cards, Cards], Facts]


def no_facts(hand: Cards, board: Cards) -> Facts:
    """Return no extra facts about a hand."""
    del hand, board
    return {}


class PokerEpisode(GameEpisode):
    """One game of poker.

    Parameters
    ----------
    game
        The definition of the game.
    deal
        The cards of the game.
    seed, mirrored, settings, history
        As in `GameEpisode`.
    """

    def __init__(  # noqa: PLR0913
        self,
        game: PokerGame,
        deal: Deal,
        *,
        seed: int,
        mirrored: bool,
        settings: Mapping[str, Any],
        history: History | None,
    ) -> None:
        kind = game.kind
        self._seats = (PLAYERS[1], PLAYERS[0]) if mirrored else PLAYERS
        hidden = {
            player: dict(zip(kind.hidden_names, [kind.deck[card] for card in hand], strict=True))
            for player, hand in zip(self._seats, deal.hands, strict=True)
        }
        self._poker = game
        self._deal = deal
        self._known = {
            player: kind(player, hand, (), begin(kind.rules), seats=self._seats)
            for player, hand in zip(self._seats, deal.hands, strict=True)
        }
        self._state = load_game(game.referee).new_initial_state()
        for card in (*deal.hands[0], *deal.hands[1]):
            self._state.apply_action(card)
        super().__init__(
            kind.world,
            seed=seed,
            mirrored=mirrored,
            settings={**settings, "seats": self._seats},
            hidden=hidden,
            history=history,
        )

    def facts(self) -> Facts:
        """Return the cards, the facts about each hand, and the player who folded."""
        self._require_end("its cards")
        kind, board, betting = self._poker.kind, self._public.board, self._public.betting
        facts: dict[str, Candidate | float | bool | None] = {
            "board": kind.names(board),
            "last round": betting.stage_name,
            "folded": self._seats[betting.seat] if betting.phase == "folded" else None,
            "pot": sum(betting.bets),
        }
        for player, hand in zip(self._seats, self._deal.hands, strict=True):
            facts[f"hand of {player}"] = kind.names(hand)
            for name, value in self._poker.facts(hand, board).items():
                facts[f"{name} of {player}"] = value
        return facts

    @property
    def _public(self) -> PokerPosition:
        """A position whose public part is used. That part is the same for both players."""
        return self._known[PLAYERS[0]]

    def _mover(self) -> str | None:
        return self._public.mover

    def _position(self, viewer: str) -> PokerPosition:
        return self._known[viewer]

    def _ask(self, position: Position) -> tuple[str, str]:
        other = PLAYERS[1 - PLAYERS.index(position.viewer)]
        text = (
            f"You are '{position.viewer}' in a game of {self._poker.title} against '{other}'. "
            f"{position.describe()} {tell_events(position.events)} "
            "Which action will win you the most chips?"
        )
        return text, self._poker.text

    def _apply(self, action: str) -> Iterable[GameEvent]:
        before = self._public
        self._state.apply_action(self._poker.codes[action])
        for viewer, known in self._known.items():
            position = known.after(action)
            if position.node == "chance":
                dealt = len(position.board)
                cards = self._deal.board[dealt : dealt + position.betting.next_cards]
                position = position.dealt(cards)
            self._known[viewer] = position
        for card in self._public.board[len(before.board) :]:
            self._state.apply_action(card)
        return self._public.events[len(before.events) :]

    def _reveal(self) -> object:
        return self._state.clone()

    def _returns(self) -> Mapping[str, float]:
        returns = dict(zip(self._seats, self._state.returns(), strict=True))
        return {player: returns[player] for player in PLAYERS}


def tell_events(events: Iterable[GameEvent]) -> str:
    """Describe the events so far in one sentence."""
    told = [
        f"{event.stage} {event.detail}"
        if event.actor == CHANCE
        else f"{event.actor} {event.action}"
        for event in events
    ]
    return f"So far: {', '.join(told)}." if told else "No one has acted yet."


class PokerWorld(GameWorld[Mapping[str, Any]]):
    """A world of poker for two. All players may read its settings."""

    players = PLAYERS

    def __init__(
        self, game: PokerGame, settings: Mapping[str, Any], history: History | None
    ) -> None:
        super().__init__(settings, history)
        self.name = game.kind.world
        self._game = game

    def start(self, seed: int, *, mirrored: bool = False) -> PokerEpisode:
        """Deal a game. In a mirrored game, the players swap seats and cards.

        So the advantage of a seat and its cards goes to each player once. A player whose choices
        depend only on its view has a total payoff of exactly 0 against itself.
        """
        return PokerEpisode(
            self._game,
            self.deal(seed),
            seed=seed,
            mirrored=mirrored,
            settings=self._settings,
            history=self._history,
        )

    def deal(self, seed: int) -> Deal:
        """Return the cards of the game with a seed."""
        return self._game.draw(random_of(seed))

    def position(self, question: Question, database: Database) -> PokerPosition:
        """Return the state of a question, read from its database."""
        return self._game.kind.read(read_record(question, database, self.name, PLAYERS))
