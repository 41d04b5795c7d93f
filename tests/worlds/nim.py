"""Positions of Nim: two players take one to three of a heap; the taker of the last one wins."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.worlds.world import GameEvent, HiddenVariable, Node, Position

PLAYERS = ("first", "second")


@dataclass(frozen=True)
class NimPosition(Position):
    """A heap and the moves so far."""

    viewer: str
    heap: int
    events: tuple[GameEvent, ...] = ()
    hidden: tuple[HiddenVariable, ...] = ()

    @property
    def node(self) -> Node:  # type: ignore[override]
        """An empty heap ends the game."""
        return "decision" if self.heap else "terminal"

    @property
    def mover(self) -> str | None:  # type: ignore[override]
        """The players take turns."""
        return PLAYERS[len(self.events) % 2] if self.heap else None

    @property
    def actions(self) -> tuple[Candidate, ...]:  # type: ignore[override]
        """One to three."""
        return tuple(range(1, min(3, self.heap) + 1))

    @property
    def key(self) -> tuple[int, int]:
        """The size of the heap, and the player to move."""
        return self.heap, len(self.events) % 2

    def after(self, action: Candidate) -> NimPosition:
        """Take a number of objects."""
        if action not in self.actions:
            raise UsageError(f"{action!r} cannot be taken from a heap of {self.heap}.")
        taken = GameEvent(len(self.events) + 1, "play", self.mover or "", str(action))
        return replace(self, heap=self.heap - int(action), events=(*self.events, taken))

    def describe(self) -> str:
        """Return the size of the heap in words."""
        return f"{self.heap} are left."

    def payoff(self) -> float | None:
        """Return 1 for the player who took the last object, and -1 for the other."""
        if self.heap:
            return None
        return 1.0 if self.events[-1].actor == self.viewer else -1.0

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The payoffs of a loss and a win."""
        return -1.0, 1.0

    @property
    def fallback(self) -> Candidate:
        """Take as few as possible."""
        return 1
