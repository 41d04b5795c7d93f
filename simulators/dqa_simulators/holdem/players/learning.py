"""Train players of hold'em with algorithms of OpenSpiel (`dqa.worlds.training.Trainer`).

The algorithms are external-sampling MCCFR, deep Q-networks and Deep CFR. A trained player is stored
as arrays, so it needs only NumPy to play.

`LearningGame` has the interface that the algorithms expect. Hands come from a fixed set of deals,
and players see the strength of their cards instead of the cards. Without these restrictions, a
short training would never contain the same hand twice. The betting is that of
`dqa_simulators.games.betting`.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from dqa.core.distribution import find_versions
from dqa.worlds.base import Policy
from dqa.worlds.training import FULL, SMALL, Trainer, Weights
from dqa_simulators.games.betting import PLAYERS, Betting, begin
from dqa_simulators.games.episode import load_game
from dqa_simulators.holdem.hands import strength as value_of
from dqa_simulators.holdem.players import policies
from dqa_simulators.holdem.players.strength import strengths
from dqa_simulators.holdem.position import RULES, HoldemPosition, deal_uniformly
from dqa_simulators.packages import load_package

_PACKAGES: Final = ("chex", "flax", "jax", "jaxlib", "open_spiel", "optax")
"""Packages whose version may change the weights for the same seed."""
_DEALS: Final = 2000
_DEALS_PER_ITERATION: Final = 20
_CHANCE, _TERMINAL = -1, -4
_SCALE: Final = 10.0
"""The number of chips per unit of reward of a deep Q-network."""
_HIDDEN: Final = [64, 64]
_TRAVERSALS: Final = 10
_HANDS: Final = 10

Advance = Callable[[int], None]


class DealtHand(NamedTuple):
    """The data of one deal.

    Attributes
    ----------
    strengths
        The hand strength for each seat and round.
    won
        1 if the first seat has the better cards at the end, -1 if the second seat has the better
        cards, 0 for a tie.
    """

    strengths: tuple[tuple[float, ...], tuple[float, ...]]
    won: int


class LearningGame:
    """The game, with the methods of ``pyspiel.Game`` that the algorithms call.

    Parameters
    ----------
    deals
        The number of different deals.
    random
        Draws the deals, and chooses one deal for each hand.

    Attributes
    ----------
    bounds
        For each round, the strengths that separate the `BUCKETS` strength classes.
    """

    def __init__(self, deals: int, random: np.random.Generator) -> None:
        self._random = random
        self._deals = _draw_deals(deals, random)
        every = np.array([hand.strengths for hand in self._deals]).reshape(-1, policies.STAGES)
        shares = np.arange(1, policies.BUCKETS) / policies.BUCKETS
        self.bounds: list[list[float]] = np.quantile(every, shares, axis=0).T.tolist()

    def draw(self) -> DealtHand:
        """Return one of the deals, drawn uniformly."""
        return self._deals[int(self._random.integers(len(self._deals)))]

    def get_type(self) -> Any:  # noqa: ANN401  (OpenSpiel has no types)
        """Return OpenSpiel's description of limit hold'em: a sequential game."""
        return load_game(HoldemPosition.referee).get_type()

    def num_players(self) -> int:
        """Return the number of players."""
        return len(PLAYERS)

    def num_distinct_actions(self) -> int:
        """Return the number of actions: fold, check or call, raise."""
        return policies.ACTIONS

    def new_initial_state(self) -> HandState:
        """Return the state before the cards are dealt."""
        return HandState(self, None, begin(RULES))


class HandState:
    """A state of a hand, with the methods of ``pyspiel.State`` that the algorithms call.

    Parameters
    ----------
    game
        The game.
    hand
        The deal; None before the deal.
    betting
        The betting state.
    """

    def __init__(self, game: LearningGame, hand: DealtHand | None, betting: Betting) -> None:
        self._game, self._hand, self._betting = game, hand, betting

    def is_chance_node(self) -> bool:
        """Return whether the next step is the deal."""
        return self._hand is None

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return one outcome with probability 1. The deal is drawn later, by `child`."""
        return [(0, 1.0)]

    def is_terminal(self) -> bool:
        """Return whether the hand has ended."""
        return self._hand is not None and self._betting.phase != "bet"

    def current_player(self) -> int:
        """Return OpenSpiel's number of the player who acts next."""
        if self.is_terminal():
            return _TERMINAL
        return _CHANCE if self.is_chance_node() else self._betting.seat

    def child(self, action: int) -> HandState:
        """Return the state after an action, or after the deal."""
        if self._hand is None:
            return HandState(self._game, self._game.draw(), self._betting)
        name = next(name for name in self._betting.actions if policies.NUMBERS[name] == action)
        betting = self._betting.after(name)
        if betting.phase == "deal":
            betting = betting.next_round()
        return HandState(self._game, self._hand, betting)

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the numbers of the legal actions."""
        del player
        return [policies.NUMBERS[name] for name in self._betting.actions]

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return 1 for each legal action and 0 for each illegal action."""
        legal = self.legal_actions(player)
        return [int(number in legal) for number in range(policies.ACTIONS)]

    def information_state_string(self, player: int | None = None) -> str:
        """Return the key of the next player's information set."""
        del player
        bounds = self._game.bounds[self._betting.stage]
        return policies.key_of(self._betting, bisect(bounds, self._strength))

    def information_state_tensor(self, player: int | None = None) -> policies.Floats:
        """Return the view of the next player as numbers."""
        del player
        return policies.describe(self._betting, self._strength)

    @property
    def _strength(self) -> float:
        if self._hand is None:
            return 0.0
        return self._hand.strengths[self._betting.seat][self._betting.stage]

    def returns(self) -> list[float]:
        """Return the chips that each seat won."""
        betting, hand = self._betting, self._hand
        if hand is None or not self.is_terminal():
            return [0.0, 0.0]
        won = (2 * betting.seat - 1) if betting.phase == "folded" else hand.won
        stake = float(won * min(betting.bets))
        return [stake, -stake]

    def player_return(self, player: int) -> float:
        """Return the chips that one seat won."""
        return self.returns()[player]


def _draw_deals(count: int, random: np.random.Generator) -> list[DealtHand]:
    deals = [deal_uniformly(random) for _ in range(count)]
    boards = np.array([deal.board for deal in deals])
    by_seat, worths = [], []
    for seat in (0, 1):
        holes = np.array([deal.hands[seat] for deal in deals])
        dealt = np.cumsum(RULES.dealt).tolist()
        rounds = np.stack([strengths(holes, boards[:, :number]) for number in dealt], axis=1)
        by_seat.append([tuple(row) for row in rounds.tolist()])
        worths.append(value_of(np.concatenate([holes, boards], axis=1)))
    won = np.sign(worths[0] - worths[1]).tolist()
    return [
        DealtHand((first, second), wins) for first, second, wins in zip(*by_seat, won, strict=True)
    ]


def _algorithm(name: str) -> Any:  # noqa: ANN401  (OpenSpiel has no types)
    """Return the OpenSpiel module of an algorithm."""
    return load_package(f"open_spiel.python.{name}", "Training this player", "players")


@contextmanager
def _seeded(seed: int, number: int, iterations: int) -> Iterator[LearningGame]:
    """Seed NumPy's global random state, which the algorithms use. Yield the game to learn."""
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
    """Learn the average strategy, and return it as weights. Each row is one information set."""
    sampling = _algorithm("algorithms.external_sampling_mccfr")
    with _seeded(seed, 1, iterations) as game:
        solver = sampling.ExternalSamplingSolver(game)
        for number in range(1, iterations + 1):
            solver.iteration()
            advance(number)
    table = solver._infostates  # noqa: SLF001  (OpenSpiel has no public access)
    keys = sorted(table)
    strategy = np.zeros((len(keys), policies.ACTIONS))
    for row, key in enumerate(keys):
        sums = table[key][1]
        strategy[row, policies.legal_numbers(key)] = sums / sums.sum()
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
                *(seat, policies.FEATURES, policies.ACTIONS, _HIDDEN),
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
        """OpenSpiel's solver, which also reports each iteration."""

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
    """Return the weights of an OpenSpiel network by name; ``norm`` is its layer norm."""
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


CFR: Final = _trainer("cfr", 4, (2_000, 20_000), _train_cfr, policies.TablePolicy)
DQN: Final = _trainer("dqn", 3, (300, 3_000), _train_dqn, policies.GreedyPolicy)
DEEPCFR: Final = _trainer("deepcfr", 3, (10, 100), _train_deepcfr, policies.DrawingPolicy)
