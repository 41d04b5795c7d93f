"""How scripted models negotiate (entry point `dqa.world_scripts`).

The negotiator takes what the other asks for to be what the other values, expects it to be content
with less as turns go by, and asks for what is worth most to itself and is likely to be accepted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dqa.core.errors import UsageError
from dqa.worlds.scripted import Shown
from dqa_simulators.negotiation.position import (
    AGREE,
    HIDDEN_NAMES,
    ITEMS,
    MOST_VALUE,
    Split,
    list_splits,
    parse,
    rest,
    worth,
    write,
)

_STATE: Final = re.compile(
    r"Pool: (?P<pool>[^.]+)\. Points that one is worth to you: (?P<values>[^;]+); the whole pool "
    r"(?P<total>\d+)\. Turn (?P<turn>\d+) of (?P<last>\d+)\."
)
_NUMBER: Final = re.compile(r"\d+")
_FIRST_DEMAND, _LAST_DEMAND = 0.75, 0.4
"""Shares of the whole pool's worth that the other is content with, in the first and last turn."""
_STEEPNESS: Final = 12.0
_LATER: Final = 0.45
"""What share of the pool's worth a turn of the other still brings, at the first turn."""
_HONEST: Final = 0.05
"""What an utterance loses that is not what was proposed."""


@dataclass(frozen=True, slots=True)
class _Table:
    """What is on the table, as the viewer knows it."""

    pool: Split
    values: Split
    total: int
    turn: int
    last: int
    proposals: tuple[tuple[str, Split], ...]
    says: bool

    @property
    def demand(self) -> float:
        """The share that the other is content with now."""
        past = (self.turn - 1) / max(self.last - 1, 1)
        return _FIRST_DEMAND + (_LAST_DEMAND - _FIRST_DEMAND) * past

    @property
    def later(self) -> float:
        """What no agreement now still brings."""
        return _LATER * (1.0 - self.turn / self.last)


class NegotiationScript:
    """A value-estimating negotiator; see `dqa.worlds.scripted.WorldScript`."""

    def infer(self, shown: Shown, player: str, name: str, states: tuple[str, ...]) -> str:
        """Return a value in proportion to how much the other asked for of that item."""
        table = _read(shown)
        value = _values_of(table, player)[HIDDEN_NAMES.index(name)]
        return min(states, key=lambda state: (abs(int(state) - value), int(state)))

    def expect(self, shown: Shown) -> str:
        """Return whether the other accepts; else the least that contents it, and is the same."""
        table = _read(shown)
        values = self._inferred(shown, table)
        total = max(worth(table.pool, values), 1)
        if AGREE in shown.actions and table.proposals:
            left = rest(table.pool, table.proposals[-1][1])
            if worth(left, values) >= table.demand * total:
                return AGREE
        if table.says:
            return write(table.proposals[-1][1])
        demand = table.demand * total
        wanted = [one for one in list_splits(table.pool) if worth(one, values) >= demand]
        return write(min(wanted, key=lambda one: (worth(one, values), sum(one), one)))

    def estimate(self, shown: Shown) -> Mapping[str, float]:
        """Return what each action brings: its worth where the other accepts, else what is left."""
        table = _read(shown)
        values = self._inferred(shown, table)
        return {action: self._worth(action, table, values) for action in shown.actions}

    def _worth(self, action: str, table: _Table, values: Split) -> float:
        total = max(table.total, 1)
        if action == AGREE:
            return worth(rest(table.pool, table.proposals[-1][1]), table.values) / total
        split = parse(action)
        if table.says:
            proposed = table.proposals[-1][1]
            brings = self._brings(proposed, table, values)
            return brings if split == proposed else max(brings - _HONEST, 0.0)
        return self._brings(split, table, values)

    def _brings(self, split: Split, table: _Table, values: Split) -> float:
        mine = worth(split, table.values) / max(table.total, 1)
        total = max(worth(table.pool, values), 1)
        theirs = worth(rest(table.pool, split), values) / total
        accepted = 1.0 / (1.0 + math.exp(-_STEEPNESS * (theirs - table.demand)))
        if table.turn >= table.last:
            return 0.0  # nobody can accept any more
        return min(max(accepted * mine + (1.0 - accepted) * table.later, 0.0), 1.0)

    def _inferred(self, shown: Shown, table: _Table) -> Split:
        """Return the other's values as they were inferred, or else as its proposals speak."""
        other = next((player for player, _ in shown.hidden), None)
        if other is None:
            actors = {actor for actor, _ in table.proposals} - {shown.viewer}
            return _values_of(table, next(iter(actors), ""))
        first, second, third = (
            int(shown.hidden.get((other, name), MOST_VALUE // 2)) for name in HIDDEN_NAMES
        )
        return first, second, third


def _values_of(table: _Table, player: str) -> Split:
    """Return the values that a player's proposals speak for; alike without one."""
    asked = [split for actor, split in table.proposals if actor == player]
    shares = []
    for item, there in enumerate(table.pool):
        wanted = sum(split[item] for split in asked)
        shares.append(0.25 + (wanted / (there * len(asked)) if asked and there else 0.5))
    whole = sum(share * there for share, there in zip(shares, table.pool, strict=True)) or 1.0
    first, second, third = (
        min(max(round(table.total * share / whole), 1), MOST_VALUE) for share in shares
    )
    return first, second, third


def _read(shown: Shown) -> _Table:
    found = _STATE.search(shown.state)
    if found is None:
        raise UsageError(f"This tells of no negotiation: '{shown.state[:100]}'.")
    proposals = tuple(
        (event.actor, parse(event.action)) for event in shown.events if event.detail == "proposal"
    )
    says = bool(shown.events) and (
        shown.events[-1].detail == "proposal" and shown.events[-1].actor == shown.mover
    )
    return _Table(
        pool=_three(found["pool"]),
        values=_three(found["values"]),
        total=int(found["total"]),
        turn=int(found["turn"]),
        last=int(found["last"]),
        proposals=proposals,
        says=says,
    )


def _three(text: str) -> Split:
    first, second, third = (int(number) for number in _NUMBER.findall(text)[: len(ITEMS)])
    return first, second, third


SCRIPT = NegotiationScript()
