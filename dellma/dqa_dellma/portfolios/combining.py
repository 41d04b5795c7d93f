"""The best combination of the actions of a decision, by the utilities that it elicited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question import Candidate
from dqa_dellma.events import Method
from dqa_dellma.portfolios.optimum import (
    Portfolio,
    PortfolioLimits,
    find_best_portfolio,
    join_utilities,
)
from dqa_dellma.settings import Attitude
from dqa_dellma.tree.decision_tree import DecisionTree

_AVERSION = 0.2


@dataclass(frozen=True, slots=True)
class Risk:
    """An attitude to risk, and the aversion that goes with it; `mean` has none."""

    attitude: Attitude = "mean"
    aversion: float | None = None

    @classmethod
    def of(cls, method: Method) -> Risk:
        """Return what a decision was made with."""
        return cls(method.attitude, method.aversion)

    def __str__(self) -> str:
        told = "" if self.aversion is None else f" with an aversion of {self.aversion:g}"
        return f"{self.attitude}{told}"


@dataclass(frozen=True, slots=True)
class Combination:
    """The best combination of a decision's actions.

    Attributes
    ----------
    actions
        What is combined, in the order of `Portfolio.amounts`.
    portfolio, limits
        What is best, and what it had to keep to.
    risk, decided_with
        The attitude that it is the best to, and the one that the decision was made with.
    """

    actions: tuple[Candidate, ...]
    portfolio: Portfolio
    limits: PortfolioLimits
    risk: Risk
    decided_with: Risk

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        decided = self.decided_with
        return self.portfolio.to_data(self.actions) | {
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
        By an action's name, what an amount of 1 costs (1 by default), and its bounds (nothing and
        the budget by default).
    attitude, aversion
        What of the utilities over states decides; the decision's own by default, and an aversion
        of 0.2 for another attitude than the decision's.

    Raises
    ------
    UsageError
        The decision has no utilities that can be added up, a figure or a name makes no sense, or
        nothing fits the limits.
    """
    method = _method_of(tree)
    actions = tuple(action.action for action in tree.actions)
    each = _figures("cost", costs, actions, 1.0, positive=True)
    limits = PortfolioLimits(
        budget=budget,
        costs=each,
        unit=unit,
        least=_figures("least amount", least, actions, 0.0),
        most=_figures("largest amount", most, actions, budget / min(each)),
    )
    decided = Risk.of(method)
    risk = _risk(decided, attitude, aversion)
    found = find_best_portfolio(
        join_utilities(*tree.sampled(), len(actions)),
        limits,
        attitude=risk.attitude,
        aversion=next(x for x in (aversion, risk.aversion, _AVERSION) if x is not None),
    )
    return Combination(actions, found, limits, risk, decided)


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
    """Return what to combine with: what is given, and the decision's own where nothing is."""
    chosen = attitude or decided.attitude
    if chosen == "mean":
        return Risk()
    # One attitude's aversion is a share, and another's is not, so it is of no use to that one.
    usual = decided.aversion if chosen == decided.attitude else _AVERSION
    return Risk(chosen, usual if aversion is None else aversion)


def _figures(
    what: str,
    given: Mapping[str, float] | None,
    actions: tuple[Candidate, ...],
    usual: float,
    *,
    positive: bool = False,
) -> tuple[float, ...]:
    """Return a figure of each action; the usual one where none is given."""
    figures = {str(action): usual for action in actions}
    for name, figure in (given or {}).items():
        if name not in figures:
            raise UnknownNameError(f"action with a {what}", name, figures)
        if not isfinite(figure) or figure < 0.0 or (positive and figure == 0.0):
            bounds = "above 0" if positive else "0 or more"
            raise UsageError(f"The {what} of {name} has to be finite and {bounds}, not {figure}.")
        figures[name] = figure
    return tuple(figures.values())
