"""Forming a memory: what is left out, and what becomes of types that are named badly."""

from __future__ import annotations

import pytest

from dqa.core.errors import DataError, UsageError
from dqa.core.trajectories import Step, Trajectory
from dqa_ldm2 import Memory, Origin, RuleIndexer, add_subtrajectory, form_memory


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
