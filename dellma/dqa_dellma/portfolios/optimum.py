"""Combinations of actions under a budget (past the paper, which leaves them open).

A portfolio takes an amount of every action, and its utility in a state is the sum of the actions'
utilities there, each times its amount. What is maximised is the attitude's value over the sampled
states, which all actions have to share: how actions do well or badly together is what a portfolio
is about. Every result is optimal, not a heuristic's: the mean is a linear programme, CVaR one too
(Rockafellar and Uryasev's), and the exponential attitude's certainty equivalent is concave, so that
its tangents bound it from above: they are added where the bound is attained until the best bound
is the value itself (Kelley's cutting planes). Amounts in whole units make the programmes integer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp, minimize

from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa_dellma.settings import Attitude
from dqa_dellma.utilities.bradley_terry import Floats
from dqa_dellma.utilities.maximisation import weigh_by_attitude
from dqa_dellma.utilities.pairs import Pairs

_GAP = 1e-6
"""How far the value may be below its bound, as a share of what an even portfolio yields; the
linear solver's own tolerance is a tenth of it."""
_MOST_CUTS = 2_000
_MOST_UNITS = 1e9
"""Amounts in units that the linear solver still tells from their neighbours."""


@dataclass(frozen=True, slots=True)
class PortfolioLimits:
    """What a portfolio may hold; every figure is finite.

    Attributes
    ----------
    budget
        The most that all of it may cost, > 0.
    costs
        What an amount of 1 of each action costs, > 0; None for 1 each.
    unit
        Amounts are multiples of it, > 0; None for any amount.
    least, most
        Bounds of each action's amount, 0 or more; None for no bound but 0 and the budget.

    With the defaults amounts are shares of the whole.
    """

    budget: float = 1.0
    costs: tuple[float, ...] | None = None
    unit: float | None = None
    least: tuple[float, ...] | None = None
    most: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Portfolio:
    """The best combination of actions, and what the best single one is worth.

    Attributes
    ----------
    amounts
        How much of each action.
    value
        What the attitude makes of it.
    expected
        Its expected utility.
    cost
        What it costs.
    single
        The single action of the largest value, with as much of it as its own bound, the unit and
        the budget allow; the others' least amounts do not bind it.
    single_amount, single_value, single_expected
        Its amount, value and expected utility.
    states
        How many states were averaged over.
    """

    amounts: tuple[float, ...]
    value: float
    expected: float
    cost: float
    single: int
    single_amount: float
    single_value: float
    single_expected: float
    states: int

    @property
    def gain(self) -> float:
        """How much more it is worth than the best single action."""
        return self.value - self.single_value + 0.0

    def to_data(self, actions: Sequence[Candidate]) -> dict[str, Any]:
        """Return plain values for a trace."""
        return {
            "amounts": [
                {"action": action, "amount": amount}
                for action, amount in zip(actions, self.amounts, strict=True)
            ],
            "value": self.value,
            "expected_utility": self.expected,
            "cost": self.cost,
            "single": {
                "action": actions[self.single],
                "amount": self.single_amount,
                "value": self.single_value,
                "expected_utility": self.single_expected,
            },
            "gain": self.gain,
            "states": self.states,
        }


def join_utilities(pairs: Pairs, utilities: Floats, actions: int) -> Floats:
    """Return the utilities by state and action, shape (S, A), of the states with all actions.

    Parameters
    ----------
    pairs, utilities
        The state-action pairs and, shape (n,), their utilities; NaN where none is known.
    actions
        A, how many actions there are.

    Raises
    ------
    UsageError
        No state has a utility for every action.
    """
    table = np.full((len(pairs.states), actions), np.nan)
    table[pairs.state_of, pairs.action_of] = utilities
    whole = ~np.isnan(table).any(axis=1)
    if whole.any():
        return np.asarray(table[whole])
    if actions > 1 and len(np.unique(pairs.state_of)) == len(pairs) > 0:
        raise UsageError(
            "A portfolio needs states that the actions share, which tell how they do together; "
            "here every state is one action's own. Decide by dellma-pairs or dellma-top1."
        )
    raise UsageError(
        f"A portfolio needs states in which all {actions} actions are ranked, and none of the "
        f"{len(table)} states is one: take more dellma.samples, and keep dellma.confidence=1, with "
        "which no action drops out."
    )


def find_best_portfolio(
    utilities: Floats,
    limits: PortfolioLimits = PortfolioLimits(),
    *,
    attitude: Attitude = "mean",
    aversion: float = 0.2,
) -> Portfolio:
    """Find the portfolio of the largest value.

    Parameters
    ----------
    utilities
        Shape (S, A): by state and action, S and A at least 1.
    limits
        Budget, costs, unit and bounds.
    attitude, aversion
        As in `DellmaSettings`. To ``exponential`` the utility of 1 is what the budget yields in
        the mean if it is spent evenly on all actions.

    Raises
    ------
    UsageError
        The limits make no sense, or nothing fits them.
    """
    task = _Task(utilities, limits, attitude, aversion)
    found = {"mean": task.mean, "cvar": task.cvar, "exponential": task.exponential}[attitude]()
    # Rounding leaves amounts below 0, and zeros with a sign.
    amounts = np.maximum(found, 0.0) + 0.0
    singles = [task.alone(action) for action in range(utilities.shape[1])]
    values = [task.value(single) for single in singles]
    best = int(np.argmax(values))
    return Portfolio(
        amounts=tuple(amounts.tolist()),
        value=task.value(amounts),
        expected=float((utilities @ amounts).mean()),
        cost=float(task.costs @ amounts),
        single=best,
        single_amount=float(singles[best][best]),
        single_value=values[best],
        single_expected=float((utilities @ singles[best]).mean()),
        states=len(utilities),
    )


class _Task:
    """The programme of one portfolio; its first A variables are amounts in units."""

    def __init__(
        self, utilities: Floats, limits: PortfolioLimits, attitude: Attitude, aversion: float
    ) -> None:
        count = utilities.shape[1]
        _check(utilities, limits, attitude, aversion)
        self.costs = _by_action(limits.costs, 1.0, count, "costs")
        self._least = _by_action(limits.least, 0.0, count, "least amounts")
        most = _by_action(limits.most, limits.budget / float(self.costs.min()), count, "bounds")
        self._most = np.minimum(most, limits.budget / self.costs)
        self._utilities = utilities
        self._limits = limits
        self._attitude: Attitude = attitude
        self._aversion = aversion
        # By default of a size at which solvers' absolute tolerances mean something.
        self._size = limits.unit or limits.budget / float(self.costs.max())
        self._spent = self.costs * self._size / limits.budget
        self._check_room()
        evenly = limits.budget / (count * self.costs)
        even = float((utilities @ evenly).mean())
        self._scale = abs(even) or 1.0
        self._gains = utilities * self._size / self._scale

    def _check_room(self) -> None:
        """Raise unless the least that may be had fits the bounds and the budget."""
        units = float((self._most / self._size).max())
        if not units <= _MOST_UNITS:
            raise UsageError(
                f"Up to {units:.3g} units of an action fit the budget, more than can be told "
                "apart: use a larger unit, or costs that are closer together."
            )
        least, steps = self._least, ""
        if self._limits.unit is not None:
            least = np.ceil(least / self._size - 1e-9) * self._size
            steps = f" in units of {self._size:g}"
        told, cost = "No portfolio fits the limits:", float(self.costs @ least)
        if cost > self._limits.budget * (1.0 + 1e-9):
            raise UsageError(
                f"{told} the least amounts{steps} cost {cost:g}, and the budget is "
                f"{self._limits.budget:g}."
            )
        for action in np.flatnonzero(least > self._most * (1.0 + 1e-9))[:1]:
            raise UsageError(
                f"{told} the least amount of action {action + 1}{steps} is {least[action]:g}, and "
                f"the most of it {self._most[action]:g}."
            )

    def value(self, amounts: Floats) -> float:
        """Return what the attitude makes of amounts, shape (A,)."""
        total = self._utilities @ amounts
        weights = np.ones(len(total))
        found = weigh_by_attitude(total, weights, self._attitude, self._aversion, self._scale)
        return float(found)

    def alone(self, action: int) -> Floats:
        """Return as much of one action as may be had, shape (A,)."""
        amounts = np.zeros(len(self.costs))
        units = self._most[action] / self._size
        # What is a whole number but for rounding counts as one.
        amounts[action] = self._size * (np.floor(units + 1e-9) if self._limits.unit else units)
        return amounts

    def mean(self) -> Floats:
        """Maximise the expected utility."""
        return self._solve(self._gains.mean(axis=0), [])[0] * self._size

    def cvar(self) -> Floats:
        """Maximise ``t - mean(z) / share`` for shortfalls z of a level t, z >= t - utility."""
        states, actions = self._gains.shape
        goal = np.zeros(actions + 1 + states)
        goal[actions] = 1.0
        goal[actions + 1 :] = -1.0 / (states * self._aversion)
        rows = np.hstack([self._gains, -np.ones((states, 1)), np.eye(states)])
        free = np.append(-np.inf, np.zeros(states))
        return self._solve(goal, [LinearConstraint(rows, lb=0.0)], free)[0] * self._size

    def exponential(self) -> Floats:
        """Maximise the certainty equivalent under its tangents; see the module's docstring.

        The first tangent is at the optimum of any amounts, which a smooth method finds; for those
        it usually is proof enough.
        """
        actions = len(self.costs)
        goal = np.append(np.zeros(actions), 1.0)
        first = self._smooth()
        points = [first] if self._limits.unit is None else self._around(first)
        slopes, levels = np.empty((0, actions + 1)), np.empty(0)
        best, chosen = -np.inf, first
        for _ in range(_MOST_CUTS):
            for units in points:
                value, slope = self._tangent(units)
                slopes = np.vstack([slopes, np.append(-slope, 1.0)])
                levels = np.append(levels, value - slope @ units)
                if value > best and self._allowed(units):
                    best, chosen = value, units
            tangents = LinearConstraint(slopes, ub=levels)
            units, bound = self._solve(goal, [tangents], np.array([-np.inf]))
            if bound - best <= _GAP:
                return chosen * self._size
            points = [units]
        raise UsageError(
            f"No portfolio is proven the best after {_MOST_CUTS} cuts; use a smaller aversion or "
            "a larger unit."
        )

    def _around(self, units: Floats) -> list[Floats]:
        """Return units, shape (A,), and all with one unit moved: where whole ones will be best."""
        moves = np.eye(len(units))
        return [units, *(units + one - other for one in moves for other in moves)]

    def _allowed(self, units: Floats) -> bool:
        """Whether units are what may be had, as far as points of the programme may not be."""
        if self._limits.unit is None:
            return True
        inside = (units >= self._least / self._size) & (units <= self._most / self._size)
        fits = self.costs @ units * self._size <= self._limits.budget * (1.0 + 1e-9)
        return bool((inside & (units == np.round(units))).all() and fits)

    def _smooth(self) -> Floats:
        """Return about the best units, shape (A,), if parts of them could be had."""
        lower, upper = self._least / self._size, self._most / self._size
        start = self._solve(self._gains.mean(axis=0), [])[0]

        def loss(units: Floats) -> float:
            return -self._tangent(units)[0]

        def slope(units: Floats) -> Floats:
            return -self._tangent(units)[1]

        found = minimize(
            loss,
            start,
            jac=slope,
            method="SLSQP",
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(self._spent[None, :], ub=1.0),
            tol=1e-14,
        )
        units = np.clip(found.x, lower, upper)
        fits = bool(np.isfinite(units).all()) and self._spent @ units <= 1.0 + 1e-9
        return units if fits else start

    def _tangent(self, units: Floats) -> tuple[float, Floats]:
        """Return the scaled certainty equivalent of units and its gradient, shape (A,)."""
        total = self._gains @ units
        risk = np.exp(-self._aversion * (total - total.min()))
        value = float(total.min() - np.log(risk.mean()) / self._aversion)
        return value, np.asarray((risk / risk.sum()) @ self._gains)

    def _solve(
        self, goal: Floats, rows: list[LinearConstraint], free: Floats | None = None
    ) -> tuple[Floats, float]:
        """Maximise a linear goal over amounts in units and further variables above `free`.

        Returns
        -------
        The units, shape (A,), and the goal's value.
        """
        free = np.empty(0) if free is None else free
        actions = len(self.costs)
        spent = np.concatenate([self._spent, np.zeros(len(free))])[None, :]
        whole = np.full(actions + len(free), 0)
        whole[:actions] = self._limits.unit is not None
        above = np.full(len(free), np.inf)
        found = milp(
            -goal,
            integrality=whole,
            bounds=Bounds(
                np.concatenate([self._least / self._size, free]),
                np.concatenate([self._most / self._size, above]),
            ),
            constraints=[LinearConstraint(spent, ub=1.0), *rows],
            options={"mip_rel_gap": 0.0},
        )
        if found.x is None:
            raise UsageError(
                "The solver finds no portfolio within these limits: bring budget, costs, unit and "
                "bounds closer together."
            )
        units = found.x[:actions]
        return (np.round(units) if self._limits.unit else units), float(goal @ found.x)


def _check(utilities: Floats, limits: PortfolioLimits, attitude: Attitude, aversion: float) -> None:
    if not utilities.size or not np.isfinite(utilities).all():
        raise UsageError("A portfolio needs a finite utility of every action in every state.")
    figures: tuple[tuple[str, Sequence[float], bool], ...] = (
        ("a budget", [limits.budget], True),
        ("a unit", [] if limits.unit is None else [limits.unit], True),
        ("costs", limits.costs or (), True),
        ("least amounts", limits.least or (), False),
        ("largest amounts", limits.most or (), False),
    )
    for what, given, positive in figures:
        for figure in given:
            if not isfinite(figure) or figure < 0.0 or (positive and figure == 0.0):
                bounds = "above 0" if positive else "0 or more"
                raise UsageError(f"A portfolio needs {what}, finite and {bounds}; {figure} is not.")
    if not isfinite(aversion) or aversion <= 0.0 or (attitude == "cvar" and aversion > 1.0):
        raise UsageError(f"The aversion has to be above 0, at most 1 for cvar, not {aversion}.")


def _by_action(given: tuple[float, ...] | None, usual: float, count: int, what: str) -> Floats:
    if given is not None and len(given) != count:
        raise UsageError(f"A portfolio of {count} actions has {len(given)} {what}.")
    return np.array([usual] * count if given is None else given, dtype=np.float64)
