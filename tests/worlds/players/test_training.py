"""Trained players are stored, read back, and trained again if their file is damaged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dqa
from dqa.cli.main import app
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Candidate
from dqa.worlds import training
from dqa.worlds.base import Policy
from dqa.worlds.training import Trainer, Weights, learn, read_weights, watch_training, write_weights
from dqa.worlds.watching import TrainingWatcher
from dqa.worlds.world import Position


class Constant(Policy):
    """Takes the action at the position that it learnt."""

    def __init__(self, weights: Weights) -> None:
        self.place = int(weights["place"][0])

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Take it."""
        return position.actions[self.place]


class Noted(TrainingWatcher):
    """Records the calls."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def training(self, players: Sequence[str]) -> None:
        """Record the players."""
        self.told.append(players)

    def advanced(self, done: int, iterations: int) -> None:
        """Record the progress."""
        self.told.append((done, iterations))

    def unreadable(self, text: str) -> None:
        """Record the message."""
        self.told.append(text)


def _train(seed: int, iterations: int, advance: Callable[[int], None]) -> Mapping[str, Any]:
    for number in range(1, iterations + 1):
        advance(number)
    return {"place": np.array([seed])}


def trainer(**changed: Any) -> Trainer:
    """Return a trainer of three iterations that learns its seed."""
    given = {"version": 1, "settings": {"deals": 5}, **changed}
    return Trainer("nim", "constant", **given, budgets={"small": 3}, train=_train, play=Constant)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DQA_CACHE", str(tmp_path / "cache"))


def test_a_trained_player_is_stored_and_read_back() -> None:
    """The second time nothing is trained."""
    noted = Noted()
    with watch_training(noted):
        first, second = learn(trainer(), 2), learn(trainer(), 2)
    assert noted.told == [("constant",), (1, 3), (2, 3), (3, 3)]
    assert (first.was_cached, second.was_cached) == (False, True)
    assert first.file == second.file
    assert second.weights["place"].tolist() == [2]
    if os.name == "posix":
        assert first.file.stat().st_mode & 0o777 == 0o600


def test_everything_that_decides_what_is_learnt_is_in_the_name() -> None:
    """Seed, budget, settings and version each have files of their own."""
    files = {
        learn(trainer(), 1).file,
        learn(trainer(), 2).file,
        learn(trainer(), 1, 4).file,
        learn(trainer(version=2), 1).file,
        learn(trainer(settings={"deals": 6}), 1).file,
    }
    assert len(files) == 5


def test_a_damaged_file_is_reported_and_trained_anew() -> None:
    """The new player equals the old one."""
    kept = learn(trainer(), 2)
    content = kept.file.read_bytes()
    for damaged in (
        content[: len(content) // 2],
        {"place": np.array([np.inf])},
        {"places": np.array([2])},
    ):
        if isinstance(damaged, bytes):
            kept.file.write_bytes(damaged)
        else:
            write_weights(kept.file, damaged)
        noted = Noted()
        with watch_training(noted):
            again = learn(trainer(), 2)
        assert str(kept.file) in noted.told[0]
        assert noted.told[1:] == [("constant",), (1, 3), (2, 3), (3, 3)]
        assert again.weights["place"].tolist() == [2]
        assert kept.file.read_bytes() == content
        assert [file.name for file in kept.file.parent.iterdir()] == [kept.file.name]


def test_a_pickle_is_never_unpacked(tmp_path: Path) -> None:
    """A file of another program is one clear error."""
    file = tmp_path / "player.npz"
    np.savez(file, place=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="not a trained player"):
        read_weights(file)


def test_an_invalid_budget_is_refused() -> None:
    """The message lists the known budgets."""
    for budget in ("large", "0", "-1", "²"):
        with pytest.raises(UsageError, match=r"'small' \(3\), or a number of iterations"):
            learn(trainer(), 0, budget)


def test_the_cache_is_the_user_s_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`DQA_CACHE` goes first, then the XDG folder; a relative one does not count."""
    assert training.cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("DQA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert training.cache_folder() == tmp_path / "dqa"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert training.cache_folder().is_relative_to(Path.home())


def test_the_command_trains_and_writes(tmp_path: Path) -> None:
    """The second call reads the stored player. JSON has the format `trained_player`."""
    pytest.importorskip("pyspiel")
    out = tmp_path / "cfr.npz"
    asked = [
        "games",
        "train",
        "--world",
        "holdem",
        "--player",
        "cfr",
        "--budget",
        "2",
        "--seed",
        "5",
    ]
    first = CliRunner().invoke(app, [*asked, "--out", str(out)])
    assert first.exit_code == 0, first.output
    assert first.stdout == f"cfr was trained: 2 iterations, seed 5, {out}\n"
    assert first.stderr == ""
    second = CliRunner().invoke(app, [*asked, "--json"])
    (made,) = json.loads(second.stdout)
    assert made["was_cached"]
    assert made == dqa.TrainedPlayer(**made).to_json()
    assert CliRunner().invoke(app, [*asked, "--out", str(out)]).exit_code != 0
