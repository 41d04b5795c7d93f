"""The record of one played game, next to the result of its decision."""

from __future__ import annotations

from pydantic import Field

from dqa.core.question import Candidate
from dqa.core.records import Record


class PlayedGame(Record):
    """A game in its result.

    Attributes
    ----------
    world, number, seed, mirrored
        The game; see `dqa.evaluation.playing.spec.Game`.
    player, opponent
        The contestants; an opponent of ``""`` in a world of one player.
    seats
        The world's names of the two players, or of the only one; they are keys below.
    returns
        The result of each player; empty if the game did not reach its end.
    moves, fallbacks
        How many moves each player made, and how many of them were the position's fallback.
    actions
        How often each player took which action, without fallbacks.
    reference
        The program that the player's decisions are compared with; None for none.
    compared, agreed
        How many decisions of the player were compared, and how many are the reference's.
    facts
        The other facts of the world.
    attempts
        How often the game was played before one attempt counted; all else is of that attempt.
    """

    world: str
    number: int = Field(ge=1)
    seed: int = Field(ge=0)
    mirrored: bool
    player: str
    opponent: str
    seats: tuple[str, ...]
    returns: dict[str, float]
    moves: dict[str, int]
    fallbacks: dict[str, int]
    actions: dict[str, dict[str, int]]
    reference: str | None
    compared: int = Field(ge=0)
    agreed: int = Field(ge=0)
    facts: dict[str, Candidate | float | bool | None]
    attempts: int = Field(ge=1, default=1)
