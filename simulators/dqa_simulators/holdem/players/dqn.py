"""DQN: OpenSpiel's deep Q-network agents (in JAX), one a seat, which learn from each other.

Mnih et al., "Human-level control through deep reinforcement learning", Nature 518, 2015. The
networks and how they learn are OpenSpiel's. What an agent does and remembers between two lessons is
done in NumPy here: every small array that JAX makes costs as much as a hand. What the agents see is
`features`, so that the networks play without JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError
from dqa_simulators.holdem.players.deals import Deals
from dqa_simulators.holdem.players.features import PRIVATE, PUBLIC, Floats, encode
from dqa_simulators.holdem.players.network import Network
from dqa_simulators.holdem.players.states import ACTIONS, States

if TYPE_CHECKING:
    from types import ModuleType

SCALE: Final = 10.0
"""Chips that are one unit of what the agents learn."""

HIDDEN: Final = (64, 64)
"""Sizes of the layers between."""

_AGENT: Final[dict[str, Any]] = {
    "batch_size": 64,
    "replay_buffer_capacity": 50_000,
    "learning_rate": 1e-3,
    "update_target_network_every": 200,
    "learn_every": 8,
    "min_buffer_size_to_learn": 500,
    "epsilon_start": 1.0,
    "epsilon_end": 0.1,
    "epsilon_decay_schedule_str": "exp",
    "optimizer_str": "adam",
    "loss_str": "huber",
    "allow_checkpointing": False,
}
_STEPS_A_HAND: Final = 4  # about as often an agent is told of a hand


class Replay:
    """The last transitions, of which lessons are drawn; what OpenSpiel's `ReplayBuffer` offers.

    Parameters
    ----------
    capacity
        How many are kept.
    random
        Where lessons are drawn from.
    """

    def __init__(self, capacity: int, random: np.random.Generator) -> None:
        self._random = random
        self._seen = 0
        size = PUBLIC + PRIVATE
        self.columns: tuple[NDArray[Any], ...] = (
            np.zeros((capacity, size), dtype=np.float32),
            np.zeros(capacity, dtype=np.int32),
            np.zeros(capacity, dtype=np.float32),
            np.zeros((capacity, size), dtype=np.float32),
            np.zeros(capacity, dtype=np.bool_),
            np.zeros((capacity, ACTIONS), dtype=np.bool_),
        )

    def __len__(self) -> int:
        return min(self._seen, len(self.columns[0]))

    def add(self, *transition: object) -> None:
        """Add what was seen, done, got, seen then, whether that was the end, and what was legal."""
        place = self._seen % len(self.columns[0])
        for column, value in zip(self.columns, transition, strict=True):
            column[place] = value
        self._seen += 1

    def draw(self, count: int) -> tuple[NDArray[Any], ...]:
        """Return transitions, each kept one as likely as any other, by column."""
        rows = self._random.integers(0, len(self), count)
        return tuple(column[rows] for column in self.columns)


def load_agents() -> tuple[ModuleType, ModuleType]:
    """Return OpenSpiel's modules of the agents and of their environment.

    Raises
    ------
    MissingKeyError
        OpenSpiel, JAX or what its agents need is not installed.
    """
    try:
        from open_spiel.python import rl_environment
        from open_spiel.python.jax import dqn
    except ImportError as error:
        raise MissingKeyError(
            f"To train 'dqn' takes OpenSpiel and JAX, and one is not installed ({error}): "
            f"{install_command('players')}."
        ) from error
    return dqn, rl_environment


def _agent_class(dqn: ModuleType) -> type[Any]:
    """Return OpenSpiel's agent, which acts and remembers in NumPy."""

    class Buffer:
        """What the agent asks of a class of buffers; ours is given to it."""

        init = append = staticmethod(lambda *_: None)

        @staticmethod
        def sample(_key: object, state: Replay, count: int) -> Any:  # noqa: ANN401
            return dqn.Transition(*state.draw(count))

    class Agent(dqn.DQN):  # type: ignore[misc, name-defined]
        """One seat's."""

        def __init__(self, seat: int, seed: int, duration: int) -> None:
            super().__init__(
                seat,
                PUBLIC + PRIVATE,
                ACTIONS,
                HIDDEN,
                seed=seed,
                replay_buffer_class=Buffer,
                epsilon_decay_duration=duration,
                **_AGENT,
            )
            self._random = np.random.default_rng(seed)
            self._replay_buffer = Replay(_AGENT["replay_buffer_capacity"], self._random)
            self._duration = duration
            self.network = self._read()

        def learn(self) -> Any:  # noqa: ANN401
            loss = super().learn()
            if loss is not None:
                self.network = self._read()
            return loss

        def select_action(self, time_step: Any, greedy: bool = True) -> Any:  # noqa: ANN401
            if time_step.last():
                return dqn.rl_agent.StepOutput(action=None, probs=[])
            legal = time_step.observations["legal_actions"][self.player_id]
            low, high = _AGENT["epsilon_end"], _AGENT["epsilon_start"]
            explores = low + (high - low) * np.exp(-self._iteration / self._duration)
            if not greedy and self._random.random() < explores:
                action = legal[int(self._random.integers(len(legal)))]
            else:
                seen = time_step.observations["info_state"][self.player_id]
                values = self.network(seen[None])[0]
                action = max(legal, key=lambda one: values[one])
            return dqn.rl_agent.StepOutput(action=action, probs=[])

        def add_transition(self, before: Any, action: int, now: Any) -> None:  # noqa: ANN401
            seat = self.player_id
            legal = np.isin(np.arange(ACTIONS), now.observations["legal_actions"][seat])
            seen = before.observations["info_state"][seat], now.observations["info_state"][seat]
            self._replay_buffer.add(seen[0], action, now.rewards[seat], seen[1], now.last(), legal)

        def _read(self) -> Network:
            linear = [layer.layers[0] for layer in self._q_network.model.layers]
            return Network(
                [(np.asarray(one.kernel[...]), np.asarray(one.bias[...])) for one in linear]
            )

    return Agent


class Learner:
    """Two agents, and the hands that they play.

    Parameters
    ----------
    rules
        The public states.
    deals
        What is dealt.
    random
        Where every random choice comes from.
    hands
        How many hands there will be.
    """

    def __init__(
        self, rules: States, deals: Deals, random: np.random.Generator, hands: int
    ) -> None:
        dqn, self._environment = load_agents()
        self._rules = rules
        self._deals = deals
        self._random = random
        self._encoded = encode(rules, deals)
        self._nothing = np.zeros(PUBLIC + PRIVATE, dtype=np.float32)
        duration = max(hands * _STEPS_A_HAND // 4, 1)
        agent = _agent_class(dqn)
        self._agents = [agent(seat, int(random.integers(2**31)), duration) for seat in (0, 1)]

    def play(self) -> None:
        """Play one hand, from which both agents learn."""
        rules = self._rules
        deal = int(self._random.integers(len(self._deals)))
        state = 0
        while (seat := int(rules.mover[state])) >= 0:
            step = self._step(state, deal, [0.0, 0.0], self._environment.StepType.MID)
            action = int(self._agents[seat].step(step).action)
            state = int(rules.after[state, action])
        won = self._deals.won[deal : deal + 1]
        first = float(rules.ends(np.array([state]), won)[0]) / SCALE
        end = self._step(state, deal, [first, -first], self._environment.StepType.LAST)
        for agent in self._agents:
            agent.step(end)

    def weights(self) -> dict[str, Floats]:
        """Return both networks, by seat and layer."""
        return {
            f"{seat} {name}": array
            for seat, agent in enumerate(self._agents)
            for name, array in agent.network.arrays().items()
        }

    def _step(self, state: int, deal: int, rewards: list[float], kind: Any) -> Any:  # noqa: ANN401
        """Return what an agent is told, as OpenSpiel's environments tell it."""
        seat = int(self._rules.mover[state])
        seen, legal = [self._nothing] * 2, [[0], [0]]
        if seat >= 0:
            seen[seat] = self._encoded.of(np.array([state]), np.array([deal]), self._rules)[0]
            legal[seat] = np.flatnonzero(self._rules.legal[state]).tolist()
        observed = {
            "info_state": seen,
            "legal_actions": legal,
            "current_player": seat,
        }
        return self._environment.TimeStep(
            observations=observed, rewards=rewards, discounts=[1.0, 1.0], step_type=kind
        )
