"""Any decider plays any world: a move is a question about a database."""

from __future__ import annotations

from threading import Event

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.events import WarningEvent
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.evaluation.play import play_episode
from tests.worlds.nim import Nim


class Winner(Decider):
    """Leaves a multiple of four where it can, as it reads from the database."""

    name = "winner"

    def decide(self, question: Question, database: Database) -> Decision:
        """Look at the heap, and take what wins."""
        ((heap,),) = database.query("SELECT size FROM heap").rows
        assert isinstance(heap, int)
        choice = heap % 4 or 1
        return Decision(Ending.ANSWERED, answer=str(choice), choice=choice)


class Silent(Decider):
    """Says nothing."""

    name = "silent"

    def decide(self, question: Question, database: Database) -> Decision:
        """Run out of steps."""
        return Decision(Ending.STEP_LIMIT, error="no decision")


def first() -> Decider:
    """A shipped decider that knows nothing of worlds."""
    return plugins.decider("first")(None, Settings())


def test_the_winning_strategy_wins() -> None:
    """The first player leaves a multiple of four, unless it begins on one; the seed decides."""
    for seed in range(6):
        heap = Nim().start(seed).next_move()
        assert heap is not None
        ((size,),) = heap.database.query("SELECT size FROM heap").rows
        assert isinstance(size, int)
        one, two = (
            play_episode(Nim(), {"first": Winner(), "second": first()}, seed) for _ in range(2)
        )
        assert one.returns is not None
        if size % 4:
            assert one.returns["first"] == 1.0
        assert sum(one.returns.values()) == 0.0
        assert [move.choice for move in one.moves] == [move.choice for move in two.moves]


def test_a_decision_without_a_legal_choice_is_the_fallback_and_counted() -> None:
    """The episode goes on, by what the rules of the world have for it."""

    class Greedy(Silent):
        def decide(self, question: Question, database: Database) -> Decision:
            return Decision(Ending.ANSWERED, answer="9", choice=9)

    illegal = play_episode(Nim(), {"first": first(), "second": Greedy()}, 3)
    played = play_episode(Nim(), {"first": first(), "second": Silent()}, 3)
    assert illegal.fallbacks("second") == played.fallbacks("second")
    assert played.returns is not None
    assert {move.choice for move in played.moves if move.player == "second"} == {1}
    assert played.fallbacks("second") == sum(move.player == "second" for move in played.moves) > 0
    assert played.fallbacks("first") == 0
    assert played.facts == {"moves": len(played.moves)}


def test_a_failure_ends_the_episode_without_returns() -> None:
    """An outage, a spent budget, a stop and a bug score no one."""

    class Cut(Silent):
        def decide(self, question: Question, database: Database) -> Decision:
            if ending is Ending.CRASHED:
                raise ZeroDivisionError(question.key, database.name)
            return Decision(ending, error="gone")

    for ending in (Ending.INFRASTRUCTURE, Ending.BUDGET, Ending.STOPPED, Ending.CRASHED):
        played = play_episode(Nim(), {"first": first(), "second": Cut()}, 3)
        assert played.returns is None
        assert [player for player, _ in played.decisions] == ["first", "second"]
        assert played.decisions[-1][1].ending is ending
        assert played.moves[-1].choice is None


class Paying(Silent):
    """At its first move, pays for replies, and sleeps after each."""

    def __init__(self, woken: Event, naps: int, nap: float) -> None:
        self._woken, self._naps, self._nap = woken, naps, nap

    def decide(self, question: Question, database: Database) -> Decision:
        """Record usage and a warning before each nap."""
        recorder, naps = Recorder(), self._naps
        self._naps = 0
        for number in range(naps):
            recorder.usage += Usage(input_tokens=7, output_tokens=2, calls=1)
            told = WarningEvent(about="calls", text=f"nap {number}", considered=0, total=1)
            recorder.note(told)
            self._woken.wait(self._nap)
        return recorder.answered("1", 1)


def test_a_stalled_move_is_the_fallback_and_keeps_what_was_paid_for() -> None:
    """Usage and events until then are kept; the game goes on."""
    woken = Event()
    try:
        players = {"first": first(), "second": Paying(woken, 1, 60.0)}
        played = play_episode(Nim(), players, 3, seconds=0.2)
    finally:
        woken.set()
    assert played.returns is not None
    late = next(move for move in played.moves if move.player == "second")
    assert late.fallback
    assert late.decision.ending is Ending.NO_DECISION
    assert "did not decide within 0.4 s" in str(late.decision.error)
    assert late.decision.usage == Usage(input_tokens=7, output_tokens=2, calls=1)
    assert [event.kind for event in late.decision.trace] == ["warning"]


def test_without_a_bound_silence_ends_a_move_and_slowness_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who is heard of now and then may take any time; a call that never comes back may not."""
    monkeypatch.setattr("dqa.evaluation.play.LONGEST_SILENCE", 0.5)
    woken = Event()
    slow = play_episode(Nim(), {"first": first(), "second": Paying(woken, 8, 0.1)}, 1)
    assert not slow.fallbacks("second")
    assert max(decision.seconds for _, decision in slow.decisions) > 0.5
    try:
        stalled = play_episode(Nim(), {"first": first(), "second": Paying(woken, 1, 60.0)}, 1)
    finally:
        woken.set()
    assert stalled.fallbacks("second") == 1
    problems = {move.decision.error for move in stalled.moves if move.fallback}
    assert problems == {"silent did not decide, and nothing was heard of it for 0.5 s"}
