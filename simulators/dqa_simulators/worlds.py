"""Questions about worlds of known uncertainty, from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, count, islice
from typing import NamedTuple
from zlib import crc32

import numpy as np

from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.scenarios.base import LIST_SEPARATOR, Scenario
from dqa.scenarios.generation import Drawn, Request, Size
from dqa_simulators.uncertain import UncertainWorld

_SMALLEST_MARGIN = 1e-6  # least lead of an answer over the runner-up, as a share of its value
_PER_WORLD = 4
_DIGITS = 9  # of an expected utility: hides how a machine rounds, and no difference that matters


class DrawnWorld(NamedTuple):
    """A world, the public knowledge of it, and the random stream to ask about it with."""

    world: UncertainWorld
    situation: Situation
    asking: np.random.Generator


@dataclass(frozen=True, slots=True)
class UncertainGenerator:
    """The parts that are particular to a scenario whose worlds have a known uncertainty.

    See `dqa.scenarios.generation.Generator`.

    Attributes
    ----------
    scenario
        Its name, which decides the random streams.
    build
        Draws a world and its situation of a name.
    target
        Returns what every question about a world has in common.
    listed
        The key of the target that lists the candidates.
    name
        Format of a situation's name over ``number``.
    stake
        What deciding costs: an outcome is the utility beyond it.
    """

    scenario: str
    build: Callable[[np.random.Generator, str], tuple[UncertainWorld, Situation]]
    target: Callable[[Situation], Mapping[str, str]]
    listed: str
    name: str
    stake: float = 0.0
    size: Size | None = None
    takes_difficulty: bool = False
    release: tuple[int, int] | None = None

    def worlds(self, seed: int = 0, before: int = 0) -> Iterator[DrawnWorld]:
        """Yield worlds without end: those behind the questions, in order.

        Each has random streams of its own, so the first ones, `before`, can be left out.
        """
        for number in count(before + 1):
            seeds = np.random.SeedSequence(seed, spawn_key=(crc32(self.scenario.encode()), number))
            building, asking = np.random.Generator(np.random.PCG64(seeds)).spawn(2)
            world, situation = self.build(building, self.name.format(number=number))
            yield DrawnWorld(world, situation, asking)

    def ask(
        self, scenario: Scenario, drawn: DrawnWorld, wanted: int | None = None
    ) -> list[LabelledQuestion]:
        """Ask about choices of two or more of a world's actions, in random order.

        Parameters
        ----------
        scenario
            Whose questions they are.
        drawn
            From `worlds`.
        wanted
            Most questions; by default 4.

        Returns
        -------
        list[LabelledQuestion]
            Questions whose `Truth.outcomes` are the true expected utilities beyond the stake, not
            what happened to come true, so the best decision is the one that was best to make.
            Choices without a clear best one are passed over. Their ids are still free.
        """
        world, situation, rng = drawn
        expected = [round(value, _DIGITS) for value in world.expected_utilities().tolist()]
        truth = dict(zip(world.actions, expected, strict=True))
        choices = [c for n in range(2, len(truth) + 1) for c in combinations(world.actions, n)]
        clear = (choices[i] for i in rng.permutation(len(choices)) if _is_clear(truth, choices[i]))
        return [
            scenario.recorded(
                situation,
                "",
                {self.listed: LIST_SEPARATOR.join(choice), **self.target(situation)},
                {action: round(value - self.stake, _DIGITS) for action, value in truth.items()},
            )
            for choice in islice(clear, wanted or _PER_WORLD)
        ]

    def questions(self, scenario: Scenario, request: Request) -> Iterator[Drawn]:
        """Yield worlds with questions, ``request.count`` in all."""
        left = request.count
        for drawn in self.worlds(request.seed, request.databases_before):
            asked = self.ask(scenario, drawn, request.per_database)[:left]
            left -= len(asked)
            yield Drawn(drawn.situation, asked)
            if left <= 0:
                break

    def label_rules(self, situation: Situation) -> tuple[str, ...]:
        """Return no rule set: no simulator judges recorded outcomes."""
        del situation
        return ()


def _is_clear(truth: Mapping[str, float], choice: tuple[str, ...]) -> bool:
    second, best = sorted(truth[action] for action in choice)[-2:]
    return best - second > _SMALLEST_MARGIN * best
