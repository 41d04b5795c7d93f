"""Forming a memory from trajectories (LDM2, section 3.2): tuples, types, batches.

Each B trajectories are one batch and one version, kept whole or not at all. Whoever is interrupted
goes on with the same call: trajectories whose source the memory was formed from are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import chain

from dqa.core.errors import UsageError
from dqa.core.text import counted
from dqa.core.trajectories import Trajectory
from dqa_ldm2.memory.base import Memory, Origin, Placed, StateAction
from dqa_ldm2.memory.indexing import Corrections, Indexer, assign
from dqa_ldm2.memory.keeping import kept_text
from dqa_ldm2.memory.rules import RuleIndexer

__all__ = [
    "FormationProgress",
    "FormationReport",
    "Indexer",
    "RuleIndexer",
    "Skipped",
    "form_memory",
]

BATCH_SIZE = 50
"""Trajectories of a batch in ALFWorld (section 4); the paper takes 100 for WebShop."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A trajectory that is in no batch, and why."""

    source: str
    why: str


@dataclass(frozen=True, slots=True)
class FormationProgress:
    """How far a memory is formed: trajectories that are in it, of how many; batches and tuples."""

    trajectories: int
    of: int
    batches: int
    tuples: int


@dataclass(slots=True)
class FormationReport:
    """What forming a memory did.

    Attributes
    ----------
    trajectories, tuples
        Added by this call, or by another process meanwhile; and how many tuples that made.
    there
        Trajectories that the memory was formed from before.
    batches
        The new ones.
    skipped
        Trajectories that cannot be remembered.
    corrections
        What was mended of what the indexer said.
    """

    trajectories: int = 0
    there: int = 0
    tuples: int = 0
    batches: tuple[int, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    corrections: Corrections = field(default_factory=Corrections)

    def lines(self) -> list[str]:
        """Return what is to be shown, a line each."""
        taken = counted(self.trajectories, "trajectory", "trajectories")
        batches = counted(len(self.batches), "new batch", "new batches")
        made = f"{counted(self.tuples, 'tuple')} of {taken} in {batches}"
        lines = [made if self.trajectories else "Nothing new"]
        if self.there:
            there = counted(self.there, "trajectory was", "trajectories were")
            lines.append(f"{there} there already")
        if self.skipped:
            skipped = counted(len(self.skipped), "trajectory", "trajectories")
            lines.append(f"Left out: {skipped}")
            lines += [f"  {each.source or 'without a source'}: {each.why}" for each in self.skipped]
        if self.corrections:
            lines += ["Mended in the types:", *(f"  {line}" for line in self.corrections.lines())]
        return lines


def form_memory(  # noqa: PLR0913  (each says something else)
    memory: Memory,
    trajectories: Iterable[Trajectory],
    indexer: Indexer,
    *,
    source: str,
    model: str = "",
    batch_size: int = BATCH_SIZE,
    workers: int = 1,
    on_progress: Callable[[FormationProgress], None] = lambda _: None,
    on_summarised: Callable[[Trajectory], object] = id,
) -> FormationReport:
    """Form a memory from trajectories, or go on with it.

    Parameters
    ----------
    memory
        Where to.
    trajectories
        Whole ones; such with missing steps are left out and reported.
    indexer
        Summarises and names types: a model's operations, or `RuleIndexer`.
    source, model
        What versions say of where they come from; see `Origin`.
    batch_size
        Trajectories of a batch; the last may have fewer.
    workers
        How many summaries are asked for at once. The memory is the same for any number, if the
        indexer says the same.
    on_progress
        Called after every batch.
    on_summarised
        Called with each trajectory whose histories are there.

    Returns
    -------
    FormationReport
        What was added, left out and mended.

    Raises
    ------
    UsageError
        `batch_size` or `workers` is less than 1, or the memory may only be read.
    DqaError
        What the indexer or the memory's database raises; batches before it are kept.
    """
    if batch_size < 1 or workers < 1:
        raise UsageError(
            f"A batch has at least one trajectory, and one worker summarises: not {batch_size} "
            f"and {workers}."
        )
    report = FormationReport()
    known = memory.sources("formation")
    whole = list(_whole(trajectories, known, report))
    of = report.there + len(whole)
    origin = Origin("formation", source, model)
    with _pool(workers) as pool:
        for start in range(0, len(whole), batch_size):
            part = whole[start : start + batch_size]
            version = memory.add(
                _form(part, indexer, pool, report.corrections, on_summarised), origin
            )
            report.trajectories += len(part)
            report.tuples += version.added
            report.batches += version.batches
            done = report.there + report.trajectories
            on_progress(FormationProgress(done, of, len(report.batches), report.tuples))
    return report


@contextmanager
def _pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads; where something is raised, what has not begun yet is not asked for."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _whole(
    trajectories: Iterable[Trajectory], known: frozenset[str], report: FormationReport
) -> Iterator[Trajectory]:
    """Yield the trajectories to add, and report the others."""
    seen: set[str] = set()
    for each in trajectories:
        source = kept_text(each.source).strip()
        why = problem_of(each)
        if not why and source in seen:
            why = "another trajectory before it has this source"
        if why:
            report.skipped += (Skipped(each.source, why),)
            continue
        seen.add(source)
        if source in known:
            report.there += 1
        else:
            yield each


def problem_of(trajectory: Trajectory) -> str:
    """Return why a trajectory cannot be remembered; empty where it can."""
    if not trajectory.source.strip():
        return "it has no source, by which it could be told apart"
    if not trajectory.goal.strip():
        return "it has no goal"
    if not trajectory.steps:
        return "it has no steps"
    for number, step in enumerate(trajectory.steps, 1):
        for what, said in (("observation", step.observation), ("action", step.action)):
            if not said.strip():
                return f"step {number} of {len(trajectory.steps)} has no {what}"
    if trajectory.reward is not None and not math.isfinite(trajectory.reward):
        return f"its reward is {trajectory.reward}, which is no number"
    return ""


def _form(
    trajectories: Sequence[Trajectory],
    indexer: Indexer,
    pool: ThreadPoolExecutor,
    corrections: Corrections,
    on_summarised: Callable[[Trajectory], object],
) -> list[Placed]:
    """Return the tuples of a batch in their places."""
    mended = Corrections()
    # A trajectory in one thread: a history goes on from the one before.
    begun = [pool.submit(copy_context().run, _histories, indexer, each) for each in trajectories]
    told: list[list[str]] = []
    for each, histories in zip(trajectories, begun, strict=True):
        told.append(histories.result())
        on_summarised(each)
    goals = list(dict.fromkeys(each.goal for each in trajectories))
    goal_types = dict(zip(goals, assign(indexer, "goal", goals, mended), strict=True))
    seen: dict[str, dict[str, None]] = {}
    for each in trajectories:
        own = seen.setdefault(goal_types[each.goal], {})
        own.update(dict.fromkeys(step.observation for step in each.steps))
    types = {
        goal_type: dict(
            zip(texts, assign(indexer, "observation", list(texts), mended), strict=True)
        )
        for goal_type, texts in seen.items()
    }
    corrections += mended
    return list(
        chain.from_iterable(
            tuples_of(
                each,
                before,
                goal_types[each.goal],
                [types[goal_types[each.goal]][step.observation] for step in each.steps],
            )
            for each, before in zip(trajectories, told, strict=True)
        )
    )


def _histories(indexer: Indexer, trajectory: Trajectory) -> list[str]:
    return [history_of(indexer, trajectory, place) for place, _ in enumerate(trajectory.steps)]


def history_of(indexer: Indexer, trajectory: Trajectory, place: int) -> str:
    """Return in short what happened before the step at a place, from 0; nothing before the first.

    Equation 6.
    """
    before = trajectory.steps[:place]
    return indexer.summarise(trajectory.goal, before) if before else ""


def tuples_of(
    trajectory: Trajectory,
    histories: Sequence[str],
    goal_type: str,
    observation_types: Sequence[str],
    first: int = 1,
) -> Iterator[Placed]:
    """Yield the tuples of a trajectory from a step on, in their places (equation 5).

    Parameters
    ----------
    trajectory
        All of it.
    histories, observation_types
        Of the steps from the first one on.
    goal_type
        The goal's.
    first
        The number of the first step, from 1.
    """
    told = zip(trajectory.steps[first - 1 :], histories, observation_types, strict=True)
    for number, (step, history, observation_type) in enumerate(told, first):
        content = StateAction(
            goal=trajectory.goal,
            history=history,
            observation=step.observation,
            action=step.action,
            source=trajectory.source,
            number=number,
            reward=trajectory.reward,
        )
        yield Placed(content, goal_type, observation_type)
