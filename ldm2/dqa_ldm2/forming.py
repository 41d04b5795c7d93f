"""Memory formation (section 3.2): trajectories become tuples, in batches, each with two indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dqa.core.trajectories import Step, Trajectory
from dqa_ldm2.indexer import Indexer
from dqa_ldm2.memory.base import Memory, Origin, Placed, StateAction, Version


@dataclass(frozen=True, slots=True)
class Formed:
    """What a memory was formed of.

    Attributes
    ----------
    versions
        The additions, one a batch.
    trajectories, tuples
        How many were used, and how many tuples they gave.
    empty
        Sources of trajectories without any step.
    missing
        How many steps had no observation or no action, and gave no tuple.
    """

    versions: tuple[Version, ...]
    trajectories: int
    tuples: int
    empty: tuple[str, ...] = ()
    missing: int = 0


def form_memory(  # noqa: PLR0913  (each is a question of its own to the caller)
    memory: Memory,
    trajectories: Sequence[Trajectory],
    indexer: Indexer,
    origin: Origin,
    *,
    batch: int = 50,
    told: Callable[[Trajectory], None] | None = None,
) -> Formed:
    """Add trajectories to a memory, as batch memories of B trajectories each.

    A batch is added when it is whole, so what was asked for before something fails stays.

    Parameters
    ----------
    memory
        What they are added to.
    trajectories
        In order; a step without an observation or an action is part of no tuple, but of the history
        of later ones.
    indexer
        Summarises and sorts.
    origin
        Where they come from.
    batch
        B.
    told
        Is told of each trajectory whose steps were summarised.
    """
    whole = [one for one in trajectories if any(_is_whole(step) for step in one.steps)]
    empty = tuple(one.source for one in trajectories if one not in whole)
    versions: list[Version] = []
    for start in range(0, len(whole), batch):
        part = whole[start : start + batch]
        tuples: list[StateAction] = []
        for one in part:
            tuples += _tuples_of(one, indexer)
            if told is not None:
                told(one)
        versions.append(memory.add(_placed(tuples, indexer), origin))
    missing = sum(not _is_whole(step) for one in trajectories for step in one.steps)
    added = sum(version.added for version in versions)
    return Formed(tuple(versions), len(whole), added, empty, missing)


def _is_whole(step: Step) -> bool:
    return bool(step.observation.strip() and step.action.strip())


def _tuples_of(one: Trajectory, indexer: Indexer) -> list[StateAction]:
    return [
        StateAction(
            one.goal,
            indexer.summarise(one.goal, one.steps[: number - 1]),
            *(step.observation, step.action, one.source, number, one.reward),
        )
        for number, step in enumerate(one.steps, 1)
        if _is_whole(step)
    ]


def _placed(tuples: Sequence[StateAction], indexer: Indexer) -> list[Placed]:
    """Return tuples in the places of a new batch: goals are sorted, then what each type saw."""
    goals = list(dict.fromkeys(one.goal for one in tuples))
    goal_types: dict[str, str] = {}
    for name, numbers in indexer.cluster("goal", goals).items():
        goal_types |= {goals[number - 1]: name for number in numbers}
    observation_types: dict[int, str] = {}
    for goal_type in dict.fromkeys(goal_types.values()):
        mine = [place for place, one in enumerate(tuples) if goal_types[one.goal] == goal_type]
        found = indexer.cluster("observation", [tuples[place].observation for place in mine])
        for name, numbers in found.items():
            observation_types |= {mine[number - 1]: name for number in numbers}
    return [
        Placed(one, goal_types[one.goal], observation_types[place])
        for place, one in enumerate(tuples)
    ]
