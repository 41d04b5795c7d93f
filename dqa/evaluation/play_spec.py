"""Define the spec of a run of games."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, field_validator

from dqa.core.errors import UsageError
from dqa.core.text import counted
from dqa.evaluation.spec import Deciding

DEALS = 1_000_000
"""Maximum number of deals of a run. Runs with consecutive seeds use separate ranges of deals."""


Pair: TypeAlias = tuple[str, str]
"""A player and an opponent, or `NOBODY` in a world of one player."""


NOBODY = ""
"""The opponent in a world of one player."""


class PlaySpec(Deciding, use_attribute_docstrings=True):
    """A run of games: a world, contestants in pairs, and the number of games.

    A contestant is a program of the world, or a decider. A decider uses `model`, or the model after
    ``@`` in its name (``bidder@openai:gpt-5``). In `settings`, the name of a world's setting begins
    with the name of the world.

    Raises
    ------
    UsageError
        A field is not valid, or the spec has another version.
    """

    version: Literal[1] = 1
    """Version of the format."""
    world: str
    """World of the games. 'dqa list --worlds' shows all worlds."""
    pairs: Annotated[tuple[Pair, ...], Field(min_length=1)]
    """Each player with each opponent, or with `NOBODY` in a world of one player."""
    games: Annotated[int, Field(ge=1, le=DEALS)] = 100
    """Number of deals. All pairs of players play the same deals."""
    mirror: bool = False
    """Play every deal twice, the second time with the hidden information of the two players
    swapped. Statistics treat both games as one unit."""
    epochs: Annotated[int, Field(ge=1)] = 1
    """Number of repetitions of each game. Players use consecutive seeds from --seed; the deals stay
    the same."""
    reference: str | None = None
    """Program of the world to compare the player's decisions with. The share of equal decisions is
    the rational degree. By default, a tournament uses the paper's program. With 'none', no
    decisions are compared."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...  # noqa: ANN401  (its own fields)

    @field_validator("pairs")
    @classmethod
    def _require_unique(cls, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        if len({opponent == NOBODY for _, opponent in pairs}) > 1:
            raise UsageError(
                "Some players have an opponent, and others have none: give opponents for all "
                "players or for none."
            )
        return tuple(dict.fromkeys(pairs))

    @property
    def alone(self) -> bool:
        """Whether the world has one player."""
        return self.pairs[0][1] == NOBODY

    @property
    def contestants(self) -> tuple[str, ...]:
        """All contestants without repetition, players first."""
        players, opponents = zip(*self.pairs, strict=True)
        return tuple(name for name in dict.fromkeys((*players, *opponents)) if name != NOBODY)

    @property
    def size(self) -> int:
        """The number of games."""
        return self.games * len(self.pairs) * self.epochs * (2 if self.mirror else 1)

    def deal(self, number: int) -> int:
        """Return the seed of a deal. Runs with different seeds have no deal in common."""
        return self.seed * DEALS + number

    def first_number(self, match: int) -> int:
        """Return the offset that is added to the game numbers of a match.

        Without the offset, the number of a game is 2 * seed, or 2 * seed + 1 if it is mirrored. All
        matches have the same seeds, so they need different offsets. The offset gives the first game
        of a run the number 1.
        """
        return 2 * (match * self.games - self.deal(1)) + 1

    @property
    def description(self) -> str:
        """A short description of the run."""
        mirrored = ", each with its mirror" if self.mirror else ""
        return f"{counted(self.games, 'game')} of {self.world}{mirrored}, seed {self.seed}"

    @property
    def world_settings(self) -> dict[str, str]:
        """The settings of the world. Their names do not include the name of the world."""
        own = f"{self.world}."
        return {n.removeprefix(own): v for n, v in self.settings.items() if n.startswith(own)}

    @property
    def decider_settings(self) -> dict[str, str]:
        """The settings of deciders."""
        own = f"{self.world}."
        return {name: v for name, v in self.settings.items() if not name.startswith(own)}


def all_pairs(players: Iterable[str], opponents: Iterable[str]) -> tuple[Pair, ...]:
    """Return the pairs of players and opponents: every player plays against every opponent.

    In a world of one player, the opponent of every player is ``""``.
    """
    faced = tuple(opponents) or (NOBODY,)
    return tuple((player, opponent) for player in players for opponent in faced)
