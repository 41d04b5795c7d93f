"""Generate household games from a seed, or read them from ALFWorld's files.

The planner's commands for a generated game are stored in the user's cache. An official game is a
folder with ``game.tw-pddl`` (JSON: domain, grammar, problem, walkthrough) and ``traj_data.json``
(the task).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import get_ident
from typing import Any, Final

from pydantic import TypeAdapter

from dqa.core.errors import DataError, UsageError, WorldUnavailableError
from dqa.core.files import make_private_folder, parse_json, read_bytes, write_private
from dqa.worlds.training import CACHE_VARIABLE, cache_folder
from dqa_simulators.household.engine import as_in_the_papers, plan
from dqa_simulators.household.generator import VERSION, DrawnGame, draw_game
from dqa_simulators.household.problems import extract_goal
from dqa_simulators.household.serving import UNKNOWN_GOAL
from dqa_simulators.household.tables import load_tables
from dqa_simulators.household.tasks import BY_OFFICIAL, TASKS, TaskName, TaskType

GAME_FILE: Final = "game.tw-pddl"
TASK_FILE: Final = "traj_data.json"
_LEFT_OUT: Final = ("movable", "Sliced")
"""Words in the folder names of official games that cannot be played as text."""
_PUT: Final = "move "
_COMMANDS: Final = TypeAdapter(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class HouseholdGame:
    """A game that can be played.

    Attributes
    ----------
    task
        The type of the task.
    data
        The content of ``game.tw-pddl``.
    name
        Task type and seed, for example ``clean 17``, or the folder of an official game.
    """

    task: TaskType
    data: Mapping[str, Any]
    name: str

    @property
    def walkthrough(self) -> tuple[str, ...]:
        """Commands that win the game; empty if the file contains none."""
        return tuple(_as_in_the_papers(str(one)) for one in self.data.get("walkthrough") or ())

    @property
    def goal(self) -> str:
        """The goal in PDDL."""
        return extract_goal(str(self.data["pddl_problem"]))


def generate_game(task: TaskName, seed: int) -> HouseholdGame:
    """Return the game of a task type and a seed, with the planner's walkthrough.

    Raises
    ------
    MissingKeyError
        alfworld is not installed.
    WorldUnavailableError
        The planner failed, or found no plan.
    """
    drawn = draw_game(load_tables(), task, seed)
    return _game(drawn, _solve(drawn))


def find_generated(task: TaskName, seed: int) -> HouseholdGame:
    """Return the game of a seed. Read its walkthrough from the user's cache, or plan and store it.

    Raises
    ------
    UsageError
        The cache cannot be written.
    MissingKeyError, WorldUnavailableError
        As in `generate_game`.
    """
    drawn = draw_game(load_tables(), task, seed)
    content = json.dumps([VERSION, load_tables().version, dict(_game(drawn, ()).data)]).encode()
    digest = blake2b(content, digest_size=6).hexdigest()
    file = cache_folder() / "households" / f"{task}-{seed}-{digest}.json"
    try:
        commands = _COMMANDS.validate_json(read_bytes(file))
    except (OSError, ValueError):  # the file is missing or damaged
        commands = _solve(drawn)
        _store(file, commands)
    return _game(drawn, commands)


def _store(file: Path, commands: tuple[str, ...]) -> None:
    part = file.with_name(f".{file.name}.{os.getpid()}-{get_ident()}.part")
    try:
        make_private_folder(file.parent)
        write_private(part, json.dumps(commands))
        part.replace(file)
    except OSError as error:
        raise UsageError(
            f"Cannot write a game to {file.parent} ({error.strerror or error}). Set another cache "
            f"folder with {CACHE_VARIABLE}."
        ) from error


def _solve(drawn: DrawnGame) -> tuple[str, ...]:
    commands = plan(drawn.problem)
    if not commands:
        raise WorldUnavailableError(
            f"The planner found no plan for '{drawn.goal}' in the game {drawn.task.name} "
            f"{drawn.seed}. Please report this seed, and use a different one."
        )
    return commands


def _game(drawn: DrawnGame, commands: tuple[str, ...]) -> HouseholdGame:
    tables = load_tables()
    data = {
        "pddl_domain": tables.domain,
        "grammar": as_in_the_papers(tables.grammar).replace(UNKNOWN_GOAL, drawn.goal),
        "pddl_problem": drawn.problem.write(),
        "walkthrough": list(commands),
    }
    return HouseholdGame(drawn.task, data, f"{drawn.task.name} {drawn.seed}")


def find_official(folder: Path, task: TaskName | None = None) -> tuple[Path, ...]:
    """Return the sorted folders of all games below a folder that can be played as text.

    Parameters
    ----------
    folder
        A folder of games, for example ALFWorld's ``json_2.1.1/valid_unseen``.
    task
        The type of the games; None for all types.

    Raises
    ------
    UsageError
        The folder does not exist, or contains no matching game.
    DataError
        A file of a game is damaged.
    """
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder {folder}. Set 'games' to a folder from alfworld-download, such as "
            "json_2.1.1/valid_unseen, or omit it to generate games."
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
            f"{folder} has no household game{wanted}. A game is a folder with {GAME_FILE} and "
            f"{TASK_FILE}. Skipped games, of different types or without a solution: {len(found)}."
        )
    return kept


@lru_cache(maxsize=256)
def read_game(folder: Path) -> HouseholdGame:
    """Read a game from its two files.

    Raises
    ------
    DataError
        A file is missing or damaged, or is not in alfworld's format.
    """
    data, about = _read(folder / GAME_FILE), _read(folder / TASK_FILE)
    task = BY_OFFICIAL.get(str(about.get("task_type")))
    if task is None:
        raise DataError(
            f"{folder / TASK_FILE}: 'task_type' is {about.get('task_type')!r}, but must be one of "
            f"{', '.join(BY_OFFICIAL)}."
        )
    for key in ("pddl_domain", "grammar", "pddl_problem"):
        if not isinstance(data.get(key), str):
            raise DataError(f"{folder / GAME_FILE}: the text '{key}' is missing.")
    try:
        extract_goal(data["pddl_problem"])
    except ValueError as error:
        raise DataError(
            f"{folder / GAME_FILE}: 'pddl_problem' has no valid goal ({error})."
        ) from error
    return HouseholdGame(task, data, folder.name)


def _is_of(folder: Path, task: TaskName | None) -> bool:
    """Return whether a game is solvable and has the wanted type. None means any known type."""
    about, data = _read(folder / TASK_FILE), _read(folder / GAME_FILE)
    found = BY_OFFICIAL.get(str(about.get("task_type")))
    # alfworld also skips games without a known solution.
    is_solvable = data.get("solvable") is True
    return is_solvable and found is not None and task in {None, found.name}


def _read(file: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_bytes(file))
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise DataError(f"{file} is not JSON ({error}).") from error
    if not isinstance(content, dict):
        raise DataError(f"{file} is not a JSON object.")
    return content


def _as_in_the_papers(command: str) -> str:
    """Return a command of a walkthrough with the texts of the papers' games."""
    thing, found, place = command.removeprefix(_PUT).rpartition(" to ")
    return f"put {thing} in/on {place}" if found and command.startswith(_PUT) else command


def task_of_seed(seed: int) -> TaskName:
    """Return the task type of a seed. Consecutive seeds cycle through the six types."""
    return list(TASKS)[seed % len(TASKS)]
