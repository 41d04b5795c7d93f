"""The key of a decision in its run."""

from __future__ import annotations

from typing import NamedTuple


class DecisionKey(NamedTuple):
    """The key of a decision: the question, its database, the decider and the epoch."""

    question: str
    database: str
    decider: str
    epoch: int = 1

    @property
    def requester(self) -> tuple[str, ...]:
        """The names that identify this decision's model calls in recordings."""
        named = (self.question, self.database, self.decider)
        return named if self.epoch == 1 else (*named, f"epoch {self.epoch}")

    @property
    def id(self) -> str:
        """The id of the decision in the audit of statements."""
        return " ".join(map(str, self))

    def __str__(self) -> str:
        repeat = "" if self.epoch == 1 else f", epoch {self.epoch}"
        return f"{self.question}, decided by {self.decider} on {self.database}{repeat}"
