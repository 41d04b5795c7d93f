"""Households: games from a seed, one process for all, players, refusals, failures."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from dqa import plugins
from dqa.core.decision import Ending, ending_of
from dqa.core.errors import DataError, UnknownNameError, UsageError, WorldUnavailableError
from dqa.evaluation.episodes import Played, play_episode
from dqa.worlds.base import PolicyDecider
from dqa.worlds.observed import AGENT, BEGINNING, events_of
from dqa_simulators.household import tables
from dqa_simulators.household.games import (
    GAME_FILE,
    TASK_FILE,
    HouseholdGame,
    find_generated,
    find_official,
    task_of_seed,
)
from dqa_simulators.household.tables import TASKS
from dqa_simulators.household.world import Household, HouseholdEpisode, HouseholdSettings
from tests.programs import run_python
from tests.worlds.playing import make_world, open_history

pytest.importorskip("alfworld")

SEED = 7
"""Of a game in a small room."""
FACTORY = plugins.world("household")


def decider(name: str) -> PolicyDecider:
    """Return a program of the world."""
    return PolicyDecider(name, FACTORY.policies[name].make(0), 0)


@pytest.fixture(scope="module")
def game() -> HouseholdGame:
    """A game in which something has to be cleaned."""
    return find_generated("clean", SEED)


@pytest.fixture
def episode() -> Iterator[HouseholdEpisode]:
    """The same game, as an episode of five commands."""
    started = Household(HouseholdSettings(task="clean", steps=5), None).start(SEED)
    yield started
    started.close()


def test_the_walkthrough_wins_and_everything_is_told(
    game: HouseholdGame, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the words of the papers. Nothing is printed, and `sys.argv` stays the same."""
    arguments = list(sys.argv)
    history = open_history(tmp_path)
    played = play_episode(
        make_world("household", history, task="clean"), {AGENT: decider("expert")}, SEED
    )
    assert played.returns == {AGENT: 1.0}
    assert tuple(move.event.choice for move in played.moves) == game.walkthrough
    assert played.facts == {
        "success": True,
        "task": "clean",
        "goal": played.facts["goal"],
        "steps": len(game.walkthrough),
    }
    database = history.open_for(2 * SEED, AGENT)
    events = events_of(database, "the game")
    assert [event.number for event in events] == list(range(1, len(game.walkthrough) + 2))
    assert events[0].action == BEGINNING
    assert events[0].detail.startswith(
        "You are in the middle of a room. Looking quickly around you, you see a "
    )
    assert events[0].detail.endswith(f"\nYour task is to: {played.facts['goal']}.")
    told = "\n".join(f"> {event.action}\n{event.detail}" for event in events)
    assert "You arrive at loc " in told
    assert "You pick up the " in told
    assert "You clean the " in told
    put = [event for event in events if event.action.startswith("put ")]
    assert put
    assert all(" in/on " in event.action and " in/on the " in event.detail for event in put)
    ((settings,),) = database.query("SELECT settings FROM games").rows
    assert json.loads(str(settings)) == {"goal": played.facts["goal"], "steps": 50}
    database.close()
    history.close()
    assert sys.argv == arguments
    assert capfd.readouterr() == ("", "")


def test_an_episode_refuses_other_commands_and_ends_after_its_last(
    episode: HouseholdEpisode,
) -> None:
    """A command that is not listed changes nothing; without success the reward is 0."""
    before = episode.next_move()
    for refused in ("fly to the moon", "take apple 1 from fridge 1", "Look", "", "go to"):
        with pytest.raises(UsageError, match="is not a candidate of household"):
            episode.choose(refused)
    assert episode.next_move() == before
    for left in range(5, 0, -1):
        move = episode.next_move()
        assert move is not None
        assert f"You can still give {left} command" in move.question.text
        with pytest.raises(UsageError, match="has not ended"):
            episode.returns()
        episode.choose("inventory")
    assert episode.next_move() is None
    assert episode.returns() == {AGENT: 0.0}
    assert (episode.facts()["success"], episode.facts()["steps"]) == (False, 5)


def test_threads_play_what_one_thread_plays() -> None:
    """Parallel episodes, some of one game, show the same texts as single ones."""

    def play(seed: int) -> list[str]:
        started = Household(HouseholdSettings(task="clean", steps=4), None).start(seed)
        seen = []
        try:
            while (move := started.next_move()) is not None:
                seen.append(move.question.text)
                started.choose(move.position.actions[len(seen)])
        finally:
            started.close()
        return seen

    seeds = [SEED, SEED, SEED + 6, SEED]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(play, seeds))
    assert together == [play(seed) for seed in seeds]


@pytest.mark.parametrize("failure", ["the process dies", "Ctrl-C during a reply"])
def test_a_failure_of_the_engine_is_no_wrong_answer(
    episode: HouseholdEpisode, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game ends as an outage, and the next game has a new process.

    After Ctrl-C, the next request would otherwise read the reply to the interrupted one.
    """
    own = episode._running
    with pytest.raises(WorldUnavailableError, match=r"failed at 'step'.*not admissible"):
        own.step("fly")
    if failure == "the process dies":
        own.engine.process.kill()
        with pytest.raises(WorldUnavailableError, match="has no result") as ended:
            episode.choose("look")
        assert ending_of(ended.value)[0] is Ending.INFRASTRUCTURE
    else:
        monkeypatch.setattr(own.engine._connection, "poll", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            own.step("look")
    assert not own.engine.is_usable
    fresh = Household(HouseholdSettings(task="clean", steps=5), None).start(SEED)
    assert fresh._running.engine is not own.engine
    assert fresh._running.seen == own.seen
    fresh.close()


def write_official(folder: Path, data: Mapping[str, Any]) -> None:
    """Write a game in which something has to be cleaned, as alfworld does."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / GAME_FILE).write_text(json.dumps(data), "utf-8")
    task = {"task_type": "pick_clean_then_place_in_recep"}
    (folder / TASK_FILE).write_text(json.dumps(task), "utf-8")


def test_official_games_are_played(game: HouseholdGame, tmp_path: Path) -> None:
    """In the order of their folders, then again from the first. Unsolvable games are left out."""
    folder = tmp_path / "valid_unseen"
    official = {
        **game.data.model_dump(mode="json"),
        "grammar": tables.load_tables().grammar.replace("UNKNOWN GOAL", "wash up"),
        "walkthrough": [
            command.replace("put ", "move ").replace(" in/on ", " to ")
            for command in game.walkthrough
        ],
    }
    names = ("b/trial", "a/trial", "a-Sliced/trial", "c/trial")
    for name in names:
        write_official(folder / name, {**official, "solvable": name != "c/trial"})
    assert [one.parent.name for one in find_official(folder)] == ["a", "b"]
    world = make_world("household", games=str(folder))
    assert isinstance(world, Household)
    assert world.find_game(0) == world.find_game(2)
    assert world.find_game(0).walkthrough == game.walkthrough
    played = play_episode(world, {AGENT: decider("expert")}, 1)
    assert played.returns == {AGENT: 1.0}
    assert played.facts["goal"] == "wash up"
    with pytest.raises(UsageError, match=r"of the type 'heat'.* 3 games"):
        make_world("household", games=str(folder), task="heat").start(0)


def test_wrong_official_games_are_named(game: HouseholdGame, tmp_path: Path) -> None:
    """The message names the file and the problem."""
    data = game.data.model_dump(mode="json") | {"solvable": True}
    goalless = {**data, "pddl_problem": "(define (problem p))"}
    for file, content, problem in (
        (GAME_FILE, b"{", "is not a file of a household game"),
        (GAME_FILE, json.dumps(goalless).encode(), "pddl_problem"),
        (TASK_FILE, b'{"task_type": "juggle"}', "no household game"),
    ):
        write_official(tmp_path / "one", data)
        (tmp_path / "one" / file).write_bytes(content)
        with pytest.raises((DataError, UsageError), match=problem):
            make_world("household", games=str(tmp_path)).start(0)
    with pytest.raises(UsageError, match=r"There is no folder .*alfworld-download"):
        make_world("household", games=str(tmp_path / "none")).start(0)


def play(name: str, seeds: Sequence[int]) -> list[Played]:
    """Have a program play a game of each seed."""
    decider = PolicyDecider(name, FACTORY.policies[name].make(0), 0)
    with ThreadPoolExecutor(4) as threads:
        games = threads.map(
            lambda seed: play_episode(make_world("household"), {AGENT: decider}, seed), seeds
        )
        return list(games)


@pytest.mark.parametrize(
    "each", [pytest.param(1, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.deep)]
)
def test_games_of_every_type_are_won_by_the_planners_walkthrough(each: int) -> None:
    """The planner's commands lead to the goal."""
    played = play("expert", range(6 * each))
    won = Counter(one.facts["task"] for one in played if one.returns == {AGENT: 1.0})
    assert won == dict.fromkeys(TASKS, each)


@pytest.mark.deep
def test_random_moves_win_hardly_any_game() -> None:
    """A game is not won by chance."""
    drawn = play("random", range(1000, 1006))
    assert sum(one.facts["success"] is True for one in drawn) <= 1


@pytest.mark.slow
def test_a_game_is_the_same_in_another_process() -> None:
    """The order of sets does not change it."""
    script = (
        "from dqa_simulators.household.games import find_generated, task_of_seed\n"
        "print(find_generated(task_of_seed(3), 3).data)\n"
    )
    done = run_python(
        "-P", "-c", script, env={"PYTHONHASHSEED": "2", "PATH": "/usr/bin:/bin"}, check=True
    )
    assert done.stdout == f"{find_generated(task_of_seed(3), 3).data}\n"


def test_each_player_needs_a_decider() -> None:
    """The error shows the names of the players that have one."""
    with pytest.raises(UnknownNameError, match=f"player '{AGENT}'. There are: another"):
        play_episode(make_world("household"), {"another": decider("expert")}, 1)
