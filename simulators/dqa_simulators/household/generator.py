"""Generate games from a seed: one of alfworld's rooms with things and a feasible task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np

from dqa.core.errors import SituationError
from dqa_simulators.games.episode import random_of
from dqa_simulators.household.problems import AGENT, DOMAIN_TYPES, Fact, Problem, extract_goal
from dqa_simulators.household.tables import TASKS, Room, Tables, TaskName, TaskType

LAMP: Final = "DeskLamp"
_LAMP_STANDS: Final = ("Desk", "Dresser", "Shelf", "SideTable")
_START: Final = "loc_bar_00"
"""The initial location, in the middle of the room, without receptacles."""
_MOST_ALIKE: Final = 3
_MOST_THINGS: Final = 30
_ATTEMPTS: Final = 200
_Choice = TypeVar("_Choice")


class DrawnGame(NamedTuple):
    """A generated game.

    Attributes
    ----------
    task
        The type of the task.
    goal
        The goal in words.
    problem
        The initial state.
    """

    task: TaskType
    goal: str
    problem: Problem


def draw_game(tables: Tables, task: TaskName, seed: int) -> DrawnGame:
    """Return the game of a task type and a seed.

    Parameters
    ----------
    tables
        alfworld's tables.
    task
        The type of the task.
    seed
        The seed. All random choices depend on the seed and on the type of the task.

    Raises
    ------
    UsageError
        The seed is negative.
    SituationError
        No drawn room fits the task.
    """
    for attempt in range(_ATTEMPTS):
        random = random_of(seed, list(TASKS).index(task), attempt)
        drawn = _Drawing(tables, TASKS[task], random).draw()
        if drawn is not None:
            return drawn
    raise SituationError(
        f"None of {_ATTEMPTS} rooms drawn with seed {seed} fits the task '{task}'. Use a different "
        "seed."
    )


class _Drawing:
    """Draws one game."""

    def __init__(self, tables: Tables, task: TaskType, random: np.random.Generator) -> None:
        self._tables, self._task, self._random = tables, task, random

    def draw(self) -> DrawnGame | None:
        """Return a game; None if the drawn room does not fit the task."""
        task = self._task
        kinds = self._tables.rooms_of[task.official]
        room = self._one([room for room in self._tables.rooms if room.kind in kinds])
        wanted = self._wanted(room)
        if wanted is None:
            return None
        thing, place = wanted
        holders = _numbered(type_ for type_, _ in room.receptacles)
        things = self._things(room, thing)
        excluded = () if task.name == "look" else (place,)
        held = {
            name: self._holder(type_, holders, excluded if type_ == thing else ())
            for name, type_ in things
        }
        tables = self._tables
        facts = [*_rooms_facts(room, holders, tables), *_things_facts(things, holders, tables)]
        if task.name == "look":
            stands = [name for name, type_ in holders if type_ in _LAMP_STANDS]
            name = _identity(place, 1)
            held[name] = self._one(stands)
            things.append((name, place))
            facts += [("objectType", name, f"{place}Type"), ("toggleable", name)]
        spots = {fact[1]: fact[2] for fact in facts if fact[0] == "receptacleAtLocation"}
        for name, holder in held.items():
            facts += [("inReceptacle", name, holder), ("objectAtLocation", name, spots[holder])]
        facts.append(("atLocation", AGENT, _START))
        parts = {"obj": thing, "recep": place, "toggle": place}
        goal = extract_goal(tables.goals[task.official].format(**parts).replace("#", "-"))
        sentence = self._one(tables.sentences[task.official])
        return DrawnGame(
            task,
            sentence.format(**{name: part.lower() for name, part in parts.items()}),
            Problem(_types(holders, things, spots.values()), tuple(sorted(facts)), goal),
        )

    def _wanted(self, room: Room) -> tuple[str, str] | None:
        """Return the types that the goal names: the wanted thing, and its receptacle or the lamp.

        The result is None if no types fit the task and the room.
        """
        task, holds = self._task, self._tables.holds
        types_here = sorted({type_ for type_, _ in room.receptacles})
        if task.station and task.station not in types_here:
            return None
        if task.name == "look":
            if not set(_LAMP_STANDS) & set(types_here):
                return None
            pairs = [(thing, LAMP) for thing in room.things]
        else:
            pairs = [
                (thing, place)
                for place in types_here
                for thing in holds[place]
                if thing in room.things and place != task.station
            ]
        if task.allowed:
            pairs = [pair for pair in pairs if pair[0] in self._tables.allowed[task.allowed]]
        # The thing must also fit into a receptacle of a different type, its initial location.
        pairs = [
            (thing, place)
            for thing, place in pairs
            if any(thing in holds[other] for other in types_here if other != place)
        ]
        if not pairs:
            return None
        # Draw the receptacle first: many things fit on a counter, but few fit into a safe.
        place = self._one(sorted({place for _, place in pairs}))
        return self._one([thing for thing, other in pairs if other == place]), place

    def _things(self, room: Room, wanted: str) -> list[tuple[str, str]]:
        """Draw the things in a room: enough wanted things, and other things.

        Return names and types.
        """
        types = [type_ for type_ in room.things if type_ != wanted and self._fits(room, type_)]
        least = self._task.count
        counts = {wanted: least + int(self._random.integers(2))}
        for place in self._random.permutation(len(types)).tolist():
            counts[types[place]] = int(self._random.integers(1, _MOST_ALIKE + 1))
        things: list[tuple[str, str]] = []
        for type_, count in counts.items():
            if len(things) + count > _MOST_THINGS:
                break
            things += [(_identity(type_, number), type_) for number in range(1, count + 1)]
        return sorted(things)

    def _fits(self, room: Room, thing: str) -> bool:
        return any(thing in self._tables.holds[type_] for type_, _ in room.receptacles)

    def _holder(
        self, thing: str, holders: Sequence[tuple[str, str]], kept_out: tuple[str, ...]
    ) -> str:
        """Draw the receptacle that contains a thing.

        Half of the time the type of the receptacle is drawn first; otherwise the receptacle is
        drawn from all fitting ones. If the type were always drawn first, one counter would get as
        many things as all cabinets together. If the type were never drawn first, most things would
        be in cabinets.
        """
        fitting = [
            (name, type_)
            for name, type_ in holders
            if thing in self._tables.holds[type_] and type_ not in kept_out
        ]
        if self._random.integers(2):
            type_ = self._one(sorted({type_ for _, type_ in fitting}))
            fitting = [one for one in fitting if one[1] == type_]
        return self._one(fitting)[0]

    def _one(self, choices: Sequence[_Choice]) -> _Choice:
        return choices[int(self._random.integers(len(choices)))]


def _identity(type_: str, number: int) -> str:
    """Return the PDDL name of a thing. alfworld displays it as, for example, ``apple 1``."""
    if type_.endswith("Basin"):
        return f"{type_.removesuffix('Basin')}_bar_{number:02}_bar_{type_}"
    return f"{type_}_bar_{number:02}"


def _numbered(types: Iterable[str]) -> list[tuple[str, str]]:
    counts: dict[str, int] = {}
    named = []
    for type_ in types:
        counts[type_] = counts.get(type_, 0) + 1
        named.append((_identity(type_, counts[type_]), type_))
    return named


def _types(
    holders: Sequence[tuple[str, str]], things: Sequence[tuple[str, str]], spots: Iterable[str]
) -> dict[str, str]:
    """Return the PDDL type of each name."""
    types = {AGENT: "agent", **dict.fromkeys([_START, *sorted(set(spots))], "location")}
    types |= {name: "receptacle" for name, _ in holders}
    types |= {name: "object" for name, _ in things}
    types |= {f"{type_}Type": "otype" for _, type_ in things}
    types |= {f"{type_}Type": "rtype" for _, type_ in holders}
    return types | DOMAIN_TYPES


def _rooms_facts(room: Room, holders: Sequence[tuple[str, str]], tables: Tables) -> Iterable[Fact]:
    for (name, type_), (_, place) in zip(holders, room.receptacles, strict=True):
        yield ("receptacleType", name, f"{type_}Type")
        yield ("receptacleAtLocation", name, f"loc_bar_{place + 1:02}")
        if type_ in tables.openable:
            yield ("openable", name)


def _things_facts(
    things: Sequence[tuple[str, str]], holders: Sequence[tuple[str, str]], tables: Tables
) -> Iterable[Fact]:
    for name, type_ in things:
        yield ("objectType", name, f"{type_}Type")
        yield ("pickupable", name)
        for table, types in tables.allowed.items():
            if type_ in types and table != "Toggleable":
                yield (table.lower(), name)
    present = {type_ for _, type_ in things}
    for holder in sorted({type_ for _, type_ in holders}):
        for type_ in tables.holds[holder]:
            if type_ in present:
                yield ("canContain", f"{holder}Type", f"{type_}Type")
