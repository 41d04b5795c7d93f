"""The plan of a run of games: each is a task, kept and shared out as a decision is."""

from __future__ import annotations

from dataclasses import dataclass

from dqa.core.question import Question
from dqa.evaluation.plan import Task
from dqa.evaluation.playing.spec import PlaySpec

VERSUS = " vs "
"""Between the names of two contestants where a result has one name for both."""


@dataclass(frozen=True, slots=True)
class Game:
    """One game to be played.

    Attributes
    ----------
    world
        What is played.
    number
        Which deal it is, from 1; every pair of contestants plays the same ones.
    seed
        What the deal follows from.
    mirrored
        Whether the players have each other's hidden things.
    player, opponent
        Who plays; an opponent of `NOBODY` in a world of one player.
    epoch
        Which repeat it is, from 1.
    match
        Which of the run's matches it belongs to, from 0: a pair of contestants in one epoch.
    """

    world: str
    number: int
    seed: int
    mirrored: bool
    player: str
    opponent: str
    epoch: int
    match: int

    @property
    def id(self) -> str:
        """What the game is called within its world: ``17``, or mirrored ``17m``."""
        return f"{self.number}{'m' if self.mirrored else ''}"

    @property
    def pair(self) -> str:
        """What results call the two who play, or the one."""
        return f"{self.player}{VERSUS}{self.opponent}" if self.opponent else self.player

    def task(self, database: str) -> Task:
        """Return the task of this game, whose history is a database of a kind."""
        told = f"Game {self.number} of {self.world}{', mirrored' if self.mirrored else ''}"
        question = Question(self.world, self.id, f"{told}: {self.pair}.", "")
        return Task(question, database, self.pair, str(self.seed), self.epoch)


def plan_games(spec: PlaySpec) -> tuple[Game, ...]:
    """Return every game of a run: deal by deal, each with its mirror, of all pairs.

    A deal follows from the run's seed and its number alone, so all pairs, and any two runs of the
    same seed, have the same ones.
    """
    mirrors = (False, True) if spec.mirror else (False,)
    matches = [(epoch, *pair) for epoch in range(1, spec.epochs + 1) for pair in spec.pairs]
    return tuple(
        Game(spec.world, number, spec.deal(number), mirrored, player, opponent, epoch, match)
        for number in range(1, spec.games + 1)
        for match, (epoch, player, opponent) in enumerate(matches)
        for mirrored in mirrors
    )
