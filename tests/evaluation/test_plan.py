"""A plan is every task once, in an order that shares databases."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from dqa.evaluation.plan import Setup, plan


def test_every_question_meets_every_decider_once(make_setup: Callable[..., Setup]) -> None:
    """No task is missing or doubled."""
    setup = make_setup(one=lambda *_: "", two=lambda *_: "")
    keys = [task.key for task in plan(setup)]
    assert len(keys) == len(set(keys)) == 6 * 2
    assert plan(setup) == plan(setup)


def test_tasks_on_one_situation_stand_together(make_setup: Callable[..., Setup]) -> None:
    """Each situation is visited once a database, so it has to be loaded only once."""
    groups = [group for group, _ in groupby(plan(make_setup(one=lambda *_: "")), lambda t: t.group)]
    assert len(groups) == len(set(groups))
    assert len(groups) < 6
