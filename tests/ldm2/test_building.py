"""Memories are formed from trajectories and refined by exploring, with scripted models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from dqa.core.decider import Step, Trajectory
from dqa.core.errors import DataError, ModelUnavailableError, UsageError
from dqa.core.question import Candidate
from dqa.worlds.history import History
from dqa_ldm2 import (
    Explored,
    Indexer,
    Memory,
    ModelUse,
    Origin,
    Refinement,
    RefinementReport,
    RefiningSettings,
    Situation,
    form_memory,
    refine_memory,
)
from tests.ldm2.memory_contract import make_tuple, trajectories
from tests.ldm2.playing import canned, deciding, play
from tests.ldm2.rooms import ROOMS, RoomsSettings

ELSEWHERE = RoomsSettings(usual=0.3, steps=6)
"""Objects are mostly not where the expert found them."""
Built = Callable[..., Memory]


def indexer(**replies: object) -> Indexer:
    """Return an indexer with fixed replies."""
    return Indexer(ModelUse(canned(**replies), "canned"))


def refined(memory: Memory, games: int = 8, broken: str = "", **own: object) -> RefinementReport:
    """Refine a memory in a world whose objects are elsewhere."""
    return refine_memory(
        ROOMS,
        memory,
        games=games,
        seed=1_000,
        refining=RefiningSettings.model_validate({"depth": 8, **own}),
        settings={**ELSEWHERE.model_dump(), "broken": broken},
    )


def test_tuples_have_histories_subgoals_and_types(memory: Memory) -> None:
    """The model writes them (Table 6), and summarises each step once."""
    made = Trajectory(
        "put a", (Step("hall", "go"), Step("desk", "take"), Step("bed", "put")), "t 1"
    )
    model = canned(
        summary=[{"summary": "Went."}, {"summary": "Went and took."}],
        evaluation=[
            {"subgoals": [{"goal": "take a", "complete": "incomplete"}]},
            {"complete": [1]},
        ],
        cluster=[{"types": {"rooms": [1], "Furniture ": [2, 3]}}],
    )
    report = form_memory(memory, [made], Indexer(ModelUse(model, "m")), source="a test")
    assert report.lines() == ["3 tuples of 1 trajectory in 1 new batch"]
    assert [one.history for one in memory.tuples()] == ["", "Went.", "Went and took."]
    assert [one.subgoals for one in memory.tuples()] == [
        "",
        "take a: not complete",
        "take a: complete",
    ]
    assert [one.name for one in memory.goal_types(1)] == ["put a"]
    assert [one.observation_type for one in memory.tuples()] == ["rooms", "Furniture", "Furniture"]
    second = next(r for r in model.requests if "Summary of the steps before" in r.text)
    assert "Step 2." in second.text
    assert "Step 1." not in second.text
    assert memory.versions()[0].origin == Origin("formation", "a test", "m")


def test_unusable_replies_lose_no_step(memory: Memory) -> None:
    """Texts without a type get the nearest one, histories list the actions; both are counted."""
    partly = {"types": {"put": [1, 4], "find": [2, 9]}}
    used = indexer(cluster=lambda _: partly, summary="no", evaluation="no")
    form_memory(memory, trajectories(5), used, source="x")
    types = {one.goal: one.goal_type for one in memory.tuples()}
    assert (types["put a thing 0"], types["find two thing 1"]) == ("put", "find")
    assert types["look at a thing 2"] in {"put", "find"}
    assert (used.unusable, used.unjudged) == (5, 5)
    assert used.forgotten >= 2
    assert {one.history for one in memory.tuples()} == {"", "go to desk 1"}
    judged = {"subgoals": [{"goal": "take a", "complete": True}]}
    replies = [judged, "no", {"complete": [2]}, "no", judged]
    steps = tuple(Step(f"room {number}", "go") for number in range(4))
    some = indexer(evaluation=replies, summary=lambda _: {"summary": "Went."})
    found = [one.subgoals for one in some.tuples(Trajectory("put a", steps, "t"))]
    assert found == ["", "take a: complete", "", "take a: complete"]
    assert (some.unusable, some.unjudged) == (0, 1)
    named = ModelUse()
    assert named.asking().model is named.asking().model


def test_incomplete_trajectories_are_refused_and_known_ones_added_once(memory: Memory) -> None:
    """They are refused before any request."""
    step = Step("seen", "done")
    whole = Trajectory("goal", (step, Step("then", "end")), "whole", reward=0.5)
    for wrong, says in (
        (Trajectory("goal", (), "empty"), "'empty' is incomplete"),
        (Trajectory("goal", (step, Step(" ", "done")), "blind"), "'blind' is incomplete"),
        (Trajectory("goal", (Step("seen", ""), step), "idle"), "'idle' is incomplete"),
        (Trajectory("", (step,), " "), "' ' is incomplete"),
        (Trajectory("goal", (step,), "whole"), "have the source 'whole'"),
        (Trajectory("goal", (step,), "odd", reward=float("nan")), "reward must be a finite number"),
    ):
        used = indexer()
        with pytest.raises(DataError, match=says):
            form_memory(memory, [whole, wrong], used, source="a test")
        assert used.requests == 0
    form_memory(memory, [whole], indexer(), source="a test")
    again = form_memory(memory, [whole], indexer(), source="x")
    assert again.lines()[0] == "Nothing new"
    assert again.there == 1


def test_an_interrupted_build_resumes(memory: Memory) -> None:
    """Complete batches stay, and the same call adds the rest."""

    def fails(values: Mapping[str, object]) -> object:
        if str(values["goal"]).endswith(" 5"):
            raise ModelUnavailableError("no more")
        return {"summary": "Went."}

    made = trajectories(7)
    with pytest.raises(ModelUnavailableError):
        form_memory(memory, made, indexer(summary=fails), source="all", batch_size=2)
    assert memory.batches() == (1, 2)
    report = form_memory(memory, made, indexer(), source="all", batch_size=2)
    assert (report.there, report.trajectories, report.batches) == (4, 3, (3, 4))
    assert memory.sources() == {each.source for each in made}
    assert len(list(memory.tuples())) == 14


def won(memory: Memory, history: History, games: int = 10) -> int:
    """Return the number of held-out games that a memory wins."""
    decider = deciding(memory)
    seeds = range(5_000, 5_000 + games)
    return sum(play(decider, history, seed, ELSEWHERE).reward == 1.0 for seed in seeds)


def test_a_refined_memory_wins_more(built: Built, history: History) -> None:
    """Every addition is a version with its origin; undoing all restores the result."""
    memory = built()
    assert [version.origin.source for version in memory.versions()] == [
        "rooms, seeds 0 to 11, by expert"
    ]
    before = won(memory, history)
    report = refined(memory)
    assert report.improved >= 1
    assert report.failed == 0
    assert won(memory, history) > before
    for goal in report.goals:
        assert goal.is_improved == (goal.version is not None) == (goal.key_step is not None)
        if goal.version is not None:
            made = memory.versions()[goal.version - 1]
            source = f"{goal.source}, from step {goal.key_step}"
            assert made.origin == Origin("refinement", source, "scripted:analyst")
            added = [one for one in memory.tuples() if one.version == goal.version]
            assert all(one.source.startswith(f"{goal.source} ") for one in added)
            assert min(one.number for one in added) == goal.key_step
            memory.undo(goal.version)
    assert won(memory, history) == before
    memory.undo(1)
    with pytest.raises(UsageError, match="is empty"):
        refined(memory)


def test_a_goal_that_is_explored_does_not_recall_itself(built: Built) -> None:
    """An expert's tuples of the same game are left out."""
    memory = built(games=6)
    shown: list[str] = []

    def explored(values: Mapping[str, object]) -> object:
        shown.extend(one.source for one in values["remembered"])  # type: ignore[attr-defined]
        return {"actions": [{"action": values["legal"][0], "confidence": 1}]}  # type: ignore[index]

    for seed in (3, 700):
        own = RefiningSettings(depth=4, retrieved=20, majority=1.0)
        use = ModelUse(canned(exploration=explored))
        refine_memory(ROOMS, memory, games=1, seed=seed, use=use, refining=own)
        assert shown
        assert any(source.startswith("rooms 3 ") for source in shown) == (seed == 700)
        shown.clear()


def test_a_failure_of_the_world_ends_only_its_path(built: Built) -> None:
    """It is counted and reported with its action."""
    report = refined(built(), games=4, broken="go to the bed")
    assert report.failed > 0
    failed = [words for goal in report.goals for words in goal.failed]
    assert all("go to the bed" in words and "The world is broken" in words for words in failed)
    assert any(goal.best_reward is not None for goal in report.goals)
    assert any(goal.counts.get("pruned") for goal in report.goals)


class Sums:
    """Statements that add numbers up to 5, ignoring case."""

    source = "sums 1"

    def __init__(self) -> None:
        self.acted: list[str] = []
        self.is_closed = False

    def start(self) -> Explored:
        """Return the empty sum."""
        return Explored(
            Situation("Reach 5.", "0", (), free_form="ADD ...", sources=frozenset({"sums 1"}))
        )

    def act(self, state: Explored, action: Candidate) -> Explored:
        """Add a number."""
        text = str(action).lower()
        self.acted.append(text)
        total = int(state.situation.observation) + int(text.removeprefix("add "))
        ended = state.ended(text, 1.0 if total == 5 else 0.25, str(total))
        return ended if total >= 5 else replace(ended, reward=None)

    def close(self) -> None:
        """Record it."""
        self.is_closed = True


@pytest.mark.parametrize(("reply", "key"), [({"step": 2}, 2), ({"step": "1"}, 1), ("nothing", 1)])
def test_better_statements_are_stored(memory: Memory, reply: object, key: int) -> None:
    """From the key step that the model names, or else from the first different step."""
    one = make_tuple("0", "ADD 9", source="sums 0", goal="Reach 9.", kinds=("sums", "totals"))
    memory.add([one], Origin("formation", ""))
    shares = {
        "0": {"ADD 4": 0.5, "take 4": 0.0, "ADD 2": 0.3, "ADD 1": 0.2},
        "4": {"ADD 9": 0.9, "ADD 1": 0.1},
        "2": {"ADD 3": 0.8, "ADD 2": 0.2},
    }

    def explored(values: Mapping[str, str]) -> object:
        listed = shares[values["observation"]].items()
        return {"actions": [{"action": name, "confidence": value} for name, value in listed]}

    model = canned(exploration=explored, comparison=lambda _: reply)
    sums = Sums()
    own = RefiningSettings(paths=2, depth=3)
    report = Refinement(memory, ModelUse(model, "canned"), own).refine([sums])
    (goal,) = report.goals
    assert sums.is_closed
    assert sums.acted == ["add 4", "add 2", "add 9", "add 3"]
    assert (goal.ground_reward, goal.best_reward) == (0.25, 1.0)
    assert (goal.counts["asked"], goal.counts["dropped"], goal.key_step) == (3, 1, key)
    added = [one for one in memory.tuples() if one.version == goal.version]
    assert [one.action for one in added] == ["add 2", "add 3"][key - 1 :]
    assert {(one.goal_type, one.observation_type) for one in added} == {("sums", "totals")}
    assert report.calls["exploring"] == 3 + 2  # with two corrections
    assert report.to_json()["goals"][0]["calls"]["comparing"] == (3 if reply == "nothing" else 1)
