"""Specs of games: a world, pairs of contestants, the number of games, and their seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.evaluation.spec import Deciding, ModelSpec, of_version

PLAY_VERSION = 1
DEALS = 1_000_000
"""The most deals of a run; so many seeds lie between those of two runs."""

_MODEL = "@"
"""Between a decider's name and its model's."""


Pair: TypeAlias = tuple[str, str]
"""A player and an opponent, or `NOBODY` in a world of one player."""
NOBODY = ""
"""The opponent in a world of one player."""


class PlaySpec(Deciding, use_attribute_docstrings=True):
    """A run of games: a world, contestants in pairs, and the number of games.

    A contestant is one of the world's own programs, or else a decider, by name: one that asks a
    model asks `model`, or the one behind ``@`` (``bidder@openai:gpt-5``). The settings of the world
    stand among `settings`, behind its name.

    Raises
    ------
    UsageError
        A field is wrong, or the version is a newer one.
    """

    version: Literal[1] = 1
    """Version of this form."""
    world: str
    """World of the games, as 'dqa list --worlds' shows it."""
    pairs: Annotated[tuple[Pair, ...], Field(min_length=1)]
    """Each player with each opponent, or with `NOBODY` in a world of one player."""
    games: Annotated[int, Field(ge=1, le=DEALS)] = 100
    """How many deals; all pairs play the same ones."""
    mirror: bool = False
    """Play every deal a second time with the hidden things swapped; both are one unit."""
    epochs: Annotated[int, Field(ge=1)] = 1
    """How often each game is played, with the seeds that follow --seed for the players; the deals
    stay."""
    reference: str | None = None
    """A program of the world: the share of the player's decisions that equal its own is the
    rational degree. A tournament takes the paper's by default, and none for 'none'."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...  # noqa: ANN401  (its own fields)

    @model_validator(mode="before")
    @classmethod
    def _of_a_known_version(cls, given: Any) -> Any:  # noqa: ANN401  (whatever is to be validated)
        return of_version(cls, given, PLAY_VERSION, {})

    @field_validator("pairs")
    @classmethod
    def _each_once(cls, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        if len({opponent == NOBODY for _, opponent in pairs}) > 1:
            raise UsageError(
                "Some of the players have an opponent and some have none: a world is played by one "
                "or by two."
            )
        return tuple(dict.fromkeys(pairs))

    @property
    def alone(self) -> bool:
        """Whether the world has one player."""
        return self.pairs[0][1] == NOBODY

    @property
    def contestants(self) -> tuple[str, ...]:
        """All contestants, each once, players first."""
        players, opponents = zip(*self.pairs, strict=True)
        return tuple(name for name in dict.fromkeys((*players, *opponents)) if name != NOBODY)

    @property
    def size(self) -> int:
        """How many games there are to play."""
        return self.games * len(self.pairs) * self.epochs * (2 if self.mirror else 1)

    def deal(self, number: int) -> int:
        """Return the seed of a deal, from 1; runs of two seeds have no deal in common."""
        return self.seed * DEALS + number

    def first_number(self, match: int) -> int:
        """Return what to add to a world's numbers, so that a run's games are numbered from 1.

        Worlds number games by twice their seed, and one more for a mirrored one; the games of two
        matches, which have the same seeds, must not have the same numbers.
        """
        return 2 * (match * self.games - self.deal(1)) + 1

    @property
    def description(self) -> str:
        """A short description of the run."""
        mirrored = ", each with its mirror" if self.mirror else ""
        games = "1 game" if self.games == 1 else f"{self.games} games"
        return f"{games} of {self.world}{mirrored}, seed {self.seed}"

    @property
    def world_settings(self) -> dict[str, str]:
        """The settings of the world, by field."""
        return dict(_split(self.settings, self.world)[0])

    @property
    def decider_settings(self) -> dict[str, str]:
        """The settings of deciders."""
        return dict(_split(self.settings, self.world)[1])

    def model_of(self, contestant: str) -> ModelSpec:
        """Return the model that a contestant asks if it needs one."""
        _, mark, name = contestant.partition(_MODEL)
        if not mark or name == self.model.called:
            return self.model
        if not name:
            raise UsageError(f"'{contestant}' names no model: write NAME or NAME@PROVIDER:MODEL.")
        same = name.split(":", 1)[0] == self.model.name.split(":", 1)[0]
        return ModelSpec(name=name, base_url=self.model.base_url if same else None)


def decider_of(contestant: str) -> str:
    """Return the name of a contestant without that of its model."""
    return contestant.partition(_MODEL)[0]


def all_pairs(players: Iterable[str], opponents: Iterable[str]) -> tuple[Pair, ...]:
    """Return every player with every opponent; each alone where there is none."""
    faced = tuple(opponents) or (NOBODY,)
    return tuple((player, opponent) for player in players for opponent in faced)


def _split(settings: Mapping[str, str], world: str) -> tuple[dict[str, str], dict[str, str]]:
    prefix = f"{world}."
    own = {n.removeprefix(prefix): v for n, v in settings.items() if n.startswith(prefix)}
    return own, {name: v for name, v in settings.items() if not name.startswith(prefix)}


VERSUS = " vs "
"""Joins the names of two contestants in results."""


@dataclass(frozen=True, slots=True)
class Game:
    """One game to be played.

    Attributes
    ----------
    world
        The world.
    number
        The number of the deal, from 1. All pairs play the same deals.
    seed
        The seed of the deal.
    mirrored
        Whether the players have each other's hidden things.
    player, opponent
        The contestants; the opponent is `NOBODY` in a world of one player.
    epoch
        The repeat, from 1.
    match
        The number of its match, from 0. A match is a pair of contestants in one epoch.
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
        """Its name within its world: ``17``, or mirrored ``17m``."""
        return f"{self.number}{'m' if self.mirrored else ''}"

    @property
    def pair(self) -> str:
        """The contestants, as results name them."""
        return f"{self.player}{VERSUS}{self.opponent}" if self.opponent else self.player

    @property
    def question(self) -> Question:
        """The question of its task."""
        text = f"Game {self.number} of {self.world}{', mirrored' if self.mirrored else ''}"
        return Question(self.world, self.id, f"{text}: {self.pair}.", "")


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
