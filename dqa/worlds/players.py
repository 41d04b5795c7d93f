"""Programs that play any world."""

from __future__ import annotations

from typing import Final

import numpy as np

from dqa.core.question import Candidate
from dqa.worlds.base import Policy, PolicyFactory
from dqa.worlds.world import Position


class RandomPolicy(Policy):
    """Takes any legal action, each as likely as any other."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Draw one of the position's actions."""
        return position.actions[int(random.integers(len(position.actions)))]


RANDOM: Final = PolicyFactory(
    name="random",
    description="takes any legal action, each as likely as any other",
    make=lambda _: RandomPolicy(),
)
