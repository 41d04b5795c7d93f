"""Find the best combination of actions under a budget (an addition to the paper).

A portfolio contains an amount of every action. Its utility in a state is the sum of the actions'
utilities in this state, weighted by the amounts. The best portfolio has the largest value over the
sampled states, so the actions must share their states. Maximising the mean or CVaR (Rockafellar and
Uryasev) is a linear programme, or an integer programme if amounts are multiples of a unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question import Candidate
from dqa_dellma.findings import Utilities
from dqa_dellma.settings import Attitude
from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.utilities.bradley_terry import Floats
from dqa_dellma.utilities.maximisation import weigh_by_attitude

_AVERSION = 0.2
_MOST_UNITS = 1e9
"""The largest number of units that the linear solver distinguishes from one unit more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a portfolio of A actions, and the attitude whose value is maximised.

    Attributes
    ----------
    budget
        The maximum total cost, > 0.
    costs
        Shape (A,): the cost of an amount of 1 of each action, > 0.
    least, most
        Shapes (A,): the bounds of each action's amount, >= 0.
    unit
        Amounts are multiples of this number, > 0; None allows any amount.
    attitude, aversion
        ``mean``; or ``cvar``, with the worst share of states as aversion.
    """

    budget: float
    costs: Floats
    least: Floats
    most: Floats
    unit: float | None = None
    attitude: Attitude = "mean"
    aversion: float = _AVERSION

    def value(self, utilities: Floats) -> float:
        """Return the value of utilities by state, shape (S,), under the attitude."""
        weights = np.ones(len(utilities))
        return float(weigh_by_attitude(utilities, weights, self.attitude, self.aversion))


@dataclass(frozen=True, slots=True)
class Holding:
    """An amount of an action."""

    action: Candidate
    amount: float


@dataclass(frozen=True, slots=True)
class Portfolio:
    """The best combination of actions, and the best single action.

    Attributes
    ----------
    amounts
        The amount of each action.
    value, expected_utility
        The value under the attitude, and the expected utility.
    cost
        The total cost.
    single, single_value
        The best single action and its value. Its amount is the largest that its upper bound, the
        unit and the budget allow.
    states
        The number of states.
    attitude, aversion
        The attitude whose value is maximised; the aversion is None for the mean.
    """

    amounts: tuple[Holding, ...]
    value: float
    expected_utility: float
    cost: float
    single: Holding
    single_value: float
    states: int
    attitude: Attitude
    aversion: float | None

    @property
    def gain(self) -> float:
        """The value minus the value of the best single action."""
        return self.value - self.single_value + 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the portfolio as JSON values."""
        return asdict(self) | {"gain": self.gain}


def combine_actions(  # noqa: PLR0913  (one parameter per limit)
    tree: DecisionTree,
    *,
    budget: float = 1.0,
    unit: float | None = None,
    costs: Mapping[str, float] | None = None,
    least: Mapping[str, float] | None = None,
    most: Mapping[str, float] | None = None,
    attitude: Attitude | None = None,
    aversion: float | None = None,
) -> Portfolio:
    """Find the best combination of the actions of a decision, under a budget.

    Parameters
    ----------
    tree
        The tree of the decision.
    budget
        The maximum total cost.
    unit
        Amounts are multiples of this number; None allows any amount.
    costs, least, most
        By name of an action: the cost of an amount of 1 (default 1), the least amount (default 0),
        and the largest amount (default: as much as the budget can buy).
    attitude, aversion
        ``mean`` or ``cvar``, and the worst share of states for ``cvar``. None takes the value of
        the decision, or an aversion of 0.2 if the decision was made with another attitude.

    Raises
    ------
    UsageError
        The decision has no utilities that can be added, a number or a name is wrong, no portfolio
        fits the limits, or the attitude is ``exponential``.
    """
    utilities = _utilities_of(tree)
    table = join_utilities(tree)
    actions = [figures.action for figures in utilities.actions]
    chosen = attitude or utilities.attitude
    if chosen == "exponential":
        raise UsageError(
            "A portfolio cannot use the attitude exponential: use --attitude mean or --attitude "
            "cvar."
        )
    if aversion is None:
        aversion = (chosen == utilities.attitude and utilities.aversion) or _AVERSION
    _check("The budget", budget)
    _check("The aversion", aversion, most=1.0)
    if unit is not None:
        _check("The unit", unit)
    each = _by_action("cost", costs, actions, 1.0)
    limits = Limits(
        budget=budget,
        costs=each,
        least=_by_action("least amount", least, actions, 0.0, zero=True),
        most=_by_action("largest amount", most, actions, budget / float(each.min()), zero=True),
        unit=unit,
        attitude=chosen,
        aversion=aversion,
    )
    amounts = find_best_amounts(table, limits)
    # The tolerance prevents rounding errors from removing a whole unit.
    singles = np.minimum(limits.most, budget / each)
    if unit is not None:
        singles = unit * np.floor(singles / unit + 1e-9)
    values = [limits.value(table[:, place] * one) for place, one in enumerate(singles)]
    best = int(np.argmax(values))
    return Portfolio(
        amounts=tuple(map(Holding, actions, amounts.tolist())),
        value=limits.value(table @ amounts),
        expected_utility=float((table @ amounts).mean()),
        cost=float(each @ amounts),
        single=Holding(actions[best], float(singles[best])),
        single_value=values[best],
        states=len(table),
        attitude=chosen,
        aversion=None if chosen == "mean" else aversion,
    )


def join_utilities(tree: DecisionTree) -> Floats:
    """Return the utilities, shape (S, A), of the states in which every action has a utility.

    Raises
    ------
    UsageError
        No state has a utility for every action.
    """
    if tree.pairs is None or tree.utilities is None:
        raise UsageError("A portfolio needs utilities, and the decision has none.")
    table = np.full((len(tree.pairs.states), len(tree.utilities.actions)), np.nan)
    cells = np.array(tree.pairs.state_of), np.array(tree.pairs.action_of)
    table[cells] = np.array(tree.utilities.utilities, dtype=np.float64)
    whole = ~np.isnan(table).any(axis=1)
    if whole.any():
        return np.asarray(table[whole])
    if np.bincount(cells[0]).max(initial=0) == 1:
        raise UsageError(
            "A portfolio needs states that the actions share. In this decision every state belongs "
            "to one action. Decide again with dellma-pairs or dellma-top1."
        )
    raise UsageError(
        f"A portfolio needs states in which all {table.shape[1]} actions are ranked. None of the "
        f"{len(table)} states is such a state. Decide again with more dellma.samples."
    )


def find_best_amounts(utilities: Floats, limits: Limits) -> Floats:
    """Return the amounts with the largest value, shape (A,).

    Parameters
    ----------
    utilities
        Shape (S, A): the utilities by state and action; S and A are at least 1.
    limits
        The limits and the attitude.

    Raises
    ------
    UsageError
        No portfolio fits the limits.
    """
    states, count = utilities.shape
    # Without a unit, scale amounts to suit the absolute tolerances of the solver.
    size = limits.unit or limits.budget / float(limits.costs.max())
    most = np.minimum(limits.most, limits.budget / limits.costs) / size
    if not most.max() <= _MOST_UNITS:
        raise UsageError(
            f"The budget allows up to {most.max():.3g} units of an action, more than the solver "
            "can distinguish. Use a larger unit, or costs that are closer together."
        )
    gains = utilities / (abs(float((utilities @ (most * size)).mean()) / count) or 1.0) * size
    goal, more, rows = gains.mean(axis=0), np.zeros(0), []
    if limits.attitude == "cvar":
        # Maximise t - mean(z) / share for shortfalls z >= t - utility, z >= 0.
        more = np.zeros(1 + states)
        worst = np.full(states, -1.0 / (states * limits.aversion))
        goal = np.concatenate([0.0 * goal, [1.0], worst])
        shortfall = np.hstack([gains, -np.ones((states, 1)), np.eye(states)])
        rows = [LinearConstraint(shortfall, lb=0.0)]
    spent = np.concatenate([limits.costs * size / limits.budget, more])
    free = more.copy()
    free[:1] = -np.inf
    least = np.concatenate([limits.least / size, free])
    found = milp(
        -goal,
        integrality=np.append(np.full(count, limits.unit is not None), more),
        bounds=Bounds(least, np.concatenate([most, more + np.inf])),
        constraints=[LinearConstraint(spent[None, :], ub=1.0), *rows],
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        raise UsageError(
            "No portfolio fits the limits. The least amounts, in whole units, must fit the budget "
            "and the largest amounts."
        )
    units = found.x[:count]
    # Rounding errors can give negative amounts and negative zeros.
    return np.maximum((np.round(units) if limits.unit else units) * size, 0.0) + 0.0


def _utilities_of(tree: DecisionTree) -> Utilities:
    """Return the utilities of a decision. Raise `UsageError` if they cannot be added."""
    run, utilities = f"{tree.question} by {tree.decider} on {tree.database}", tree.utilities
    if len(tree.branches) == 1:
        raise UsageError(f"{run} has only one action: there is nothing to combine.")
    if utilities is None:
        raise UsageError(f"{run} ended before it had utilities. 'dqa show' shows the reason.")
    if utilities.scale != "all":
        raise UsageError(
            f"{run} used dellma.scale={utilities.scale}: utilities that are scaled within each "
            "action cannot be added. Decide again with dellma.scale=all."
        )
    return utilities


def _by_action(
    what: str,
    given: Mapping[str, float] | None,
    actions: list[Candidate],
    usual: float,
    *,
    zero: bool = False,
) -> Floats:
    """Return a number for each action: the given number, or `usual` if none is given."""
    figures = {str(action): usual for action in actions}
    for name, figure in (given or {}).items():
        if name not in figures:
            raise UnknownNameError(f"action with a {what}", name, figures)
        _check(f"The {what} of {name}", figure, zero=zero)
        figures[name] = figure
    return np.array(list(figures.values()))


def _check(what: str, figure: float, *, zero: bool = False, most: float = np.inf) -> None:
    """Raise `UsageError` unless a number is finite, positive (or 0 if `zero`), and <= `most`."""
    if not isfinite(figure) or figure < 0.0 or figure > most or (figure == 0.0 and not zero):
        bounds = ("0 or more" if zero else "above 0") + (f", at most {most:g}" if most < 2 else "")
        raise UsageError(f"{what} must be finite and {bounds}, not {figure}.")
