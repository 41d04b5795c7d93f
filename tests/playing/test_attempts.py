"""Deciders that play a game several times before one playing of it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider, EpisodeDecider, Trajectory
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.events import AttemptEvent, MoveEvent
from dqa.core.question import Question
from dqa.evaluation.options import RunOptions
from dqa.evaluation.play_spec import DEALS
from dqa.evaluation.results import Outcome
from dqa_simulators.games.episode import Start
from tests.sqlite_files import rows_of
from tests.worlds.errand import ERRAND, ROOMS, Errand, ErrandEpisode

pytestmark = pytest.mark.usefixtures("errand")
HERE = RunOptions(isolation="none")
ONE = Usage(10, 1, 1)


@dataclass
class Trial(Decider):
    """Looks into one room, takes what is there, and buys it elsewhere."""

    room: str
    ends: Ending = Ending.ANSWERED
    name = "trial"

    def decide(self, question: Question, database: Database) -> Decision:
        """Read what is there, so that a statement is asked of the attempt's own history."""
        seen = database.query("SELECT detail FROM events ORDER BY number DESC LIMIT 1").rows
        candidates = [str(one) for one in question.candidates or ()]
        choice = candidates[-1] if candidates[-1].startswith("take") else "buy[another]"
        if "street" in str(seen[0][0]):
            choice = f"go to {self.room}"
        elif self.ends is not Ending.ANSWERED:
            return Decision(self.ends, error="gone", outage="model", usage=ONE)
        return Decision(Ending.ANSWERED, answer=choice, choice=choice, usage=ONE)


@dataclass
class Learning(EpisodeDecider):
    """Looks into one room more in every attempt, until it found what it looks for."""

    attempts: int = 4
    failing: tuple[int, ...] = ()
    chosen: Decision | None = None
    name = "learning"

    def attempt(self, earlier: Sequence[Trajectory]) -> Decider | None:
        """Look elsewhere."""
        if earlier and earlier[-1].reward == 1.0:
            return None
        number = len(earlier)
        ends = Ending.INFRASTRUCTURE if number + 1 in self.failing else Ending.ANSWERED
        return Trial(ROOMS[number], ends)

    def choose_attempt(self, attempts: Sequence[Trajectory]) -> Decision:
        """Choose the best one."""
        if self.chosen is not None:
            return self.chosen
        best = max(range(len(attempts)), key=lambda place: attempts[place].reward or 0.0)
        return Decision(Ending.ANSWERED, answer="best", choice=best + 1, usage=ONE)

    def decide(self, question: Question, database: Database) -> Decision:
        """Never."""
        raise AssertionError(question)


def place_of(seed: int) -> int:
    """Return in which room of `ROOMS` a seed hides the thing."""
    return ROOMS.index(ErrandEpisode(Start(seed), 6).place)


FOUND_SECOND = next(seed for seed in range(50) if place_of(seed * DEALS + 1) == 1)
"""A run's seed whose first game has the thing in the second room."""


def played(decider: Decider, **fields: Any) -> dqa.Run:
    """A few errands."""
    usual: dict[str, Any] = {"games": 8, "options": HERE}
    return dqa.play("errand", decider, **(usual | fields))


def test_attempts_are_made_until_one_is_right_and_the_best_counts(tmp_path: Path) -> None:
    """As many as it takes; the history of the run has the one that counts alone."""
    decider = Learning()
    run = played(decider, out=tmp_path / "run", options=RunOptions(isolation="none", workers=1))
    needed = {r.question: place_of(r.game.seed) + 1 for r in run.results if r.game}
    assert len(set(needed.values())) > 2
    for result, trace in zip(run.results, run.traces, strict=True):
        assert result.game is not None
        number = needed[result.question]
        assert (result.value, result.game.attempts) == (1.0, number)
        told = [event for event in trace.events if isinstance(event, AttemptEvent)]
        assert [one.number for one in told] == list(range(1, number + 1))
        assert [one.reward for one in told] == [0.5] * (number - 1) + [1.0]
        assert [one.counts for one in told] == [False] * (number - 1) + [True]
        moves = [event for event in trace.events if isinstance(event, MoveEvent)]
        assert [move.attempt for move in moves] == [n for n in range(1, number + 1) for _ in "ab"]
        calls = 2 * number + (number > 1)
        assert (result.calls, result.input_tokens) == (calls, 10 * calls)
        assert result.game.moves == {"agent": 2}
    assert run.games is not None
    attempts = run.games.players[0].attempts
    assert attempts is not None
    assert attempts.value == pytest.approx(sum(needed.values()) / 8)
    assert "Attempts" in run.report()
    statement = "SELECT action FROM events WHERE number > 1 ORDER BY game, number"
    events = rows_of(tmp_path / "run" / "history.db", statement)
    assert [action for (action,) in events] == [
        action
        for trace in run.traces
        for event in trace.events
        if isinstance(event, MoveEvent) and event.attempt == needed[trace.question]
        for action in [event.choice]
    ]
    passages = run.passages(run.traces[0])
    assert any(getattr(one, "title", "") == "attempt 1" for one in passages)


def test_an_outage_in_any_attempt_ends_the_game_unscored(tmp_path: Path) -> None:
    """What was done is kept, and the game is played again as a whole."""
    run = played(Learning(failing=(2,)), games=4, out=tmp_path / "run")
    for result, trace in zip(run.results, run.traces, strict=True):
        assert result.game is not None
        found_at_once = place_of(result.game.seed) == 0
        assert (result.outcome is Outcome.PLAYED) is found_at_once
        if not found_at_once:
            assert (result.value, result.game.returns, result.game.attempts) == (None, {}, 2)
            told = [event for event in trace.events if isinstance(event, AttemptEvent)]
            assert [(one.reward, one.counts) for one in told] == [(0.5, False), (None, False)]
            assert result.calls == 4
    failed = run.counts.failed
    assert failed
    again = played(Learning(), games=4, out=tmp_path / "run")
    assert (again.made, again.counts.complete) == (failed, True)


def test_who_says_nothing_of_which_attempt_counts_gets_the_last_one() -> None:
    """And a number that there is not is a bug."""
    silent = Decision(Ending.UNPARSABLE, error="unreadable")
    run = played(Learning(chosen=silent), games=3)
    assert [r.value for r in run.results] == [1.0] * 3
    gone = Decision(Ending.INFRASTRUCTURE, error="gone", outage="model")
    run = played(Learning(chosen=gone), games=1, seed=FOUND_SECOND)
    assert [r.outcome for r in run.results] == [Outcome.INFRASTRUCTURE]
    wrong = Decision(Ending.ANSWERED, answer="9", choice=9)
    cases: dict[str, Any] = {"chose attempt 9": wrong, "'learning' returned 9": 9}
    for problem, chosen in cases.items():
        run = played(Learning(chosen=chosen), games=1, seed=FOUND_SECOND)
        assert problem in str(run.results[0].error)


def test_a_world_that_goes_another_way_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a game would count that nobody played."""
    begun: list[int] = []

    class Moody(Errand):
        def begin(self, start: Start) -> ErrandEpisode:
            episode = super().begin(start)
            episode.place = ROOMS[len(begun) % 2]
            begun.append(start.seed)
            return episode

    made = replace(ERRAND, make=Moody)
    monkeypatch.setattr(plugins, "world", lambda _: made)
    run = played(Learning(), games=1, options=RunOptions(isolation="none", workers=1))
    assert run.results[0].outcome is Outcome.CRASHED
    assert "went differently" in str(run.results[0].error)
