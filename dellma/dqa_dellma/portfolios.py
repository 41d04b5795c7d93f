"""Combinations of a decision's actions under a budget (past the paper).

A portfolio takes an amount of every action. Its utility in a state is the sum of the actions'
utilities there, each times its amount. The attitude's value over the sampled states is maximised,
so the actions have to share their states. Every result is optimal: the mean and CVaR (Rockafellar
and Uryasev) are linear programmes, integer ones if amounts are in units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
"""The most units that the linear solver still tells from their neighbours."""


@dataclass(frozen=True, slots=True)
class Risk:
    """An attitude to risk, and the aversion that goes with it; `mean` has none."""

    attitude: Attitude = "mean"
    aversion: float | None = None

    def __str__(self) -> str:
        told = "" if self.aversion is None else f" with an aversion of {self.aversion:g}"
        return f"{self.attitude}{told}"


@dataclass(frozen=True, slots=True)
class PortfolioLimits:
    """The limits of a portfolio; with the defaults, amounts are shares of the whole.

    Attributes
    ----------
    budget
        The most that all of it may cost, > 0.
    costs
        What an amount of 1 of each action costs, > 0; None for 1 each.
    unit
        Amounts are multiples of it, > 0; None for any amount.
    least, most
        Bounds of each action's amount, 0 or more; None for 0 and what the budget buys.
    """

    budget: float = 1.0
    costs: tuple[float, ...] | None = None
    unit: float | None = None
    least: tuple[float, ...] | None = None
    most: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Portfolio:
    """The best combination of actions, and the value of the best single one.

    Attributes
    ----------
    actions, amounts
        The actions, and the amount of each.
    value, expected
        The attitude's value, and the expected utility.
    cost
        The cost of all of it.
    single
        The number of the action with the largest value alone, with as much of it as its own bound,
        the unit and the budget allow; the others' least amounts do not bind it.
    single_amount, single_value, single_expected
        Its amount, value and expected utility.
    states
        The number of states.
    limits, risk
        The limits, and the attitude that it is best for.
    decided_with
        The attitude of the decision.
    """

    actions: tuple[Candidate, ...]
    amounts: tuple[float, ...]
    value: float
    expected: float
    cost: float
    single: int
    single_amount: float
    single_value: float
    single_expected: float
    states: int
    limits: PortfolioLimits
    risk: Risk
    decided_with: Risk

    @property
    def gain(self) -> float:
        """How much more it is worth than the best single action."""
        return self.value - self.single_value + 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        amounts = zip(self.actions, self.amounts, strict=True)
        return {
            "amounts": [{"action": action, "amount": amount} for action, amount in amounts],
            "value": self.value,
            "expected_utility": self.expected,
            "cost": self.cost,
            "single": {
                "action": self.actions[self.single],
                "amount": self.single_amount,
                "value": self.single_value,
                "expected_utility": self.single_expected,
            },
            "gain": self.gain,
            "states": self.states,
            "attitude": self.risk.attitude,
            "aversion": self.risk.aversion,
            "decided_with": {
                "attitude": self.decided_with.attitude,
                "aversion": self.decided_with.aversion,
            },
        }


def combine_actions(  # noqa: PLR0913  (one parameter a limit)
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
        The decision.
    budget
        The most that all of it may cost.
    unit
        Amounts are multiples of it; None for any amount.
    costs, least, most
        By an action's name, what an amount of 1 costs (1 by default), and its bounds (0 and what
        the budget buys by default).
    attitude, aversion
        What of the utilities over states decides; the decision's own by default, and an aversion
        of 0.2 for another attitude than the decision's.

    Raises
    ------
    UsageError
        The decision has no utilities that can be added up, a figure or a name is wrong, nothing
        fits the limits, or the attitude is ``exponential``.
    """
    utilities = _utilities_of(tree)
    actions = tuple(figures.action for figures in utilities.actions)
    _check("The budget", budget)
    if unit is not None:
        _check("The unit", unit)
    each = _by_action("cost", costs, actions, 1.0)
    limits = PortfolioLimits(
        budget=budget,
        costs=each,
        unit=unit,
        least=_by_action("least amount", least, actions, 0.0, zero=True),
        most=_by_action("largest amount", most, actions, budget / min(each), zero=True),
    )
    decided = Risk(utilities.attitude, utilities.aversion)
    risk = _risk(decided, attitude, aversion)
    found = find_best_portfolio(join_utilities(tree), limits, risk)
    return replace(found, actions=actions, decided_with=decided)


def join_utilities(tree: DecisionTree) -> Floats:
    """Return the utilities by state and action, shape (S, A), of the states with all actions.

    Raises
    ------
    UsageError
        No state has a utility for every action.
    """
    if tree.pairs is None or tree.utilities is None:
        raise UsageError("A portfolio needs utilities.")
    table = np.full((len(tree.pairs.states), len(tree.utilities.actions)), np.nan)
    cells = np.array(tree.pairs.state_of), np.array(tree.pairs.action_of)
    table[cells] = np.array(tree.utilities.utilities, dtype=np.float64)
    whole = ~np.isnan(table).any(axis=1)
    if whole.any():
        return np.asarray(table[whole])
    if np.bincount(cells[0]).max(initial=0) == 1:
        raise UsageError(
            "A portfolio needs states that the actions share, which tell how they do together; "
            "here every state is one action's own. Decide by dellma-pairs or dellma-top1."
        )
    raise UsageError(
        f"A portfolio needs states in which all {table.shape[1]} actions are ranked, and none "
        f"of the {len(table)} states is one: take more dellma.samples."
    )


def find_best_portfolio(
    utilities: Floats, limits: PortfolioLimits = PortfolioLimits(), risk: Risk = Risk()
) -> Portfolio:
    """Find the portfolio of the largest value, of actions that are named by their numbers.

    Parameters
    ----------
    utilities
        Shape (S, A): by state and action, S and A at least 1.
    limits
        Budget, costs, unit and bounds.
    risk
        The attitude, ``mean`` or ``cvar``, as in `DellmaSettings`.

    Raises
    ------
    UsageError
        Nothing fits the limits.
    """
    states, count = utilities.shape
    costs = np.array(limits.costs or [1.0] * count)
    affordable = limits.budget / costs
    most = np.minimum(np.array(limits.most or affordable), affordable)
    # Without a unit, of a size at which the solver's absolute tolerances mean something.
    size = limits.unit or limits.budget / float(costs.max())
    units = most / size
    amounts = _solve(utilities, limits, risk, units, size)
    # A whole number but for rounding counts as one.
    singles = np.diag(size * (np.floor(units + 1e-9) if limits.unit else units))
    values = [_value(utilities @ one, risk) for one in singles]
    best = int(np.argmax(values))
    return Portfolio(
        actions=tuple(range(count)),
        amounts=tuple(amounts.tolist()),
        value=_value(utilities @ amounts, risk),
        expected=float((utilities @ amounts).mean()),
        cost=float(costs @ amounts),
        single=best,
        single_amount=float(singles[best][best]),
        single_value=values[best],
        single_expected=float((utilities @ singles[best]).mean()),
        states=states,
        limits=limits,
        risk=risk,
        decided_with=risk,
    )


def _value(utilities: Floats, risk: Risk) -> float:
    """Return the attitude's value of utilities by state, shape (S,)."""
    weights = np.ones(len(utilities))
    return float(weigh_by_attitude(utilities, weights, risk.attitude, risk.aversion or _AVERSION))


def _solve(
    utilities: Floats, limits: PortfolioLimits, risk: Risk, most: Floats, size: float
) -> Floats:
    """Return the amounts of the largest value, shape (A,); `most` is in units of `size`."""
    if not most.max() <= _MOST_UNITS:
        raise UsageError(
            f"Up to {most.max():.3g} units of an action fit the budget, more than can be told "
            "apart: use a larger unit, or costs that are closer together."
        )
    states, count = utilities.shape
    least = np.array(limits.least or [0.0] * count) / size
    costs = np.array(limits.costs or [1.0] * count)
    gains = utilities / (abs(float((utilities @ (most * size)).mean()) / count) or 1.0) * size
    goal, more, rows = gains.mean(axis=0), np.zeros(0), []
    if risk.attitude == "cvar":
        # Maximise t - mean(z) / share for shortfalls z >= t - utility, z >= 0.
        more = np.zeros(1 + states)
        share = risk.aversion or _AVERSION
        goal = np.concatenate([0.0 * goal, [1.0], np.full(states, -1.0 / (states * share))])
        shortfall = np.hstack([gains, -np.ones((states, 1)), np.eye(states)])
        rows = [LinearConstraint(shortfall, lb=0.0)]
    spent = np.concatenate([costs * size / limits.budget, more])
    free = more.copy()
    free[:1] = -np.inf
    found = milp(
        -goal,
        integrality=np.append(np.full(count, limits.unit is not None), more),
        bounds=Bounds(np.concatenate([least, free]), np.concatenate([most, more + np.inf])),
        constraints=[LinearConstraint(spent[None, :], ub=1.0), *rows],
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        raise UsageError(
            "No portfolio fits the limits: the least amounts, in whole units, have to fit the "
            "budget and the largest amounts."
        )
    units = found.x[:count]
    # Rounding leaves amounts below 0, and zeros with a sign.
    return np.maximum((np.round(units) if limits.unit else units) * size, 0.0) + 0.0


def _utilities_of(tree: DecisionTree) -> Utilities:
    """Return a decision's utilities; raise unless they can be added up."""
    run, utilities = f"{tree.question} by {tree.decider} on {tree.database}", tree.utilities
    if len(tree.branches) == 1:
        raise UsageError(f"{run} has one action only: there is nothing to combine.")
    if utilities is None:
        raise UsageError(
            f"{run} ended before it had utilities, so nothing can be combined; 'dqa trace' "
            "shows how."
        )
    if utilities.scale != "all":
        raise UsageError(
            f"{run} was decided with dellma.scale={utilities.scale}: utilities scaled "
            "within each action cannot be added up. Decide again with dellma.scale=all."
        )
    return utilities


def _risk(decided: Risk, attitude: Attitude | None, aversion: float | None) -> Risk:
    """Return the attitude to combine with: by default the decision's."""
    chosen = attitude or decided.attitude
    if aversion is not None:
        _check("The aversion", aversion)
    if chosen == "mean":
        return Risk()
    if chosen == "exponential":
        raise UsageError(
            "Portfolios are found for the mean and for cvar: name one with --attitude."
        )
    # One attitude's aversion is a share, and another's is not.
    usual = decided.aversion if chosen == decided.attitude else _AVERSION
    risk = Risk(chosen, usual if aversion is None else aversion)
    if risk.aversion is not None and risk.aversion > 1.0:
        raise UsageError(f"The aversion of cvar is a share, at most 1, not {risk.aversion}.")
    return risk


def _by_action(
    what: str,
    given: Mapping[str, float] | None,
    actions: tuple[Candidate, ...],
    usual: float,
    *,
    zero: bool = False,
) -> tuple[float, ...]:
    """Return a figure for each action, the usual one by default."""
    figures = {str(action): usual for action in actions}
    for name, figure in (given or {}).items():
        if name not in figures:
            raise UnknownNameError(f"action with a {what}", name, figures)
        _check(f"The {what} of {name}", figure, zero=zero)
        figures[name] = figure
    return tuple(figures.values())


def _check(what: str, figure: float, *, zero: bool = False) -> None:
    """Raise unless a figure is finite and above 0, or with `zero` 0 or more."""
    if not isfinite(figure) or figure < 0.0 or (figure == 0.0 and not zero):
        bounds = "0 or more" if zero else "above 0"
        raise UsageError(f"{what} has to be finite and {bounds}, not {figure}.")
