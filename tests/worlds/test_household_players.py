"""Who acts in households: what observations tell, the explorer, and scripted models."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.world import GameEvent, Position
from dqa.deciders.base import Settings
from dqa.evaluation.play import Played, play_episode
from dqa.models.scripted import scripted_model
from dqa.worlds.base import PolicyDecider
from dqa.worlds.observed import AGENT, BEGINNING, ObservedPosition
from dqa.worlds.scripted import Shown
from dqa_simulators.household.games import generate_game, task_of_seed
from dqa_simulators.household.knowledge import Goal, Knowledge, read_goal
from dqa_simulators.household.players import advise
from dqa_simulators.household.scripted import SCRIPT
from dqa_simulators.household.tables import load_tables
from dqa_simulators.household.tasks import TASKS, TaskName
from tests.worlds.playing import make_world, open_history

pytest.importorskip("alfworld")

FACTORY = plugins.world("household")
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, "
    "a cabinet 1, a countertop 1, a fridge 1, and a sinkbasin 1.\nYour task is to: {goal}."
)


def events_of(goal: str, *seen: tuple[str, str]) -> tuple[GameEvent, ...]:
    """Return what was seen of a small kitchen."""
    first = GameEvent(1, "household", "chance", BEGINNING, ROOM.format(goal=goal))
    later = (
        GameEvent(number, "household", AGENT, action, detail)
        for number, (action, detail) in enumerate(seen, 2)
    )
    return (first, *later)


def play(name: str, seed: int) -> Played:
    """Have a program play."""
    decider = PolicyDecider(name, FACTORY.policies[name].make(0), 0)
    return play_episode(make_world("household"), {AGENT: decider}, seed)


@pytest.mark.parametrize("name", list(TASKS))
def test_every_sentence_of_alfworlds_is_understood(name: TaskName) -> None:
    """What is wanted, where, how it is to be treated, and how often."""
    task = TASKS[name]
    for sentence in load_tables().sentences[task.official]:
        text = sentence.format(obj="mug", recep="desk", toggle="desklamp")
        is_look = task.name == "look"
        assert read_goal(text) == Goal(
            "mug",
            "" if is_look else "desk",
            task.treatment,
            "desklamp" if is_look else "",
            task.count,
        )
    assert read_goal("tidy up, please") is None


def test_observations_add_up() -> None:
    """Where things are, what is closed, what is held, and what was done to it."""
    known = Knowledge.of(
        events_of(
            "put a clean mug in cabinet",
            ("go to cabinet 1", "You arrive at loc 3. The cabinet 1 is closed."),
            ("open cabinet 1", "The cabinet 1 is open. In it, you see a mug 1, and a plate 2."),
            ("take mug 1 from cabinet 1", "You pick up the mug 1 from the cabinet 1."),
            ("go to sinkbasin 1", "You arrive at loc 5. On the sinkbasin 1, you see nothing."),
            ("clean mug 1 with sinkbasin 1", "You clean the mug 1 using the sinkbasin 1."),
            ("go to fridge 1", "Nothing happens."),
        )
    )  # fmt: skip
    assert known.places == ("cabinet 2", "cabinet 1", "countertop 1", "fridge 1", "sinkbasin 1")
    assert known.things == {"cabinet 1": ["plate 2"], "sinkbasin 1": []}
    assert (known.here, known.held, known.closed) == ("sinkbasin 1", "mug 1", set())
    assert known.treated == {("clean", "mug 1")}
    assert known.unseen() == ["cabinet 2", "countertop 1", "fridge 1"]
    known.add("close cabinet 1", "You close the cabinet 1.")
    known.add("put mug 1 in/on sinkbasin 1", "You put the mug 1 in/on the sinkbasin 1.")
    assert known.closed == {"cabinet 1"}
    assert known.find("mug") == [("mug 1", "sinkbasin 1")]
    assert not known.held


@pytest.mark.parametrize(
    ("seen", "commands", "expected"),
    [
        ((), ("go to cabinet 1", "go to fridge 1"), "go to fridge 1"),
        (
            (("go to fridge 1", "You arrive at loc 3. The fridge 1 is closed."),),
            ("open fridge 1", "go to cabinet 1"),
            "open fridge 1",
        ),
        (
            (("go to fridge 1", "On the fridge 1, you see an apple 1."),),
            ("take apple 1 from fridge 1",),
            "take apple 1 from fridge 1",
        ),
        (
            (("take apple 1 from countertop 1", "You pick up the apple 1."),),
            ("go to fridge 1", "go to cabinet 2"),
            "go to fridge 1",
        ),
    ],
)
def test_the_explorer_is_sensible(
    seen: tuple[tuple[str, str], ...], commands: tuple[str, ...], expected: str
) -> None:
    """An apple is looked for in the fridge, which has to be open, and is cooled there."""
    goal = "cool some apple and put it in cabinet"
    assert advise(goal, events_of(goal, *seen), commands) == expected


def test_without_an_idea_it_looks_around() -> None:
    """Where a goal is said in words of somebody's own."""
    position = ObservedPosition(
        "household", "tidy up", ("go to cabinet 1", "look"), events_of("tidy up"), cautious="look"
    )
    explorer = FACTORY.policies["explorer"].make(0)
    assert explorer.choose(position, np.random.default_rng(0)) == "look"


def test_programs_refuse_what_is_no_household() -> None:
    """The expert wants to be shown the state, the explorer what was seen."""
    expert, explorer = (FACTORY.policies[name].make(0) for name in ("expert", "explorer"))
    move = make_world("kuhn").start(0).next_move()
    assert move is not None
    with pytest.raises(UsageError, match="sees what is hidden"):
        expert.choose(move.position, np.random.default_rng(0))
    with pytest.raises(UsageError, match="knows no KuhnPosition"):
        explorer.choose(move.position, np.random.default_rng(0))


def shown(position: Position) -> Shown:
    """Return a position as a prompt shows it."""
    return Shown(
        AGENT,
        AGENT,
        position.describe(),
        position.events,
        tuple(map(str, position.actions)),
        scale=position.payoff_range,
    )


def test_the_script_values_every_action() -> None:
    """From 0 to 1; what shows something new is worth more than what changes nothing."""
    goal = "put a mug in cabinet"
    commands = ("examine fridge 1", "go to cabinet 1", "go to cabinet 2", "look")
    position = ObservedPosition("household", goal, commands, events_of(goal))
    worth = SCRIPT.estimate(shown(position))
    assert list(worth) == list(commands)
    assert all(0.0 <= one <= 1.0 for one in worth.values())
    assert worth["go to cabinet 2"] > worth["go to cabinet 1"] > worth["look"]
    assert SCRIPT.expect(shown(position)) == "go to cabinet 2"
    with pytest.raises(UsageError, match="tells of no household"):
        SCRIPT.estimate(Shown(AGENT, AGENT, "Pot: 3.", (), commands))


def test_the_script_forgets_and_takes_a_hot_mug_for_one_that_is_hot() -> None:
    """That is what a memory can mend."""
    place = ("go to countertop 1", "On the countertop 1, you see a mug 1.")
    commands = ("go to countertop 1", "go to cabinet 2", "look")
    for seen, expected in (
        ((place,), "take mug 1 from countertop 1"),
        ((place, *[("look", "You are facing the countertop 1.")] * 20), "go to cabinet 2"),
    ):
        goal = "put a mug in cabinet"
        legal = (*commands, "take mug 1 from countertop 1")
        position = ObservedPosition("household", goal, legal, events_of(goal, *seen))
        assert SCRIPT.expect(shown(position)) == expected
    taken = ("take mug 1 from countertop 1", "You pick up the mug 1 from the countertop 1.")
    actions = ("go to cabinet 2", "go to fridge 1")
    for goal, expected in (
        ("put a cool mug in cabinet", "go to cabinet 2"),
        ("cool some mug and put it in cabinet", "go to fridge 1"),
    ):
        position = ObservedPosition("household", goal, actions, events_of(goal, taken))
        assert SCRIPT.expect(shown(position)) == expected


@pytest.mark.parametrize("name", ["direct", "cot"])
def test_a_scripted_model_plays_by_its_prompts(name: str, tmp_path: Path) -> None:
    """It reads goal, observation and events out of them, and wins a game that is easy enough."""
    history = open_history(tmp_path)
    decider = plugins.decider(name)(scripted_model("analyst"), Settings())
    played = play_episode(
        make_world("household", history, task="clean", steps=12), {AGENT: decider}, 1
    )
    history.close()
    assert played.returns == {AGENT: 1.0}
    assert played.fallbacks(AGENT) == 0


def test_nothing_of_alfworld_is_imported() -> None:
    """Not by dqa, not by the world, and not where a game is played: another process has it."""
    script = (
        "import sys\n"
        "import dqa\n"
        "from dqa import plugins\n"
        "factory = plugins.world('household')\n"
        "world = factory.make(factory.settings(), None)\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'alfworld', 'textworld', 'fast_downward', 'tatsu'}, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.slow
def test_sixty_games_are_won_by_the_planners_walkthrough() -> None:
    """Ten of each type."""
    with ThreadPoolExecutor(4) as threads:
        played = list(threads.map(lambda seed: play("expert", seed), range(60)))
    won = Counter(one.facts["task"] for one in played if one.returns == {AGENT: 1.0})
    assert won == dict.fromkeys(TASKS, 10)


@pytest.mark.slow
def test_fair_players_win_some_of_sixty_games() -> None:
    """Who looks in likely places wins nearly all, the script most but not all, chance none."""
    with ThreadPoolExecutor(4) as threads:
        explored = list(threads.map(lambda seed: play("explorer", seed), range(1000, 1030)))
        drawn = list(threads.map(lambda seed: play("random", seed), range(1000, 1006)))
    assert sum(one.facts["success"] is True for one in explored) >= 27
    assert sum(one.facts["success"] is True for one in drawn) <= 1


@pytest.mark.slow
def test_a_game_is_the_same_in_another_process() -> None:
    """Whatever the order of its sets."""
    script = (
        "from dqa_simulators.household.games import generate_game, task_of_seed\n"
        "for seed in range(3, 6):\n"
        "    print(generate_game(task_of_seed(seed), seed).data)\n"
    )
    here = "".join(f"{generate_game(task_of_seed(seed), seed).data}\n" for seed in range(3, 6))
    for order in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": order, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == here
