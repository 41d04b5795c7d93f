"""How each learning player of hold'em is trained (`dqa.worlds.training.Trainer`).

Hands are dealt as they come, each as likely as any other; for DMC, half of them with the raised
share of strong hands that the world has by default. Linear algebra runs on one thread, so
that the same seed gives the same numbers however many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from dqa.core.distribution import find_versions
from dqa.worlds.training import FULL, SMALL, Trainer, Weights
from dqa_simulators.holdem.players import cfr, deepcfr, dmc, dqn
from dqa_simulators.holdem.players.deals import Deals, bucket_bounds, buckets, draw_deals
from dqa_simulators.holdem.players.policies import (
    CfrPolicy,
    DrawingPolicy,
    GreedyPolicy,
    SeatedPolicy,
)
from dqa_simulators.holdem.players.states import betting_states

DEALS: Final = 20_000
"""How many different deals are learnt from, at most."""
_DEALS_AN_ITERATION: Final = 350
_HANDS_A_DQN_ITERATION: Final = 10

_WORLD: Final = "holdem"
_SETTINGS: Final[dict[str, Any]] = {"deals": DEALS}
_DQN_PACKAGES: Final = ("chex", "flax", "jax", "jaxlib", "open_spiel", "optax")
"""Other versions of these may learn other weights of the same seed."""


def _dqn_settings() -> dict[str, Any]:
    found = find_versions(*_DQN_PACKAGES)
    return {**_SETTINGS, **{name: found[name] for name in _DQN_PACKAGES if name in found}}


def _draw(random: np.random.Generator, iterations: int, *, strong: bool = False) -> Deals:
    """Draw what is dealt: fewer deals for a training that is too short to meet all of them.

    Half of the deals are strong ones where that is asked for.
    """
    count = min(DEALS, _DEALS_AN_ITERATION * iterations)
    return draw_deals(count, random, count // 2 if strong else 0)


def _train_cfr(seed: int, iterations: int, advance: Callable[[int], None]) -> Weights:
    random = np.random.default_rng([seed, 1])
    deals = _draw(random, iterations)
    bounds = bucket_bounds(deals)
    solver = cfr.Solver(betting_states(), deals, buckets(deals.strengths, bounds), random)
    for number in range(1, iterations + 1):
        solver.iterate(number)
        advance(number)
    return {"strategy": solver.average().astype(np.float32), "bounds": bounds}


def _train_dmc(seed: int, iterations: int, advance: Callable[[int], None]) -> Weights:
    random = np.random.default_rng([seed, 2])
    with threadpool_limits(1):
        deals = _draw(random, iterations, strong=True)
        learner = dmc.Learner(betting_states(), deals, random)
        for number in range(iterations):
            learner.iterate(number / iterations)
            advance(number + 1)
    return learner.network.arrays()


def _train_deepcfr(seed: int, iterations: int, advance: Callable[[int], None]) -> Weights:
    random = np.random.default_rng([seed, 3])
    with threadpool_limits(1):
        solver = deepcfr.Solver(betting_states(), _draw(random, iterations), random)
        for number in range(1, iterations + 1):
            solver.iterate(number)
            advance(number)
        return solver.average().arrays()


def _train_dqn(seed: int, iterations: int, advance: Callable[[int], None]) -> Weights:
    dqn.load_agents()  # what is missing is said before anything is dealt
    random = np.random.default_rng([seed, 4])
    deals = _draw(random, iterations)
    hands = iterations * _HANDS_A_DQN_ITERATION
    learner = dqn.Learner(betting_states(), deals, random, hands)
    for number in range(1, iterations + 1):
        for _ in range(_HANDS_A_DQN_ITERATION):
            learner.play()
        advance(number)
    return learner.weights()


CFR: Final = Trainer(
    world=_WORLD,
    player="cfr",
    version=1,
    budgets={SMALL: 1_500, FULL: 10_000},
    train=_train_cfr,
    play=CfrPolicy,
    settings=_SETTINGS,
)
DMC: Final = Trainer(
    world=_WORLD,
    player="dmc",
    version=2,
    budgets={SMALL: 800, FULL: 5_000},
    train=_train_dmc,
    play=GreedyPolicy,
    settings=_SETTINGS,
)
DEEPCFR: Final = Trainer(
    world=_WORLD,
    player="deepcfr",
    version=1,
    budgets={SMALL: 60, FULL: 400},
    train=_train_deepcfr,
    play=DrawingPolicy,
    settings=_SETTINGS,
)
DQN: Final = Trainer(
    world=_WORLD,
    player="dqn",
    version=1,
    budgets={SMALL: 300, FULL: 3_000},
    train=_train_dqn,
    play=SeatedPolicy,
    settings=_dqn_settings(),
)
