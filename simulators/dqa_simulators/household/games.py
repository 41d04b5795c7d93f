"""Games as files: those that are generated, kept in the user's cache, and official ones.

A game is a folder with ``game.tw-pddl`` (JSON: domain, grammar, problem, walkthrough) and
``traj_data.json`` (what the task is), as alfworld lays them out, so that either one's games can be
played by the other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import get_ident
from typing import Any, Final

from dqa.core.errors import DataError, UsageError, WorldUnavailableError
from dqa.core.files import make_private_folder, parse_json, read_bytes, write_private
from dqa.worlds.training import CACHE_VARIABLE, cache_folder
from dqa_simulators.household.engine import as_in_the_papers, plan
from dqa_simulators.household.generator import VERSION, DrawnGame, draw_game
from dqa_simulators.household.problems import extract_goal
from dqa_simulators.household.serving import UNKNOWN_GOAL
from dqa_simulators.household.tables import Tables, load_tables
from dqa_simulators.household.tasks import BY_OFFICIAL, TASKS, TaskName, TaskType

GAME_FILE: Final = "game.tw-pddl"
TASK_FILE: Final = "traj_data.json"
_LEFT_OUT: Final = ("movable", "Sliced")
"""What in the name of an official game's folder says that alfworld does not play it in text."""
_PUT: Final = "move "


@dataclass(frozen=True, slots=True)
class HouseholdGame:
    """A game that can be played.

    Attributes
    ----------
    task
        Its type.
    data
        What its ``game.tw-pddl`` holds.
    about
        What its ``traj_data.json`` holds.
    name
        Where it comes from: ``clean 17``, or an official game's folder.
    """

    task: TaskType
    data: Mapping[str, Any]
    about: Mapping[str, Any]
    name: str

    @property
    def walkthrough(self) -> tuple[str, ...]:
        """Commands that win it, if its file has any."""
        told = self.data.get("walkthrough") or ()
        return tuple(_as_in_the_papers(str(command)) for command in told)

    @property
    def goal(self) -> str:
        """What is to be reached, in PDDL."""
        return extract_goal(str(self.data["pddl_problem"]))

    def write(self, folder: Path) -> None:
        """Write its two files into a folder, which is made where it is missing.

        Raises
        ------
        UsageError
            It cannot be written there.
        """
        try:
            make_private_folder(folder)
            for name, content in ((TASK_FILE, self.about), (GAME_FILE, self.data)):
                part = folder / f".{name}.{os.getpid()}-{get_ident()}.part"
                written = json.dumps(content, indent=1, sort_keys=True)
                write_private(part, f"{written}\n")
                part.replace(folder / name)
        except OSError as error:
            raise UsageError(
                f"No game can be written to {folder} ({error.strerror or error}): name another "
                f"folder by {CACHE_VARIABLE}."
            ) from error


def generate_game(task: TaskName, seed: int) -> HouseholdGame:
    """Return the game of a task type and a seed, with the planner's walkthrough.

    Raises
    ------
    MissingKeyError
        alfworld is not installed.
    WorldUnavailableError
        The planner failed, or found no way.
    """
    tables = load_tables()
    return _solved(draw_game(tables, task, seed), tables)


def find_generated(task: TaskName, seed: int) -> HouseholdGame:
    """Return the game of a seed from the user's cache; generate and store a missing one.

    Raises
    ------
    UsageError
        The cache cannot be written.
    MissingKeyError, WorldUnavailableError
        As `generate_game`.
    """
    tables = load_tables()
    drawn = draw_game(tables, task, seed)
    unsolved = _unsolved(drawn, tables)
    content = json.dumps([VERSION, tables.version, unsolved]).encode()
    digest = blake2b(content, digest_size=6).hexdigest()
    folder = cache_folder() / "households" / f"{task}-{seed}-{digest}"
    with suppress(DataError):  # a missing or damaged file is written again
        data = _read(folder / GAME_FILE)
        if data.get("walkthrough") and unsolved.items() <= data.items():
            return _game(drawn, data)
    game = _solved(drawn, tables)
    game.write(folder)
    return game


def find_official(folder: Path, task: TaskName | None = None) -> tuple[Path, ...]:
    """Return the folders of the games below a folder that text can be played by, sorted.

    Parameters
    ----------
    folder
        ALFWorld's ``json_2.1.1/valid_unseen``, or any folder of such games.
    task
        Their type; None for all.

    Raises
    ------
    UsageError
        There is no such folder, or no game in it.
    DataError
        A file of it is damaged.
    """
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder {folder} of household games: name one that alfworld-download "
            "made, such as json_2.1.1/valid_unseen, or leave 'games' out to have them generated."
        )
    found = tuple(
        file.parent
        for file in sorted(folder.rglob(GAME_FILE))
        if not any(word in str(file.parent.relative_to(folder)) for word in _LEFT_OUT)
    )
    kept = tuple(one for one in found if _is_of(one, task))
    if not kept:
        wanted = f" of the type '{task}'" if task else ""
        raise UsageError(
            f"{folder} has no household game{wanted}: a game is a folder with {GAME_FILE} and "
            f"{TASK_FILE}; {len(found)} of other types or without a solution were found."
        )
    return kept


@lru_cache(maxsize=256)
def read_game(folder: Path) -> HouseholdGame:
    """Read a game from its two files.

    Raises
    ------
    DataError
        One of them is missing, damaged, or says something else than alfworld writes.
    """
    data, about = _read(folder / GAME_FILE), _read(folder / TASK_FILE)
    task = BY_OFFICIAL.get(str(about.get("task_type")))
    if task is None:
        raise DataError(
            f"{folder / TASK_FILE}: its task_type is {about.get('task_type')!r}, none of "
            f"{', '.join(BY_OFFICIAL)}."
        )
    for key in ("pddl_domain", "grammar", "pddl_problem"):
        if not isinstance(data.get(key), str):
            raise DataError(f"{folder / GAME_FILE}: it has no text '{key}', as alfworld writes it.")
    try:
        extract_goal(data["pddl_problem"])
    except ValueError as error:
        raise DataError(f"{folder / GAME_FILE}: its problem has no goal ({error}).") from error
    return HouseholdGame(task, data, about, folder.name)


def _is_of(folder: Path, task: TaskName | None) -> bool:
    """Whether a game is of a type that is played, and of the one that is asked for."""
    about, data = _read(folder / TASK_FILE), _read(folder / GAME_FILE)
    found = BY_OFFICIAL.get(str(about.get("task_type")))
    # Games that nobody has tried to solve are left out, as alfworld itself leaves them out.
    is_solvable = data.get("solvable") is True
    return is_solvable and found is not None and task in {None, found.name}


def _read(file: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_bytes(file))
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise DataError(f"{file} is no JSON ({error}).") from error
    if not isinstance(content, dict):
        raise DataError(f"{file} holds no JSON object.")
    return content


def _solved(drawn: DrawnGame, tables: Tables) -> HouseholdGame:
    commands = plan(drawn.problem)
    if not commands:
        raise WorldUnavailableError(
            f"The planner found no way to '{drawn.goal}' in the game {drawn.task.name} "
            f"{drawn.seed}: take another seed, and report this one."
        )
    solved = {"walkthrough": list(commands), "solvable": True}
    return _game(drawn, {**_unsolved(drawn, tables), **solved})


def _game(drawn: DrawnGame, data: Mapping[str, Any]) -> HouseholdGame:
    return HouseholdGame(drawn.task, data, _about(drawn), f"{drawn.task.name} {drawn.seed}")


def _unsolved(drawn: DrawnGame, tables: Tables) -> dict[str, Any]:
    return {
        "pddl_domain": tables.domain,
        "grammar": as_in_the_papers(tables.grammar).replace(UNKNOWN_GOAL, drawn.goal),
        "pddl_problem": drawn.problem.write(),
    }


def _about(drawn: DrawnGame) -> dict[str, Any]:
    """Return what alfworld's own ``traj_data.json`` says of a task."""
    is_look = drawn.task.name == "look"
    return {
        "task_id": f"generated_{drawn.task.name}_{drawn.seed}",
        "task_type": drawn.task.official,
        "pddl_params": {
            "mrecep_target": "",
            "object_sliced": False,
            "object_target": drawn.thing,
            "parent_target": "" if is_look else drawn.place,
            "toggle_target": drawn.place if is_look else "",
        },
        "scene": {
            "floor_plan": drawn.room.name,
            "scene_num": int(drawn.room.name.removeprefix("FloorPlan")),
            "random_seed": drawn.seed,
        },
        "turk_annotations": {"anns": [{"task_desc": f"{drawn.goal}.", "high_descs": []}]},
    }


def _as_in_the_papers(command: str) -> str:
    """Return a command of a walkthrough as the papers' games say it."""
    thing, found, place = command.removeprefix(_PUT).rpartition(" to ")
    return f"put {thing} in/on {place}" if found and command.startswith(_PUT) else command


def task_of_seed(seed: int) -> TaskName:
    """Return the type of the task of a seed: all six follow one another."""
    return list(TASKS)[seed % len(TASKS)]
