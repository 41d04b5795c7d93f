"""Any decider plays any world: a move is a question about a database."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.question import Question
from dqa.deciders.base import Settings
from dqa.evaluation.play import play_episode
from tests.worlds.nim import Nim, NimEpisode


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
    """An outage, a spent budget, a stop and a bug score no one; a bug of the world is raised."""

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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NimEpisode, "choose", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            play_episode(Nim(), {"first": first(), "second": Silent()}, 3)
