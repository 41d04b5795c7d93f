"""Programs play households."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dqa import plugins
from dqa.evaluation.play import Played, play_episode
from dqa.worlds.base import PolicyDecider
from dqa.worlds.observed import AGENT
from dqa_simulators.household.games import find_generated, task_of_seed
from dqa_simulators.household.tables import TASKS
from tests.programs import run_python
from tests.worlds.playing import make_world

pytest.importorskip("alfworld")

FACTORY = plugins.world("household")


def play(name: str, seeds: Sequence[int]) -> list[Played]:
    """Have a program play a game of each seed."""
    decider = PolicyDecider(name, FACTORY.policies[name].make(0), 0)
    with ThreadPoolExecutor(4) as threads:
        games = threads.map(
            lambda seed: play_episode(make_world("household"), {AGENT: decider}, seed), seeds
        )
        return list(games)


@pytest.mark.parametrize(
    "each",
    [pytest.param(1, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.deep)],
)
def test_games_of_every_type_are_won_by_the_planners_walkthrough(each: int) -> None:
    """The planner's commands lead to the goal."""
    played = play("expert", range(6 * each))
    won = Counter(one.facts["task"] for one in played if one.returns == {AGENT: 1.0})
    assert won == dict.fromkeys(TASKS, each)


@pytest.mark.deep
def test_fair_players_win_some_of_sixty_games() -> None:
    """The explorer wins nearly all games, and random moves hardly any."""
    explored, drawn = play("explorer", range(1000, 1030)), play("random", range(1000, 1006))
    assert sum(one.facts["success"] is True for one in explored) >= 27
    assert sum(one.facts["success"] is True for one in drawn) <= 1


@pytest.mark.slow
def test_a_game_is_the_same_in_another_process(tmp_path: Path) -> None:
    """The order of sets does not change it."""
    script = (
        "from dqa_simulators.household.games import find_generated, task_of_seed\n"
        "print(find_generated(task_of_seed(3), 3).data)\n"
    )
    done = run_python(
        "-P",
        "-c",
        script,
        env={"PYTHONHASHSEED": "2", "PATH": "/usr/bin:/bin", "DQA_CACHE": str(tmp_path)},
        check=True,
    )
    assert done.stdout == f"{find_generated(task_of_seed(3), 3).data}\n"
