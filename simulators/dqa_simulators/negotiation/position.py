"""A state of a negotiation as one player knows it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, Final, Literal, Self, TypeAlias

from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.worlds.world import GameEvent, HiddenVariable, Node, Position, Told
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.games.reading import Record, replay

Split: TypeAlias = tuple[int, int, int]
"""How many peppers, strawberries and cherries."""

ITEMS: Final = ("peppers", "strawberries", "cherries")
AGREE: Final = "agree"
HIDDEN_NAMES: Final = tuple(f"value of {item}" for item in ITEMS)
"""The names of a player's values in the history."""
MOST_ITEMS: Final = 5
MOST_VALUE: Final = 10
FEWEST_TURNS: Final = 4
MOST_TURNS: Final = 10
_LISTED: Final = 12
"""Most parts of a pool that a prompt lists."""
Part: TypeAlias = Literal["proposal", "utterance"]
"""The action in one half of a turn."""

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
    """The proposals, the turn, and the viewer's own values.

    Attributes
    ----------
    pool
        How many of each item there are.
    own_values
        The worth of one of each item to the viewer.
    last_turn
        The last turn, after which both get nothing.
    has_utterances
        Whether a proposer also makes an utterance.
    proposals
        The proposals so far: the proposer's part of the pool.
    utterances
        The utterances so far.
    is_agreed
        Whether the last proposal was accepted.
    seats
        The players of the first and of the second turn; a mirrored game changes them.
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
        """Which turn it is, from 1; after the last one, one more."""
        return len(self.utterances if self.has_utterances else self.proposals) + 1

    @property
    def part(self) -> Part:
        """The next action in this turn."""
        return "utterance" if len(self.proposals) >= self.turn else "proposal"

    @property
    def node(self) -> Node:  # type: ignore[override]
        """It ends with an agreement, or after the last turn."""
        return "terminal" if self.is_agreed or self.turn > self.last_turn else "decision"

    @property
    def mover(self) -> str | None:  # type: ignore[override]
        """They take turns; the first of `seats` has the first one."""
        return self.seats[(self.turn - 1) % 2] if self.node == "decision" else None

    @property
    def can_agree(self) -> bool:
        """Whether there is a proposal of the other's to accept."""
        return self.node == "decision" and self.part == "proposal" and bool(self.proposals)

    @property
    def actions(self) -> tuple[Candidate, ...]:  # type: ignore[override]
        """Agreeing where that can be done, then every part of the pool."""
        if self.node == "terminal":
            return ()
        return list_actions(self.pool, can_agree=self.can_agree)

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """What each item is worth to the other (BIDDER, appendix B.2.1)."""
        return _HIDDEN[self.viewer]

    @property
    def proposer(self) -> str | None:
        """Who made the last proposal; None where there is none."""
        return self.seats[(len(self.proposals) - 1) % 2] if self.proposals else None

    @property
    def total(self) -> int:
        """The worth of the whole pool, to either player."""
        return worth(self.pool, self.own_values)

    @property
    def key(self) -> Hashable:
        """The viewer's knowledge."""
        given = self.viewer, self.seats, self.pool, self.own_values, self.last_turn
        return *given, self.has_utterances, self.proposals, self.utterances, self.is_agreed

    def after(self, action: Candidate) -> Self:
        """Return the state that follows, still as `viewer` knows it."""
        if action not in self.actions:
            raise UsageError(
                f"'{action}' is not legal here: name a part of the pool {write(self.pool)}, such "
                f"as {write((0, 0, 0))}{', or agree' if self.can_agree else ''}."
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
        """Return the pool, the viewer's values, the turn, and the last proposal."""
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
        """Return the state as the mover sees it, without anyone's values."""
        return replace(self, viewer=self.mover or self.viewer, own_values=(0, 0, 0))

    def told_by(self, text: str) -> Told:
        """Return "all" for the question of a game, which describes the state and the moves."""
        return "all" if self.describe() in text else "nothing"

    def in_words(self, actions: Sequence[Candidate]) -> str:
        """Return the parts of the pool as a form."""
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
        """Return the turn and its part: a method that looks ahead sees no question."""
        if self.mover is None:
            return ""
        whose = "your turn" if self.mover == self.viewer else f"the turn of '{self.mover}'"
        if self.part == "proposal":
            part = f"a proposal, or '{AGREE}'," if self.can_agree else "a proposal"
        else:
            part = "the utterance, which follows the proposal of the same turn,"
        return f" It is {whose}: {part} comes next."

    def payoff(self) -> float | None:
        """Return the worth of the agreed split to the viewer; 0 without one."""
        if self.node != "terminal":
            return None
        if not self.is_agreed:
            return 0.0
        split = self.proposals[-1]
        is_proposer = self.proposer == self.viewer
        return float(worth(split if is_proposer else rest(self.pool, split), self.own_values))

    @property
    def payoff_range(self) -> tuple[float, float]:
        """Nothing, or the whole pool."""
        return 0.0, float(self.total)

    @property
    def fallback(self) -> Candidate:
        """The own last proposal, at first the whole pool; as utterance the last proposal."""
        if self.part == "utterance":
            return write(self.proposals[-1])
        return write(self.proposals[-2] if len(self.proposals) > 1 else self.pool)

    @classmethod
    def read(cls, record: Record) -> Self:
        """Rebuild a position from the viewer's part of the history.

        Raises
        ------
        DataError
            The pool or a value cannot be, or an event breaks the rules; the event is named.
        """
        pool = _read_pool(record)
        turns = record.settings.get("turns")
        if type(turns) is not int or turns < 1:
            raise record.fail(f"the settings' turns are {turns!r}, not a number from 1.")
        says = record.settings.get("utterances", True) is True
        values = _read_values(record)
        return replay(record, cls(record.player, pool, values, turns, says, seats=record.seats))


def write(split: Split) -> str:
    """Return a split as candidates and events have it: ``"[1, 0, 2]"``."""
    return f"[{split[0]}, {split[1]}, {split[2]}]"


@lru_cache(maxsize=1024)
def parse(text: str) -> Split:
    """Return the split that `write` wrote."""
    peppers, strawberries, cherries = map(int, text.strip("[]").split(","))
    return peppers, strawberries, cherries


def worth(split: Split, values: Split) -> int:
    """Return the worth of a split."""
    return split[0] * values[0] + split[1] * values[1] + split[2] * values[2]


def rest(pool: Split, split: Split) -> Split:
    """Return the rest of the pool after a split."""
    return pool[0] - split[0], pool[1] - split[1], pool[2] - split[2]


@lru_cache(maxsize=1024)
def list_splits(pool: Split) -> tuple[Split, ...]:
    """Return every part of a pool, in order."""
    return tuple(product(*(range(count + 1) for count in pool)))  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def list_actions(pool: Split, *, can_agree: bool) -> tuple[Candidate, ...]:
    """Return every legal action: agreeing, where that can be done, and every part of the pool."""
    splits = tuple(write(split) for split in list_splits(pool))
    return (AGREE, *splits) if can_agree else splits


def _read_pool(record: Record) -> Split:
    given: Any = record.settings.get("pool")
    is_pool = isinstance(given, list) and len(given) == len(ITEMS)
    if not is_pool or not all(type(n) is int and 0 <= n <= MOST_ITEMS for n in given):
        raise record.fail(f"the settings' pool is {given!r}, not three numbers up to {MOST_ITEMS}.")
    return given[0], given[1], given[2]


def _read_values(record: Record) -> Split:
    values = []
    for name in HIDDEN_NAMES:
        text = record.own.get(name)
        if text is None or not text.isdecimal() or int(text) > MOST_VALUE:
            raise record.fail(
                f"'{name}' in the table hidden is {text!r}, not a number up to {MOST_VALUE}."
            )
        values.append(int(text))
    return values[0], values[1], values[2]
