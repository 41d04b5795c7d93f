"""A small household as a world: one player finds an object and moves it to a target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pydantic import BaseModel

from dqa.core.database import Database
from dqa.core.decider import Step, Trajectory
from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question
from dqa.worlds.base import WorldFactory
from dqa.worlds.observed import AGENT, BEGINNING, EPISODE, GOAL, ObservedPosition, read_observed
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.games.episode import GameWorld, SoloEpisode, Start, random_of

PLACES = ("bed", "cupboard", "shelf", "sink", "table")
USUAL = {"apple": "table", "book": "shelf", "mug": "sink"}
"""The usual location of each object."""
OTHER = {"apple": "cupboard", "book": "bed", "mug": "cupboard"}
"""The other location of each object."""


class RoomsSettings(BaseModel):
    """The probability that objects are at their usual location, and the limit of steps."""

    usual: float = 1.0
    steps: int = 8
    broken: str = ""
    """An action that makes the world fail."""


class RoomsEpisode(SoloEpisode):
    """One object to move."""

    def __init__(self, settings: RoomsSettings, start: Start) -> None:
        random = random_of(start.seed)
        self.thing = tuple(USUAL)[int(random.integers(len(USUAL)))]
        is_usual = random.random() < settings.usual
        self.place = (USUAL if is_usual else OTHER)[self.thing]
        wanted = [place for place in PLACES if place not in (USUAL[self.thing], self.place)]
        self.target = wanted[int(random.integers(len(wanted)))]
        self.goal = f"Put the {self.thing} on the {self.target}."
        self._broken, self._seed = settings.broken, start.seed
        self._here = "hall"
        self._holds = False
        self._reward: float | None = None
        seen = f"You are in the hall. There are: {', '.join(PLACES)}."
        first = GameEvent(1, "start", "chance", BEGINNING, seen)
        super().__init__("rooms", start, self.goal, settings.steps, first, {}, {})

    @property
    def walkthrough(self) -> tuple[str, ...]:
        """The actions of an expert who knows the locations."""
        return (
            f"go to the {self.place}",
            f"take the {self.thing} from the {self.place}",
            f"go to the {self.target}",
            f"put the {self.thing} on the {self.target}",
        )

    @property
    def _is_over(self) -> bool:
        return self._reward is not None

    def _position(self, viewer: str) -> Position:
        return ObservedPosition(
            "rooms", self.goal, self._actions(), tuple(self._events), reward=self._reward
        )

    def _actions(self) -> tuple[Candidate, ...]:
        found = [f"go to the {place}" for place in PLACES if place != self._here]
        if self._here == self.place and not self._holds:
            found.append(f"take the {self.thing} from the {self.place}")
        if self._holds and self._here in PLACES:
            found.append(f"put the {self.thing} on the {self._here}")
        return tuple(found)

    def _ask(self, position: Position) -> tuple[str, str]:
        return f"{self.goal} What do you do?", "You carry one thing at a time."

    def _target(self) -> Mapping[str, str]:
        return {GOAL: self.goal, EPISODE: str(self._seed)}

    def _apply(self, action: str) -> Iterable[GameEvent]:
        if action == self._broken:
            raise DataError(f"The world is broken where one does '{action}'.")
        verb, _, rest = action.partition(" ")
        if verb == "go":
            self._here = rest.removeprefix("to the ")
            thing = f"a {self.thing}" if self._here == self.place and not self._holds else "nothing"
            seen = f"You are at the {self._here}. On it you see {thing}."
        elif verb == "take":
            self._holds = True
            seen = f"You hold the {self.thing}."
        else:
            self._holds = False
            self.place = self._here
            seen = f"The {self.thing} is on the {self._here} now."
        if verb == "put" and self._here == self.target:
            self._reward = 1.0
        return self._add_event("play", action, seen)

    def _reveal(self) -> object:
        return self.place

    def _returns(self) -> Mapping[str, float]:
        return {AGENT: self._reward or 0.0}

    def facts(self) -> Mapping[str, Candidate | float | bool | None]:
        """Return whether the goal was reached."""
        return {"done": self._reward == 1.0}


class Rooms(GameWorld[RoomsSettings, RoomsEpisode]):
    """Rooms of every seed."""

    name = "rooms"
    players = (AGENT,)
    payoffs = (0.0, 1.0)

    def begin(self, start: Start) -> RoomsEpisode:
        """Begin in the hall."""
        return RoomsEpisode(self._settings, start._replace(mirrored=False))

    def position(self, question: Question, database: Database) -> Position:
        """Read the observations."""
        return read_observed(question, database)


ROOMS = WorldFactory("rooms", "an object to move", Rooms, RoomsSettings, foreseen=False)


def experts(
    factory: WorldFactory, seeds: Iterable[int], settings: RoomsSettings, *, player: str = "expert"
) -> Iterator[Trajectory]:
    """Yield an expert's games, in place of `dqa_ldm2.experts`."""
    assert player == "expert"
    for seed in seeds:
        episode = factory.make(settings, None).start(seed)
        assert isinstance(episode, RoomsEpisode)
        steps: list[Step] = []
        for action in episode.walkthrough:
            move = episode.next_move()
            assert move is not None
            assert isinstance(move.position, ObservedPosition)
            steps.append(Step(move.position.observation, action))
            episode.choose(action)
        reward = episode.returns()[AGENT]
        played = Trajectory(episode.goal, tuple(steps), f"rooms {seed}", reward)
        yield replace(played, identity=str(seed))
