"""Why an action was chosen, in a sentence or two, and which factors' values speak for it."""

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
"""Chance of being the best below which a decision hangs in the balance."""
_FEW = 3
"""States that a value, and its absence, have to be seen in before they say anything."""
_SURE = 3.0
"""Standard errors of a difference that counts: the largest of dozens is looked at."""
_NAMED, _LONGEST = 2, 80


@dataclass(frozen=True, slots=True)
class Influence:
    """How a factor's value changes the lead of the chosen action over another.

    Attributes
    ----------
    factor, value
        Their names.
    lead, elsewhere
        The lead: the difference of the two actions' mean utilities, over the states with that value
        and over those without.
    states
        How many ranked states of the chosen action have it.
    """

    factor: str
    value: str
    lead: float
    elsewhere: float
    states: int

    @property
    def difference(self) -> float:
        """How much larger the lead is there; negative if the value speaks against the choice."""
        return self.lead - self.elsewhere


def explain_choice(problem: Problem, beliefs: Beliefs, elicited: Maximised) -> str:
    """Return the reason of the choice, for readers who do not know the method.

    Parameters
    ----------
    problem, beliefs
        The problem and the beliefs.
    elicited
        The result of the rankings.

    Returns
    -------
    One or two sentences: the choice, the runner-up, the chance of being the best, the attitude, and
    what speaks most for the choice.
    """
    first, *others = _by_value(elicited)
    name = _named(problem.actions[first])
    measure = _measure(elicited.settings, int(elicited.ranked[first]))
    told = f"{name} was chosen: {measure} is {elicited.values[first]:.3g}"
    if not others:
        return f"{told}, and no other action was ranked."
    rival, chance = others[0], float(elicited.chances[first])
    value, next_value = elicited.values[first], elicited.values[rival]
    stands = "level with" if value == next_value else "ahead of"
    told += f", {stands} {_named(problem.actions[rival])} with {next_value:.3g}; "
    compared = counted(1 + len(others), "action")
    if unranked := len(problem.actions) - 1 - len(others):
        compared += f" ({unranked} more were never ranked)"
    told += f"it is the best of {compared} with a probability of {percent(chance)}"
    likeliest = int(elicited.chances.argmax())
    if elicited.chances[likeliest] > chance:
        favoured = _named(problem.actions[likeliest])
        likely = percent(float(elicited.chances[likeliest]))
        told += f", although {favoured} is more likely the best ({likely}): the value decides, not "
        told += "this probability"
    balance = ", so the decision hangs in the balance" if chance < _CLEAR else ""
    return f"{told}{balance}. {_what_speaks(beliefs, elicited, first, rival)}"


def find_influences(
    pairs: Pairs,
    utilities: Floats,
    factors: Mapping[str, Iterable[str]],
    chosen: int,
    rival: int,
) -> tuple[Influence, ...]:
    """Find the values of factors that change the lead of one action over another.

    Only differences of three standard errors count, between values that were seen, and not seen,
    in three states of each action at least.

    Parameters
    ----------
    pairs, utilities
        The n state-action pairs, and shape (n,) their utilities, NaN where they were not ranked.
    factors
        The names of the values of each of the k factors.
    chosen, rival
        The two actions.

    Returns
    -------
    The largest increase of the lead first.
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
            # What rounding alone makes different says nothing.
            least = max(_SURE * error, 1e-9 * float(np.abs(np.concatenate(groups)).max()))
            if abs(lead - usual) > least:
                found.append(Influence(factor, value, lead, usual, len(there[0])))
    return tuple(sorted(found, key=lambda one: -one.difference))


def _by_value(elicited: Maximised) -> list[int]:
    """Return the ranked actions, the chosen one first, then by what decides."""
    values = elicited.values
    ranked = np.flatnonzero(~np.isnan(values)).tolist()
    return sorted(ranked, key=lambda action: (action != elicited.best, -values[action], action))


def _measure(settings: DellmaSettings, states: int) -> str:
    """Return the name of the figure that decides."""
    over = counted(states, "sampled state")
    if settings.attitude == "cvar":
        worst = f"in the worst {100 * settings.aversion:g} % of {over}"
        return f"its expected utility {worst}, by which caution decides,"
    if settings.attitude == "exponential":
        aversion = f"a risk aversion of {settings.aversion:g}"
        return f"its expected utility over {over}, lessened for its risk by {aversion},"
    return f"its expected utility, the mean over {over} with no aversion to risk,"


def _what_speaks(beliefs: Beliefs, elicited: Maximised, first: int, rival: int) -> str:
    found = find_influences(elicited.pairs, elicited.utilities, beliefs, first, rival)
    if not (speaking := list(_speaking(found))):
        return "No single value of a factor is seen to make the difference."
    told = []
    for one in speaking[:_NAMED]:
        leads = f"{one.lead:.2g} there, {one.elsewhere:.2g} elsewhere"
        told.append(f'"{_named(one.factor)}" is "{_named(one.value)}" ({leads})')
    return f"Its lead in utility is largest where {' and where '.join(told)}."


def _speaking(found: Sequence[Influence]) -> Iterator[Influence]:
    """Yield what speaks for the choice, the best value of each factor."""
    seen = set()
    for one in found:
        if one.difference > 0.0 and one.lead > 0.0 and one.factor not in seen:
            seen.add(one.factor)
            yield one


def _named(name: object) -> str:
    text = " ".join(str(name).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
