"""Explain why an action was chosen, and find the factor values that support the choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dqa.core.text import counted
from dqa.report.pages import percent
from dqa_dellma.problem import Problem
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.beliefs import Beliefs
from dqa_dellma.utilities.bradley_terry import Floats
from dqa_dellma.utilities.maximisation import Maximised
from dqa_dellma.utilities.pairs import Pairs

_CLEAR = 0.75
"""The probability of being best below which the explanation calls the decision close."""
_FEW = 3
"""The minimum number of states with a value, and without it, that show its influence."""
_SURE = 3.0
"""The standard errors that a difference must exceed; many, because dozens are compared."""
_NAMED, _LONGEST = 2, 80


@dataclass(frozen=True, slots=True)
class Influence:
    """How a factor's value changes the lead of the chosen action over another action.

    The lead is the difference of the two actions' mean utilities.

    Attributes
    ----------
    factor, value
        The names of the factor and of its value.
    lead, elsewhere
        The lead over the states with this value, and over the states without it.
    states
        The number of ranked states of the chosen action that have this value.
    """

    factor: str
    value: str
    lead: float
    elsewhere: float
    states: int

    @property
    def difference(self) -> float:
        """The change of the lead with this value; negative if it speaks against the choice."""
        return self.lead - self.elsewhere


def explain_choice(problem: Problem, beliefs: Beliefs, elicited: Maximised) -> str:
    """Return the reason for the choice, for readers who do not know the method.

    Parameters
    ----------
    problem, beliefs
        The problem and the beliefs.
    elicited
        The result of the rankings.

    Returns
    -------
    A few sentences: the choice, the runner-up, the attitude, the probability of being best, and the
    factor values that support the choice most.
    """
    first, *others = _by_value(elicited)
    name = _named(problem.actions[first])
    measure = _measure(elicited.settings, int(elicited.ranked[first]))
    told = f"{name} was chosen: {measure} is {elicited.values[first]:.3g}"
    if not others:
        return f"{told}. No other action was ranked."
    rival, chance = others[0], float(elicited.chances[first])
    value, next_value = elicited.values[first], elicited.values[rival]
    stands = "level with" if value == next_value else "ahead of"
    told += f", {stands} {_named(problem.actions[rival])} with {next_value:.3g}. "
    compared = counted(1 + len(others), "action")
    if unranked := len(problem.actions) - 1 - len(others):
        compared += f" ({unranked} more were never ranked)"
    told += f"It is the best of {compared} with a probability of {percent(chance)}"
    likeliest = int(elicited.chances.argmax())
    if elicited.chances[likeliest] > chance:
        favoured = _named(problem.actions[likeliest])
        likely = percent(float(elicited.chances[likeliest]))
        told += f". {favoured} is more likely the best ({likely}), but the value decides and not "
        told += "this probability"
    balance = ". The decision is close" if chance < _CLEAR else ""
    return f"{told}{balance}. {_what_speaks(beliefs, elicited, first, rival)}"


def find_influences(
    pairs: Pairs,
    utilities: Floats,
    factors: Mapping[str, Iterable[str]],
    chosen: int,
    rival: int,
) -> tuple[Influence, ...]:
    """Find the values of factors that change the lead of one action over another.

    A difference counts if it exceeds three standard errors. Each action needs at least three states
    with the value, and three without it.

    Parameters
    ----------
    pairs, utilities
        The n state-action pairs, and their utilities, shape (n,); NaN for pairs without a ranking.
    factors
        By factor, the names of its values.
    chosen, rival
        The two actions.

    Returns
    -------
    The influences, the largest increase of the lead first.
    """
    found = []
    ranked = ~np.isnan(utilities)
    sides = [np.flatnonzero(ranked & (pairs.action_of == action)) for action in (chosen, rival)]
    worth = [utilities[side] for side in sides]
    states = [pairs.states[pairs.state_of[side]] for side in sides]
    for column, (factor, values) in enumerate(factors.items()):
        for number, value in enumerate(values):
            has = [of_side[:, column] == number for of_side in states]
            there = [own[mask] for own, mask in zip(worth, has, strict=True)]
            elsewhere = [own[~mask] for own, mask in zip(worth, has, strict=True)]
            groups = (*there, *elsewhere)
            if min(map(len, groups)) < _FEW:
                continue
            lead = float(there[0].mean() - there[1].mean())
            usual = float(elsewhere[0].mean() - elsewhere[1].mean())
            error = float(np.sqrt(sum(group.var(ddof=1) / len(group) for group in groups)))
            # Ignore differences that rounding alone can cause.
            least = max(_SURE * error, 1e-9 * float(np.abs(np.concatenate(groups)).max()))
            if abs(lead - usual) > least:
                found.append(Influence(factor, value, lead, usual, len(there[0])))
    return tuple(sorted(found, key=lambda one: -one.difference))


def _by_value(elicited: Maximised) -> list[int]:
    """Return the ranked actions: first the chosen action, then the rest by value."""
    values = elicited.values
    ranked = np.flatnonzero(~np.isnan(values)).tolist()
    return sorted(ranked, key=lambda action: (action != elicited.best, -values[action], action))


def _measure(settings: DellmaSettings, states: int) -> str:
    """Describe the figure that decides."""
    over = counted(states, "sampled state")
    if settings.attitude == "cvar":
        worst = f"in the worst {100 * settings.aversion:g} % of {over}"
        return f"its expected utility {worst}"
    if settings.attitude == "exponential":
        aversion = f"a risk aversion of {settings.aversion:g}"
        return f"its expected utility (the mean over {over}, reduced by {aversion})"
    return f"its expected utility (the mean over {over}, without aversion to risk)"


def _what_speaks(beliefs: Beliefs, elicited: Maximised, first: int, rival: int) -> str:
    found = find_influences(elicited.pairs, elicited.utilities, beliefs, first, rival)
    if not (speaking := list(_speaking(found))):
        return "No single factor value explains the lead."
    told = []
    for one in speaking[:_NAMED]:
        leads = f"{one.lead:.2g}, otherwise {one.elsewhere:.2g}"
        told.append(f'"{_named(one.factor)}" is "{_named(one.value)}" ({leads})')
    return f"Its lead in utility is largest if {' or if '.join(told)}."


def _speaking(found: Sequence[Influence]) -> Iterator[Influence]:
    """Yield the influences that support the choice: the strongest one of each factor."""
    seen = set()
    for one in found:
        if one.difference > 0.0 and one.lead > 0.0 and one.factor not in seen:
            seen.add(one.factor)
            yield one


def _named(name: object) -> str:
    text = " ".join(str(name).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
