"""Programs that play hold'em: legal, repeatable, and better than chance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from dqa.worlds.base import Policy
from dqa.worlds.players import RandomPolicy
from dqa.worlds.training import Trainer, Weights
from dqa_simulators.holdem.players import deepcfr, trainers
from dqa_simulators.holdem.players.policies import RulePolicy
from dqa_simulators.holdem.players.strength import strength
from tests.programs import run_python
from tests.worlds.players.matches import interval, pairs, play, world_of

DEEP = pytest.param(True, marks=pytest.mark.deep)
TINY = {"cfr": 2, "dmc": 2, "deepcfr": 1, "dqn": 2}
LEARNING = {
    made.player: made for made in (trainers.CFR, trainers.DMC, trainers.DEEPCFR, trainers.DQN)
}


def train(trainer: Trainer, seed: int, iterations: int) -> Weights:
    """Train without a cache."""
    return trainer.train(seed, iterations, lambda _: None)


@pytest.fixture(scope="module", autouse=True)
def _short_lessons() -> Iterator[None]:
    """An iteration of Deep CFR takes a second; a shorter one draws from the same places."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_DEALS": 8, "_STEPS": 20, "_LAST_STEPS_AN_ITERATION": 10}.items():
            patch.setattr(deepcfr, name, value)
        yield


@pytest.fixture(scope="module")
def learnt() -> MappingProxyType[str, Weights]:
    """Every learning player after next to no training, but for the one that takes seconds."""
    return MappingProxyType(
        {name: train(one, 3, TINY[name]) for name, one in LEARNING.items() if name != "dqn"}
    )


@pytest.fixture(scope="module")
def policies(learnt: MappingProxyType[str, Weights]) -> dict[str, Policy]:
    """Every player."""
    made: dict[str, Policy] = {"random": RandomPolicy(), "rule": RulePolicy()}
    return made | {name: LEARNING[name].play(weights) for name, weights in learnt.items()}


def test_players_are_legal_and_repeat_themselves(policies: dict[str, Policy]) -> None:
    """Over some hundred positions; the world refuses what is not legal."""
    world = world_of("holdem")
    for name, policy in policies.items():
        seeds = range(15)
        first = [play(world, (policy, RandomPolicy()), seed) for seed in seeds]
        assert sum(len(moves) for _, moves in first) > 30
        again = [play(world, (policy, RandomPolicy()), seed)[0] for seed in seeds]
        assert [got for got, _ in first] == again, name


@pytest.mark.parametrize("name", ["cfr", "dmc", "deepcfr"])
def test_the_seed_decides_what_is_learnt(name: str, learnt: MappingProxyType[str, Weights]) -> None:
    """The same weights to the last bit, and others for another seed."""
    again, other = (train(LEARNING[name], seed, TINY[name]) for seed in (3, 4))
    for part, array in learnt[name].items():
        assert np.array_equal(again[part], array)
    assert any(not np.array_equal(other[part], array) for part, array in learnt[name].items())


@pytest.mark.parametrize(
    "is_repeated", [pytest.param(False, marks=pytest.mark.slow), DEEP], ids=["once", "again"]
)
def test_dqn_learns_by_its_seed_and_plays_without_jax(tmp_path: Path, is_repeated: bool) -> None:
    """Another library trains it; a trained player does not import that library."""
    pytest.importorskip("jax")
    weights = train(trainers.DQN, 3, TINY["dqn"])
    if is_repeated:
        again = train(trainers.DQN, 3, TINY["dqn"])
        assert all(np.array_equal(again[part], array) for part, array in weights.items())
    player = trainers.DQN.play(weights)
    assert play(world_of("holdem"), (player, RandomPolicy()), 1)[1]
    file = tmp_path / "dqn.npz"
    np.savez(file, **weights)  # type: ignore[arg-type]
    code = (
        "import sys, numpy as np\n"
        "from dqa_simulators.holdem.players import trainers\n"
        "from dqa_simulators.holdem.position import HoldemPosition, RULES\n"
        "from dqa_simulators.games.betting import begin\n"
        f"player = trainers.DQN.play(dict(np.load({str(file)!r})))\n"
        "hand = HoldemPosition('opponent', (48, 49), (), begin(RULES))\n"
        "assert player.choose(hand, np.random.default_rng(0)) in hand.actions\n"
        "assert not {'jax', 'flax', 'pyspiel', 'torch'} & set(sys.modules)\n"
    )
    run_python("-c", code, check=True)


@pytest.mark.deep
@pytest.mark.parametrize(("name", "iterations"), [("cfr", 12), ("dmc", 25)])
def test_who_learns_beats_random_after_seconds(
    name: str, iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interval over pairs of swapped games is above zero."""
    monkeypatch.setattr(trainers, "DEALS", 2_500)
    player = LEARNING[name].play(train(LEARNING[name], 0, iterations))
    low, _ = interval(pairs(world_of("holdem"), player, RandomPolicy(), 200))
    assert low > 0


def test_strength_is_the_share_of_showdowns_that_are_won() -> None:
    """As known: aces win about 85 of 100, and quads nearly always."""
    assert strength((48, 49), ()) == pytest.approx(0.852, abs=0.02)
    assert strength((0, 21), ()) == pytest.approx(0.346, abs=0.03)  # 7 and 2 of two suits
    assert strength((48, 49), (50, 51, 0)) > 0.99
