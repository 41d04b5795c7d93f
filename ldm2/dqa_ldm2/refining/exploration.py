"""Tree exploration (section 3.3): the paths of the largest confidence, to their rewards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from dqa.core.errors import DqaError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.core.secrets import redact
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.actions import choose_action
from dqa.models.conversation import Conversation
from dqa_ldm2.events import ExplorationEvent, ExploredNode
from dqa_ldm2.memory.base import Memory, Remembered
from dqa_ldm2.operations.acting import Known, confidences_event, explore
from dqa_ldm2.refining.explorable import Explorable, Explored
from dqa_ldm2.replies import Confidences
from dqa_ldm2.retrieving import Find, Retriever, find_nearest, last_actions
from dqa_ldm2.settings import RefiningSettings
from dqa_ldm2.situation import Situation

_ROUNDING = 1e-6
_FEWEST = 2
"""Fewest retrieved tuples that can agree."""


@dataclass(slots=True)
class Path:
    """A way through the tree.

    Attributes
    ----------
    node
        Number of its last node.
    state
        Where it is; None as long as its last action was not taken.
    confidence
        The product of the confidences of its actions.
    is_ground
        Whether each of its actions is the most confident one: the ground process.
    action
        Its last action, as long as that was not taken.
    problem
        What ended it, where nothing could go on.
    """

    node: int
    state: Explored
    confidence: float = 1.0
    is_ground: bool = True
    action: Candidate | None = None
    problem: str = ""
    is_lost: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return self.state.reward is None and not self.problem

    @property
    def reward(self) -> float:
        """What it brought; nothing where it came to no end."""
        return self.state.reward or 0.0

    def trajectory(self, source: str) -> Trajectory:
        """Return its steps."""
        here = self.state.situation
        return Trajectory(here.goal, here.steps, source, self.state.reward, here.observation)


@dataclass(slots=True)
class Found:
    """What an exploration found.

    Attributes
    ----------
    paths
        Those that were kept, the ground process first.
    nodes
        Every node.
    asked, repeated, majorities, normalised, missing, dropped, pruned, failed, unusable
        As `dqa_ldm2.refining.report.RefinedGoal` has them.
    """

    paths: list[Path] = field(default_factory=list)
    nodes: list[ExploredNode] = field(default_factory=list)
    asked: int = 0
    repeated: int = 0
    majorities: int = 0
    normalised: int = 0
    missing: int = 0
    dropped: int = 0
    pruned: int = 0
    failed: list[str] = field(default_factory=list)
    unusable: int = 0

    @property
    def ground(self) -> Path:
        """The ground process."""
        return next(path for path in self.paths if path.is_ground)

    @property
    def best(self) -> Path:
        """The path of the largest reward; of equals the ground process, then the most confident."""
        return max(self.paths, key=lambda path: (path.reward, path.is_ground, path.confidence))

    def event(self, source: str) -> ExplorationEvent:
        """Return the tree, with what its ends brought."""
        ends = {
            path.node: {"reward": path.state.reward, "problem": path.problem} for path in self.paths
        }
        nodes = [node.model_copy(update=ends.get(node.number)) for node in self.nodes]
        return ExplorationEvent(source=source, nodes=tuple(nodes))


class Exploration:
    """Explores one goal by one batch memory.

    Each level asks about at most n states, so at most n times the depth in all: what is done so far
    is shown as it is and not summarised, types are found by words, and the ground process is the
    path of most confident actions, which is always one of the n.

    Parameters
    ----------
    memory, batch
        What is remembered.
    own
        n, the depth, when retrieved actions agree.
    find
        Finds the tuples that are shown.
    """

    def __init__(
        self, memory: Memory, batch: int, own: RefiningSettings, find: Find = find_nearest
    ) -> None:
        self._retriever = Retriever(memory, own.retrieved, find, asks=False)
        self._batch = batch
        self._own = own

    def explore(self, explorable: Explorable, conversation: Conversation) -> Found:
        """Return the paths, each with what it brought.

        Raises
        ------
        InfrastructureError, BudgetSpentError
            The model or the memory fails. What the explorable raises ends a path.
        """
        found = Found()
        root = explorable.start()
        begun = ExploredNode(number=0, parent=None, action=None, confidence=1.0, depth=0)
        found.nodes.append(begun.model_copy(update={"is_ground": True}))
        found.paths = [Path(0, root)]
        known: dict[object, Confidences | None] = {}
        for depth in range(1, self._own.depth + 1):
            if not any(path.is_open for path in found.paths):
                break
            level: list[Path] = []
            for path in found.paths:
                level += self._split(path, found, known, conversation) if path.is_open else [path]
            found.paths = self._kept(level, found, depth)
            for path in found.paths:
                if path.action is not None:
                    _act(path, explorable, found)
            found.paths = _without_twins(found.paths, found)
        return found

    def _split(
        self,
        path: Path,
        found: Found,
        known: dict[object, Confidences | None],
        conversation: Conversation,
    ) -> list[Path]:
        """Return a path for each action that may be taken at the end of one."""
        key = path.state.key
        if key in known:
            found.repeated += 1
        else:
            known[key] = self._options(path.state.situation, found, conversation)
        options = known[key]
        if options is None:
            path.problem = "no reply could be used"
            found.unusable += 1
            return [path]
        return [
            Path(
                path.node,
                path.state,
                path.confidence * confidence,
                path.is_ground and place == 0,
                action,
            )
            for place, (action, confidence) in enumerate(options.actions)
        ]

    def _options(
        self, situation: Situation, found: Found, conversation: Conversation
    ) -> Confidences | None:
        """Return what may be done; None where no reply could be used."""
        recorder = conversation.recorder
        if len(situation.actions) == 1 and not situation.free_form:
            return Confidences(((situation.actions[0], 1.0),))
        history = last_actions(situation.steps)
        remembered = self._retriever.retrieve(situation, self._batch, history, conversation)
        agreed, share = majority_of(remembered, situation, self._own.majority)
        if agreed is not None:
            found.majorities += 1
            options = Confidences(((agreed, 1.0),))
            recorder.note(confidences_event(options, recorder.steps, share))
            return options
        found.asked += 1
        own = self._own
        try:
            options = explore(situation, Known(remembered), own.paths, conversation, own.context)
        except UnparsableReplyError:
            return None  # the recorder has why
        found.normalised += options.said is None or abs(options.said - 1.0) > _ROUNDING
        found.missing += options.missing
        found.dropped += options.dropped
        return options

    def _kept(self, level: Sequence[Path], found: Found, depth: int) -> list[Path]:
        """Return the n most confident paths, the ground process among them, and number them."""
        ranked = sorted(level, key=lambda path: (not path.is_ground, -path.confidence))
        kept = {id(path) for path in ranked[: self._own.paths]}
        for path in level:
            if path.action is not None:
                number = len(found.nodes)
                found.nodes.append(
                    ExploredNode(
                        number=number,
                        parent=path.node,
                        action=path.action,
                        confidence=path.confidence,
                        depth=depth,
                        is_kept=id(path) in kept,
                        is_ground=path.is_ground,
                    )
                )
                path.node = number
        found.pruned += len(level) - len(kept)
        return [path for path in ranked if id(path) in kept]


def majority_of(
    remembered: Sequence[Remembered], situation: Situation, share: float
) -> tuple[Candidate | None, float]:
    """Return the action on which enough of the retrieved tuples agree, and the share that does.

    None where fewer agree, where fewer than two are there, or where what they did is not legal
    here.
    """
    done = Counter(one.placed.content.action for one in remembered)
    if len(remembered) < _FEWEST:
        return None, 0.0
    action, times = done.most_common(1)[0]
    agreeing = times / len(remembered)
    if agreeing < share:
        return None, agreeing
    try:
        return choose_action(
            action, situation.actions, situation.noun, situation.free_form
        ), agreeing
    except UnparsableReplyError:
        return None, agreeing


def _act(path: Path, explorable: Explorable, found: Found) -> None:
    """Take the last action of a path; what the world raises ends the path, and is counted."""
    action, path.action = path.action, None
    if action is None:
        return
    try:
        path.state = explorable.act(path.state, action)
    except Exception as error:  # noqa: BLE001  (one failing state ends one path)
        words = redact(" ".join(str(error).split()))
        kind = "" if isinstance(error, DqaError) else f"{type(error).__name__}: "
        path.problem, path.is_lost = f"{kind}{words}", True
        here = path.state.situation
        steps = (*here.steps, Step(here.observation, str(action)))
        found.failed.append(f"{str(action)!r} at step {len(steps)}: {path.problem}")


def _without_twins(paths: Sequence[Path], found: Found) -> list[Path]:
    """Return paths without those that came to the state of a path before them."""
    kept: dict[object, Path] = {}
    for path in paths:
        key = (path.state.key, path.problem, path.state.reward)
        if key in kept:
            found.repeated += 1
        else:
            kept[key] = path
    return list(kept.values())
