"""The position of a player is read from the history by queries."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Question
from dqa.worlds.base import find_position
from dqa.worlds.history import Game, History
from dqa.worlds.observed import AGENT, BEGINNING, GOAL, read_observed
from dqa.worlds.world import GameEvent, Position
from tests.sqlite_files import run_script
from tests.worlds.playing import WORLDS, at_random, make_world, moves_of, open_history

ALONE: dict[str, dict[str, Any]] = {
    "household": {"task": "clean", "steps": 5},
    "shop": {"products": 400, "steps": 6},
}
"""Worlds of one player, and their settings."""


@pytest.mark.parametrize("name", [*WORLDS, *ALONE])
def test_the_position_that_is_read_is_the_one_that_was_handed_over(
    name: str, tmp_path: Path
) -> None:
    """At every move of random games, also later for an earlier move."""
    if name == "household":
        pytest.importorskip("alfworld")
    history = open_history(tmp_path)
    world = make_world(name, history, **ALONE.get(name, {}))
    compared = 0
    for seed in range(2 if name in ALONE else 5):
        earlier: list[tuple[Question, Position]] = []
        for move in moves_of(
            world.start(seed, mirrored=seed % 2 == 1), at_random(seed, cautious=0.85)
        ):
            read = find_position(move.question, move.database)
            assert read == move.position
            assert read.key == move.position.key
            assert (read.actions, read.hidden) == (move.position.actions, move.position.hidden)
            assert read.actions == move.question.candidates
            assert read.describe() == move.position.describe()
            own = [past for past in earlier if past[1].viewer == move.player]
            for question, position in own[-1:]:
                assert world.position(question, move.database) == position
            earlier.append((move.question, move.position))
            compared += 1
    assert compared >= 8
    history.close()


CHANGES = {
    "holdem": [
        ("DELETE FROM events WHERE number = 2", "event 2 is missing"),
        ("UPDATE events SET actor = 'player' WHERE number = 1", "event 1 .*is opponent's turn"),
        ("UPDATE events SET action = 'bluff' WHERE number = 2", "event 2 .*'bluff' is not legal"),
        (
            "UPDATE events SET action = 'fold', detail = '' WHERE number = 1",
            "event 2 .*after the end of the game",
        ),
        ("UPDATE events SET detail = 'Zz Ah Kd' WHERE actor = 'chance'", "'Zz Ah Kd'"),
        ("UPDATE events SET detail = '7c 7c 8c' WHERE actor = 'chance'", "of different cards"),
        ("UPDATE hidden SET value = 'Ah'", r"'Ah Ah'"),
    ],
    "negotiation": [
        ("UPDATE events SET actor = 'opponent' WHERE number = 2", "event 2 .*is player's turn"),
        ("UPDATE events SET action = '[9, 9, 9]' WHERE number = 1", r"event 1 .*choose a part of"),
        ("UPDATE hidden SET value = 'dear'", "'value of peppers' .* is 'dear', not a number"),
        ("UPDATE games SET settings = '{}'", "the setting 'pool' is invalid"),
    ],
}
"""Statements that damage a history, and the error that follows."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_history_that_no_one_played_names_the_event(name: str, tmp_path: Path) -> None:
    """Gaps, wrong turns, illegal bets, impossible cards and proposals are found."""
    for number, (statement, problem) in enumerate(CHANGES[name]):
        folder = tmp_path / str(number)
        folder.mkdir()
        history = open_history(folder)
        world = make_world(name, history)
        episode = world.start(5)
        for _ in range(4):
            move = episode.next_move()
            assert move is not None
            episode.choose(move.position.actions[-2])  # bets as small as can be
        move = episode.next_move()
        assert move is not None
        run_script(folder / "games.sqlite", statement)
        with pytest.raises(DataError, match=problem):
            world.position(move.question, move.database)
        episode.close()
        history.close()


def test_a_users_own_table_of_events_is_read(tmp_path: Path) -> None:
    """Details of actions and seats may be missing, and the id may be any text."""
    file = run_script(
        tmp_path / "own.db",
        f"""
            CREATE TABLE games (game INT, world TEXT, settings TEXT);
            CREATE TABLE events (game INT, number INT, stage TEXT, actor TEXT, action TEXT,
              detail TEXT);
            CREATE TABLE hidden (game INT, player TEXT, name TEXT, value TEXT);
            INSERT INTO games VALUES (7, 'leduc', '{json.dumps({})}'), (8, 'leduc', '{{}}');
            INSERT INTO events VALUES (7, 1, 'first', 'player', 'raise', NULL),
              (7, 2, 'first', 'opponent', 'call', ''), (7, 3, 'second', 'chance', 'deal', 'K2');
            INSERT INTO hidden VALUES (7, 'player', 'card', 'J1'), (8, 'player', 'card', 'Q1');
            """,
    )
    question = Question("leduc", "mine", "?", "", target={"game": "7", "player": "player"})
    database = plugins.backend("sqlite").open(str(file), isolation="none")
    try:
        position = find_position(question, database)
        assert position.actions == ("check", "raise")
        assert "Your cards: J1. Public cards: K2. Chips in the pot: 6" in position.describe()
        for target in ({"game": "x", "player": "player"}, {"game": "7", "player": "me"}, {}):
            with pytest.raises(DataError, match="must contain the number of a game"):
                find_position(Question("leduc", "mine", "?", "", target=target), database)
    finally:
        database.close()


LONG = "a page of text, " * 400


def test_a_long_history_is_read_whole(tmp_path: Path) -> None:
    """Texts for a model may be cut; the history is not."""
    events = [GameEvent(1, "shop", "chance", BEGINNING, LONG)]
    events += [GameEvent(n, "shop", AGENT, f"click[{n}]", f"{n} {LONG}") for n in range(2, 303)]
    question = Question("shop", "1", "Buy.", "", target={"game": "1", GOAL: "Red shoes."})
    with closing(History(str(tmp_path / "history.db"), isolation="none")) as history:
        history.begin(Game(1, "shop", 1, mirrored=False, settings="{}", hidden={}))
        history.add(1, events)
        with closing(history.open_for(1, AGENT)) as database:
            position = read_observed(question, database)
    assert position.events == tuple(events)
    assert position.observation == f"302 {LONG}"
    assert position.goal == "Red shoes."
    with pytest.raises(UsageError, match="is unknown before the action"):
        position.after("click[1]")
