"""Worlds: sequences of decisions, every one of which is a question about a database.

A hand of poker, a negotiation, a household, a series of placements against competitors: a *world*
starts *episodes*, and every move of an episode is an ordinary `Question` (its rules, and the legal
moves as its candidates) about a database that holds the history so far, as far as the player to
move may know it. So any decider plays any world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from dqa.core.database import Database
from dqa.core.question import Candidate, Question


@dataclass(frozen=True, slots=True)
class Move:
    """What is to be decided next.

    Attributes
    ----------
    player
        Who decides: one of `World.players`.
    question
        What that player may see, with the legal moves as candidates.
    database
        The history so far, without what is hidden from that player. The episode closes it.
    """

    player: str
    question: Question
    database: Database


class Episode(ABC):
    """One run of a world, from its start to its end. Used by one thread."""

    @abstractmethod
    def next_move(self) -> Move | None:
        """Return what is to be decided next, the same until `choose`; None at the end."""

    @abstractmethod
    def choose(self, choice: Candidate) -> None:
        """Carry out a move.

        Raises
        ------
        UsageError
            The choice is no candidate of the question, or the episode has ended.
        """

    @abstractmethod
    def returns(self) -> Mapping[str, float]:
        """Return what each player got; `UsageError` before the end."""

    @abstractmethod
    def close(self) -> None:
        """Release what the episode holds, above all the database of its last move."""


class World(ABC):
    """What starts episodes.

    Attributes
    ----------
    name
        What commands call it.
    players
        Who decides in it.
    """

    name: str
    players: tuple[str, ...]

    @abstractmethod
    def start(self, seed: int) -> Episode:
        """Start an episode; everything that is left to chance in it follows from `seed`."""
