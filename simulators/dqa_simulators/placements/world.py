"""Placements as a world: two players, each a country, place merchants in turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from dqa import plugins
from dqa.core.errors import SituationError, UsageError
from dqa.loaders.readback import read_situation
from dqa.scenarios.generation import Difficulty
from dqa.worlds.base import Policy, PolicyFactory, WorldFactory
from dqa.worlds.world import World
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.games.episode import GameEpisode, random_of
from dqa_simulators.placements.outcomes import standing_of
from dqa_simulators.placements.position import PlacementsPosition, events_of
from dqa_simulators.placements.questions import SIZE, build_map, find_rivals, target_of
from dqa_simulators.placements.standing import Standing

if TYPE_CHECKING:
    from dqa.core.database import Database
    from dqa.core.question import Candidate, Question
    from dqa.worlds.history import History
    from dqa.worlds.world import GameEvent, Position

_ATTEMPTS = 100
_RIVAL = "12. "
"""How the rule begins that tells what the rival goes by."""
_RIVAL_UNKNOWN = "12. Rival. By what the rival chooses its nodes is not known."
"""What stands in its place where anybody may be the rival."""


class PlacementsSettings(BaseModel):
    """What of the world can be set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    merchants: int = Field(
        default=2, ge=1, le=3, description="how many merchants each country places"
    )


class Placements(World):
    """A map by the seed, and two of its countries.

    Parameters
    ----------
    settings
        How many merchants there are.
    history
        Where placements are written down; None for nowhere. Moves read them, with the map they are
        on, from databases of their own.
    """

    name = "placements"
    players = PLAYERS

    def __init__(self, settings: PlacementsSettings, history: History | None) -> None:
        self._settings = settings
        self._history = history

    def start(self, seed: int, *, mirrored: bool = False) -> PlacementsEpisode:
        """Draw a map and two countries; mirrored, each player has the other's, and its turns."""
        left = (self._settings.merchants,) * 2
        for attempt in range(_ATTEMPTS):
            random = random_of(seed, attempt)
            drawn = build_map(random, f"placements {seed}", SIZE, Difficulty())
            pairs = find_rivals(drawn, random, left)
            if pairs:
                one, other = pairs[0]
                sides, turn = ((other, one), 1) if mirrored else ((one, other), 0)
                standing = Standing(drawn, sides, turn)
                return PlacementsEpisode(standing, seed, mirrored=mirrored, history=self._history)
        raise SituationError(f"No map of seed {seed} has two countries that rival: take another.")

    def position(self, question: Question, database: Database) -> PlacementsPosition:
        """Read the map with what was placed on it; who is asked is ``"player"`` unless it says."""
        schema = plugins.scenario(self.name).schema
        standing = standing_of(read_situation(database, schema, question.situation), question)
        viewer = question.target.get("player", PLAYERS[0])
        told = [line for line in question.rules.splitlines() if line.startswith(_RIVAL)]
        is_aim_known = bool(told) and told != [_RIVAL_UNKNOWN]
        return PlacementsPosition(viewer, _seen_by(viewer, standing), is_aim_known)


class PlacementsEpisode(GameEpisode):
    """One game.

    A move's database is the map with what was placed on it; the history has the same placements.

    Parameters
    ----------
    standing
        Where it begins.
    seed, mirrored, history
        As `GameEpisode` takes them.
    """

    def __init__(
        self, standing: Standing, seed: int, *, mirrored: bool, history: History | None
    ) -> None:
        sides = {
            player: side._asdict() for player, side in zip(PLAYERS, standing.sides, strict=True)
        }
        super().__init__(
            Placements.name,
            seed=seed,
            mirrored=mirrored,
            settings=sides,
            hidden={},
            history=history,
        )
        self._standing = self._start = standing
        self._map: Database | None = None

    def facts(self) -> Mapping[str, Candidate | float | bool | None]:
        """Return what each player's country would have got without any merchant of the game."""
        self._require_end("what merchants were worth")
        return {
            f"profit of {player} without merchants": self._start.profit(side)
            for side, player in enumerate(PLAYERS)
        }

    def close(self) -> None:
        """Close the map of the last move, and what else is open."""
        super().close()
        if self._map is not None:
            self._map.close()
            self._map = None

    def _mover(self) -> str | None:
        side = self._standing.mover
        return None if side is None else PLAYERS[side]

    def _position(self, viewer: str) -> Position:
        return PlacementsPosition(viewer, self._standing)

    def _ask(self, position: Position) -> tuple[str, str]:
        asked = plugins.scenario(Placements.name).question_with(
            "", "", self._target(position.viewer), position.actions
        )
        rules = (
            _RIVAL_UNKNOWN if line.startswith(_RIVAL) else line for line in asked.rules.splitlines()
        )
        return asked.text, "\n".join(rules)

    def _target(self, player: str) -> Mapping[str, str]:
        return target_of(self._standing, PLAYERS.index(player))

    def _apply(self, action: str) -> Iterable[GameEvent]:
        self._standing = self._standing.placed(action)
        if self._map is not None:  # it shows what was before
            self._map.close()
            self._map = None
        return events_of(self._standing)[-1:]

    def _reveal(self) -> Standing:
        return self._standing

    def _returns(self) -> Mapping[str, float]:
        return {player: self._standing.profit(side) for side, player in enumerate(PLAYERS)}

    def _open(self, player: str) -> Database:
        del player
        self._require_open()
        if self._map is None:
            self._map = plugins.backend("sqlite").load(self._standing.calculated)
        return self._map


def _seen_by(viewer: str, standing: Standing) -> Standing:
    """Put the sides of a question, whose own comes first, in the order of the players."""
    if viewer == PLAYERS[0]:
        return standing
    own, rival = standing.sides
    return replace(standing, sides=(rival, own), turn=1 - standing.turn)


class Greedy(Policy):
    """Places where its own profit right after becomes largest (rule 12)."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the best node, of equals the first by name."""
        del random
        return _standing(position).greedy()


class BestResponse(Policy):
    """Places as is best against `Greedy`, by searching all of its own placements."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the best node, of equals the first in table order."""
        del random
        standing = _standing(position)
        side = standing.mover or 0
        return max(standing.nodes[side], key=lambda node: standing.placed(node).best(side))


def _standing(position: Position) -> Standing:
    if not isinstance(position, PlacementsPosition):
        raise UsageError(f"This player places merchants, and knows no {type(position).__name__}.")
    return position.standing


WORLD = WorldFactory(
    Placements.name,
    "two countries place merchants in turn on a trade graph",
    Placements,
    PlacementsSettings,
    {
        factory.name: factory
        for factory in (
            PolicyFactory("greedy", "its own profit at once", lambda _seed: Greedy()),
            PolicyFactory("best-response", "best against greedy", lambda _seed: BestResponse()),
        )
    },
)
"""The world, for the entry point."""
