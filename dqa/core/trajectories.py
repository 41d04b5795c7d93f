"""Trajectories: the observations and actions on the way to a goal, in an episode or an answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """An observation, as text, and the action that followed it (LDM2, section 3.1)."""

    observation: str
    action: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Steps towards a goal.

    Attributes
    ----------
    goal
        The goal, as the actor read it.
    steps
        The steps, in order.
    source
        Its origin: ``household 17``, or a run and the key of its question.
    reward
        The reward, from 0 to 1; None where it is unknown.
    end
        The observation after the last action.
    identity
        Identifies the episode independently of its source; empty where the goal and the first
        observation do.
    """

    goal: str
    steps: tuple[Step, ...]
    source: str
    reward: float | None = None
    end: str = ""
    identity: str = ""
