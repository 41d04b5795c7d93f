"""Kuhn poker with programs that play it, as a world that nothing but tests knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dqa import plugins
from dqa.core.question import Candidate
from dqa.worlds.base import Policy, PolicyFactory, WorldFactory
from dqa.worlds.world import Position


class First(Policy):
    """Takes the first action."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Look at nothing."""
        del random
        return position.actions[0]


class Last(Policy):
    """Takes the last action: raises where it can."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Look at nothing."""
        del random
        return position.actions[-1]


class Uniform(Policy):
    """Draws."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Look at nothing."""
        return position.actions[int(random.integers(len(position.actions)))]


POLICIES = {
    name: PolicyFactory(name, "plays in tests", lambda _, made=made: made())  # type: ignore[misc]
    for name, made in (("passive", First), ("eager", Last), ("uniform", Uniform))
}


def register(monkeypatch: Any) -> WorldFactory:
    """Let Kuhn poker have these programs."""
    made = replace(plugins.world("kuhn"), policies=POLICIES)
    before = plugins.world
    monkeypatch.setattr(plugins, "world", lambda name: made if name == "kuhn" else before(name))
    return made
