"""The whole cycle without a model: build, play, refine, play; what is shown of it; its bounds."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from dqa.core.errors import UsageError
from dqa.core.events import Event, PromptEvent
from dqa.evaluation.play import Played
from dqa.models.scripted import scripted_model
from dqa.worlds.history import History
from dqa_ldm2 import Memory
from dqa_ldm2.building import Asked, refine_memory
from dqa_ldm2.events import (
    ExplorationEvent,
    ImitationEvent,
    RecallEvent,
)
from dqa_ldm2.progress import Progress
from dqa_ldm2.refining.report import RefinementReport
from dqa_ldm2.rendering import render
from dqa_ldm2.settings import RefiningSettings
from tests.ldm2.playing import deciding, play
from tests.ldm2.rooms import ROOMS, Rooms, RoomsSettings

USUAL = RoomsSettings(steps=6)
ELSEWHERE = RoomsSettings(usual=0.3, steps=6)
"""Things are mostly not where the expert found them."""
Built = Callable[..., Memory]


def refined(memory: Memory, games: int = 8, broken: str = "", **own: object) -> RefinementReport:
    """Refine a memory in a world whose things are elsewhere."""
    return refine_memory(
        ROOMS,
        memory,
        games=games,
        seed=1_000,
        refining=RefiningSettings.model_validate({"depth": 8, **own}),
        asked=Asked(scripted_model("analyst"), "scripted:analyst"),
        settings={**ELSEWHERE.model_dump(), "broken": broken},
    )


def won(memory: Memory, history: History, games: int = 10) -> int:
    """Return how many held-out games a memory wins."""
    decider = deciding(memory)
    seeds = range(5_000, 5_000 + games)
    return sum(play(decider, history, seed, ELSEWHERE).reward == 1.0 for seed in seeds)


def test_a_refined_memory_wins_more(built: Built, history: History) -> None:
    """Every addition is a version that says where it comes from; taken back, all is as before."""
    memory = built()
    assert [version.origin.source for version in memory.versions()] == ["rooms, seeds 0 to 11"]
    assert len(list(memory.tuples())) == 28  # 48 states, of which some repeat
    before = won(memory, history)
    report = refined(memory)
    assert report.improved >= 1
    assert report.corrected == report.failed == 0
    assert won(memory, history) > before
    for goal in report.goals:
        assert goal.is_improved == (goal.version is not None) == (goal.added > 0)
        if goal.version is not None and goal.key_step is not None:
            made = memory.versions()[goal.version - 1]
            assert made.origin.making == "refinement"
            assert made.origin.source == f"{goal.source}, from step {goal.key_step.key_step}"
            assert made.origin.model == "scripted:analyst"
            added = [one for one in memory.tuples() if one.version == goal.version]
            assert all(one.placed.content.source.startswith(f"{goal.source} ") for one in added)
            assert min(one.placed.content.number for one in added) == goal.key_step.key_step
            memory.undo(goal.version)
    assert won(memory, history) == before


def test_a_trace_tells_which_tuple_each_action_came_from(built: Built, history: History) -> None:
    """With source and likeness; and it is shown in words."""
    memory = built()
    decider = deciding(memory, retrieved=3)
    tuples = {one.id: one.placed.content for one in memory.tuples()}
    (played,) = play(decider, history, 5_003, USUAL).played
    assert len(played.moves) >= 4
    for move in played.moves:
        trace = move.decision.trace
        (recall,) = (event for event in trace if isinstance(event, RecallEvent))
        (made,) = (event for event in trace if isinstance(event, ImitationEvent))
        assert 1 <= len(recall.tuples) <= 3
        assert made.action == move.choice
        assert made.tuple_id in [one.id for one in recall.tuples]
        assert made.tuple_id is not None
        assert made.source == tuples[made.tuple_id].source
        assert made.is_same == (tuples[made.tuple_id].action == move.choice)
        lines = "\n".join(line for event in trace for line in _shown(event))
        assert f"tuple {made.tuple_id} of" in lines
        assert "goal type" in lines
        assert ("subgoals" in lines) == (move is not played.moves[0])


def _shown(event: Event) -> list[str]:
    found = render(event)
    return [] if found is None else [found[0].title, *found[0].text.splitlines(), *found[0].notes]


def test_each_batch_memory_plays_and_the_best_process_is_chosen(
    built: Built, history: History
) -> None:
    """No prompt of the choice tells what a process brought (equation 5)."""
    memory = built(batch=4)
    assert memory.batches() == (1, 2, 3)
    made = play(deciding(memory), history, 5_002, USUAL)
    assert len(made.played) == 3
    batches = [_batches(one) for one in made.played]
    assert batches == [{1}, {2}, {3}]
    (prompt,) = (one for one in made.chosen.trace if isinstance(one, PromptEvent))
    assert "# Process 3" in prompt.messages[0][1]
    assert not re.search(r"reward|\b1\.0\b", prompt.messages[0][1], re.IGNORECASE)
    assert made.reward == max(one.reward or 0.0 for one in made.trajectories)
    assert len(play(deciding(memory, batches=2), history, 5_002, USUAL).played) == 2


def _batches(played: Played) -> set[int]:
    trace = [event for move in played.moves for event in move.decision.trace]
    return {event.batch for event in trace if isinstance(event, RecallEvent)}


def test_a_goal_that_is_explored_does_not_remember_itself(built: Built) -> None:
    """What an expert did in the very same game is left out; of others all is there."""
    told = _Told()
    for seed in (3, 700):
        refine_memory(
            ROOMS,
            built(games=6),
            games=1,
            seed=seed,
            asked=Asked(scripted_model("analyst")),
            refining=RefiningSettings(depth=4, retrieved=20),
            progress=told,
        )
    recalls = [event for event in told.events if isinstance(event, RecallEvent)]
    explored = [e.source for e in told.events if isinstance(e, ExplorationEvent)]
    assert explored == ["rooms 3", "rooms 700"]
    first = recalls[: len(recalls) // 2]
    assert first
    assert all(not one.source.startswith("rooms 3 ") for e in first for one in e.tuples)
    assert any(one.source.startswith("rooms 3 ") for e in recalls for one in e.tuples)


class _Told(Progress):
    def __init__(self) -> None:
        self.events: list[Event] = []

    def happened(self, event: Event) -> None:
        self.events.append(event)


def test_a_game_that_was_explored_recalls_nothing_of_itself(built: Built, history: History) -> None:
    """Played under another number, it is known by its goal and by what was seen first."""
    memory = built(games=2)
    before = memory.sources()
    refined(memory, games=6)
    explored = sorted(memory.sources() - before)
    assert explored
    own = 0
    for source in explored:
        seed = int(source.split()[1])
        (played,) = play(deciding(memory), history, seed, ELSEWHERE).played
        for move in played.moves:
            for event in move.decision.trace:
                if isinstance(event, RecallEvent):
                    own += event.own
                    assert source not in {one.source for one in event.tuples}
    assert own


@pytest.mark.parametrize(("paths", "depth"), [(1, 3), (4, 8)])
def test_exploring_asks_no_more_than_paths_times_depth(
    built: Built, paths: int, depth: int
) -> None:
    """In all, the ground process included; and one comparison where there is one."""
    report = refined(built(), games=6, paths=paths, depth=depth)
    for goal in report.goals:
        assert goal.asked <= paths * depth
        assert goal.calls.exploring == goal.asked
        assert goal.calls.comparing == (1 if goal.is_improved else 0)
        nodes = goal.exploration.nodes
        at = [node.depth for node in nodes if node.is_kept]
        assert max(at) <= depth
        assert all(at.count(one) <= paths for one in set(at) - {0})
        assert [node.confidence for node in nodes if node.depth == 0] == [1.0]
        by_number = {node.number: node for node in nodes}
        for node in nodes[1:]:
            assert node.parent is not None
            assert node.confidence <= by_number[node.parent].confidence + 1e-9
        ends = [node for node in nodes if node.reward is not None]
        assert (max((one.reward or 0.0 for one in ends), default=None)) in (
            goal.best_reward,
            goal.ground_reward,
        )


def test_a_world_that_errors_ends_a_path_and_no_other(built: Built) -> None:
    """It is counted, and said where."""
    report = refined(built(), games=4, broken="go to the bed")
    assert report.failed > 0
    failed = [words for goal in report.goals for words in goal.failed]
    assert all("go to the bed" in words and "The world is broken" in words for words in failed)
    assert any(goal.best_reward == 1.0 for goal in report.goals if goal.failed)
    tree = [line for goal in report.goals for line in _shown(goal.exploration)]
    assert any("ended: The world is broken" in line for line in tree)
    assert any("pruned" in line for line in tree)


def test_a_memory_is_named_where_it_is_missing(history: History, memory: Memory) -> None:
    """With the command that makes one."""
    from dqa import plugins
    from dqa.deciders.base import Settings

    move = Rooms(USUAL, history).start(1).next_move()
    assert move is not None
    question = move.question
    for name in ("ldm2", "ldm2-refined"):
        made = plugins.decider(name)
        options = {f"{name}.memory": "/nowhere/memory.db"}
        decider = made(scripted_model("analyst"), Settings(options=options))
        with pytest.raises(UsageError, match="dqa memory build --world"):
            decider.check(question)
    with pytest.raises(UsageError, match="Nothing is remembered in"):
        deciding(memory).check(question)
    with pytest.raises(UsageError, match="is empty"):
        refined(memory)
