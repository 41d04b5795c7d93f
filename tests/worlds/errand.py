"""An errand as a world of one player: a thing is in one of four rooms.

The player finds it and takes it. The reward is half if the bell was rung before, or if the player
buys another thing by the free form ``buy[...]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, Field

from dqa import plugins
from dqa.core.database import Database
from dqa.core.question import Candidate, Question
from dqa.worlds.base import RANDOM, Policy, PolicyFactory, WorldFactory
from dqa.worlds.observed import AGENT, BEGINNING, GOAL, ObservedPosition, read_observed
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.games.episode import Facts, GameWorld, SoloEpisode, Start, random_of

ROOMS = ("attic", "cellar", "hall", "kitchen")
THINGS = {"pick": "mug", "clean": "plate", "heat": "egg"}
FORM = "buy[...]"


class ErrandSettings(BaseModel):
    """The maximum number of moves."""

    moves: int = Field(default=6, ge=1)


class ErrandEpisode(SoloEpisode):
    """One errand."""

    def __init__(self, start: Start, moves: int) -> None:
        random = random_of(start.seed)
        self.task = tuple(THINGS)[int(random.integers(len(THINGS)))]
        self.thing = THINGS[self.task]
        self.place = ROOMS[int(random.integers(len(ROOMS)))]
        self.at = "street"
        self.reward: float | None = None
        self.rung = False
        seen = f"You are in the street. There are: {', '.join(ROOMS)}."
        first = GameEvent(1, "errand", "chance", BEGINNING, seen)
        super().__init__("errand", start, f"Bring the {self.thing}.", moves, first, {}, {})

    @property
    def _is_over(self) -> bool:
        return self.reward is not None

    def _position(self, viewer: str) -> ObservedPosition:
        actions = [f"go to {room}" for room in ROOMS if room != self.at] + ["ring the bell"]
        if self.at == self.place:
            actions.append(f"take the {self.thing}")
        return ObservedPosition(
            *("errand", self._goal, tuple(actions), tuple(self._events), FORM, "ring the bell"),
            viewer=viewer,
        )

    def _ask(self, position: Position) -> tuple[str, str]:
        return f"{self._goal} What do you do?", "Only what you see is told."

    def _target(self) -> Mapping[str, str]:
        return {GOAL: self._goal}

    def _apply(self, action: str) -> Iterable[GameEvent]:
        seen = "Nothing happens."
        if action.startswith("go to "):
            self.at = action.removeprefix("go to ")
            here = f"There is the {self.thing}." if self.at == self.place else "It is empty."
            seen = f"You are in the {self.at}. {here}"
        elif action == "ring the bell":
            self.rung = True
        elif action.startswith("buy["):
            self.reward, seen = 0.5, "You bought something."
        else:
            self.reward, seen = (0.5 if self.rung else 1.0), f"You have the {self.thing}."
        return self._add_event("errand", action, seen)

    def _reveal(self) -> object:
        return self.place

    def _returns(self) -> Mapping[str, float]:
        return {AGENT: self.reward or 0.0}

    def facts(self) -> Facts:
        """Return the task and whether it succeeded."""
        self._require_end("result")
        return {"success": self.reward == 1.0, "task": self.task, "rung": self.rung}


class Errand(GameWorld[ErrandSettings, ErrandEpisode]):
    """Errands, in rooms that the seed chooses."""

    name = "errand"
    players = (AGENT,)
    payoffs = (0.0, 1.0)

    def begin(self, start: Start) -> ErrandEpisode:
        """Hide a thing. A mirrored game is the same."""
        return ErrandEpisode(start._replace(mirrored=False), self._settings.moves)

    def position(self, question: Question, database: Database) -> Position:
        """Read the actions and observations."""
        return read_observed(question, database)


class Searching(Policy):
    """Goes from room to room, and takes the thing where it is."""

    def choose(self, position: Position, random: object) -> Candidate:
        """Take the thing if it is here; otherwise go to the next room."""
        del random
        if str(position.actions[-1]).startswith("take"):
            return position.actions[-1]
        been = {event.action for event in position.events}
        return next(one for one in position.actions if one not in been)


class Buying(Policy):
    """Buys another one."""

    def choose(self, position: Position, random: object) -> Candidate:
        """Name the thing to buy."""
        del position, random
        return "buy[a red mug]"


ERRAND = WorldFactory(
    "errand",
    "brings a thing out of one of some rooms",
    Errand,
    ErrandSettings,
    {
        RANDOM.name: RANDOM,
        "searching": PolicyFactory("searching", "looks everywhere", lambda _: Searching()),
        "buying": PolicyFactory("buying", "buys", lambda _: Buying()),
    },
    foreseen=False,
)


def register(monkeypatch: Any) -> WorldFactory:
    """Register this world."""
    names, world = plugins.names, plugins.world

    def known(kind: str) -> tuple[str, ...]:
        return (*names(kind), "errand") if kind == "world" else tuple(names(kind))

    monkeypatch.setattr(plugins, "names", known)
    monkeypatch.setattr(plugins, "world", lambda name: ERRAND if name == "errand" else world(name))
    return ERRAND
