"""What refining a memory found, as records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dqa.core.decision import Usage
from dqa_ldm2.events import ExplorationEvent, KeyStepEvent


@dataclass(frozen=True, slots=True)
class Calls:
    """Requests, corrections included, by what they asked for.

    Attributes
    ----------
    exploring
        For possible actions with confidences.
    comparing
        For the key step.
    adding
        For summaries and types of what was added.
    """

    exploring: int = 0
    comparing: int = 0
    adding: int = 0

    def __add__(self, other: Calls) -> Calls:
        return Calls(
            self.exploring + other.exploring,
            self.comparing + other.comparing,
            self.adding + other.adding,
        )


@dataclass(frozen=True, slots=True)
class RefinedGoal:
    """What exploring one goal came to.

    Attributes
    ----------
    source, goal
        Which, and what was to be reached.
    batch
        The batch memory that was explored by and added to.
    ground_reward, best_reward
        What the ground process and the best process brought; None where it came to no end.
    exploration
        All that was explored.
    key_step
        Where the best process leaves the ground process; None where nothing was compared.
    version, added
        The addition to the memory, and how many tuples it has; None and 0 for none.
    calls
        What it took.
    usage
        Tokens and calls of the model.
    asked, repeated
        How many states were asked about, and how often one came up again that was known.
    majorities
        How many states were not asked about, because the retrieved actions agree.
    pruned
        How many paths were left.
    failed
        Paths that the world ended with an error, in words.
    unusable
        Paths that ended because no reply could be used.
    unfinished
        Paths that reached the bound of depth.
    normalised, missing, dropped
        How many sets of confidences did not add up to 1, how many actions came without one, and how
        many were not legal.
    is_ground_lost
        Whether an error of the world ended the ground process.
    """

    source: str
    goal: str
    batch: int
    ground_reward: float | None
    best_reward: float | None
    exploration: ExplorationEvent
    key_step: KeyStepEvent | None = None
    version: int | None = None
    added: int = 0
    calls: Calls = field(default_factory=Calls)
    usage: Usage = field(default_factory=Usage)
    asked: int = 0
    repeated: int = 0
    majorities: int = 0
    pruned: int = 0
    failed: tuple[str, ...] = ()
    unusable: int = 0
    unfinished: int = 0
    normalised: int = 0
    missing: int = 0
    dropped: int = 0
    is_ground_lost: bool = False

    @property
    def is_improved(self) -> bool:
        """Whether the best process brought more than the ground process.

        Not where the world ended the ground process: nobody knows what it would have brought.
        """
        if self.is_ground_lost:
            return False
        return (self.best_reward or 0.0) > (self.ground_reward or 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON has of it; the explored tree stands in traces."""
        key = self.key_step
        return {
            "source": self.source,
            "goal": self.goal,
            "batch": self.batch,
            "ground_reward": self.ground_reward,
            "best_reward": self.best_reward,
            "key_step": None if key is None else key.key_step,
            "said_step": None if key is None else key.said,
            "version": self.version,
            "added": self.added,
            "calls": {
                "exploring": self.calls.exploring,
                "comparing": self.calls.comparing,
                "adding": self.calls.adding,
            },
            "asked": self.asked,
            "repeated": self.repeated,
            "majorities": self.majorities,
            "pruned": self.pruned,
            "failed": list(self.failed),
            "is_ground_lost": self.is_ground_lost,
            "unusable": self.unusable,
            "unfinished": self.unfinished,
            "normalised": self.normalised,
            "missing": self.missing,
            "dropped": self.dropped,
        }


@dataclass(frozen=True, slots=True)
class RefinementReport:
    """What refining a memory came to, goal by goal.

    Attributes
    ----------
    goals
        In order.
    memory, model
        What was refined, and what answered.
    """

    goals: tuple[RefinedGoal, ...]
    memory: str
    model: str = ""

    @property
    def improved(self) -> int:
        """How many goals were reached better than the memory does."""
        return sum(goal.is_improved for goal in self.goals)

    @property
    def added(self) -> int:
        """How many tuples were added."""
        return sum(goal.added for goal in self.goals)

    @property
    def corrected(self) -> int:
        """How many key steps were not what the model said."""
        keys = [goal.key_step for goal in self.goals if goal.key_step is not None]
        return sum(key.said != key.key_step for key in keys)

    @property
    def failed(self) -> int:
        """How many paths the world ended with an error."""
        return sum(len(goal.failed) for goal in self.goals)

    @property
    def calls(self) -> Calls:
        """What all of it took."""
        total = Calls()
        for goal in self.goals:
            total += goal.calls
        return total

    def to_json(self) -> dict[str, Any]:
        """Return what JSON has of it."""
        return {
            "memory": self.memory,
            "model": self.model,
            "improved": self.improved,
            "added": self.added,
            "corrected": self.corrected,
            "failed": self.failed,
            "goals": [goal.to_json() for goal in self.goals],
        }
