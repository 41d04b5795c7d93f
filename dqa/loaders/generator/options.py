"""What makes generated questions harder, whatever the scenario."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dqa.core.errors import UsageError

__all__ = ["Difficulty", "require"]


def require(holds: bool, problem: str) -> None:
    """Raise `UsageError` with `problem` unless something holds: for sizes and other options."""
    if not holds:
        raise UsageError(problem)


@dataclass(frozen=True, slots=True)
class Difficulty:
    """What makes questions harder, whatever the scenario.

    Attributes
    ----------
    hops
        The answer lies at least this many steps away from what the question is about; the
        scenario's generator says what a step is.
    min_margin, max_margin
        Bounds of what the runner-up gives away, as a share of what the answer gains over doing
        nothing (`Outcomes.relative_regret`). A small margin takes an exact calculation.
    rivals
        At least as many candidates, the answer among them, are better than doing nothing.
    distractors
        Things that are added to every world and are connected with nothing that matters.

    Raises
    ------
    UsageError
        A bound is out of range.
    """

    hops: int = 1
    min_margin: float = 0.0
    max_margin: float = math.inf
    rivals: int = 2
    distractors: int = 0

    def __post_init__(self) -> None:
        require(1 <= self.hops <= 20, f"hops must be from 1 to 20, not {self.hops}.")
        require(
            0.0 <= self.min_margin < self.max_margin,
            f"Margins must satisfy 0 <= min_margin < max_margin, not {self.min_margin} and "
            f"{self.max_margin}.",
        )
        require(self.rivals >= 1, f"rivals must be at least 1, not {self.rivals}.")
        require(
            self.distractors >= 0, f"distractors must not be negative, but is {self.distractors}."
        )
