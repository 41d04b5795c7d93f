"""Adding what was found to be better to a batch (LDM2, section 3.3, equation 10 and below)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dqa.core.errors import DataError, UsageError
from dqa.core.trajectories import Trajectory
from dqa_ldm2.memory.base import Memory, MemoryType, Origin, Version
from dqa_ldm2.memory.building import history_of, problem_of, tuples_of
from dqa_ldm2.memory.indexing import Corrections, Indexer, classify


@dataclass(frozen=True, slots=True)
class Added:
    """A version, and what was mended of how its tuples were classified."""

    version: Version
    corrections: Corrections


def add_subtrajectory(  # noqa: PLR0913  (each says something else)
    memory: Memory,
    batch: int,
    trajectory: Trajectory,
    indexer: Indexer,
    origin: Origin,
    *,
    first: int = 1,
    histories: Sequence[str] | None = None,
    on_type: Callable[[str], None] = lambda _: None,
) -> Added:
    """Add the tuples of a trajectory from its key step on, as one version.

    Its goal and its observations are classified into the types that the batch has; what fits none
    goes into the type ``other``, so that the indices stay those that the batch was formed with.

    Parameters
    ----------
    memory, batch
        Where to.
    trajectory
        All of it: what happened before the key step is its tuples' history.
    indexer
        Classifies, and summarises where there are no histories.
    origin
        Where it comes from.
    first
        The number of the key step, from 1.
    histories
        Of every step of the trajectory, where they are known: those that its agent was shown.
    on_type
        Called with every type that something was classified as.

    Raises
    ------
    UsageError
        There is no such batch or step, or not as many histories as steps.
    DataError
        The trajectory has missing steps.
    DqaError
        What the indexer or the memory's database raises; nothing was added then.
    """
    if why := problem_of(trajectory):
        raise DataError(f"The trajectory {trajectory.source or 'to add'} is not whole: {why}.")
    count = len(trajectory.steps)
    if not 1 <= first <= count:
        raise UsageError(
            f"The trajectory {trajectory.source} has no step {first}: name one from 1 to {count}."
        )
    if histories is not None and len(histories) != count:
        raise UsageError(
            f"The trajectory {trajectory.source} has {count} steps and {len(histories)} histories: "
            "give one for each step."
        )
    mended = Corrections()
    goal_type = classify(indexer, "goals", trajectory.goal, memory.goal_types(batch), mended)
    on_type(goal_type)
    known: dict[str, str] = {}
    types: Sequence[MemoryType] = memory.observation_types(batch, goal_type)
    for step in trajectory.steps[first - 1 :]:
        if step.observation not in known:
            found = classify(indexer, "observations", step.observation, types, mended)
            known[step.observation] = found
            on_type(found)
    if histories is None:
        histories = [
            history_of(indexer, trajectory, place) if place >= first - 1 else ""
            for place in range(count)
        ]
    places = [known[step.observation] for step in trajectory.steps[first - 1 :]]
    tuples = list(tuples_of(trajectory, histories[first - 1 :], goal_type, places, first))
    return Added(memory.add(tuples, origin, batch), mended)
