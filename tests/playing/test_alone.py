"""Runs of a world of one player: like any other, without an opponent."""

from __future__ import annotations

from typing import Any

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.evaluation.options import RunOptions
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.statistics.clusters import wilson

pytestmark = pytest.mark.usefixtures("errand")
HERE = RunOptions(isolation="none")


class Plays(Decider):
    """Decides as it is told to."""

    name = "plays"

    def __init__(self, made: Any) -> None:
        self._made = made

    def decide(self, question: Question, database: Database) -> Decision:
        """Do as told."""
        del database
        made: Decision = self._made(question)
        return made


def says(choice: str) -> Decision:
    """A decision."""
    return Decision(Ending.ANSWERED, answer=choice, choice=choice)


def test_a_run_has_scores_success_and_tasks_with_intervals() -> None:
    """Wilson's for shares, Student's for the mean; nobody is said to be against nobody."""
    made = dqa.play("errand", ("searching", "random"), games=25, options=HERE)
    figures = made.games
    assert figures is not None
    assert figures.alone
    assert {r.decider for r in made.results} == {"searching", "random"}
    assert all(r.game and r.game.seats == ("agent",) for r in made.results)
    searching, random = figures.players
    assert [pair.opponent for pair in figures.pairs] == ["", ""]
    assert searching.payoff is not None
    assert (searching.payoff.value, searching.success and searching.success.value) == (1.0, 1.0)
    won = [r for r in made.results if r.decider == "random" and r.game and r.game.facts["success"]]
    assert random.success is not None
    assert 0 < len(won) < 25
    assert (random.success.low, random.success.high) == pytest.approx(wilson(len(won), 25))
    assert random.payoff is not None
    assert random.payoff.low is not None
    assert 0.0 <= random.payoff.low < random.payoff.value < (random.payoff.high or 0.0)
    assert "success" not in random.facts
    assert 0.0 < random.facts["rung"].value <= 1.0
    assert list(random.tasks) == ["clean", "heat", "pick"]
    assert sum(task.games for task in random.tasks.values()) == 25
    for name, task in random.tasks.items():
        of = [r for r in won if r.game and r.game.facts["task"] == name]
        assert task.success is not None
        assert task.success.value == len(of) / task.games
        assert (task.success.low, task.success.high) == pytest.approx(wilson(len(of), task.games))
    assert random.length is not None
    assert random.length.value == random.moves / 25
    assert random.attempts is not None
    assert random.attempts.value == 1.0


def test_sides_that_the_world_does_not_have_are_refused() -> None:
    """Before anything is played, with what to leave out or to add."""
    with pytest.raises(UsageError, match=r"errand has 1 player.*leave out the opponents"):
        dqa.play("errand", "searching", "random")
    with pytest.raises(UsageError, match=r"errand has one player.*leave out mirror \(--mirror\)"):
        dqa.play("errand", "searching", mirror=True)
    with pytest.raises(UsageError, match=r"kuhn has 2 players: name the opponents"):
        dqa.play("kuhn", "random")
    with pytest.raises(UsageError, match="have an opponent, and others have none"):
        PlaySpec(world="errand", pairs=(("searching", ""), ("searching", "random")))
    player = Plays(says)
    for player.name in ("searching", "planrag"):
        with pytest.raises(UsageError, match="Two deciders have the name"):
            dqa.play("errand", player)
    with pytest.raises(UsageError, match="Name both the players"):
        dqa.play("errand", (), "random")


def test_free_words_are_carried_out_and_no_fallback() -> None:
    """By programs and by deciders; what fits neither falls back, and is counted."""
    bought = dqa.play("errand", "buying", games=3, options=HERE)
    assert [r.value for r in bought.results] == [0.5] * 3
    assert bought.games is not None
    assert bought.games.players[0].actions == {"buy[a red mug]": 3}
    told = dqa.play("errand", Plays(lambda _: says("buy[an egg]")), games=2, options=HERE)
    assert [r.game.fallbacks["agent"] for r in told.results if r.game] == [0, 0]
    broken = dqa.play("errand", Plays(lambda _: "buy"), games=1, options=HERE)
    assert "'plays' returned 'buy'" in str(broken.results[0].error)
    wrong = dqa.play("errand", Plays(lambda _: says("buy[ ]")), games=2, options=HERE)
    assert wrong.games is not None
    figures = wrong.games.players[0]
    assert (figures.fallbacks, figures.moves) == (12, 12)
    assert figures.facts["rung"].value == 1.0
