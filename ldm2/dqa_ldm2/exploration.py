"""Tree exploration (section 3.3): follow the most confident paths to their rewards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True)
class Path:
    """A path through the tree of explored states.

    Attributes
    ----------
    state
        The last state.
    confidence
        The product of the confidences of the actions.
    is_ground
        Whether this path is the ground process: the path that takes the most confident action in
        every state.
    action
        The next action; None if no next action is chosen.
    is_closed
        Whether the path has ended: with a reward, by an error, or without a usable reply.
    is_lost
        Whether an error of the world ended the path.
    """

    state: Explored
    confidence: float = 1.0
    is_ground: bool = True
    action: Candidate | None = None
    is_closed: bool = False
    is_lost: bool = False

    def trajectory(self, source: str) -> Trajectory:
        """Return the path as a trajectory."""
        here = self.state.situation
        return Trajectory(here.goal, here.steps, source, self.state.reward, here.observation)


class Exploration:
    """The exploration of one goal with one batch memory.

    Each step asks the model at most once for each of the parallel paths. The types of goals and
    observations are found by comparing words, without the model. Prompts show the last actions
    instead of a summary. The ground process is the path that takes the most confident action in
    every state.

    Parameters
    ----------
    memory, batch
        The memory, and the number of the batch.
    own
        The bounds of the exploration.
    asking
        Asks the model.
    preset
        The name of a preset in `dqa_ldm2.settings`, such as the paper's settings for WebShop.

    Attributes
    ----------
    paths
        The paths that were not pruned.
    counts
        ``asked``: states about which the model was asked. ``majorities``: states in which the
        majority of the retrieved tuples decided without the model. ``pruned``: pruned paths.
        ``unusable``: paths that ended without a usable reply. ``dropped``: actions in replies that
        are illegal or lack a confidence.
    failed
        The errors of the world, each with its action.
    """

    def __init__(
        self,
        memory: Memory,
        batch: int,
        own: RefiningSettings,
        asking: Asking,
        preset: Preset = "default",
    ) -> None:
        exact = Ldm2Settings(preset=preset).exact
        self._retriever = Retriever(memory, own.retrieved, asks=False, exact=exact)
        self._batch, self._own, self._asking = batch, own, asking
        self.paths: list[Path] = []
        self.counts = Counter[str]()
        self.failed: list[str] = []

    @property
    def ground(self) -> Path:
        """The ground process: the path of the most confident actions."""
        return next(path for path in self.paths if path.is_ground)

    @property
    def best(self) -> Path:
        """The path with the largest reward.

        If several paths have the largest reward, the ground process is preferred, and then the most
        confident path.
        """
        return max(
            self.paths, key=lambda path: (path.state.reward or 0.0, path.is_ground, path.confidence)
        )

    def explore(self, explorable: Explorable) -> None:
        """Follow the paths from the start of a goal to their rewards.

        Raises
        ------
        InfrastructureError, BudgetSpentError
            The model or the memory fails. An error of the world only ends one path.
        """
        self.paths = [Path(explorable.start())]
        for _ in range(self._own.depth):
            level = [after for path in self.paths for after in self._split(path)]
            ranked = sorted(level, key=lambda path: (not path.is_ground, -path.confidence))
            kept = ranked[: self._own.paths]
            self.counts["pruned"] += len(level) - len(kept)
            self.paths = [self._act(path, explorable) for path in kept]
            if all(path.is_closed for path in self.paths):
                break

    def _split(self, path: Path) -> Iterator[Path]:
        """Yield the path with each of its possible next actions.

        A closed path is yielded unchanged.
        """
        shares = None if path.is_closed else self._shares(path.state.situation)
        if shares is None:
            yield replace(path, is_closed=True)
            return
        for index, (action, share) in enumerate(shares):
            is_ground = path.is_ground and index == 0
            yield Path(path.state, path.confidence * share, is_ground, action)

    def _shares(self, situation: Situation) -> Shares | None:
        """Return likely next actions with their confidences; None if no reply could be used."""
        own = self._own
        if situation.only_action is not None:
            return ((situation.only_action, 1.0),)
        history = last_actions(situation.steps)
        remembered = self._retriever.retrieve(self._asking, situation, self._batch, history)
        agreed = majority_of(remembered, situation, own.majority)
        if agreed is not None:
            self.counts["majorities"] += 1
            return ((agreed, 1.0),)
        self.counts["asked"] += 1
        try:
            reply = explore(self._asking, situation, Known(remembered), own.paths, own.context)
        except UnparsableReplyError:
            self.counts["unusable"] += 1
            return None
        self.counts["dropped"] += len(reply.dropped)
        return reply.shares(own.paths)

    def _act(self, path: Path, explorable: Explorable) -> Path:
        """Take the next action of a path. An error of the world ends the path."""
        if path.action is None:
            return path
        try:
            state = explorable.act(path.state, path.action)
        except Exception as error:  # noqa: BLE001  (one failing state ends one path)
            kind = "" if isinstance(error, DqaError) else f"{type(error).__name__}: "
            step = len(path.state.situation.steps) + 1
            problem = f"{kind}{redact(' '.join(str(error).split()))}"
            self.failed.append(f"{str(path.action)!r} at step {step}: {problem}")
            return replace(path, action=None, is_closed=True, is_lost=True)
        return replace(path, state=state, action=None, is_closed=state.reward is not None)


def majority_of(
    remembered: Sequence[Remembered], situation: Situation, share: float
) -> Candidate | None:
    """Return the most frequent action of the retrieved tuples, if its share is at least `share`.

    The result is None if the share is lower, if the action is not legal, or if there are fewer than
    two tuples.
    """
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
