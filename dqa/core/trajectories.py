"""Trajectories: what was seen and done on the way to a goal.

An attempt at an episode is one, and so are the steps that an agent took towards an answer.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """What was seen, and what was done then (LDM2, section 3.1: an observation and an action).

    Attributes
    ----------
    observation
        What there was to see, as text.
    action
        What was done.
    """

    observation: str
    action: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Steps towards a goal.

    Attributes
    ----------
    goal
        What was to be reached, as whoever acted read it.
    steps
        In order; an observation is what was seen before its action.
    source
        Where it comes from, so that it can be found and told apart: ``household 17``, or a run and
        the key of its question.
    reward
        What it brought, from 0 to 1; None where nobody knows.
    end
        What was seen after the last action.
    identity
        What tells the episode from all others, whatever its source is called; empty where its goal
        and what was seen first do.
    """

    goal: str
    steps: tuple[Step, ...]
    source: str
    reward: float | None = None
    end: str = ""
    identity: str = ""
