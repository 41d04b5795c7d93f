"""Explain why an action was chosen."""

from __future__ import annotations

import numpy as np

from dqa.core.text import counted
from dqa.report.pages import percent
from dqa_dellma.problem import Problem
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.maximisation import Maximised

_CLEAR = 0.75
"""Below this probability of being best, the explanation calls the decision close."""
_LONGEST = 80


def explain_choice(problem: Problem, elicited: Maximised) -> str:
    """Return the reason for the choice, for readers who do not know the method.

    Parameters
    ----------
    problem
        The problem.
    elicited
        The figures of the actions.

    Returns
    -------
    A few sentences: the choice, the runner-up, the attitude, and the probability of being best.
    """
    first, *others = _by_value(elicited)
    name = _named(problem.actions[first])
    measure = _measure(elicited.settings, int(elicited.ranked[first]))
    text = f"{name} was chosen: {measure} is {elicited.values[first]:.3g}"
    if not others:
        return f"{text}. No other action was ranked."
    rival, chance = others[0], float(elicited.chances[first])
    value, next_value = elicited.values[first], elicited.values[rival]
    stands = "level with" if value == next_value else "ahead of"
    text += f", {stands} {_named(problem.actions[rival])} with {next_value:.3g}. "
    compared = counted(1 + len(others), "action")
    if unranked := len(problem.actions) - 1 - len(others):
        compared += f" ({unranked} more were never ranked)"
    text += f"It is the best of {compared} with a probability of {percent(chance)}"
    likeliest = int(elicited.chances.argmax())
    if elicited.chances[likeliest] > chance:
        favoured = _named(problem.actions[likeliest])
        likely = percent(float(elicited.chances[likeliest]))
        text += (
            f". {favoured} is the best with a higher probability ({likely}), but the value "
            "decides, not this probability"
        )
    return f"{text}. The decision is close." if chance < _CLEAR else f"{text}."


def _by_value(elicited: Maximised) -> list[int]:
    """Return the ranked actions: first the chosen action, then the rest by value."""
    values = elicited.values
    ranked = np.flatnonzero(~np.isnan(values)).tolist()
    return sorted(ranked, key=lambda action: (action != elicited.best, -values[action], action))


def _measure(settings: DellmaSettings, states: int) -> str:
    over = counted(states, "sampled state")
    if settings.attitude == "cvar":
        return f"its expected utility in the worst {100 * settings.aversion:g} % of {over}"
    return f"its expected utility (the mean over {over}, without aversion to risk)"


def _named(name: object) -> str:
    text = " ".join(str(name).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
