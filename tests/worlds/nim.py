"""Nim as a world: two players take one to three of a heap, and who takes the last wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.core.situation import Column, Schema, Situation, Table, TableSchema
from dqa.worlds.world import Episode, GameEvent, HiddenVariable, Move, Node, Position, World

_MOVES = TableSchema(
    "move",
    (
        Column("number", "integer", "place in the game"),
        Column("player", "text", "who moved"),
        Column("taken", "integer", "how many were taken"),
    ),
    ("number",),
    "The moves so far.",
)
_HEAP = TableSchema("heap", (Column("size", "integer", "what is left"),), ("size",), "The heap.")
_SCHEMA = Schema("nim", (_HEAP, _MOVES), (), ())
PLAYERS = ("first", "second")


@dataclass(frozen=True)
class NimPosition(Position):
    """A heap, and who takes of it."""

    viewer: str
    heap: int
    events: tuple[GameEvent, ...] = ()
    hidden: tuple[HiddenVariable, ...] = ()

    @property
    def node(self) -> Node:  # type: ignore[override]
        """Nobody moves at an empty heap."""
        return "decision" if self.heap else "terminal"

    @property
    def mover(self) -> str | None:  # type: ignore[override]
        """They take turns."""
        return PLAYERS[len(self.events) % 2] if self.heap else None

    @property
    def actions(self) -> tuple[Candidate, ...]:  # type: ignore[override]
        """One to three."""
        return tuple(range(1, min(3, self.heap) + 1))

    @property
    def key(self) -> tuple[int, int]:
        """How much is left, and whose turn it is."""
        return self.heap, len(self.events) % 2

    def after(self, action: Candidate) -> NimPosition:
        """Take that many."""
        if action not in self.actions:
            raise UsageError(f"{action!r} cannot be taken from a heap of {self.heap}.")
        taken = GameEvent(len(self.events) + 1, "play", self.mover or "", str(action))
        return replace(self, heap=self.heap - int(action), events=(*self.events, taken))

    def describe(self) -> str:
        """Tell the heap."""
        return f"{self.heap} are left."

    def payoff(self) -> float | None:
        """One for who took the last one, minus one for the other."""
        if self.heap:
            return None
        return 1.0 if self.events[-1].actor == self.viewer else -1.0

    @property
    def payoff_range(self) -> tuple[float, float]:
        """Lost or won."""
        return -1.0, 1.0

    @property
    def fallback(self) -> Candidate:
        """Take as few as possible."""
        return 1


class NimEpisode(Episode):
    """One game."""

    def __init__(self, heap: int) -> None:
        self._position = NimPosition(PLAYERS[0], heap)
        self._database: Database | None = None

    def next_move(self) -> Move | None:
        """Ask whose turn it is."""
        position = self._position
        if position.mover is None:
            return None
        question = Question(
            "nim",
            str(len(position.events)),
            "How many do you take?",
            "Players take one, two or three in turn. Who takes the last one wins.",
            candidates=position.actions,
        )
        return Move(position.mover, question, replace(position, viewer=position.mover), self._load)

    def _load(self) -> Database:
        if self._database is None:
            events = self._position.events
            moves = [(event.number - 1, event.actor, int(event.action)) for event in events]
            tables = {
                "heap": Table.from_rows(_HEAP, [(self._position.heap,)]),
                "move": Table.from_rows(_MOVES, moves),
            }
            situation = Situation(_SCHEMA, f"nim{len(events)}", tables)
            self._database = plugins.backend("sqlite").load(situation)
        return self._database

    def choose(self, choice: Candidate) -> None:
        """Take that many."""
        self._position = self._position.after(choice)
        self.close()

    def returns(self) -> Mapping[str, float]:
        """One for who took the last one, minus one for the other."""
        if self._position.heap:
            raise UsageError("The game has not ended.")
        winner = self._position.events[-1].actor
        return {player: 1.0 if player == winner else -1.0 for player in PLAYERS}

    def facts(self) -> Mapping[str, Candidate | float | bool | None]:
        """Tell how long it took."""
        return {"moves": len(self._position.events)}

    def close(self) -> None:
        """Close the database of the last move."""
        if self._database is not None:
            self._database.close()
            self._database = None


class Nim(World):
    """A heap of ten to twenty, by the seed."""

    name = "nim"
    players = PLAYERS

    def start(self, seed: int, *, mirrored: bool = False) -> NimEpisode:
        """Draw a heap; nothing is hidden, so nothing can be mirrored."""
        del mirrored
        return NimEpisode(int(np.random.default_rng(seed).integers(10, 21)))

    def position(self, question: Question, database: Database) -> NimPosition:
        """Read heap and moves."""
        ((heap,),) = database.query("SELECT size FROM heap").rows
        moves = database.query("SELECT player, taken FROM move ORDER BY number").rows
        events = tuple(
            GameEvent(number, "play", str(player), str(taken))
            for number, (player, taken) in enumerate(moves, 1)
        )
        assert isinstance(heap, int)
        return NimPosition(PLAYERS[len(events) % 2], heap, events)
