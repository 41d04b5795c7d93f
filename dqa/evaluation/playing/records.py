"""What a run keeps of one game, beside what it keeps of any decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field

from dqa.core.question import Candidate
from dqa.core.records import Record

if TYPE_CHECKING:
    from dqa.evaluation.play import Played
    from dqa.evaluation.playing.plan import Game


class PlayedGame(Record):
    """A game as its result has it.

    Attributes
    ----------
    world, number, seed, mirrored
        Which game it was.
    player, opponent
        Who played; an opponent of ``""`` in a world of one player.
    seats
        What the world calls these two, or the one, by which the rest is told.
    returns
        What each got; empty where the game did not come to its end.
    moves, fallbacks
        How many moves each made, and how many of them were the position's fallback, as the
        decision named no legal action.
    actions
        How often each took which action, but for fallbacks.
    reference
        Whom the player's decisions are compared with; None for nobody.
    compared, agreed
        How many of the player's decisions were compared, and how many chose as the reference does.
    facts
        What else the world tells of the game.
    attempts
        How often it was played before one playing counted, by a decider that learns from trials
        (`dqa.core.decider.EpisodeDecider`); all else is of the one that counts.
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

    @classmethod
    def of(
        cls,
        game: Game,
        seats: tuple[str, ...],
        played: Played | None,
        reference: str | None,
        attempts: int = 1,
    ) -> Self:
        """Put together what is known of a game; of one that did not begin, which it was.

        Parameters
        ----------
        game
            Which.
        seats
            What the world calls the player and, where there is one, the opponent.
        played
            What happened.
        reference
            Whom the player was compared with.
        attempts
            How often it was played.
        """
        moves = () if played is None else played.moves
        told = [move for move in moves if move.player == seats[0] and move.reference is not None]
        actions: dict[str, dict[str, int]] = {seat: {} for seat in seats}
        for move in moves:
            if move.choice is not None and not move.fallback:
                taken = actions[move.player]
                taken[str(move.choice)] = taken.get(str(move.choice), 0) + 1
        return cls(
            world=game.world,
            number=game.number,
            seed=game.seed,
            mirrored=game.mirrored,
            player=game.player,
            opponent=game.opponent,
            seats=seats,
            returns={} if played is None else dict(played.returns or {}),
            moves={seat: sum(move.player == seat for move in moves) for seat in seats},
            fallbacks={seat: 0 if played is None else played.fallbacks(seat) for seat in seats},
            actions={seat: dict(sorted(taken.items())) for seat, taken in actions.items()},
            reference=reference,
            compared=len(told),
            agreed=sum(move.choice == move.reference and not move.fallback for move in told),
            facts={} if played is None else dict(played.facts),
            attempts=attempts,
        )
