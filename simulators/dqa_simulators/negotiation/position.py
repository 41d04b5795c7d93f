"""Instances of negotiations, and their states with everything that one player knows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Annotated, Any, Final, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from pydantic import Field

from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.worlds.world import GameEvent, HiddenVariable, Node, Position, Shown
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.games.episode import load_game
from dqa_simulators.games.reading import Record, Seated, replay

Split: TypeAlias = tuple[int, int, int]
"""The numbers of peppers, strawberries and cherries."""

ITEMS: Final = ("peppers", "strawberries", "cherries")
AGREE: Final = "agree"
HIDDEN_NAMES: Final = tuple(f"value of {item}" for item in ITEMS)
"""The names of a player's private values in the history."""
MOST_ITEMS: Final = 5
MOST_VALUE: Final = 10
FEWEST_TURNS: Final = 4
MOST_TURNS: Final = 10
_LISTED: Final = 12
"""The maximum number of splits that a prompt lists."""
Part: TypeAlias = Literal["proposal", "utterance"]
"""The kind of action. A turn is a proposal and, if enabled, an utterance."""

_Count: TypeAlias = Annotated[int, Field(ge=0, le=MOST_ITEMS)]


class Terms(Seated, strict=True):
    """The public terms of a negotiation.

    Attributes
    ----------
    pool
        The number of units of each item.
    turns
        The number of turns.
    utterances
        Whether an utterance follows each proposal.
    """

    pool: tuple[_Count, _Count, _Count]
    turns: int = Field(ge=1)
    utterances: bool = True


_HIDDEN: Final = {
    viewer: tuple(
        HiddenVariable(
            other,
            name,
            f"How many points each of the {item} is worth to '{other}'.",
            tuple(map(str, range(1, MOST_VALUE + 1))),
        )
        for name, item in zip(HIDDEN_NAMES, ITEMS, strict=True)
    )
    for viewer, other in zip(PLAYERS, reversed(PLAYERS), strict=True)
}


@dataclass(frozen=True)
class NegotiationPosition(Position):
    """A state of a negotiation with everything that one player, the viewer, knows.

    Attributes
    ----------
    pool
        The number of units of each item.
    own_values
        The value of one unit of each item to the viewer.
    last_turn
        The number of the last turn. Without an agreement by then, both players get nothing.
    has_utterances
        Whether each proposal is followed by an utterance.
    proposals
        The proposals so far. A proposal is the part of the pool that the proposer would get.
    utterances
        The utterances so far.
    is_agreed
        Whether the last proposal was accepted.
    seats
        The players of the first and of the second turn. A mirrored game swaps the players.
    """

    viewer: str
    pool: Split
    own_values: Split
    last_turn: int
    has_utterances: bool = True
    proposals: tuple[Split, ...] = ()
    utterances: tuple[Split, ...] = ()
    is_agreed: bool = False
    events: tuple[GameEvent, ...] = ()
    seats: tuple[str, str] = PLAYERS

    @property
    def turn(self) -> int:
        """The number of the current turn, from 1. After the end it is `last_turn` + 1."""
        return len(self.utterances if self.has_utterances else self.proposals) + 1

    @property
    def part(self) -> Part:
        """The kind of the next action."""
        return "utterance" if len(self.proposals) >= self.turn else "proposal"

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The kind of the next step. The game ends with an agreement or after the last turn."""
        return "terminal" if self.is_agreed or self.turn > self.last_turn else "decision"

    @property
    def mover(self) -> str | None:  # type: ignore[override]
        """The player who acts next. The players of `seats` take turns."""
        return self.seats[(self.turn - 1) % 2] if self.node == "decision" else None

    @property
    def can_agree(self) -> bool:
        """Whether the next player can accept a proposal."""
        return self.node == "decision" and self.part == "proposal" and bool(self.proposals)

    @property
    def actions(self) -> tuple[Candidate, ...]:  # type: ignore[override]
        """The legal actions: agreeing if possible, then proposing each possible split."""
        if self.node == "terminal":
            return ()
        return list_actions(self.pool, can_agree=self.can_agree)

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """The other player's value of each item (BIDDER, appendix B.2.1)."""
        return _HIDDEN[self.viewer]

    @property
    def proposer(self) -> str | None:
        """The player who made the last proposal; None without proposals."""
        return self.seats[(len(self.proposals) - 1) % 2] if self.proposals else None

    @property
    def total(self) -> int:
        """The value of the whole pool, which is the same for both players."""
        return worth(self.pool, self.own_values)

    @property
    def key(self) -> Hashable:
        """Everything that the viewer knows."""
        values = self.viewer, self.seats, self.pool, self.own_values, self.last_turn
        return *values, self.has_utterances, self.proposals, self.utterances, self.is_agreed

    def after(self, action: Candidate) -> Self:
        """Return the state after an action, for the same viewer."""
        if action not in self.actions:
            raise UsageError(
                f"'{action}' is not legal here: choose a part of the pool {write(self.pool)}, "
                f"such as {write((0, 0, 0))}{', or agree' if self.can_agree else ''}."
            )
        part, turn = self.part, f"turn {self.turn}"
        mover = self.mover or ""
        number = len(self.events) + 1
        if action == AGREE:
            event = GameEvent(number, turn, mover, AGREE)
            return replace(self, is_agreed=True, events=(*self.events, event))
        split = parse(str(action))
        events = (*self.events, GameEvent(number, turn, mover, str(action), part))
        if part == "proposal":
            return replace(self, proposals=(*self.proposals, split), events=events)
        return replace(self, utterances=(*self.utterances, split), events=events)

    def describe(self) -> str:
        """Describe the pool, the viewer's values, the turn and the last proposal."""
        of_pool = ", ".join(f"{item}: {n}" for n, item in zip(self.pool, ITEMS, strict=True))
        values = ", ".join(
            f"{v} for {item}" for v, item in zip(self.own_values, ITEMS, strict=True)
        )
        own = f" Points that one is worth to you: {values}; the whole pool {self.total}."
        text = (
            f"Pool: {of_pool}.{own if self.total else ''} "
            f"Turn {min(self.turn, self.last_turn)} of {self.last_turn}."
        )
        return f"{text} {self._last_proposal()}{self._next_part()}"

    def for_mover(self) -> Self:
        """Return the state from the view of the next player, without private values."""
        return replace(self, viewer=self.mover or self.viewer, own_values=(0, 0, 0))

    def shown_in(self, text: str) -> Shown:
        """Return "all" if the text describes the state, otherwise "nothing"."""
        return "all" if self.describe() in text else "nothing"

    def in_words(self, actions: Sequence[Candidate]) -> str:
        """Describe the legal actions if there are too many to list.

        Otherwise return an empty string.
        """
        splits = [action for action in actions if action != AGREE]
        if len(splits) < len(list_splits(self.pool)) or len(splits) <= _LISTED:
            return ""
        bounds = ", ".join(
            f"{letter} from 0 to {most}" for letter, most in zip("abc", self.pool, strict=True)
        )
        agree = f'"{AGREE}", or ' if AGREE in actions else ""
        return f'{agree}any "[a, b, c]" of whole numbers with {bounds}'

    def _last_proposal(self) -> str:
        if not self.proposals:
            return "Nothing has been proposed yet."
        split = self.proposals[-1]
        proposer = self.proposer
        mine = split if proposer == self.viewer else rest(self.pool, split)
        whose = "you take" if proposer == self.viewer else f"'{proposer}' takes"
        left = "" if proposer == self.viewer else f", and you get {write(mine)}"
        return (
            f"By the last proposal {whose} {write(split)}{left}"
            f"{f', which is worth {worth(mine, self.own_values)} to you' if self.total else ''}."
        )

    def _next_part(self) -> str:
        """Describe the next action.

        Methods that look ahead use this description instead of a question's text.
        """
        if self.mover is None:
            return ""
        whose = "your turn" if self.mover == self.viewer else f"the turn of '{self.mover}'"
        if self.part == "proposal":
            part = f"a proposal, or '{AGREE}'," if self.can_agree else "a proposal"
        else:
            part = "the utterance, which follows the proposal of the same turn,"
        return f" It is {whose}: {part} comes next."

    def payoff(self) -> float | None:
        """Return the viewer's payoff: the value of the viewer's part, or 0 without an agreement.

        The payoff is None before the end.
        """
        if self.node != "terminal":
            return None
        if not self.is_agreed:
            return 0.0
        split = self.proposals[-1]
        is_proposer = self.proposer == self.viewer
        return float(worth(split if is_proposer else rest(self.pool, split), self.own_values))

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The smallest and the largest payoff: for no part of the pool, and for the whole pool."""
        return 0.0, float(self.total)

    @property
    def fallback(self) -> Candidate:
        """The player's latest proposal, or the whole pool if the player has not made one."""
        if self.part == "utterance":
            return write(self.proposals[-1])
        return write(self.proposals[-2] if len(self.proposals) > 1 else self.pool)

    @classmethod
    def read(cls, record: Record[Terms]) -> Self:
        """Rebuild a position from a player's record of a game.

        Raises
        ------
        DataError
            The pool or a value is invalid, or an event breaks the rules. The message names the
            event.
        """
        terms = record.settings
        values = []
        for name in HIDDEN_NAMES:
            text = record.own.get(name)
            if text is None or not text.isdecimal() or int(text) > MOST_VALUE:
                raise record.fail(
                    f"'{name}' in table 'hidden' is {text!r}, not a number from 0 to {MOST_VALUE}."
                )
            values.append(int(text))
        start = cls(
            *(record.player, terms.pool, as_split(values), terms.turns, terms.utterances),
            seats=terms.seats,
        )
        return replay(record, start)


def write(split: Split) -> str:
    """Return a split as text for candidates and events: ``"[1, 0, 2]"``."""
    return f"[{split[0]}, {split[1]}, {split[2]}]"


@lru_cache(maxsize=1024)
def parse(text: str) -> Split:
    """Return the split for a text from `write`."""
    return as_split([int(number) for number in text.strip("[]").split(",")])


def worth(split: Split, values: Split) -> int:
    """Return the total value of a split."""
    return split[0] * values[0] + split[1] * values[1] + split[2] * values[2]


def rest(pool: Split, split: Split) -> Split:
    """Return the pool minus a split."""
    return pool[0] - split[0], pool[1] - split[1], pool[2] - split[2]


@lru_cache(maxsize=1024)
def list_splits(pool: Split) -> tuple[Split, ...]:
    """Return every part of a pool, in order."""
    return tuple(product(*(range(count + 1) for count in pool)))  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def list_actions(pool: Split, *, can_agree: bool) -> tuple[Candidate, ...]:
    """Return every legal action: agreeing if possible, then proposing each possible split."""
    splits = tuple(write(split) for split in list_splits(pool))
    return (AGREE, *splits) if can_agree else splits


AGREEMENT: Final = 216
"""OpenSpiel's number of the action to agree. Higher numbers are utterances."""
_BASE: Final = MOST_ITEMS + 1
VALUES: Final = np.stack(np.meshgrid(*[np.arange(1, MOST_VALUE + 1)] * 3), axis=-1).reshape(-1, 3)
"""All possible values of the three items, shape (1000, 3)."""


class Instance(NamedTuple):
    """An instance of a negotiation.

    Attributes
    ----------
    pool
        The number of units of each item.
    values
        The value of one unit of each item to the first and to the second player. The whole pool
        has the same value for both players.
    turns
        The number of turns. Without an agreement by then, both players get nothing.
    """

    pool: Split
    values: tuple[Split, Split]
    turns: int


def draw_instance(random: np.random.Generator, turns: int | None = None) -> Instance:
    """Draw a pool, values and a number of turns.

    The pool has one to five units of each item. A unit is worth one to ten points. The values of
    the second player are drawn so that the pool is worth the same to both players (Lewis et al.,
    2017).
    """
    pool = random.integers(1, MOST_ITEMS + 1, size=3)
    own = VALUES[random.integers(len(VALUES))]
    same = VALUES[VALUES @ pool == own @ pool]
    other = same[random.integers(len(same))]
    drawn = int(random.integers(FEWEST_TURNS, MOST_TURNS + 1))
    values = as_split(own.tolist()), as_split(other.tolist())
    return Instance(as_split(pool.tolist()), values, turns or drawn)


def as_split(numbers: Sequence[int]) -> Split:
    """Return three numbers as a tuple."""
    first, second, third = numbers
    return first, second, third


def new_state(instance: Instance, *, utterances: bool = True) -> Any:  # noqa: ANN401
    """Return the initial OpenSpiel state of a negotiation."""
    rows = (instance.pool, *instance.values)
    lines = [str(instance.turns), *(" ".join(map(str, row)) for row in rows), "0"]
    # An utterance has the form of a proposal.
    game = load_game(f"negotiation(enable_utterances={utterances},num_symbols={_BASE})")
    return game.deserialize_state("\n".join(lines))


def number_of(action: str, part: str) -> int:
    """Return OpenSpiel's number of an action."""
    if action == AGREE:
        return AGREEMENT
    peppers, strawberries, cherries = parse(action)
    number = (peppers * _BASE + strawberries) * _BASE + cherries
    return number if part == "proposal" else AGREEMENT + 1 + number
