"""Generate questions about worlds with known probabilities from a seed."""

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
_DIGITS = 9  # decimals of an expected utility: rounding errors of the machine are cut off


class DrawnWorld(NamedTuple):
    """A world, the situation with its public data, and the random stream of its questions."""

    world: UncertainWorld
    situation: Situation
    asking: np.random.Generator


@dataclass(frozen=True, slots=True)
class UncertainGenerator:
    """Question generator of a scenario whose worlds have known probabilities.

    See `dqa.scenarios.generation.Generator`.

    Attributes
    ----------
    scenario
        Name of the scenario. The random streams depend on it.
    build
        Draws a world and its situation, given the situation's name.
    target
        Returns the target values that all questions about a world share.
    listed
        The target key whose value lists the candidates.
    name
        Format string of a situation's name, with the field ``number``.
    stake
        The cost of a decision. An outcome is the utility minus the stake.
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
        """Yield an endless series of worlds, without the first `before`.

        Each world has its own random streams, so skipping worlds does not change later ones.
        """
        for number in count(before + 1):
            seeds = np.random.SeedSequence(seed, spawn_key=(crc32(self.scenario.encode()), number))
            building, asking = np.random.Generator(np.random.PCG64(seeds)).spawn(2)
            world, situation = self.build(building, self.name.format(number=number))
            yield DrawnWorld(world, situation, asking)

    def ask(
        self, scenario: Scenario, drawn: DrawnWorld, wanted: int | None = None
    ) -> list[LabelledQuestion]:
        """Return questions that each offer two or more of a world's actions, in random order.

        Parameters
        ----------
        scenario
            The scenario of the questions.
        drawn
            A world from `worlds`.
        wanted
            The maximum number of questions; by default 4.

        Returns
        -------
        list[LabelledQuestion]
            Questions without ids. Their `Truth.outcomes` are true expected utilities minus the
            stake, not the utilities of one random future. Sets of actions without a clear best
            action are skipped.
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
        """Yield worlds with questions, ``request.count`` questions in total."""
        left = request.count
        for drawn in self.worlds(request.seed, request.databases_before):
            asked = self.ask(scenario, drawn, request.per_database)[:left]
            left -= len(asked)
            yield Drawn(drawn.situation, asked)
            if left <= 0:
                break

    def label_rules(self, situation: Situation) -> tuple[str, ...]:
        """Return an empty tuple, because recorded outcomes have no rule sets."""
        del situation
        return ()


def _is_clear(truth: Mapping[str, float], choice: tuple[str, ...]) -> bool:
    second, best = sorted(truth[action] for action in choice)[-2:]
    return best - second > _SMALLEST_MARGIN * best
