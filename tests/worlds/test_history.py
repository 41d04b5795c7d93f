"""The history of games as a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.errors import DatabaseUnavailableError, DataError, GameTakenError, UsageError
from dqa.worlds.history import Game, History
from dqa.worlds.world import GameEvent
from tests.sqlite_files import rows_of, run_script
from tests.worlds.playing import make_world, open_history


def game(number: int) -> Game:
    """Return a game in which both players know something."""
    hidden = {"player": {"card": "K"}, "opponent": {"card": "J"}}
    return Game(number, "kuhn", 3, False, "{}", hidden)


def event(number: int) -> GameEvent:
    """Return something that happened."""
    return GameEvent(number, "bets", "player", "check")


def test_a_database_of_another_kind_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    """A table of the same name with other columns is no history."""
    file = run_script(tmp_path / "own.sqlite", "CREATE TABLE events (game INTEGER, note TEXT)")
    with pytest.raises(DataError, match="table 'events'"):
        History(str(file))
    assert rows_of(file, "SELECT name FROM sqlite_master") == [("events",)]


def test_a_player_reads_what_is_written_later(tmp_path: Path) -> None:
    """Also in a worker process, which opens one session per game and player."""
    history = History(str(tmp_path / "games.sqlite"))
    history.begin(game(1))
    database = history.open_for(1, "player")
    for number in range(1, 4):
        history.add(1, [event(number)])
        assert database.query("SELECT COUNT(*) FROM events").rows == ((number,),)
    history.add(1, (), {"player": 1.0, "opponent": -1.0})
    assert len(database.query("SELECT * FROM outcomes").rows) == 2
    assert database.query("SELECT seed, value FROM games, hidden").rows == ((None, "K"),)
    database.close()
    history.close()


def test_readers_share_connections_and_nothing_else(tmp_path: Path) -> None:
    """Each reader sees its own rows, and closing one does not close the others."""
    history = History(str(tmp_path / "games.sqlite"))
    history.begin(game(1))
    history.begin(game(2))
    history.add(2, [event(1)])
    opened = {
        (number, player): history.open_for(number, player)
        for number in (1, 2)
        for player in ("player", "opponent")
    }
    for (number, player), database in opened.items():
        own = (number, player, "K" if player == "player" else "J")
        assert database.query("SELECT game, player, value FROM hidden").rows == (own,)
        assert len(database.query("SELECT * FROM events").rows) == number - 1
        assert database.query("SELECT game FROM games").rows == ((number,),)
        database.close()
        with pytest.raises(DatabaseUnavailableError, match="is closed"):
            database.query("SELECT 1")
    last = history.numbered_from(100).open_for(1, "player")
    assert last.query("SELECT value FROM hidden").rows == (("K",),)
    history.close()
    with pytest.raises(DatabaseUnavailableError, match="is closed"):
        last.query("SELECT 1")


def test_a_game_that_is_begun_again_leaves_nothing_of_before(tmp_path: Path) -> None:
    """A game that resumes after a crash starts again."""
    history = open_history(tmp_path)
    world = make_world("kuhn", history)
    episode = world.start(2)
    episode.choose("raise")
    episode.close()
    history.add(5, [event(1)])  # another game's
    again = world.start(2)
    move = again.next_move()
    assert move is not None
    assert move.database.query("SELECT * FROM events").rows == ()
    assert len(move.database.query("SELECT * FROM games").rows) == 1
    again.close()
    assert rows_of(tmp_path / "games.sqlite", "SELECT game FROM events") == [(5,)]
    with pytest.raises(DataError, match="already contains this event or game"):
        history.add(5, [event(1)])
    history.close()


def test_games_of_another_run_are_never_removed(tmp_path: Path) -> None:
    """Neither by a later run, nor by a run that started at the same time."""
    file = str(tmp_path / "games.sqlite")
    one, other = History(file, run="one"), History(file, run="other")
    one.begin(game(1))
    one.add(1, [event(1)])
    with pytest.raises(UsageError, match=r"games\.sqlite contains games of another run.*--out"):
        other.begin(game(1))
    with pytest.raises(UsageError, match="contains games of another run"):
        History(file, run="other")
    with pytest.raises(UsageError, match="contains games of another run"):
        History(file).begin(game(1))
    again = History(file, run="one")
    again.add(1, [event(2)])
    database = again.open_for(1, "player")
    assert database.query("SELECT COUNT(*) FROM events").rows == ((2,),)
    assert "attempts" not in [table.name for table in database.schema().tables]
    for opened in (database, one, other, again):
        opened.close()


def test_a_process_that_lost_its_game_writes_nothing_more(tmp_path: Path) -> None:
    """The rows of the other process stay complete."""
    file = str(tmp_path / "games.sqlite")
    slow, taking = History(file, run="one"), History(file, run="one")
    slow.begin(game(1))
    slow.add(1, [event(1)])
    taking.begin(game(1))
    with pytest.raises(GameTakenError, match="started game 1 again"):
        slow.add(1, [event(2)])
    taking.add(1, [event(1)])
    with pytest.raises(GameTakenError, match="started game 1 again"):
        slow.numbered_from(9).add(1, (), {"player": 1.0})
    taking.add(1, (), {"player": 2.0})
    assert rows_of(file, "SELECT COUNT(*) FROM events") == [(1,)]
    assert rows_of(file, "SELECT payoff FROM outcomes") == [(2.0,)]
    slow.close()
    taking.close()


def test_a_location_without_a_history_is_refused(tmp_path: Path) -> None:
    """A file that is not a database is not written to, and no password is shown."""
    (tmp_path / "other.db").write_text("not a database" * 100)
    with pytest.raises(DataError):
        History(str(tmp_path / "other.db"))
    with pytest.raises(UsageError, match="SQLite file") as raised:
        History("postgresql://user:hush@host/games")
    assert "hush" not in str(raised.value)
