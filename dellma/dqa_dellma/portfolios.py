"""Find the best combination of actions under a budget (an addition to the paper).

A portfolio contains an amount of every action. Its utility in a state is the sum of the actions'
utilities in this state, weighted by the amounts. Therefore all actions must have the same sampled
states. The best portfolio has the largest mean over these states, or the largest CVaR: the mean
over only the worst states (Rockafellar and Uryasev). The problem is a linear programme, or an
integer programme if amounts are multiples of a unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
from scipy import sparse
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
"""The maximum number of units of an action. Above this limit, the solver confuses n with n + 1."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits and the objective of a portfolio of A actions.

    Attributes
    ----------
    budget
        The maximum total cost, > 0.
    costs
        Shape (A,): the cost of one unit of each action, > 0.
    most
        Shape (A,): the largest amount of each action, >= 0.
    unit
        Amounts are multiples of this number, > 0; None allows any amount.
    share
        A proportion of the states, > 0 and <= 1; 1 means all states. The mean utility of this
        proportion is maximised, taken over the states with the lowest utilities.
    """

    budget: float
    costs: Floats
    most: Floats
    unit: float | None = None
    share: float = 1.0

    def value(self, utilities: Floats) -> float:
        """Return the mean utility over the worst states. `utilities` has the shape (S,)."""
        return float(weigh_by_attitude(utilities, np.ones(len(utilities)), "cvar", self.share))


@dataclass(frozen=True, slots=True)
class Holding:
    """The amount of an action in a portfolio."""

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
        The portfolio's value under the attitude (mean or CVaR), and its expected utility.
    cost
        The total cost.
    single
        The best single action, with the largest amount that the limits allow.
    single_value
        The value of `single`.
    states
        The number of states.
    attitude, aversion
        The attitude to risk that defines `value`, and the share of worst states; this share is None
        for the attitude ``mean``.
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
        """The portfolio's value minus the value of the best single action."""
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
    costs, most
        By name of an action: the cost of one unit (default: 1), and the largest amount (default: as
        much as the budget can buy).
    attitude, aversion
        ``mean`` or ``cvar``, and the share of worst states for ``cvar``. By default, both are those
        of the decision. If the decision has no aversion, the default is 0.2.

    Raises
    ------
    UsageError
        The utilities of the decision are missing or cannot be added, a number is out of range, or
        a name is not an action.
    """
    utilities, table = _read(tree)
    actions = [figures.action for figures in utilities.actions]
    chosen = attitude or utilities.attitude
    aversion = utilities.aversion or _AVERSION if aversion is None else aversion
    _check("The budget", budget)
    _check("The aversion", aversion, most=1.0)
    _check("The unit", 1.0 if unit is None else unit)
    each = _by_action("cost", costs, actions, 1.0)
    largest = _by_action("largest amount", most, actions, budget / float(each.min()), zero=True)
    limits = Limits(budget, each, largest, unit, 1.0 if chosen == "mean" else aversion)
    amounts = find_best_amounts(table, limits)
    # The tolerance prevents rounding errors from removing a whole unit.
    singles = np.minimum(largest, budget / each)
    if unit is not None:
        singles = unit * np.floor(singles / unit + 1e-9)
    values = [limits.value(table[:, index] * one) for index, one in enumerate(singles)]
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


def find_best_amounts(utilities: Floats, limits: Limits) -> Floats:
    """Return the amounts with the largest value, shape (A,).

    Parameters
    ----------
    utilities
        Shape (S, A): the utilities by state and action; S and A are at least 1.
    limits
        The limits and the objective of the portfolio.

    Raises
    ------
    UsageError
        The unit is too small for the solver.
    """
    states, count = utilities.shape
    # Without a unit, scale amounts to suit the absolute tolerances of the solver.
    size = limits.unit or limits.budget / float(limits.costs.max())
    most = np.minimum(limits.most, limits.budget / limits.costs) / size
    if not most.max() <= _MOST_UNITS:
        raise UsageError(
            f"The budget allows up to {most.max():.3g} units of an action, more than the solver "
            "can distinguish. Use a larger unit, or reduce the ratio of the largest cost to the "
            "smallest."
        )
    gains = utilities / (abs(float((utilities @ (most * size)).mean()) / count) or 1.0) * size
    # Maximise t - mean(z) / share for shortfalls z >= t - utility, z >= 0.
    rest = np.zeros(1 + states)
    goal = np.concatenate([np.zeros(count), [1.0], np.full(states, -1.0 / (states * limits.share))])
    parts = (gains, -np.ones((states, 1)), sparse.eye_array(states))
    shortfall = sparse.hstack([sparse.csr_array(part) for part in parts])
    spent = np.concatenate([limits.costs * size / limits.budget, rest])
    found = milp(
        -goal,
        integrality=np.append(np.full(count, limits.unit is not None), rest),
        bounds=Bounds(
            np.concatenate([np.zeros(count), [-inf], np.zeros(states)]),
            np.concatenate([most, rest + inf]),
        ),
        constraints=[LinearConstraint(spent[None, :], ub=1.0), LinearConstraint(shortfall, lb=0.0)],
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        raise UsageError("The solver found no portfolio. Use a larger unit, or other costs.")
    units = found.x[:count]
    # Rounding errors can give negative amounts and negative zeros.
    return np.maximum((np.round(units) if limits.unit else units) * size, 0.0) + 0.0


def _read(tree: DecisionTree) -> tuple[Utilities, Floats]:
    """Return the utilities of a decision, and their array by state and action, shape (S, A).

    Raises
    ------
    UsageError
        There are no utilities that can be added, or no state has a utility for every action.
    """
    run, utilities = f"{tree.question} by {tree.decider} on {tree.database}", tree.utilities
    if len(tree.branches) == 1:
        raise UsageError(f"{run} has only one action: there is nothing to combine.")
    if utilities is None or tree.pairs is None:
        raise UsageError(f"{run} ended without utilities. 'dqa show' shows the reason.")
    if utilities.scale != "all":
        raise UsageError(
            f"{run} used dellma.scale={utilities.scale}: utilities that are scaled within each "
            "action cannot be added. Decide again with dellma.scale=all."
        )
    table = np.full((len(tree.pairs.states), len(utilities.actions)), np.nan)
    cells = np.array(tree.pairs.state_of), np.array(tree.pairs.action_of)
    table[cells] = np.array(utilities.utilities, dtype=np.float64)
    whole = ~np.isnan(table).any(axis=1)
    if not whole.any():
        raise UsageError(
            f"A portfolio needs states in which all {table.shape[1]} actions are ranked. Each of "
            f"the {len(table)} states of {run} has an unranked action. Decide again with "
            "dellma-pairs or dellma-top1, and with more dellma.samples."
        )
    return utilities, np.asarray(table[whole])


def _by_action(
    what: str,
    values: Mapping[str, float] | None,
    actions: list[Candidate],
    usual: float,
    *,
    zero: bool = False,
) -> Floats:
    """Return a number for each action: its number in `values`, or else `usual`."""
    figures = {str(action): usual for action in actions}
    for name, figure in (values or {}).items():
        if name not in figures:
            raise UnknownNameError("action", name, figures)
        _check(f"The {what} of {name}", figure, zero=zero)
        figures[name] = figure
    return np.array(list(figures.values()))


def _check(what: str, figure: float, *, zero: bool = False, most: float = inf) -> None:
    """Raise `UsageError` if a number is infinite, negative, above `most`, or 0 without `zero`."""
    if not isfinite(figure) or figure < 0.0 or figure > most or (figure == 0.0 and not zero):
        bounds = ("0 or more" if zero else "above 0") + (f", at most {most:g}" if most < 2 else "")
        raise UsageError(f"{what} must be finite and {bounds}, not {figure}.")
