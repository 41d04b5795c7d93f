"""Players of the household world: an informed expert, and an explorer that only observes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.worlds.base import InformedPolicy, Policy
from dqa.worlds.observed import ObservedPosition
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.household.knowledge import STATIONS, Goal, Knowledge, kind, read_goal

_ORDER: Final = (
    *("countertop", "diningtable", "coffeetable", "sidetable", "desk", "dresser", "bed", "sofa"),
    *("armchair", "ottoman", "tvstand", "sinkbasin", "bathtubbasin", "toilet", "shelf", "cart"),
    *("fridge", "microwave", "stoveburner", "coffeemachine", "toaster", "garbagecan"),
    *("handtowelholder", "towelholder", "toiletpaperhanger", "laundryhamper", "safe"),
    *("cabinet", "drawer"),
)
"""The order of the search. One command shows many things on an open surface. Drawers are last,
because each takes two commands and contains few things."""
_LIKELY: Final = {
    "fridge": ("apple", "bread", "egg", "lettuce", "potato", "tomato", "winebottle"),
    "sinkbasin": ("cloth", "dishsponge", "soapbar", "handtowel"),
    "stoveburner": ("pan", "pot", "kettle"),
    "garbagecan": ("newspaper", "papertowel"),
    "bed": ("pillow", "laptop", "book"),
    "sofa": ("pillow", "remotecontrol", "newspaper", "laptop"),
    "toiletpaperhanger": ("toiletpaper", "toiletpaperroll"),
    "handtowelholder": ("handtowel",),
    "towelholder": ("towel",),
    "desk": ("pen", "pencil", "desklamp", "laptop"),
}
"""The things that are likely in each kind of receptacle."""


class ExpertPolicy(InformedPolicy):
    """Follows the planner's walkthrough, and makes a new plan after a deviation."""

    def choose_informed(
        self, position: Position, state: object, random: np.random.Generator
    ) -> Candidate:
        """Return the next command of the plan; the fallback if the planner finds no plan."""
        del random
        walkthrough: tuple[str, ...] = getattr(state, "walkthrough", ())
        plan: Callable[[], tuple[str, ...]] | None = getattr(state, "plan", None)
        if plan is None:
            raise _stranger(state)
        done = tuple(event.action for event in position.events[1:])
        if done == walkthrough[: len(done)] and len(done) < len(walkthrough):
            return walkthrough[len(done)]
        commands = plan()
        return commands[0] if commands else position.fallback


def _stranger(given: object) -> UsageError:
    return UsageError(
        f"This player only plays 'household', but got an object of type {type(given).__name__}."
    )


class ExplorerPolicy(Policy):
    """Searches likely receptacles first, remembers observations, and does the task by rules.

    It uses only the observations, not the true state.
    """

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the next command."""
        del random
        if not isinstance(position, ObservedPosition):
            raise _stranger(position)
        command = advise(position.goal, position.events, tuple(map(str, position.actions)))
        return position.fallback if command is None else command


def advise(goal: str, events: Sequence[GameEvent], commands: Sequence[str]) -> str | None:
    """Return a sensible next command; None if no rule applies.

    Parameters
    ----------
    goal
        The goal in words.
    events
        All actions and observations so far.
    commands
        The admissible commands.
    """
    wanted = read_goal(goal)
    if wanted is None or not events:
        return None
    adviser = _Adviser(wanted, Knowledge.of(events))
    command = adviser.next_command()
    return command if command in commands else adviser.instead(commands)


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
        """Return the command of the first rule that applies. It may not be admissible."""
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

    def instead(self, commands: Sequence[str]) -> str | None:
        """Return an admissible command that opens or visits an unseen receptacle, if any."""
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
        return self._at(place, f"take {thing} from {place}")

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
        return self._at(place, f"examine {place}")

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
        return self._at(place, f"use {lamp}")

    def _place(self) -> str | None:
        target = self._target()
        return target and self._at(target, f"put {self.known.held} in/on {target}")

    def _put_away(self) -> str | None:
        """Return the command that puts down the held thing at the current location."""
        here = self.known.here
        return f"put {self.known.held} in/on {here}" if here else None

    def _target(self) -> str | None:
        """Return the target receptacle. If two things are wanted, prefer the place of the first."""
        goal, known = self.goal, self.known
        places = known.of_kind(goal.place)
        if goal.count > 1:
            for place in places:
                if any(kind(thing) == goal.thing for thing in known.things.get(place, ())):
                    return place
        if known.here in places:
            return known.here
        return min(places, key=lambda one: (one in known.closed, self._key(one)), default=None)

    def _at(self, place: str, command: str) -> str:
        """Return a command at a place, or the command that must come first: go there, or open."""
        if self.known.here != place:
            return f"go to {place}"
        return f"open {place}" if place in self.known.closed else command
