"""Form a memory from trajectories (section 3.2), and add tuples to a batch (section 3.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

from langchain_core.language_models import BaseChatModel

from dqa.core.decider import Trajectory
from dqa.core.errors import DataError, UnparsableReplyError, UsageError
from dqa.core.recorder import Recorder
from dqa.core.text import counted
from dqa.deciders.method import Asking
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa_ldm2.likeness import nearest_type
from dqa_ldm2.memory import Memory
from dqa_ldm2.records import OTHER, MemoryType, Origin, StateAction, Version
from dqa_ldm2.replies import Subgoal
from dqa_ldm2.settings import Ldm2Settings, Preset
from dqa_ldm2.situation import Situation
from dqa_ldm2.steps import PACKAGE, History, Kind, cluster, described, evaluate, find_type
from dqa_ldm2.tables import stored_name

BATCH_SIZE: Final = 50
SCRIPTED: Final = "scripted:analyst"
"""The default model: a scripted program."""
_AT_ONCE, _CHARACTERS = 40, 24_000
"""The maximum number of texts, and of characters, in one request for types."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Receives the name of an activity, the number of finished items, and the number of all items."""


def no_progress(what: str, done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class ModelUse:
    """The model that forms or refines a memory.

    Attributes
    ----------
    model
        A chat model, or the name of a model, such as ``openai:gpt-5``.
    name
        The name that the memory stores; by default the name of the model.
    seed
        The seed of a scripted model.
    calls
        Retries, limits and budget.
    max_failures
        The maximum number of unusable replies to one prompt.
    """

    model: str | BaseChatModel = SCRIPTED
    name: str = ""
    seed: int = 0
    calls: CallPolicy = DEFAULT_POLICY
    max_failures: int = 3

    @property
    def stored_name(self) -> str:
        """The model's name in the memory: `name`, or else the name of the model itself."""
        own = self.model if isinstance(self.model, str) else self.model.get_name()
        return self.name or own

    def asking(self) -> Asking:
        """Return an `Asking` with a new recorder."""
        return Asking(PACKAGE, self._chat_model, self.max_failures, self.calls, Recorder())

    @cached_property
    def _chat_model(self) -> BaseChatModel:
        from dqa.models.registry import chat_model

        model = self.model
        return chat_model(model, seed=self.seed) if isinstance(model, str) else model


class Indexer:
    """Ask a model for the histories, subgoals and types of tuples. Not thread-safe.

    Parameters
    ----------
    use
        The model.
    preset
        The name of a preset in `dqa_ldm2.settings`. The preset defines whether subgoals are judged
        before each step, and the content of the prompts (Table 6).

    Attributes
    ----------
    requests
        The number of replies.
    forgotten
        The number of texts without a type in the replies.
    unusable
        The number of histories without a usable reply.
    unjudged
        The number of steps without a usable judgement of the subgoals.
    """

    def __init__(self, use: ModelUse, preset: Preset = "default") -> None:
        self.use = use
        self.requests = self.forgotten = self.unusable = self.unjudged = 0
        self._own = Ldm2Settings(preset=preset)

    def tuples(self, trajectory: Trajectory, first: int = 1) -> list[StateAction]:
        """Return the tuples from step `first` on, without their types."""
        history, subgoals = History(self._own.exact), tuple[Subgoal, ...]()
        found: list[StateAction] = []
        for number, step in enumerate(trajectory.steps[first - 1 :], first):
            before = trajectory.steps[: number - 1]
            asking = self.use.asking()
            actions = "; ".join(one.action for one in before)  # the history if no reply is usable
            try:
                actions = history.summarise(asking, trajectory.goal, before)
            except UnparsableReplyError:
                self.unusable += 1
            if self._own.evaluate and before:
                here = Situation(trajectory.goal, step.observation, (), before)
                try:
                    known, shown = ((), None) if self._own.exact else (subgoals, actions)
                    subgoals = evaluate(asking, here, known, shown)
                except UnparsableReplyError:
                    self.unjudged += 1
                    subgoals = ()
            self.requests += asking.recorder.steps
            one = StateAction(
                goal=trajectory.goal,
                history=actions,
                subgoals=described(subgoals),
                **asdict(step),
                source=trajectory.source,
                number=number,
                reward=trajectory.reward,
            )
            found.append(one)
        return found

    def types(self, kind: Kind, texts: Sequence[str]) -> dict[str, str]:
        """Return the type of each text (equations 7 and 8).

        A long list of texts is sent in several requests. Later requests offer the types of earlier
        replies. If no reply has a type for a text, the text gets the type whose words are most
        similar.
        """
        found: dict[str, str] = {}
        for part in _parts(list(dict.fromkeys(texts))):
            found |= self._types_of_part(kind, part, list(dict.fromkeys(found.values())))
        known = _memory_types(found)
        for text in texts:
            if text not in found:
                self.forgotten += 1
                found[text] = nearest_type(text, known) if known else OTHER
        return found

    def type_of(self, kind: Kind, text: str, types: Sequence[MemoryType]) -> str:
        """Return the type of a text: one of `types`, or `OTHER` if there are no types."""
        asking = self.use.asking()
        found = find_type(asking, kind, text, types)
        self.requests += asking.recorder.steps
        return found or OTHER

    def _types_of_part(self, kind: Kind, part: list[str], known: list[str]) -> dict[str, str]:
        if len(part) == 1 and not known:
            return {part[0]: stored_name(part[0][:60])}
        asking = self.use.asking()
        try:
            types = cluster(asking, kind, part, known).types
        except UnparsableReplyError:
            types = {}
        self.requests += asking.recorder.steps
        numbered = ((number, name) for name, numbers in types.items() for number in numbers)
        return {part[number - 1]: stored_name(name) for number, name in numbered}


@dataclass(slots=True)
class FormationReport:
    """The result of forming a memory.

    Attributes
    ----------
    memory, model
        The location of the memory, and the name of the model.
    batches
        The numbers of the new batches.
    trajectories, tuples
        The number of added trajectories and of added tuples; equal tuples of a batch count once.
    there
        The number of trajectories that were not added, because the memory already contained them.
    forgotten, unusable, unjudged, requests
        The counts of the indexer; see `Indexer`.
    """

    memory: str
    model: str
    batches: tuple[int, ...] = ()
    trajectories: int = 0
    tuples: int = 0
    there: int = 0
    forgotten: int = 0
    unusable: int = 0
    unjudged: int = 0
    requests: int = 0

    def lines(self) -> list[str]:
        """Return the report as lines."""
        lines = ["Nothing new"]
        if self.trajectories:
            batches = counted(len(self.batches), "new batch", "new batches")
            taken = counted(self.trajectories, "trajectory", "trajectories")
            lines = [f"{counted(self.tuples, 'tuple')} of {taken} in {batches}"]
        if self.there:
            existing = counted(self.there, "trajectory was", "trajectories were")
            lines.append(f"{existing} already in the memory")
        return lines


def form_memory(  # noqa: PLR0913  (independent parameters)
    memory: Memory,
    trajectories: Iterable[Trajectory],
    indexer: Indexer,
    *,
    source: str,
    batch_size: int = BATCH_SIZE,
    progress: Progress = no_progress,
) -> FormationReport:
    """Form a memory from trajectories. Trajectories that the memory already contains are skipped.

    Parameters
    ----------
    memory
        The memory.
    trajectories
        The trajectories. Each trajectory has a unique source, a goal and complete steps.
    indexer
        Asks the model for the histories, subgoals and types of the tuples.
    source
        The origin of the trajectories, in words.
    batch_size
        B, the number of trajectories in a batch; the last batch may have fewer.
    progress
        Is called after every trajectory.

    Raises
    ------
    UsageError
        `batch_size` is less than 1, or the memory is read-only.
    DataError
        A trajectory is incomplete, or two trajectories have the same source. Nothing was added.
    DqaError
        The model or the memory failed. Batches that were already complete stay in the memory.
    """
    if batch_size < 1:
        raise UsageError(f"A batch must have at least one trajectory, not {batch_size}.")
    report = FormationReport(memory.location, indexer.use.stored_name)
    whole = _new_trajectories(trajectories, memory.sources("formation"), report)
    origin = Origin("formation", source, report.model)
    for start in range(0, len(whole), batch_size):
        part = whole[start : start + batch_size]
        tuples: list[StateAction] = []
        for number, one in enumerate(part, start + 1):
            tuples += indexer.tuples(one)
            progress("Remembering", number, len(whole))
        version = memory.add(_typed(indexer, tuples), origin)
        report.trajectories += len(part)
        report.tuples += version.added
        report.batches += version.batches
    report.forgotten, report.unusable = indexer.forgotten, indexer.unusable
    report.unjudged, report.requests = indexer.unjudged, indexer.requests
    return report


def add_subtrajectory(  # noqa: PLR0913  (independent parameters)
    memory: Memory,
    batch: int,
    trajectory: Trajectory,
    indexer: Indexer,
    origin: Origin,
    *,
    first: int = 1,
) -> Version:
    """Add to a batch the tuples of a trajectory from step `first` on (section 3.3).

    The tuples get types that the batch already has.

    Parameters
    ----------
    memory, batch
        The memory, and the number of the batch.
    trajectory
        The whole trajectory. Steps before `first` are only history.
    indexer
        Asks the model for the histories, subgoals and types of the tuples.
    origin
        The operation that adds the tuples, their source, and the model.
    first
        The number of the key step (counted from 1).

    Raises
    ------
    UsageError
        The batch does not exist.
    DqaError
        The model or the memory failed. Nothing was added.
    """
    goal_type = indexer.type_of("goal", trajectory.goal, memory.goal_types(batch))
    types = memory.observation_types(batch, goal_type)
    known: dict[str, str] = {}
    tuples = []
    for one in indexer.tuples(trajectory, first):
        seen = one.observation
        if seen not in known:
            known[seen] = indexer.type_of("observation", seen, types)
        tuples.append(replace(one, goal_type=goal_type, observation_type=known[seen]))
    return memory.add(tuples, origin, batch)


def require_whole(trajectory: Trajectory) -> None:
    """Raise `DataError` if a trajectory is incomplete."""
    of_steps = [text for step in trajectory.steps for text in (step.observation, step.action)]
    texts = [trajectory.source, trajectory.goal, *of_steps]
    if not (of_steps and all(map(str.strip, texts)) and math.isfinite(trajectory.reward or 0.0)):
        raise DataError(
            f"The trajectory '{trajectory.source}' is incomplete. It needs a source, a goal, and "
            "steps with observations and actions. Its reward must be a finite number or None."
        )


def _new_trajectories(
    trajectories: Iterable[Trajectory], known: frozenset[str], report: FormationReport
) -> list[Trajectory]:
    """Return the trajectories to add, and count those that the memory already contains."""
    found: dict[str, Trajectory] = {}
    for one in trajectories:
        require_whole(one)
        if one.source in found:
            raise DataError(
                f"Two trajectories have the source '{one.source}'. Each trajectory needs its own."
            )
        if one.source in known:
            report.there += 1
        else:
            found[one.source] = one
    return list(found.values())


def _typed(indexer: Indexer, tuples: Sequence[StateAction]) -> list[StateAction]:
    """Ask for the type of each goal and each observation, and return the tuples with the types."""
    goals = indexer.types("goal", [one.goal for one in tuples])
    placed = [replace(one, goal_type=goals[one.goal]) for one in tuples]
    seen: dict[str, list[str]] = {}
    for one in placed:
        seen.setdefault(one.goal_type, []).append(one.observation)
    types = {goal: indexer.types("observation", texts) for goal, texts in seen.items()}
    return [replace(one, observation_type=types[one.goal_type][one.observation]) for one in placed]


def _memory_types(found: dict[str, str]) -> list[MemoryType]:
    texts: dict[str, list[str]] = {}
    for text, name in found.items():
        texts.setdefault(name, []).append(text)
    return [MemoryType(name, len(own), tuple(own[:3])) for name, own in texts.items()]


def _parts(texts: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = []
    size = 0
    for text in texts:
        if not parts or len(parts[-1]) >= _AT_ONCE or size + len(text) > _CHARACTERS:
            parts.append([])
            size = 0
        parts[-1].append(text)
        size += len(text)
    return parts
