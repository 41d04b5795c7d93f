"""Runs of games: kept, gone on with, the same whoever plays them, and honest about failures."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dqa
from dqa import plugins
from dqa.cli.main import app
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.evaluation.options import RunOptions
from dqa.evaluation.results import Outcome
from dqa.report.compare_tables import DIFFERENCES
from dqa.worlds.base import Policy, PolicyFactory, WorldFactory
from dqa.worlds.training import Trainer, learning_player
from tests.sqlite_files import rows_of, run_script

pytestmark = pytest.mark.usefixtures("duel")
HERE = RunOptions(isolation="none")


def played(**fields: Any) -> dqa.Run:
    """Twenty deals of Kuhn poker, each with its mirror, unless said otherwise."""
    usual: dict[str, Any] = {"games": 20, "mirror": True}
    return dqa.play("kuhn", ("uniform", "eager"), "uniform", **(usual | fields))


class Plays(Decider):
    """Ends every decision as it is told to, or raises."""

    name = "plays"

    def __init__(self, made: Callable[[Question], Decision]) -> None:
        self._made = made

    def decide(self, question: Question, database: Database) -> Decision:
        """Do as told."""
        del database
        return self._made(question)


def test_players_of_several_runs_are_compared_on_the_same_deals(tmp_path: Path) -> None:
    """As those of one run are; only runs of one world share deals."""
    run = played(out=tmp_path / "one")
    assert run.games is not None
    (pair,) = run.games.differences
    assert (pair.first, pair.second, pair.difference.clusters) == ("uniform", "eager", 20)
    (same,) = dqa.compare_games(run).differences
    assert same == pair
    other = dqa.play("kuhn", "passive", "uniform", games=30, mirror=True, out=tmp_path / "two")
    found = dqa.compare_games(run, other).differences[1:]
    assert [(one.first, one.second) for one in found] == [
        ("one:uniform", "two:passive"),
        ("one:eager", "two:passive"),
    ]
    means = []
    for whole, player in ((run, "eager"), (other, "passive")):
        values = [r.value or 0.0 for r in whole.results if r.game and r.game.player == player]
        means.append(sum(values[:40]) / 40)
    assert found[1].difference.value == pytest.approx(means[0] - means[1])
    assert (found[1].difference.clusters, found[1].opponents) == (20, 1)
    with pytest.raises(UsageError, match="one world"):
        dqa.compare_games(run, played(games=2, mirror=False))
    with pytest.raises(UsageError, match="compare_games"):
        dqa.compare(run)
    both = dqa.compare_games(run, dqa.read_run(tmp_path / "one")).differences
    assert [(one.first, one.second) for one in both] == [
        ("1-one:uniform", "2-one:uniform"),
        ("1-one:eager", "2-one:eager"),
    ]
    named = ["1-one:uniform", "1-one:eager", "2-one:uniform"]
    every = dqa.compare_games(run, dqa.read_run(tmp_path / "one"), players=named)
    assert len(every.differences) == 3
    shown = CliRunner().invoke(app, ["compare", str(tmp_path / "one"), str(tmp_path / "two")])
    assert shown.exit_code == 0, shown.output
    assert "- two:passive" in shown.output
    assert DIFFERENCES[:30] in shown.output


def test_a_run_is_the_same_wherever_and_in_whichever_order_it_is_played(tmp_path: Path) -> None:
    """Threads, stores and the rest of the tournament change no game."""
    once = played(games=4)
    folder = played(games=4, out=tmp_path / "folder", options=RunOptions(workers=1))
    store = played(games=4, out=tmp_path / "runs.db#one", options=RunOptions(workers=8))
    assert once.content_hash == folder.content_hash == store.content_hash
    alone = dqa.play("kuhn", "eager", "uniform", games=4, mirror=True)
    assert [r.value for r in alone.results] == [
        r.value for r in once.results if r.decider == "eager vs uniform"
    ]
    assert played(games=4, seed=1).content_hash != once.content_hash
    twice = played(games=4, epochs=2)
    assert len(twice.results) == 2 * len(once.results)
    seeds = {r.game.seed for r in twice.results if r.game}
    assert len(seeds) == 4


def test_another_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    """It says what differs; and a run of games is none of questions."""
    played(out=tmp_path, games=2)
    with pytest.raises(UsageError, match="games was 2 and is now 3"):
        played(out=tmp_path, games=3)
    with pytest.raises(UsageError, match=r"a run of games .* 'dqa games play --resume"):
        dqa.evaluate(out=tmp_path, resume=True)
    with pytest.raises(UsageError, match="a report needs questions"):
        dqa.read_report(tmp_path)
    with pytest.raises(UsageError, match="an analysis needs right"):
        dqa.analyse(tmp_path)


@pytest.mark.parametrize("out", ["folder", "runs.db#one"])
def test_a_run_goes_on_with_its_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    """It is next to the run, wherever the run is resumed from."""
    monkeypatch.chdir(tmp_path)
    place, how = tmp_path / out, {"games": 3, "options": HERE}

    class Stop(dqa.Watcher):
        def decided(self, result: dqa.Result) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played(out=place, watcher=Stop(), **how)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert (dqa.play(out=place, resume=True).made or 0) > 0
    (file,) = tmp_path.glob("**/*history.db")
    assert rows_of(file, "SELECT COUNT(*) FROM games") == [(12,)]
    played(out="runs.db#team/first", **how)
    assert [path.name for path in Path().glob("*.history.db")] == ["runs.team%2Ffirst.history.db"]


def test_a_run_goes_on_with_players_who_learnt_the_same(
    tmp_path: Path, duel: WorldFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference, too: another one is refused."""
    monkeypatch.setenv("DQA_CACHE", str(tmp_path / "cache"))

    def register(player: int, reference: int) -> None:
        learners = {
            name: learning_player(
                "learns",
                Trainer(
                    *("kuhn", name, 1, {"small": 1, "full": 1}),
                    lambda *_, number=number: {"learnt": np.array([number])},
                    lambda _: duel.policies["eager"].make(0),
                ),
            )
            for name, number in (("ann", player), ("ben", reference))
        }
        made = replace(duel, policies={**duel.policies, **learners})
        monkeypatch.setattr(plugins, "world", lambda _: made)
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)

    register(1, 1)
    place = tmp_path / "run"
    first = dqa.play("kuhn", "ann", "eager", games=2, reference="ben", out=place)
    assert dqa.play(out=first.location, resume=True).content_hash == first.content_hash
    for changed in ((2, 1), (1, 2)):
        register(*changed)
        with pytest.raises(UsageError, match="trained players"):
            dqa.play(out=first.location, resume=True)
    assert len(dqa.read_run(place).results) == 2


def test_a_failure_of_the_history_loses_no_paid_move(tmp_path: Path) -> None:
    """The game is not scored, and its moves and their usage are stored."""
    history = tmp_path / "run" / "history.db"

    def decide(question: Question) -> Decision:
        run_script(history, "DROP TABLE events")
        choice = (question.candidates or ())[0]
        usage = Usage(10, 5, 1)
        return Decision(Ending.ANSWERED, answer=str(choice), choice=choice, usage=usage)

    run = dqa.play("kuhn", Plays(decide), "eager", games=1, out=tmp_path / "run", options=HERE)
    (result,) = run.results
    assert result.outcome is Outcome.INFRASTRUCTURE
    assert result.usage == Usage(10, 5, 1)
    assert result.game is not None
    assert result.game.moves["player"] == 1


def test_a_game_that_another_process_began_again_is_played_again(duel: WorldFactory) -> None:
    """The process stores no decision of a lost attempt; it plays the game unless it is stored."""
    taken: list[int] = []

    class Slow(Policy):
        def choose(self, position: Any, random: Any) -> Any:
            del random
            if not taken:
                taken.append(1)
                run_script(file, "UPDATE attempts SET attempt = 'other'")
            return position.actions[0]

    policies = {**duel.policies, "slow": PolicyFactory("slow", "is slow", lambda _: Slow())}
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        file = Path(folder) / "run" / "history.db"
        patch.setattr(plugins, "world", lambda _: replace(duel, policies=policies))
        alone = RunOptions(isolation="none", workers=1)
        run = dqa.play("kuhn", "slow", "eager", games=3, out=file.parent, options=alone)
        attempts = dict(rows_of(file, "SELECT game, attempt FROM attempts"))
        events = dict(rows_of(file, "SELECT game, count(*) FROM events GROUP BY game"))
    assert [result.question for result in run.results] == ["kuhn/1", "kuhn/2", "kuhn/3"]
    assert run.counts.complete
    assert len(attempts) == 3
    assert "other" not in attempts.values()
    assert len(set(events.values())) == 1
