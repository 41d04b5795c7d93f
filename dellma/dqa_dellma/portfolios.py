"""Combinations of a decision's actions under a budget (past the paper).

A portfolio takes an amount of every action. Its utility in a state is the sum of the actions'
utilities there, each times its amount. The attitude's value over the sampled states is maximised,
so the actions have to share their states. Every result is optimal: the mean and CVaR (Rockafellar
and Uryasev) are linear programmes. The certainty equivalent of the exponential attitude is concave,
so its tangents bound it from above; they are added until the bound is the value (Kelley's cutting
planes). Amounts in units make the programmes integer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question import Candidate
from dqa_dellma.findings import Method
from dqa_dellma.settings import Attitude
from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.utilities.bradley_terry import Floats
from dqa_dellma.utilities.maximisation import weigh_by_attitude

_AVERSION = 0.2
_GAP = 1e-6
"""How far the value may be below its bound, as a share of an even portfolio's utility."""
_MOST_CUTS = 2_000
_MOST_UNITS = 1e9
"""Amounts in units that the linear solver still tells from their neighbours."""


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
    """The best combination of actions, and what the best single one is worth.

    Attributes
    ----------
    amounts
        How much of each action.
    value, expected
        What the attitude makes of it, and its expected utility.
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


@dataclass(frozen=True, slots=True)
class Combination:
    """The best combination of a decision's actions.

    Attributes
    ----------
    actions
        The actions, in the order of `Portfolio.amounts`.
    portfolio, limits
        The best portfolio, and its limits.
    risk, decided_with
        The attitude that it is best for, and the attitude of the decision.
    """

    actions: tuple[Candidate, ...]
    portfolio: Portfolio
    limits: PortfolioLimits
    risk: Risk
    decided_with: Risk

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        found, decided = self.portfolio, self.decided_with
        amounts = zip(self.actions, found.amounts, strict=True)
        return {
            "amounts": [{"action": action, "amount": amount} for action, amount in amounts],
            "value": found.value,
            "expected_utility": found.expected,
            "cost": found.cost,
            "single": {
                "action": self.actions[found.single],
                "amount": found.single_amount,
                "value": found.single_value,
                "expected_utility": found.single_expected,
            },
            "gain": found.gain,
            "states": found.states,
            "attitude": self.risk.attitude,
            "aversion": self.risk.aversion,
            "decided_with": {"attitude": decided.attitude, "aversion": decided.aversion},
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
) -> Combination:
    """Find the best combination of the actions of a decision, under a budget.

    Parameters
    ----------
    tree
        The decision, as `dqa_dellma.tree.reading.read_tree` reads it.
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
        The decision has no utilities that can be added up, a figure or a name is wrong, or nothing
        fits the limits.
    """
    method = _method_of(tree)
    actions = tuple(action.action for action in tree.actions)
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
    decided = Risk(method.attitude, method.aversion)
    risk = _risk(decided, attitude, aversion)
    found = find_best_portfolio(join_utilities(tree), limits, risk)
    return Combination(actions, found, limits, risk, decided)


def join_utilities(tree: DecisionTree) -> Floats:
    """Return the utilities by state and action, shape (S, A), of the states with all actions.

    Raises
    ------
    UsageError
        No state has a utility for every action.
    """
    table = np.full((len(tree.states), len(tree.actions)), np.nan)
    shared = np.zeros(len(tree.states))
    for number, action in enumerate(tree.actions):
        for sample in action.samples:
            shared[sample.state] += 1
            if sample.utility is not None:
                table[sample.state, number] = sample.utility
    whole = ~np.isnan(table).any(axis=1)
    if whole.any():
        return np.asarray(table[whole])
    if shared.max(initial=0.0) == 1.0:
        raise UsageError(
            "A portfolio needs states that the actions share, which tell how they do together; "
            "here every state is one action's own. Decide by dellma-pairs or dellma-top1."
        )
    raise UsageError(
        f"A portfolio needs states in which all {len(tree.actions)} actions are ranked, and none "
        f"of the {len(table)} states is one: take more dellma.samples, and keep "
        "dellma.confidence=1, with which no action drops out."
    )


def find_best_portfolio(
    utilities: Floats, limits: PortfolioLimits = PortfolioLimits(), risk: Risk = Risk()
) -> Portfolio:
    """Find the portfolio of the largest value.

    Parameters
    ----------
    utilities
        Shape (S, A): by state and action, S and A at least 1.
    limits
        Budget, costs, unit and bounds.
    risk
        The attitude, as in `DellmaSettings`. To ``exponential`` the utility of 1 is the mean of
        what the budget yields if it is spent evenly on all actions.

    Raises
    ------
    UsageError
        Nothing fits the limits.
    """
    task = _Task(utilities, limits, risk)
    amounts = task.best()
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

    def __init__(self, utilities: Floats, limits: PortfolioLimits, risk: Risk) -> None:
        count = utilities.shape[1]
        self.costs = np.array(limits.costs or [1.0] * count)
        affordable = limits.budget / self.costs
        self._least = np.array(limits.least or [0.0] * count)
        self._most = np.minimum(np.array(limits.most or affordable), affordable)
        self._utilities = utilities
        self._limits = limits
        self._attitude: Attitude = risk.attitude
        self._aversion = risk.aversion or _AVERSION
        # By default of a size at which solvers' absolute tolerances mean something.
        self._size = limits.unit or limits.budget / float(self.costs.max())
        self._scale = abs(float((utilities @ affordable).mean()) / count) or 1.0
        self._gains = utilities * self._size / self._scale
        self._check_room()

    def _check_room(self) -> None:
        """Raise unless the least amounts fit the bounds and the budget."""
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
        cost = float(self.costs @ least)
        if cost > self._limits.budget * (1.0 + 1e-9):
            raise UsageError(
                f"No portfolio fits the limits: the least amounts{steps} cost {cost:g}, and the "
                f"budget is {self._limits.budget:g}."
            )
        for action in np.flatnonzero(least > self._most * (1.0 + 1e-9))[:1]:
            raise UsageError(
                f"No portfolio fits the limits: the least amount of action {action + 1}{steps} is "
                f"{least[action]:g}, and the most of it {self._most[action]:g}."
            )

    def value(self, amounts: Floats) -> float:
        """Return what the attitude makes of amounts, shape (A,)."""
        total = self._utilities @ amounts
        return float(
            weigh_by_attitude(
                total, np.ones(len(total)), self._attitude, self._aversion, self._scale
            )
        )

    def alone(self, action: int) -> Floats:
        """Return as much of one action as its bound and the budget allow, shape (A,)."""
        amounts = np.zeros(len(self.costs))
        units = self._most[action] / self._size
        # A whole number but for rounding counts as one.
        amounts[action] = self._size * (np.floor(units + 1e-9) if self._limits.unit else units)
        return amounts

    def best(self) -> Floats:
        """Return the amounts of the largest value, shape (A,)."""
        means = self._gains.mean(axis=0)
        if self._attitude == "mean":
            units, _ = self._solve(means)
        elif self._attitude == "cvar":
            # Maximise t - mean(z) / share for shortfalls z >= t - utility, z >= 0.
            states = len(self._gains)
            goal = np.concatenate(
                [0.0 * means, [1.0], np.full(states, -1.0 / (states * self._aversion))]
            )
            rows = np.hstack([self._gains, -np.ones((states, 1)), np.eye(states)])
            free = np.append(-np.inf, np.zeros(states))
            units, _ = self._solve(goal, LinearConstraint(rows, lb=0.0), free)
        else:
            units = self._cut(self._solve(means)[0])
        # Rounding leaves amounts below 0, and zeros with a sign.
        return np.maximum(units * self._size, 0.0) + 0.0

    def _cut(self, start: Floats) -> Floats:
        """Maximise the certainty equivalent under its tangents, from any units, shape (A,).

        The tangents are found for any amounts first: those programmes are quick, and leave few
        cuts for whole units.
        """
        goal = np.append(0.0 * start, 1.0)
        value, slope = self._tangent(start)
        slopes, levels = [np.append(-slope, 1.0)], [value - slope @ start]
        chosen = start
        for whole in (False, True) if self._limits.unit else (False,):
            best, gap = -np.inf, np.inf
            while gap > _GAP:
                if len(slopes) > _MOST_CUTS:
                    raise UsageError(
                        f"No portfolio is proven the best after {_MOST_CUTS} cuts; use a smaller "
                        "aversion or a larger unit."
                    )
                tangents = LinearConstraint(np.array(slopes), ub=np.array(levels))
                units, bound = self._solve(goal, tangents, [-np.inf], whole=whole)
                value, slope = self._tangent(units)
                slopes.append(np.append(-slope, 1.0))
                levels.append(value - slope @ units)
                if value > best:
                    best, chosen = value, units
                gap = bound - best
        return chosen

    def _tangent(self, units: Floats) -> tuple[float, Floats]:
        """Return the scaled certainty equivalent of units and its gradient, shape (A,)."""
        total = self._gains @ units
        risk = np.exp(-self._aversion * (total - total.min()))
        value = float(total.min() - np.log(risk.mean()) / self._aversion)
        return value, np.asarray((risk / risk.sum()) @ self._gains)

    def _solve(
        self,
        goal: Floats,
        rows: LinearConstraint | None = None,
        free: Sequence[float] | Floats = (),
        *,
        whole: bool = True,
    ) -> tuple[Floats, float]:
        """Maximise a linear goal over amounts in units, and further variables above `free`.

        Returns
        -------
        The units, shape (A,), and the goal's value.
        """
        whole = whole and self._limits.unit is not None
        actions, more = len(self.costs), np.zeros(len(free))
        spent = np.concatenate([self.costs * self._size / self._limits.budget, more])
        budget = LinearConstraint(spent[None, :], ub=1.0)
        found = milp(
            -goal,
            integrality=np.append(np.full(actions, whole), more),
            bounds=Bounds(
                np.concatenate([self._least / self._size, free]),
                np.concatenate([self._most / self._size, more + np.inf]),
            ),
            constraints=[budget] if rows is None else [budget, rows],
            options={"mip_rel_gap": 0.0},
        )
        if found.x is None:
            raise UsageError(
                "The solver finds no portfolio within these limits: bring budget, costs, unit and "
                "bounds closer together."
            )
        units = found.x[:actions]
        return (np.round(units) if whole else units), float(goal @ found.x)


def _method_of(tree: DecisionTree) -> Method:
    """Return how a decision's utilities came about; raise unless they can be added up."""
    if len(tree.actions) == 1:
        raise UsageError(f"{tree.run} has one action only: there is nothing to combine.")
    if tree.method is None:
        raise UsageError(
            f"{tree.run} ended before it had utilities, so nothing can be combined; 'dqa trace' "
            "shows how."
        )
    if tree.method.scale != "all":
        raise UsageError(
            f"{tree.run} was decided with dellma.scale={tree.method.scale}: utilities scaled "
            "within each action cannot be added up. Decide anew with dellma.scale=all."
        )
    return tree.method


def _risk(decided: Risk, attitude: Attitude | None, aversion: float | None) -> Risk:
    """Return the attitude to combine with: by default the decision's."""
    chosen = attitude or decided.attitude
    if aversion is not None:
        _check("The aversion", aversion)
    if chosen == "mean":
        return Risk()
    # One attitude's aversion is a share, and another's is not.
    usual = decided.aversion if chosen == decided.attitude else _AVERSION
    risk = Risk(chosen, usual if aversion is None else aversion)
    if chosen == "cvar" and risk.aversion is not None and risk.aversion > 1.0:
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
