"""Any decider plays any world: a move is a question about a database."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question import Question
from dqa.deciders.base import Settings
from dqa.evaluation.play import play_episode
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


def test_a_decision_without_a_choice_ends_the_episode_without_returns() -> None:
    """Nobody knows how it would have gone on."""
    played = play_episode(Nim(), {"first": first(), "second": Silent()}, 3)
    assert played.returns is None
    assert [player for player, _ in played.decisions] == ["first", "second"]


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
