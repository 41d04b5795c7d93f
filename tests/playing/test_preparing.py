"""Players that a tournament lacks are trained at once, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dqa
from dqa import plugins
from dqa.api.games import train_missing
from dqa.worlds.base import Policy, WorldFactory
from dqa.worlds.training import Trainer, Weights, is_kept, learn, learning_player


class Told(dqa.Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[object] = []

    def training(self, players: Sequence[str]) -> None:
        """Keep whose training began."""
        self.said.append(tuple(players))

    def trained(self, player: str) -> None:
        """Keep whose training ended."""
        self.said.append(player)


def train(seed: int, iterations: int, advance: Callable[[int], None]) -> Weights:
    """Learn nothing."""
    advance(iterations)
    return {"seed": np.array([seed])}


def trainer(name: str, play: Callable[[Weights], Policy]) -> Trainer:
    """Return how a player learns nothing."""
    return Trainer("kuhn", name, 1, {"small": 2, "full": 3}, train, play)


@pytest.fixture
def started(duel: WorldFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Let four players of Kuhn poker learn in processes that do nothing; return what was started.

    The process of one player, dan, runs until it is ended.
    """
    monkeypatch.setenv("DQA_CACHE", str(tmp_path))
    known = next(iter(duel.policies.values()))
    learning = {
        name: learning_player("It learns nothing.", trainer(name, lambda _: known.make(0)))
        for name in ("ann", "ben", "cleo", "dan")
    }
    world = replace(duel, policies={**duel.policies, **learning})
    monkeypatch.setattr(plugins, "world", lambda _: world)
    monkeypatch.setattr("dqa.api.games.processors", lambda: 2)

    class Process:
        """A process with the methods that training uses."""

        exitcode = None

        def terminate(self) -> None:
            found[self] = True

        def join(self) -> None:
            pass

    def start(
        _: object, world: str, player: str, seed: int, *__: object, **___: object
    ) -> tuple[Process, Connection]:
        assert (world, seed) == ("kuhn", 7)
        ours, theirs = Pipe()
        ends.append(theirs)
        process = Process()
        found[process] = False
        names.append(player)
        if player != "dan":
            theirs.send(player)
        return process, ours

    ends: list[Connection] = []
    names: list[str] = []
    found: dict[Process, bool] = {}
    monkeypatch.setattr("dqa.api.games.start_process", start)
    return {"names": names, "terminated": found}


def test_what_is_missing_is_trained_at_once(started: dict[str, Any]) -> None:
    """A stored player is not, nor one that learns nothing; the caller trains one alone."""
    of = plugins.world("kuhn").policies["ann"].trainer
    assert of is not None
    assert not is_kept(of, 7)
    learn(of, 7)
    assert is_kept(of, 7)
    assert not is_kept(of, 8)
    told = Told()
    train_missing("kuhn", ("ann", "ben", "eager", "nobody", "cleo", "ben"), 7, told)
    assert started["names"] == ["ben", "cleo"]
    assert told.said[0] == ("ben", "cleo")
    assert set(told.said[1:]) == {"ben", "cleo"}
    train_missing("kuhn", ("ann", "ben"), 7, told)
    assert len(started["names"]) == 2


def test_an_interrupt_ends_what_is_trained(started: dict[str, Any]) -> None:
    """No process stays behind."""

    class Interrupted(Told):
        def trained(self, player: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_missing("kuhn", ("ben", "dan", "cleo"), 7, Interrupted())
    assert started["names"] == ["ben", "dan"]
    assert list(started["terminated"].values()) == [False, True]


@pytest.mark.slow
def test_a_training_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its error comes from its process."""
    pytest.importorskip("pyspiel")
    (tmp_path / "file").touch()
    monkeypatch.setenv("DQA_CACHE", str(tmp_path / "file"))
    with pytest.raises(FileExistsError):
        list(dqa.train_players("holdem", ["cfr"], budget=1))
