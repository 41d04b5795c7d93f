"""The prompts of LDM2 and its baselines, filled in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.prompting import fill_in
from dqa_ldm2.memory.base import Remembered

_EXAMPLE = 2_000
"""Most characters of what a remembered tuple saw."""
_OLD = 120
"""Most characters of what was seen long ago."""


_MARK = 40
"""Characters that are not worth a mark of what is left out."""


def prompt(name: str, **values: Any) -> str:  # noqa: ANN401  (whatever the template names)
    """Fill in the prompt called `name`."""
    return fill_in("dqa_ldm2", name, **values)


def cut(text: str, most: int) -> str:
    """Return a text, or its beginning with how much of it is left out."""
    if len(text) <= most + _MARK:
        return text
    return f"{text[:most].rstrip()} [... {len(text) - most} more characters]"


def cut_steps(steps: Sequence[Step], most: int) -> list[Step]:
    """Return steps whose observations have at most so many characters in all.

    What was seen last is shown whole first; every action is shown.
    """
    shown: list[Step] = []
    left = most
    for step in reversed(steps):
        seen = cut(step.observation, max(left, _OLD))
        left -= len(seen)
        shown.append(replace(step, observation=seen))
    return shown[::-1]


def cut_remembered(found: Iterable[Remembered]) -> list[Remembered]:
    """Return tuples whose texts fit a prompt that shows several."""
    shown = []
    for one in found:
        content = one.placed.content
        short = replace(
            content,
            observation=cut(content.observation, _EXAMPLE),
            history=cut(content.history, _EXAMPLE),
        )
        shown.append(replace(one, placed=replace(one.placed, content=short)))
    return shown


def cut_trajectories(processes: Iterable[Trajectory], most: int) -> list[Trajectory]:
    """Return processes that share so many characters of what was seen."""
    listed = list(processes)
    share = most // max(len(listed), 1)
    return [
        replace(one, steps=tuple(cut_steps(one.steps, share)), end=cut(one.end, _EXAMPLE))
        for one in listed
    ]
