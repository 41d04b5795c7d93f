"""Generate household games from a seed, or read them from ALFWorld's files.

An official game is a folder with ``game.tw-pddl`` (JSON: domain, grammar, problem, walkthrough) and
``traj_data.json`` (the task).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError, field_validator

from dqa.core.errors import DataError, UsageError, WorldUnavailableError
from dqa.core.files import read_bytes
from dqa_simulators.household.engine import as_in_the_papers, plan
from dqa_simulators.household.generator import draw_game
from dqa_simulators.household.problems import extract_goal
from dqa_simulators.household.tables import (
    BY_OFFICIAL,
    TASKS,
    UNKNOWN_GOAL,
    TaskName,
    TaskType,
    load_tables,
)

GAME_FILE: Final = "game.tw-pddl"
TASK_FILE: Final = "traj_data.json"
_LEFT_OUT: Final = ("movable", "Sliced")
"""Words in the folder names of official games that cannot be played as text."""
_PUT: Final = "move "


class GameFile(BaseModel):
    """The content of ``game.tw-pddl``: domain, grammar and problem of a game, and its solution."""

    pddl_domain: str
    grammar: str
    pddl_problem: str
    walkthrough: tuple[str, ...] | None = None
    solvable: bool = False

    @field_validator("pddl_problem")
    @classmethod
    def _check(cls, problem: str) -> str:
        extract_goal(problem)
        return problem


class _TaskFile(BaseModel):
    task_type: str = ""


_Content = TypeVar("_Content", bound=BaseModel)


class HouseholdGame(NamedTuple):
    """A game that can be played.

    Attributes
    ----------
    task
        The type of the task.
    data
        The content of ``game.tw-pddl``.
    """

    task: TaskType
    data: GameFile

    @property
    def walkthrough(self) -> tuple[str, ...]:
        """Commands that win the game; empty if the file contains none."""
        return tuple(map(_as_in_the_papers, self.data.walkthrough or ()))


def find_generated(task: TaskName, seed: int) -> HouseholdGame:
    """Return the game of a seed, with the planner's walkthrough.

    Raises
    ------
    MissingKeyError
        alfworld is not installed.
    WorldUnavailableError
        The planner failed, or found no plan.
    """
    tables = load_tables()
    drawn = draw_game(tables, task, seed)
    commands = plan(drawn.problem)
    if not commands:
        raise WorldUnavailableError(
            f"The planner found no plan for '{drawn.goal}' in the game {task} {seed}. Please "
            "report this seed, and use a different one."
        )
    data = GameFile(
        pddl_domain=tables.domain,
        grammar=as_in_the_papers(tables.grammar).replace(UNKNOWN_GOAL, drawn.goal),
        pddl_problem=drawn.problem.write(),
        walkthrough=commands,
    )
    return HouseholdGame(drawn.task, data)


def find_official(folder: Path, task: TaskName | None = None) -> tuple[Path, ...]:
    """Return the folders, sorted, of all games below `folder` that can be played as text.

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
    wanted = tuple(one for one in found if _is_of(one, task))
    if not wanted:
        of_type = f" of the type '{task}'" if task else ""
        raise UsageError(
            f"{folder} contains no household game{of_type}. A game is a folder with {GAME_FILE} "
            f"and {TASK_FILE}. {len(found)} games have a different type or no solution."
        )
    return wanted


@lru_cache(maxsize=256)
def read_game(folder: Path) -> HouseholdGame:
    """Read a game from its two files.

    Raises
    ------
    DataError
        A file is missing or damaged, or is not in alfworld's format.
    """
    about = _read(folder / TASK_FILE, _TaskFile)
    return HouseholdGame(BY_OFFICIAL[about.task_type], _read(folder / GAME_FILE, GameFile))


def _is_of(folder: Path, task: TaskName | None) -> bool:
    """Return whether a game has a known solution and the type `task` (None: any known type).

    alfworld also skips games without a known solution.
    """
    found = BY_OFFICIAL.get(_read(folder / TASK_FILE, _TaskFile).task_type)
    is_wanted = found is not None and task in {None, found.name}
    return is_wanted and _read(folder / GAME_FILE, GameFile).solvable


def _read(file: Path, kind: type[_Content]) -> _Content:
    try:
        return kind.model_validate_json(read_bytes(file))
    except (OSError, ValidationError) as error:
        raise DataError(f"{file} is not a file of a household game: {error}") from error


def _as_in_the_papers(command: str) -> str:
    """Return a command of a walkthrough in the wording of the papers' games."""
    thing, found, place = command.removeprefix(_PUT).rpartition(" to ")
    return f"put {thing} in/on {place}" if found and command.startswith(_PUT) else command


def task_of_seed(seed: int) -> TaskName:
    """Return the task type of a seed. Consecutive seeds cycle through the six types."""
    return list(TASKS)[seed % len(TASKS)]
