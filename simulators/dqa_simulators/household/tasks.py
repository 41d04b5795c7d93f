"""The six types of tasks (LDM2, Table 2), with our names and alfworld's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

TaskName: TypeAlias = Literal["pick", "clean", "heat", "cool", "look", "pick2"]


@dataclass(frozen=True, slots=True)
class TaskType:
    """A type of tasks.

    Attributes
    ----------
    name
        The name in the paper's table.
    official
        The name in alfworld.
    treatment
        The treatment of the thing before it is placed; empty for none.
    allowed
        The name of alfworld's table of things that can get the treatment.
    station
        The type of receptacle that is used for the treatment.
    count
        The number of wanted things.
    """

    name: TaskName
    official: str
    treatment: str = ""
    allowed: str = ""
    station: str = ""
    count: int = 1


TASKS: Final = {
    task.name: task
    for task in (
        TaskType("pick", "pick_and_place_simple"),
        TaskType("clean", "pick_clean_then_place_in_recep", "clean", "Cleanable", "SinkBasin"),
        TaskType("heat", "pick_heat_then_place_in_recep", "heat", "Heatable", "Microwave"),
        TaskType("cool", "pick_cool_then_place_in_recep", "cool", "Coolable", "Fridge"),
        TaskType("look", "look_at_obj_in_light"),
        TaskType("pick2", "pick_two_obj_and_place", count=2),
    )
}
"""The task types by name. Consecutive seeds cycle through them in this order."""
BY_OFFICIAL: Final = {task.official: task for task in TASKS.values()}
