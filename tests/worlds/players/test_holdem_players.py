"""Programs that play hold'em: legal, repeatable, and better than chance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dqa.worlds.base import RandomPolicy
from dqa.worlds.training import Trainer, Weights
from dqa_simulators.games.betting import CALL, FOLD, RAISE
from dqa_simulators.holdem.players import learning
from dqa_simulators.holdem.players.learning import LearningGame
from dqa_simulators.holdem.players.policies import FEATURES, NUMBERS, RulePolicy, _Network
from dqa_simulators.holdem.players.strength import strength
from tests.programs import run_python
from tests.worlds.players.matches import interval, pairs, play, world_of

pytest.importorskip("pyspiel")


def train(trainer: Trainer, seed: int, iterations: int) -> Weights:
    """Train without a cache."""
    return trainer.train(seed, iterations, lambda _: None)


def test_players_are_legal_and_repeat_themselves() -> None:
    """In over 30 positions each. The world refuses illegal actions."""
    world = world_of("holdem")
    for policy in (RandomPolicy(), RulePolicy(), learning.CFR.play(train(learning.CFR, 3, 2))):
        first = [play(world, (policy, RandomPolicy()), seed) for seed in range(15)]
        assert sum(len(moves) for _, moves in first) > 30
        again = [play(world, (policy, RandomPolicy()), seed)[0] for seed in range(15)]
        assert [got for got, _ in first] == again, policy


def test_the_seed_decides_what_is_learnt() -> None:
    """The same weights to the last bit, and others for another seed."""
    learnt, again, other = (train(learning.CFR, seed, 2) for seed in (3, 3, 4))
    assert all(np.array_equal(again[part], array) for part, array in learnt.items())
    assert not np.array_equal(other["bounds"], learnt["bounds"])


def test_the_table_has_the_averages_of_openspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    """By action, also where raises are used up and only a fold and a call are legal."""
    from open_spiel.python.algorithms import external_sampling_mccfr as sampling

    solvers: list[Any] = []

    class Kept(sampling.ExternalSamplingSolver):  # type: ignore[misc]
        """A solver that the test can ask."""

        def __init__(self, game: LearningGame) -> None:
            super().__init__(game)
            solvers.append(self)

    monkeypatch.setattr(sampling, "ExternalSamplingSolver", Kept)
    weights = train(learning.CFR, 3, 3)
    rows = {tuple(key): row for key, row in zip(weights["keys"], weights["strategy"], strict=True)}
    averages, game = solvers[0].average_policy(), solvers[0]._game
    capped = 0
    for _ in range(100):
        state = game.new_initial_state().child(0)
        while not state.is_terminal():
            legal = state.legal_actions()
            row = rows.get(tuple(map(int, state.information_state_string().split())))
            if row is not None:
                expected = averages.action_probabilities(state)
                assert dict(enumerate(row)) == pytest.approx({0: 0, 1: 0, 2: 0} | expected)
                capped += legal == [NUMBERS[FOLD], NUMBERS[CALL]]
            state = state.child(NUMBERS[RAISE] if NUMBERS[RAISE] in legal else NUMBERS[CALL])
    assert capped > 0


@pytest.mark.deep
@pytest.mark.parametrize("trainer", [learning.DQN, learning.DEEPCFR], ids=["dqn", "deepcfr"])
def test_networks_learn_by_their_seed_and_play_without_jax(
    trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenSpiel's network and ours give the same, and playing imports no other library."""
    pytest.importorskip("jax")
    monkeypatch.setattr(learning, "_TRAVERSALS", 1)
    networks: list[Any] = []
    layers: Callable[..., dict[str, Any]] = learning._layers

    def keep(network: Any, start: str = "") -> dict[str, Any]:
        networks.append(network)
        return layers(network, start)

    monkeypatch.setattr(learning, "_layers", keep)
    weights = train(trainer, 3, 1)
    again = train(trainer, 3, 1)
    assert all(np.array_equal(again[part], array) for part, array in weights.items())
    start = "0 " if trainer is learning.DQN else ""
    seen = np.linspace(-1, 1, FEATURES, dtype=np.float32)
    expected = np.asarray(networks[0](seen))
    assert _Network(weights, start)(seen) == pytest.approx(expected, abs=1e-5)
    file = tmp_path / "player.npz"
    np.savez(file, **weights)  # type: ignore[arg-type]
    code = (
        "import sys, numpy as np\n"
        "from dqa_simulators.holdem.players import learning\n"
        "from dqa_simulators.holdem.position import HoldemPosition, RULES\n"
        "from dqa_simulators.games.betting import begin\n"
        f"player = learning.{trainer.player.upper()}.play(dict(np.load({str(file)!r})))\n"
        "hand = HoldemPosition('opponent', (48, 49), (), begin(RULES))\n"
        "assert player.choose(hand, np.random.default_rng(0)) in hand.actions\n"
        "assert not {'jax', 'flax', 'pyspiel', 'torch'} & set(sys.modules)\n"
    )
    run_python("-c", code, check=True)


@pytest.mark.deep
def test_cfr_beats_random_after_seconds() -> None:
    """The interval over pairs of swapped games is above zero."""
    player = learning.CFR.play(train(learning.CFR, 0, 200))
    low, _ = interval(pairs(world_of("holdem"), player, RandomPolicy(), 200))
    assert low > 0


def test_strength_is_the_share_of_showdowns_that_are_won() -> None:
    """As known: aces win about 85 of 100, and quads nearly always."""
    assert strength((48, 49), ()) == pytest.approx(0.852, abs=0.02)
    assert strength((0, 21), ()) == pytest.approx(0.346, abs=0.03)  # 7 and 2 of two suits
    assert strength((48, 49), (50, 51, 0)) > 0.99
