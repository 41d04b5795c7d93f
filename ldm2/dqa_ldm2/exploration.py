"""Tree exploration (section 3.3): follow the most confident paths to their rewards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from dqa.core.decider import Trajectory
from dqa.core.errors import DqaError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.core.secrets import redact
from dqa.deciders.method import Asking
from dqa.deciders.replies import read_action
from dqa_ldm2.explorable import Explorable, Explored
from dqa_ldm2.memory import Memory
from dqa_ldm2.records import Remembered
from dqa_ldm2.retrieval import Retriever
from dqa_ldm2.settings import Ldm2Settings, Preset, RefiningSettings
from dqa_ldm2.situation import Situation
from dqa_ldm2.steps import Known, explore, last_actions

Shares: TypeAlias = tuple[tuple[Candidate, float], ...]
_FEWEST: Final = 2
"""The minimum number of retrieved tuples that can form a majority."""


@dataclass(slots=True)
class Path:
    """A path through the tree.

    Attributes
    ----------
    state
        The state before `action` is taken.
    confidence
        The product of the confidences of the actions.
    is_ground
        Whether this is the ground process: the path of the most confident actions.
    action
        The action to take next; None if it was taken.
    problem
        Why the path stopped before the goal ended; empty if it did not.
    is_lost
        Whether an error of the world ended the path.
    """

    state: Explored
    confidence: float = 1.0
    is_ground: bool = True
    action: Candidate | None = None
    problem: str = ""
    is_lost: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the path continues."""
        return self.state.reward is None and not self.problem

    def trajectory(self, source: str) -> Trajectory:
        """Return the path as a trajectory."""
        here = self.state.situation
        return Trajectory(here.goal, here.steps, source, self.state.reward, here.observation)


@dataclass(slots=True)
class Found:
    """The result of an exploration.

    Attributes
    ----------
    paths
        The remaining paths.
    counts
        The number of states that the model was ``asked`` about, that were ``repeated``, and whose
        tuples had a majority (``majorities``). The number of paths that were ``pruned``, or that
        ended because of ``unusable`` replies. The number of illegal actions that were ``dropped``.
    failed
        The errors of the world, each with its action.
    """

    paths: list[Path] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    @property
    def ground(self) -> Path:
        """The ground process."""
        return next(path for path in self.paths if path.is_ground)

    @property
    def best(self) -> Path:
        """The path with the largest reward. Of equal paths, the ground or most confident path."""
        return max(
            self.paths, key=lambda path: (path.state.reward or 0.0, path.is_ground, path.confidence)
        )


class Exploration:
    """Explore one goal with one batch memory.

    The model is asked at most n times for each step. Types are found by comparing words, and steps
    are shown without a summary. The ground process is the path of the most confident actions.
    """

    def __init__(
        self, memory: Memory, batch: int, own: RefiningSettings, preset: Preset = "default"
    ) -> None:
        exact = Ldm2Settings(preset=preset).exact
        self._retriever = Retriever(memory, own.retrieved, asks=False, exact=exact)
        self._batch = batch
        self._own = own
        self._known: dict[object, Shares | None] = {}

    def explore(self, explorable: Explorable, asking: Asking) -> Found:
        """Return the paths with their rewards.

        Raises
        ------
        InfrastructureError, BudgetSpentError
            The model or the memory fails. An error of the explorable only ends a path.
        """
        found = Found([Path(explorable.start())])
        for _ in range(self._own.depth):
            if not any(path.is_open for path in found.paths):
                break
            level: list[Path] = []
            for path in found.paths:
                level += self._split(path, found, asking) if path.is_open else [path]
            found.paths = self._keep(level, found)
            for path in found.paths:
                if path.action is not None:
                    _act(path, explorable, found)
            _drop_twins(found)
        return found

    def _split(self, path: Path, found: Found, asking: Asking) -> list[Path]:
        """Return a path for each possible action at the end of `path`."""
        key = path.state.key
        if key in self._known:
            found.counts["repeated"] += 1
        else:
            self._known[key] = self._shares(path.state.situation, found, asking)
        shares = self._known[key]
        if shares is None:
            path.problem = "no reply could be used"
            found.counts["unusable"] += 1
            return [path]
        return [
            Path(
                path.state,
                path.confidence * share,
                path.is_ground and place == 0,
                action,
            )
            for place, (action, share) in enumerate(shares)
        ]

    def _shares(self, situation: Situation, found: Found, asking: Asking) -> Shares | None:
        """Return the possible actions with confidences; None if no reply could be used."""
        own = self._own
        if situation.only_action is not None:
            return ((situation.only_action, 1.0),)
        history = last_actions(situation.steps)
        remembered = self._retriever.retrieve(asking, situation, self._batch, history)
        agreed = majority_of(remembered, situation, own.majority)
        if agreed is not None:
            found.counts["majorities"] += 1
            return ((agreed, 1.0),)
        found.counts["asked"] += 1
        try:
            reply = explore(asking, situation, Known(remembered), own.paths, own.context)
        except UnparsableReplyError:
            return None
        found.counts["dropped"] += len(reply.dropped)
        return reply.shares(own.paths)

    def _keep(self, level: Sequence[Path], found: Found) -> list[Path]:
        """Return the n most confident paths, including the ground process."""
        ranked = sorted(level, key=lambda path: (not path.is_ground, -path.confidence))
        kept = ranked[: self._own.paths]
        found.counts["pruned"] += len(level) - len(kept)
        return kept


def majority_of(
    remembered: Sequence[Remembered], situation: Situation, share: float
) -> Candidate | None:
    """Return the legal action in at least `share` of the retrieved tuples, or None."""
    if len(remembered) < _FEWEST:
        return None
    (action, times), *_ = Counter(one.action for one in remembered).most_common(1)
    if times / len(remembered) < share:
        return None
    options = situation.options
    try:
        return read_action(action, options.actions, options.noun, options.form)
    except UnparsableReplyError:
        return None


def _act(path: Path, explorable: Explorable, found: Found) -> None:
    """Take the next action of a path. An error of the world ends the path."""
    action, path.action = path.action, None
    if action is None:
        return
    try:
        path.state = explorable.act(path.state, action)
    except Exception as error:  # noqa: BLE001  (one failing state ends one path)
        kind = "" if isinstance(error, DqaError) else f"{type(error).__name__}: "
        path.problem = f"{kind}{redact(' '.join(str(error).split()))}"
        path.is_lost = True
        step = len(path.state.situation.steps) + 1
        found.failed.append(f"{str(action)!r} at step {step}: {path.problem}")


def _drop_twins(found: Found) -> None:
    """Drop paths that reached the same state as an earlier path."""
    kept: dict[object, Path] = {}
    for path in found.paths:
        key = (path.state.key, path.problem, path.state.reward)
        found.counts["repeated"] += key in kept
        kept.setdefault(key, path)
    found.paths = list(kept.values())
