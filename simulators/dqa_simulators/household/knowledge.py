"""Collect a player's knowledge of a room from its observations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from dqa.worlds.world import GameEvent

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
        The treatment of the thing, if any.
    lamp
        The kind of lamp, if any.
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
        The last seen content of each receptacle that the player has looked into.
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
        for place, event in enumerate(events):
            if place == 0:
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
        """Return each seen thing of a kind, with its receptacle."""
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
