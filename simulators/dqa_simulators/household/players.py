"""Players of the household world: an informed expert, and an explorer that only observes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from dqa.core.files import parse_toml
from dqa.core.question import Candidate
from dqa.worlds.base import InformedPolicy, Policy
from dqa.worlds.world import GameEvent, Position

if TYPE_CHECKING:
    from dqa.worlds.observed import ObservedPosition

_RECEPTACLES: Final = parse_toml(Path(__file__).with_name("receptacles.toml").read_text("utf-8"))
_ORDER: Final[list[str]] = _RECEPTACLES["order"]
_LIKELY: Final[dict[str, list[str]]] = _RECEPTACLES["likely"]
_OBJECT: Final = r"(?P<thing>[a-z]+)"
_GOALS: Final = tuple(
    re.compile(pattern.replace("OBJ", _OBJECT) + r"\.?")
    for pattern in (
        r"(?:look at|examine the) OBJ (?:under|with) the (?P<lamp>[a-z]+)",
        r"(?:put|find) (?P<two>two) OBJ (?:and put them )?(?:in|on) (?P<place>[a-z]+)",
        r"(?P<treatment>clean|heat|cool) some OBJ and put it (?:in|on) (?P<place>[a-z]+)",
        r"put an? (?P<state>clean|hot|cool) OBJ (?:in|on) (?P<place>[a-z]+)",
        r"put (?:an?|some) OBJ (?:in|on) (?P<place>[a-z]+)",
    )
)
_TREATMENTS: Final = {"clean": "clean", "hot": "heat", "cool": "cool"}
STATIONS: Final = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
"""The kind of receptacle for each treatment."""

_THING: Final = re.compile(r"\ban? ([a-z]+ \d+)")
_SEEN: Final = re.compile(
    r"(?:On the|The) (?P<place>[a-z]+ \d+)(?: is open\. In it)?, you see (?P<things>[^.]*)\."
)
_CLOSED: Final = re.compile(
    r"The (?P<place>[a-z]+ \d+) is closed\.|You close the (?P<shut>[^.]*)\."
)
_TAKE: Final = re.compile(r"take (?P<thing>.+) from (?P<place>.+)")
_PUT: Final = re.compile(r"(?:put|move) (?P<thing>.+) (?:in/on|to) (?P<place>.+)")
_TREAT: Final = re.compile(r"(?P<what>clean|heat|cool) (?P<thing>.+) with .+")
_NOTHING: Final = "Nothing happens."


@dataclass(frozen=True, slots=True)
class Goal:
    """The parts of a goal's sentence.

    Attributes
    ----------
    thing
        The kind of the wanted thing.
    place
        The kind of the target receptacle; empty for a task with a lamp.
    treatment
        The treatment of the thing; empty if it needs none.
    lamp
        The kind of the lamp; empty for a task without a lamp.
    count
        The number of wanted things.
    """

    thing: str
    place: str = ""
    treatment: str = ""
    lamp: str = ""
    count: int = 1


def read_goal(text: str) -> Goal | None:
    """Return the parts of a goal; None if the sentence is not one of alfworld's."""
    for pattern in _GOALS:
        found = pattern.fullmatch(" ".join(text.split()))
        if found is None:
            continue
        parts = found.groupdict()
        state = parts.get("state") or ""
        return Goal(
            parts["thing"],
            parts.get("place") or "",
            parts.get("treatment") or _TREATMENTS.get(state, ""),
            parts.get("lamp") or "",
            2 if parts.get("two") else 1,
        )
    return None


def kind(name: str) -> str:
    """Return the kind of a thing or receptacle: ``apple`` for ``apple 2``."""
    return name.rpartition(" ")[0]


@dataclass
class Knowledge:
    """The knowledge of a player after some events.

    Attributes
    ----------
    places
        All receptacles, in the order of the first observation.
    things
        The last observed content of each receptacle that the player has looked into.
    closed
        Receptacles that are closed, as far as the player knows.
    here
        The player's location.
    held
        The thing in the player's hands.
    treated
        Pairs of a treatment and a treated thing.
    visited
        Receptacles that the player went to.
    """

    places: tuple[str, ...] = ()
    things: dict[str, list[str]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    here: str = ""
    held: str = ""
    treated: set[tuple[str, str]] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, events: Iterable[GameEvent]) -> Knowledge:
        """Return the knowledge from events. The first event describes the room."""
        known = cls()
        for index, event in enumerate(events):
            if index == 0:
                room = event.detail.partition("Your task is to:")[0]
                known.places = tuple(_THING.findall(room))
            else:
                known.add(event.action, event.detail)
        return known

    def add(self, action: str, seen: str) -> None:
        """Add the observation after an action."""
        if seen.strip() == _NOTHING:
            return
        if action.startswith("go to "):
            self.here = action.removeprefix("go to ")
            self.visited.add(self.here)
        elif found := _TAKE.fullmatch(action):
            self.held = found["thing"]
            self._remove(found["thing"], found["place"])
        elif found := _PUT.fullmatch(action):
            self.held = ""
            self.things.setdefault(found["place"], []).append(found["thing"])
        elif found := _TREAT.fullmatch(action):
            self.treated.add((found["what"], found["thing"]))
        elif action.startswith("open "):
            self.closed.discard(action.removeprefix("open "))
        for shut in _CLOSED.finditer(seen):
            self.closed.add(shut["place"] or shut["shut"])
        for shown in _SEEN.finditer(seen):
            self.things[shown["place"]] = _THING.findall(shown["things"])

    def find(self, wanted: str) -> list[tuple[str, str]]:
        """Return each known thing of a kind, together with the receptacle that contains it."""
        return [
            (thing, place)
            for place, things in self.things.items()
            for thing in things
            if kind(thing) == wanted
        ]

    def of_kind(self, wanted: str) -> list[str]:
        """Return the receptacles of a kind."""
        return [place for place in self.places if kind(place) == wanted]

    def unseen(self) -> list[str]:
        """Return the receptacles that the player has not looked into."""
        return [place for place in self.places if place not in self.things]

    def _remove(self, thing: str, place: str) -> None:
        for things in (self.things.get(place, []), *self.things.values()):
            if thing in things:
                things.remove(thing)
                return


class ExpertPolicy(InformedPolicy):
    """Follows the planner's walkthrough. The world reveals the walkthrough as its true state."""

    def choose_informed(
        self, position: Position, state: object, random: np.random.Generator
    ) -> Candidate:
        """Return the next command of the walkthrough.

        If the player has deviated from the walkthrough or finished it, return the fallback of the
        position.
        """
        del random
        walkthrough = cast("tuple[str, ...]", state)
        done = tuple(event.action for event in position.events[1:])
        if done == walkthrough[: len(done)] and len(done) < len(walkthrough):
            return walkthrough[len(done)]
        return position.fallback


class ExplorerPolicy(Policy):
    """Searches likely receptacles first, remembers observations, and does the task by rules.

    It uses only the observations, not the true state.
    """

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the next command."""
        del random
        seen = cast("ObservedPosition", position)
        wanted = read_goal(seen.goal)
        if wanted is None:
            return seen.fallback
        adviser = _Adviser(wanted, Knowledge.of(seen.events))
        command = adviser.next_command()
        if command not in seen.actions:
            command = adviser.instead(seen.actions)
        return seen.fallback if command is None else command


def likely_first(place: str, goal: Goal) -> tuple[bool, int, int]:
    """Return the sort key of a receptacle in a search."""
    of_kind, _, number = place.rpartition(" ")
    sought = {goal.thing, goal.lamp}
    is_likely = bool(sought & set(_LIKELY.get(of_kind, ())))
    rank = _ORDER.index(of_kind) if of_kind in _ORDER else len(_ORDER)
    return not is_likely, rank, int(number)


@dataclass(frozen=True)
class _Adviser:
    goal: Goal
    known: Knowledge

    def next_command(self) -> str | None:
        """Return the command of the first rule that applies. The command may be inadmissible."""
        goal, known = self.goal, self.known
        if not known.held:
            return self._fetch()
        if kind(known.held) != goal.thing:
            return self._put_away()
        if goal.lamp:
            return self._use_lamp()
        if goal.treatment and (goal.treatment, known.held) not in known.treated:
            return self._treat()
        return self._place()

    def instead(self, commands: Sequence[Candidate]) -> str | None:
        """Return an admissible command that opens or visits an unseen receptacle.

        The result is None if no such command is admissible.
        """
        for place in sorted(self.known.unseen(), key=self._key):
            for command in (f"open {place}", f"go to {place}"):
                if command in commands:
                    return command
        return None

    def _key(self, place: str) -> tuple[bool, int, int]:
        return likely_first(place, self.goal)

    def _fetch(self) -> str | None:
        goal, known = self.goal, self.known
        target = self._target()
        found = [
            (thing, place)
            for thing, place in known.find(goal.thing)
            if place != target or self._is_raw(thing)
        ]
        if not found:
            return self._search()
        thing, place = min(found, key=lambda one: (one[1] != known.here, self._key(one[1])))
        return self._reach(place, f"take {thing} from {place}")

    def _is_raw(self, thing: str) -> bool:
        """Return whether a thing still needs its treatment."""
        treatment = self.goal.treatment
        return bool(treatment) and (treatment, thing) not in self.known.treated

    def _search(self) -> str | None:
        unseen = self.known.unseen()
        if not unseen:
            return None
        here = self.known.here
        place = here if here in unseen else min(unseen, key=self._key)
        return self._reach(place, f"examine {place}")

    def _treat(self) -> str | None:
        goal, known = self.goal, self.known
        stations = known.of_kind(STATIONS[goal.treatment])
        if not stations:
            return None
        station = known.here if known.here in stations else stations[-1]
        if known.here != station:
            return f"go to {station}"
        return f"{goal.treatment} {known.held} with {station}"

    def _use_lamp(self) -> str | None:
        lamps = self.known.find(self.goal.lamp)
        if not lamps:
            return self._search()
        lamp, place = lamps[0]
        return self._reach(place, f"use {lamp}")

    def _place(self) -> str | None:
        target = self._target()
        return target and self._reach(target, f"put {self.known.held} in/on {target}")

    def _put_away(self) -> str | None:
        """Return the command that puts down the held thing at the current location."""
        here = self.known.here
        return f"put {self.known.held} in/on {here}" if here else None

    def _target(self) -> str | None:
        """Return the target receptacle.

        The second of two things belongs in the receptacle of the first.
        """
        goal, known = self.goal, self.known
        places = known.of_kind(goal.place)
        if goal.count > 1:
            for place in places:
                if any(kind(thing) == goal.thing for thing in known.things.get(place, ())):
                    return place
        if known.here in places:
            return known.here
        return min(places, key=lambda one: (one in known.closed, self._key(one)), default=None)

    def _reach(self, place: str, command: str) -> str:
        """Return `command` if the player is at the receptacle `place` and it is open.

        Otherwise return the command that goes to the receptacle or opens it.
        """
        if self.known.here != place:
            return f"go to {place}"
        return f"open {place}" if place in self.known.closed else command
