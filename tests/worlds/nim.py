"""Nim as a world: two players take one to three of a heap, and who takes the last wins."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.core.situation import Column, Schema, Situation, Table, TableSchema
from dqa.core.world import Episode, Move, World

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


class NimEpisode(Episode):
    """One game."""

    def __init__(self, heap: int) -> None:
        self._heap = heap
        self._moves: list[tuple[int, str, int]] = []
        self._database: Database | None = None

    def next_move(self) -> Move | None:
        """Ask whose turn it is."""
        if not self._heap:
            return None
        if self._database is None:
            tables = {
                "heap": Table.from_rows(_HEAP, [(self._heap,)]),
                "move": Table.from_rows(_MOVES, list(self._moves)),
            }
            situation = Situation(_SCHEMA, f"nim{len(self._moves)}", tables)
            self._database = plugins.backend("sqlite").load(situation)
        player = PLAYERS[len(self._moves) % 2]
        question = Question(
            "nim",
            str(len(self._moves)),
            "How many do you take?",
            "Players take one, two or three in turn. Who takes the last one wins.",
            candidates=tuple(range(1, min(3, self._heap) + 1)),
        )
        return Move(player, question, self._database)

    def choose(self, choice: Candidate) -> None:
        """Take that many."""
        move = self.next_move()
        if move is None or choice not in (move.question.candidates or ()):
            raise UsageError(f"{choice!r} cannot be taken from a heap of {self._heap}.")
        self._moves.append((len(self._moves), move.player, int(choice)))
        self._heap -= int(choice)
        self.close()

    def returns(self) -> Mapping[str, float]:
        """One for who took the last one, minus one for the other."""
        if self._heap:
            raise UsageError("The game has not ended.")
        winner = self._moves[-1][1]
        return {player: 1.0 if player == winner else -1.0 for player in PLAYERS}

    def close(self) -> None:
        """Close the database of the last move."""
        if self._database is not None:
            self._database.close()
            self._database = None


class Nim(World):
    """A heap of ten to twenty, by the seed."""

    name = "nim"
    players = PLAYERS

    def start(self, seed: int) -> NimEpisode:
        """Draw a heap."""
        return NimEpisode(int(np.random.default_rng(seed).integers(10, 21)))
