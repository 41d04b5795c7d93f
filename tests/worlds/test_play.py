"""Any decider plays any world: a move is a question about a database."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.events import WarningEvent
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.evaluation.play import play_episode
from dqa.worlds.history import History
from dqa_simulators.games.table import NoSettings
from tests.worlds.nim import PLAYERS, Nim

SEEDS = range(20)


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


@pytest.mark.parametrize("seed", SEEDS)
def test_who_can_win_wins(seed: int) -> None:
    """The second player cannot beat one who leaves a multiple of four, unless it begins on one."""
    heap = Nim().start(seed).next_move()
    assert heap is not None
    ((size,),) = heap.database.query("SELECT size FROM heap").rows
    assert isinstance(size, int)
    played = play_episode(Nim(), {"first": Winner(), "second": first()}, seed)
    assert played.returns is not None
    if size % 4:
        assert played.returns["first"] == 1.0
    assert sum(played.returns.values()) == 0.0


def test_an_episode_is_the_same_from_the_same_seed() -> None:
    """Players, choices and returns."""
    one, two = (play_episode(Nim(), dict.fromkeys(PLAYERS, Winner()), 7) for _ in range(2))
    assert [(p, d.choice) for p, d in one.decisions] == [(p, d.choice) for p, d in two.decisions]
    assert one.returns == two.returns
    assert [player for player, _ in one.decisions][:3] == ["first", "second", "first"]


def test_the_database_holds_the_history() -> None:
    """Each move sees the moves before it."""
    episode = Nim().start(0)
    for number in range(3):
        move = episode.next_move()
        assert move is not None
        assert len(move.database.query("SELECT * FROM move").rows) == number
        episode.choose(1)
    episode.close()


def test_a_decision_without_a_choice_is_the_fallback_and_counted() -> None:
    """The episode goes on, by what the rules of the world have for it."""
    played = play_episode(Nim(), {"first": first(), "second": Silent()}, 3)
    assert played.returns is not None
    assert {move.choice for move in played.moves if move.player == "second"} == {1}
    assert played.fallbacks("second") == sum(move.player == "second" for move in played.moves) > 0
    assert played.fallbacks("first") == 0
    assert played.facts == {"moves": len(played.moves)}


@pytest.mark.parametrize("ending", [Ending.INFRASTRUCTURE, Ending.BUDGET, Ending.STOPPED])
def test_what_was_not_decided_ends_the_episode_without_returns(ending: Ending) -> None:
    """Nobody knows how it would have gone on."""

    class Cut(Silent):
        def decide(self, question: Question, database: Database) -> Decision:
            return Decision(ending, error="gone")

    played = play_episode(Nim(), {"first": first(), "second": Cut()}, 3)
    assert played.returns is None
    assert [player for player, _ in played.decisions] == ["first", "second"]
    assert played.moves[-1].choice is None


def test_an_illegal_choice_is_the_fallback() -> None:
    """Whoever names what cannot be done is treated as who names nothing."""

    class Greedy(Silent):
        def decide(self, question: Question, database: Database) -> Decision:
            return Decision(Ending.ANSWERED, answer="9", choice=9)

    played = play_episode(Nim(), {"first": first(), "second": Greedy()}, 3)
    assert played.returns is not None
    assert played.fallbacks("second") > 0


def test_nobody_waits_for_a_player_that_stalls() -> None:
    """Its move is the fallback, once it took far longer than its budget."""
    woken = Event()

    class Stalled(Silent):
        def decide(self, question: Question, database: Database) -> Decision:
            woken.wait(60.0)
            return super().decide(question, database)

    try:
        players = {"first": first(), "second": Stalled()}
        played = play_episode(Nim(), players, 3, seconds=0.01)
    finally:
        woken.set()
    assert played.returns is not None
    late = [move.decision for move in played.moves if move.player == "second"]
    assert {decision.ending for decision in late} == {Ending.NO_DECISION}
    assert all("did not decide within 0.02 s" in str(decision.error) for decision in late)


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


def test_what_was_paid_for_until_a_move_is_cut_off_is_kept() -> None:
    """Usage and events; what comes later belongs to no move."""
    woken = Event()
    try:
        players = {"first": first(), "second": Paying(woken, 1, 60.0)}
        played = play_episode(Nim(), players, 3, seconds=0.3)
    finally:
        woken.set()
    late = next(move for move in played.moves if move.player == "second")
    assert late.fallback
    assert late.decision.ending is Ending.NO_DECISION
    assert late.decision.usage == Usage(input_tokens=7, output_tokens=2, calls=1)
    assert [event.kind for event in late.decision.trace] == ["warning"]


def test_without_a_bound_silence_ends_a_move_and_slowness_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who is heard of now and then may take any time; a call that never comes back may not."""
    monkeypatch.setattr("dqa.evaluation.waiting.LONGEST_SILENCE", 0.5)
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


def test_opening_the_history_is_none_of_a_players_time(tmp_path: Path) -> None:
    """It is open before the player is asked, and closed once the episode is, whoever is late."""
    opened: list[Database] = []
    woken = Event()

    class Slow(History):
        def open_for(self, game: int, player: str) -> Database:
            woken.wait(0.5)
            opened.append(super().open_for(game, player))
            return opened[-1]

    history = Slow(str(tmp_path / "games.sqlite"))
    world = plugins.world("kuhn").make(NoSettings(), history)
    played = play_episode(world, dict.fromkeys(world.players, Silent()), 1, seconds=0.2)
    assert played.returns is not None
    assert {decision.ended_by for _, decision in played.decisions} == {None}
    assert len(opened) == 2
    episode = world.start(2)
    move = episode.next_move()
    assert move is not None
    episode.close()
    with pytest.raises(UsageError, match="is closed"):
        _ = move.database
    history.close()


def test_a_reference_is_asked_before_each_move() -> None:
    """And what it says changes nothing."""
    players = {"first": Winner(), "second": first()}
    played = play_episode(Nim(), players, 3, reference=lambda move: move.position.fallback)
    assert {move.reference for move in played.moves} == {1}
    assert played.returns == play_episode(Nim(), players, 3).returns


def test_a_move_that_is_no_candidate_is_refused() -> None:
    """And so are returns before the end."""
    episode = Nim().start(0)
    with pytest.raises(UsageError, match="4 cannot be taken"):
        episode.choose(4)
    with pytest.raises(UsageError, match="not ended"):
        episode.returns()
    episode.close()


def test_every_player_needs_a_decider() -> None:
    """The missing one is named."""
    with pytest.raises(UnknownNameError, match="'second'"):
        play_episode(Nim(), {"first": first()}, 0)


def test_a_bug_of_a_decider_ends_the_episode_as_one_decision() -> None:
    """It is told as what it is, and nobody gets a return for it."""

    class Broken(Silent):
        def decide(self, question: Question, database: Database) -> Decision:
            raise ZeroDivisionError(question.key, database.name)

    played = play_episode(Nim(), {"first": first(), "second": Broken()}, 3)
    assert played.returns is None
    assert played.decisions[-1][1].ending is Ending.CRASHED
