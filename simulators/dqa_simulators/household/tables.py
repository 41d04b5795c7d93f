"""Types of tasks, and alfworld's data: domain, grammar, goals, receptacles, and room layouts.

The files are read directly. Importing the package would create a folder in the user's home and
change the environment of the process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final, Literal, NamedTuple, TypeAlias

from dqa.core.distribution import install_command
from dqa.core.errors import DataError, MissingKeyError

UNKNOWN_GOAL: Final = "UNKNOWN GOAL"
"""The placeholder of a game's goal in alfworld's grammar."""
_SLICED: Final = "Sliced"
TaskName: TypeAlias = Literal["pick", "clean", "heat", "cool", "look", "pick2"]


@dataclass(frozen=True, slots=True)
class TaskType:
    """A type of tasks.

    Attributes
    ----------
    name
        The name of the type in the paper's table.
    official
        The name of the type in alfworld.
    allowed
        The name of alfworld's list of treatable things; empty for a task without a treatment.
    station
        The type of receptacle that is used for the treatment.
    count
        The number of wanted things.
    """

    name: TaskName
    official: str
    allowed: str = ""
    station: str = ""
    count: int = 1


TASKS: Final = {
    task.name: task
    for task in (
        TaskType("pick", "pick_and_place_simple"),
        TaskType("clean", "pick_clean_then_place_in_recep", "Cleanable", "SinkBasin"),
        TaskType("heat", "pick_heat_then_place_in_recep", "Heatable", "Microwave"),
        TaskType("cool", "pick_cool_then_place_in_recep", "Coolable", "Fridge"),
        TaskType("look", "look_at_obj_in_light"),
        TaskType("pick2", "pick_two_obj_and_place", count=2),
    )
}
"""The task types by name. Consecutive seeds cycle through them in this order."""
BY_OFFICIAL: Final = {task.official: task for task in TASKS.values()}


class Room(NamedTuple):
    """A room's layout.

    Attributes
    ----------
    name
        The name of the room in alfworld, for example ``FloorPlan12``.
    kind
        ``Kitchen``, ``LivingRoom``, ``Bedroom`` or ``Bathroom``.
    receptacles
        Pairs of a receptacle's type and the number (from 0) of the spot where the player can use
        the receptacle. Several receptacles may share a spot.
    things
        The types of movable things in the room, in alphabetical order.
    """

    name: str
    kind: str
    receptacles: tuple[tuple[str, int], ...]
    things: tuple[str, ...]


class Tables(NamedTuple):
    """alfworld's tables. All lists are sorted, so that no result depends on the order of a set.

    Attributes
    ----------
    domain, grammar
        The rules in PDDL, and the grammar of the texts.
    goals
        The goal of each alfworld task type in PDDL, with ``{obj}``, ``{recep}`` and ``{toggle}``.
    sentences
        Sentences for the goal of each alfworld task type, with the same placeholders.
    rooms_of
        The kinds of rooms for each alfworld task type.
    holds
        The types of things that fit into each type of receptacle.
    allowed
        The types of things that are ``Cleanable``, ``Heatable``, ``Coolable`` and ``Sliceable``.
    openable
        The types of receptacles that are initially closed.
    rooms
        All room layouts, ordered by number.
    """

    domain: str
    grammar: str
    goals: Mapping[str, str]
    sentences: Mapping[str, tuple[str, ...]]
    rooms_of: Mapping[str, tuple[str, ...]]
    holds: Mapping[str, tuple[str, ...]]
    allowed: Mapping[str, tuple[str, ...]]
    openable: tuple[str, ...]
    rooms: tuple[Room, ...]


def _find_alfworld() -> Path:
    """Return the folder of alfworld's package. Raise `MissingKeyError` if a package is missing."""
    found = {name: find_spec(name) for name in ("textworld", "fast_downward", "alfworld")}
    for name, spec in found.items():
        if spec is None or not spec.submodule_search_locations:
            raise MissingKeyError(
                f"The household world needs '{name}', which is not installed. Install it: "
                f"{install_command('household')}."
            )
        folder = Path(spec.submodule_search_locations[0])
    return folder


@lru_cache(maxsize=1)
def load_tables() -> Tables:
    """Return alfworld's tables.

    Raises
    ------
    MissingKeyError
        alfworld is not installed.
    DataError
        The files of the installed version are unsupported.
    """
    folder = _find_alfworld()
    try:
        return _read(folder)
    except (OSError, AttributeError, KeyError, ValueError) as error:
        raise DataError(
            f"dqa needs alfworld 0.4, but the files in {folder} do not match this version "
            f"({type(error).__name__}: {error}). Install it: {install_command('household')}."
        ) from error


def _read(folder: Path) -> Tables:
    constants = _module(folder / "gen" / "constants.py")
    library = _module(folder / "gen" / "goal_library.py").gdict
    grammar = (folder / "data" / "alfred.twl2").read_text(encoding="utf-8")
    if UNKNOWN_GOAL not in grammar:
        raise ValueError(f"the grammar lacks '{UNKNOWN_GOAL}'")
    holds = {
        receptacle: _sorted(things)
        for receptacle, things in sorted(constants.VAL_RECEPTACLE_OBJECTS.items())
        if receptacle not in constants.MOVABLE_RECEPTACLES_SET
    }
    kinds = {number: kind for kind, range_ in constants.SCENE_TYPE.items() for number in range_}
    movable = {thing for things in holds.values() for thing in things}
    return Tables(
        domain=(folder / "data" / "alfred.pddl").read_text(encoding="utf-8"),
        grammar=grammar,
        goals={name: str(goal["pddl"]) for name, goal in library.items()},
        sentences={name: tuple(goal["templates"]) for name, goal in library.items()},
        rooms_of={name: _sorted(kinds) for name, kinds in constants.GOALS_VALID.items()},
        holds=holds,
        allowed={name: _sorted(kinds) for name, kinds in constants.VAL_ACTION_OBJECTS.items()},
        openable=_sorted(set(constants.OPENABLE_CLASS_LIST) & set(holds)),
        rooms=tuple(
            _room(folder / "gen" / "layouts", number, kinds[number], holds, movable)
            for number in sorted(kinds)
        ),
    )


def _sorted(types: set[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in types if not name.endswith(_SLICED)))


def _module(file: Path) -> ModuleType:
    """Run a file of tables without importing its package."""
    spec = spec_from_file_location(f"_household_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise DataError(f"{file} is not a Python file.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _room(
    folder: Path, number: int, kind: str, holds: Mapping[str, tuple[str, ...]], movable: set[str]
) -> Room:
    name = f"FloorPlan{number}"
    points = json.loads((folder / f"{name}-openable.json").read_text(encoding="utf-8"))
    types = json.loads((folder / f"{name}-objects.json").read_text(encoding="utf-8"))
    places: dict[tuple[float, ...], int] = {}
    receptacles = []
    for identity, point in sorted(points.items()):
        parts = identity.split("|")
        type_ = parts[4] if len(parts) > 4 else parts[0]  # a sink has the type of its basin
        if type_ in holds:
            receptacles.append((type_, places.setdefault(tuple(point), len(places))))
    # The layouts only contain positions of receptacles that can be opened or filled.
    present = {type_ for type_, _ in receptacles}
    for place, type_ in enumerate(sorted(set(types) & set(holds) - present), len(places)):
        receptacles += [(type_, place)] * _COUNTS.get(type_, 1)
    return Room(name, kind, tuple(receptacles), tuple(sorted(set(types) & movable)))


_COUNTS: Final = {"StoveBurner": 4}
"""The number of receptacles of a type without positions in the layouts; 1 by default."""
