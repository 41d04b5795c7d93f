"""Train players of hold'em with algorithms of OpenSpiel (`dqa.worlds.training.Trainer`).

The algorithms are external-sampling MCCFR, deep Q-networks and Deep CFR. A trained player is stored
as arrays, so it needs only NumPy to play.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from dqa.core.distribution import find_versions
from dqa.worlds.base import Policy
from dqa.worlds.training import FULL, SMALL, Trainer, Weights
from dqa_simulators.holdem.players.game import (
    ACTIONS,
    FEATURES,
    HandState,
    LearningGame,
    legal_numbers,
)
from dqa_simulators.holdem.players.policies import DrawingPolicy, GreedyPolicy, TablePolicy
from dqa_simulators.packages import load_package

_PACKAGES: Final = ("chex", "flax", "jax", "jaxlib", "open_spiel", "optax")
"""Packages whose version may change the weights for the same seed."""
_DEALS: Final = 2000
_DEALS_PER_ITERATION: Final = 20
_SCALE: Final = 10.0
"""The number of chips per unit of reward of a deep Q-network."""
_HIDDEN: Final = [64, 64]
_TRAVERSALS: Final = 10
_HANDS: Final = 10

Advance = Callable[[int], None]


def _algorithm(name: str) -> Any:  # noqa: ANN401  (OpenSpiel has no types)
    """Return a module of OpenSpiel."""
    return load_package(f"open_spiel.python.{name}", "Training this player", "players")


@contextmanager
def _seeded(seed: int, number: int, iterations: int) -> Iterator[LearningGame]:
    """Seed NumPy's global random state, which the algorithms use, and yield the game to learn."""
    before = np.random.get_state()  # noqa: NPY002
    random = np.random.default_rng([seed, number])
    game = LearningGame(min(_DEALS, _DEALS_PER_ITERATION * iterations), random)
    np.random.seed(int(random.integers(2**31)))  # noqa: NPY002
    try:
        with threadpool_limits(1):  # sums must not depend on the number of threads
            yield game
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _train_cfr(seed: int, iterations: int, advance: Advance) -> Weights:
    """Learn the average strategy. Each row of the weights is one information set."""
    sampling = _algorithm("algorithms.external_sampling_mccfr")
    with _seeded(seed, 1, iterations) as game:
        solver = sampling.ExternalSamplingSolver(game)
        for number in range(1, iterations + 1):
            solver.iteration()
            advance(number)
    table = solver._infostates  # noqa: SLF001  (OpenSpiel has no public access)
    keys = sorted(table)
    strategy = np.zeros((len(keys), ACTIONS))
    for row, key in enumerate(keys):
        sums = table[key][1]
        strategy[row, legal_numbers(key)] = sums / sums.sum()
    return {
        "keys": np.array([list(map(int, key.split())) for key in keys]),
        "strategy": strategy.astype(np.float32),
        "bounds": np.array(game.bounds),
    }


def _train_dqn(seed: int, iterations: int, advance: Advance) -> Weights:
    """Train two agents, one per seat, in games against each other."""
    dqn, environment = _algorithm("jax.dqn"), _algorithm("rl_environment")
    with _seeded(seed, 2, iterations) as game:
        agents = [
            dqn.DQN(
                *(seat, FEATURES, ACTIONS, _HIDDEN),
                replay_buffer_capacity=50_000,
                batch_size=128,
                learning_rate=0.001,
                optimizer_str="adam",
                learn_every=8,
                min_buffer_size_to_learn=500,
                update_target_network_every=200,
                weight_update_coeff=1.0,
                epsilon_decay_duration=max(iterations * _HANDS, 1),
                seed=2 * seed + seat,
                allow_checkpointing=False,
            )
            for seat in (0, 1)
        ]
        for number in range(1, iterations + 1):
            for _ in range(_HANDS):
                _play_hand(game, agents, environment)
            advance(number)
    named: dict[str, Any] = {}
    for seat, agent in enumerate(agents):
        named |= _layers(agent._q_network, f"{seat} ")  # noqa: SLF001
    return named


def _play_hand(game: LearningGame, agents: list[Any], environment: Any) -> None:  # noqa: ANN401
    state = game.new_initial_state().child(0)
    kinds = environment.StepType
    while not state.is_terminal():
        seat = state.current_player()
        step = _time_step(state, environment, kinds.MID)
        state = state.child(int(agents[seat].step(step).action))
    end = _time_step(state, environment, kinds.LAST)
    for agent in agents:
        agent.step(end)


def _time_step(state: HandState, environment: Any, kind: Any) -> Any:  # noqa: ANN401
    """Return the observation of both agents as a time step of OpenSpiel's environments."""
    seen = state.information_state_tensor()
    observed = {
        "info_state": [seen, seen],
        "legal_actions": [state.legal_actions()] * 2,
        "current_player": state.current_player(),
    }
    rewards = [won / _SCALE for won in state.returns()]
    return environment.TimeStep(
        observations=observed, rewards=rewards, discounts=[1.0, 1.0], step_type=kind
    )


def _train_deepcfr(seed: int, iterations: int, advance: Advance) -> Weights:
    """Train networks on sampled regrets, and return a network of the average strategy."""
    module = _algorithm("jax.deep_cfr")

    class Solver(module.DeepCFRSolver):  # type: ignore[misc, name-defined]
        """A solver that reports each iteration."""

        def _learn_advantage_network(self, player: int) -> Any:  # noqa: ANN401
            # If the opponent always folds first, the player has no choices to learn from.
            chose = self._advantage_memories[player] is not None
            loss = super()._learn_advantage_network(player) if chose else None
            if player == 1:
                advance(self._iteration)
            return loss

    with _seeded(seed, 3, iterations) as game:
        solver = Solver(
            game,
            policy_network_layers=_HIDDEN,
            advantage_network_layers=_HIDDEN,
            num_iterations=iterations,
            num_traversals=_TRAVERSALS,
            learning_rate=1e-3,
            batch_size_advantage=512,
            batch_size_strategy=512,
            memory_capacity=200_000,
            advantage_network_train_steps=300,
            policy_network_train_steps=2000,
            seed=seed,
        )
        network, _, _ = solver.solve()
    return _layers(network)


def _layers(network: Any, start: str = "") -> dict[str, Any]:  # noqa: ANN401
    """Return the weights of an OpenSpiel network by name. ``norm`` is the layer norm."""
    named: dict[str, Any] = {}
    count = 0
    for layer in network.model.layers:
        if hasattr(layer, "layers"):
            linear = layer.layers[0]
            named[f"{start}weights{count}"] = np.asarray(linear.kernel[...])
            named[f"{start}biases{count}"] = np.asarray(linear.bias[...])
            count += 1
        elif hasattr(layer, "scale"):
            scaled = np.asarray(layer.scale[...]), np.asarray(layer.bias[...])
            named[f"{start}norm"] = np.stack(scaled)
    return named


def _trainer(
    player: str,
    version: int,
    budgets: tuple[int, int],
    train: Callable[[int, int, Advance], Weights],
    play: Callable[[Weights], Policy],
) -> Trainer:
    found = find_versions(*_PACKAGES)
    versions: dict[str, Any] = {name: found[name] for name in _PACKAGES if name in found}
    named = dict(zip((SMALL, FULL), budgets, strict=True))
    return Trainer("holdem", player, version, named, train, play, {"deals": _DEALS, **versions})


CFR: Final = _trainer("cfr", 4, (2_000, 20_000), _train_cfr, TablePolicy)
DQN: Final = _trainer("dqn", 3, (300, 3_000), _train_dqn, GreedyPolicy)
DEEPCFR: Final = _trainer("deepcfr", 3, (10, 100), _train_deepcfr, DrawingPolicy)
