"""Forming a memory: what is left out, and what becomes of types that are named badly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from dqa.core.errors import DataError, UnparsableReplyError, UsageError
from dqa.core.trajectories import Step, Trajectory
from dqa_ldm2 import Memory, Origin, RuleIndexer, add_subtrajectory, form_memory
from dqa_ldm2.memory.base import MemoryType
from dqa_ldm2.memory.building import FormationProgress
from dqa_ldm2.memory.indexing import Corrections, Indexed, assign


class Scripted:
    """Says what it is told to, and keeps what it was asked."""

    def __init__(self, types: Mapping[str, Sequence[int]], then: Sequence[str] = ()) -> None:
        self.types, self.then = types, list(then)
        self.asked: list[tuple[str, list[str]]] = []

    def summarise(self, goal: str, steps_before: Sequence[Step]) -> str:
        return f"{len(steps_before)} before"

    def cluster(self, kind: Indexed, texts: Sequence[str]) -> Mapping[str, Sequence[int]]:
        if "unreadable" in self.types:
            raise UnparsableReplyError("half a reply")
        return self.types

    def classify(self, kind: Indexed, text: str, types: Sequence[MemoryType]) -> str:
        self.asked.append((text, [each.name for each in types]))
        said = self.then.pop(0)
        if said == "unreadable":
            raise UnparsableReplyError("half a reply")
        return said


def test_types_that_are_named_badly_are_mended_and_counted() -> None:
    """The first type has a number; what is left out is asked for again, once, and then 'other'."""
    scripted = Scripted(
        {"one": [1, 2, 9, 0], "two": [2, 3], "empty": [], " ": [4], "one ": [5]},
        ["TWO", "no such type", "unreadable"],
    )
    corrections = Corrections()
    places = assign(scripted, "goal", list("abcdefg"), corrections)
    assert places == ["one", "one", "two", "two", "one", "other", "other"]
    assert [text for text, _ in scripted.asked] == ["d", "f", "g"]
    assert scripted.asked[0][1] == ["one", "two"]
    assert corrections == Corrections(
        empty=1, unnamed=1, unknown=2, repeated=1, left_out=3, unreadable=1, other=2
    )
    assert len(corrections.lines()) == 7
    assert not Corrections()


def test_trajectories_with_missing_steps_are_left_out_and_reported(memory: Memory) -> None:
    """Each with what is missing; the others are there."""
    step = Step("seen", "done")
    report = form_memory(
        memory,
        [
            Trajectory("goal", (step, Step("then", "end")), "whole", reward=0.5),
            Trajectory("goal", (), "empty"),
            Trajectory("goal", (step, Step(" ", "done")), "blind"),
            Trajectory("goal", (Step("seen", ""), step), "idle"),
            Trajectory("", (step,), "aimless"),
            Trajectory("goal", (step,), " "),
            Trajectory("goal", (step,), "whole"),
            Trajectory("goal", (step,), "odd", reward=float("nan")),
        ],
        RuleIndexer(),
        source="a test",
    )
    assert [(each.source, each.why) for each in report.skipped] == [
        ("empty", "it has no steps"),
        ("blind", "step 2 of 2 has no observation"),
        ("idle", "step 1 of 2 has no action"),
        ("aimless", "it has no goal"),
        (" ", "it has no source, by which it could be told apart"),
        ("whole", "another trajectory before it has this source"),
        ("odd", "its reward is nan, which is no number"),
    ]
    assert (report.trajectories, report.tuples, report.there) == (1, 2, 0)
    one, two = (each.placed.content for each in memory.tuples())
    assert (one.history, one.number, one.reward) == ("", 1, 0.5)
    assert two.history == "After 1 step, the last: done."
    lines = report.lines()
    assert lines[0] == "2 tuples of 1 trajectory in 1 new batch"
    assert "  blind: step 2 of 2 has no observation" in lines
    again = form_memory(memory, [Trajectory("goal", (step,), "whole")], RuleIndexer(), source="x")
    assert again.lines() == ["Nothing new", "1 trajectory was there already"]


def test_batches_are_versions_with_their_origin(memory: Memory) -> None:
    """Of B trajectories each, told as they are kept; the indexer sees each text once."""
    made = [
        Trajectory(f"goal {n % 2}", (Step("seen", f"do {n}"), Step("seen", "end")), f"t {n}")
        for n in range(5)
    ]
    told: list[FormationProgress] = []
    indexer = Scripted({"kind": [1, 2]})
    report = form_memory(
        memory, made, indexer, source="five", model="m", batch_size=2, on_progress=told.append
    )
    assert [(p.trajectories, p.of, p.batches, p.tuples) for p in told] == [
        (2, 5, 1, 4),
        (4, 5, 2, 8),
        (5, 5, 3, 10),
    ]
    assert {each.origin for each in memory.versions()} == {Origin("formation", "five", "m")}
    assert report.corrections.unknown == 4  # a single observation, and at the end a single goal
    with pytest.raises(UsageError, match="at least one trajectory"):
        form_memory(memory, made, indexer, source="five", batch_size=0)


def test_a_subtrajectory_that_cannot_be_added_is_refused(memory: Memory) -> None:
    """By what is wrong, and nothing is added."""
    step = Step("seen", "done")
    form_memory(memory, [Trajectory("goal", (step,), "t")], RuleIndexer(), source="x")
    whole = Trajectory("goal", (step, step), "u")
    origin = Origin("refinement", "r")
    for given, options, error, says in (
        (Trajectory("goal", (), "u"), {}, DataError, "u is not whole: it has no steps"),
        (whole, {"first": 3}, UsageError, "no step 3: name one from 1 to 2"),
        (whole, {"histories": ["a"]}, UsageError, "2 steps and 1 histories"),
    ):
        with pytest.raises(error, match=says):
            add_subtrajectory(memory, 1, given, RuleIndexer(), origin, **options)
    with pytest.raises(UsageError, match="no batch 4"):
        add_subtrajectory(memory, 4, whole, RuleIndexer(), origin)
    assert len(memory.versions()) == 1
    other = Trajectory("goal", (step, Step("elsewhere", "go")), "v")
    add_subtrajectory(memory, 1, other, RuleIndexer(), origin, histories=["h1", "h2"])
    assert [each.placed.content.history for each in memory.tuples(sources={"v"})] == ["h1", "h2"]
