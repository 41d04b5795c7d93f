"""Questions about worlds of known uncertainty, from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, count, islice
from zlib import crc32

import numpy as np

from dqa import plugins
from dqa.core.errors import UnknownNameError
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.scenarios.base import LIST_SEPARATOR
from dqa_simulators.agriculture.generator import agriculture_target, build_agriculture
from dqa_simulators.stocks.generator import build_stocks, stocks_target
from dqa_simulators.uncertain import UncertainWorld

__all__ = ["UNCERTAIN_SCENARIOS", "ask_world", "uncertain_worlds"]

_SMALLEST_MARGIN = 1e-6  # least lead of an answer over the runner-up, as a share of its value
_PER_WORLD = 4
_DIGITS = 9  # of an expected utility: hides how a machine rounds, and no difference that matters


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What is particular to generating one scenario."""

    build: Callable[[np.random.Generator, str], tuple[UncertainWorld, Situation]]
    target: Callable[[Situation], Mapping[str, str]]
    listed: str  # key of the target that lists the candidates
    name: str  # format of a situation's name
    stake: float = 0.0  # what deciding costs: an outcome is the utility beyond it


_RECIPES: Mapping[str, _Recipe] = {
    "agriculture": _Recipe(build_agriculture, agriculture_target, "crops", "valley{number}"),
    "stocks": _Recipe(build_stocks, stocks_target, "symbols", "market{number}", stake=1.0),
}

UNCERTAIN_SCENARIOS = tuple(_RECIPES)
"""Scenarios that worlds of known uncertainty can be generated for."""


def uncertain_worlds(
    scenario: str, seed: int = 0
) -> Iterator[tuple[UncertainWorld, Situation, np.random.Generator]]:
    """Yield worlds without end, each with its situation and the stream to ask about it with.

    They are the worlds behind the questions of `dqa.loaders.generator.generate`, in order. Each has
    random streams of its own.

    Raises
    ------
    UnknownNameError
        No such worlds can be generated for the scenario.
    """
    if scenario not in _RECIPES:
        raise UnknownNameError("scenario of known uncertainty", scenario, _RECIPES)
    recipe = _RECIPES[scenario]
    for number in count(1):
        seeds = np.random.SeedSequence(seed, spawn_key=(crc32(scenario.encode()), number))
        building, asking = np.random.Generator(np.random.PCG64(seeds)).spawn(2)
        world, situation = recipe.build(building, recipe.name.format(number=number))
        yield world, situation, asking


def ask_world(
    world: UncertainWorld, situation: Situation, rng: np.random.Generator, wanted: int | None = None
) -> list[LabelledQuestion]:
    """Ask about choices of two or more of a world's actions, in random order.

    Parameters
    ----------
    world, situation, rng
        From `uncertain_worlds`.
    wanted
        Most questions; by default 4.

    Returns
    -------
    list[LabelledQuestion]
        Questions whose `Truth.outcomes` are the true expected utilities (of stocks, beyond the
        dollar that was spent), not what happened to come true, so the best decision is the one
        that was best to make. Choices without a clear best one are passed over. Their ids are
        still to be given.
    """
    recipe = _RECIPES[situation.schema.scenario]
    scenario = plugins.scenario(situation.schema.scenario)
    expected = [round(value, _DIGITS) for value in world.expected_utilities().tolist()]
    truth = dict(zip(world.actions, expected, strict=True))
    choices = [c for n in range(2, len(truth) + 1) for c in combinations(world.actions, n)]
    clear = (choices[i] for i in rng.permutation(len(choices)) if _is_clear(truth, choices[i]))
    return [
        scenario.recorded(
            situation,
            "",
            {recipe.listed: LIST_SEPARATOR.join(choice), **recipe.target(situation)},
            {action: round(value - recipe.stake, _DIGITS) for action, value in truth.items()},
        )
        for choice in islice(clear, wanted or _PER_WORLD)
    ]


def _is_clear(truth: Mapping[str, float], choice: tuple[str, ...]) -> bool:
    second, best = sorted(truth[action] for action in choice)[-2:]
    return best - second > _SMALLEST_MARGIN * best
