"""``dqa dellma portfolio``: the best combination of actions under a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.help import LIMITS, MODELS
from dqa.cli.options import option
from dqa.cli.output import show
from dqa.core.errors import UsageError
from dqa.core.text import counted
from dqa_dellma.settings import Attitude

if TYPE_CHECKING:
    from dqa_dellma.portfolios import Portfolio


def portfolio(  # noqa: PLR0913  (one parameter per option)
    *,
    only: options.DecisionOptions,
    budget: Annotated[float, option("--budget X", LIMITS)] = 1.0,
    unit: Annotated[float | None, option("--unit X", LIMITS)] = None,
    cost: Annotated[list[str] | None, option("--cost ACTION=X", LIMITS)] = None,
    most: Annotated[list[str] | None, option("--most ACTION=X", LIMITS)] = None,
    attitude: Annotated[Attitude | None, option("--attitude NAME", MODELS)] = None,
    aversion: Annotated[float | None, option("--aversion X", MODELS)] = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the best combination of actions under a budget, from the utilities of a DeLLMa decision.

    Parameters
    ----------
    budget
        Maximum total cost.
    unit
        Every amount is a multiple of this number. By default, any amount is allowed.
    cost
        Cost of one unit of an action; by default 1. Repeat the option for further actions.
    most
        Largest amount of an action; by default, as much as the budget can buy. Repeat the option
        for further actions.
    attitude
        Statistic of the utilities to maximise: mean or cvar. Default: as in the decision.
    aversion
        Share of the states over which cvar takes the mean: the states with the lowest utilities.
        Default: as in the decision, or 0.2 if the decision used the mean.
    """
    from dqa.api.stored import read_run
    from dqa_dellma.portfolios import combine_actions
    from dqa_dellma.tree.decision_tree import find_tree

    found = combine_actions(
        find_tree(read_run(only.run).select(*only.where())),
        budget=budget,
        unit=unit,
        costs=_figures("--cost", cost or ()),
        most=_figures("--most", most or ()),
        attitude=attitude,
        aversion=aversion,
    )
    show(found.to_json(), list(_lines(found, budget)), as_json=as_json)


def _figures(name: str, texts: Iterable[str]) -> dict[str, float]:
    """Parse texts ``ACTION=X`` into a mapping from actions to numbers.

    The name of an action may contain an equals sign.
    """
    figures = {}
    for setting in texts:
        action, _, figure = setting.rpartition("=")
        try:
            figures[action] = float(figure)
        except ValueError as error:
            raise UsageError(f"{name} {setting}: '{figure}' is not a number.") from error
    return figures


def _lines(found: Portfolio, budget: float) -> Iterator[str]:
    yield f"Best combination (cost {found.cost:.4g} of {budget:.4g}):"
    held = [one for one in found.amounts if one.amount > 0.0]
    yield from [f"  {one.action}: {one.amount:.4g}" for one in held] or ["  nothing"]
    states = counted(found.states, "state")
    yield f"Value {found.value:.4g}, expected utility {found.expected_utility:.4g} ({states})"
    single = f"{found.single.amount:.4g} of {found.single.action}, value {found.single_value:.4g}"
    yield f"Best single action: {single}. The combination gains {found.gain:.4g}."
    aversion = "" if found.aversion is None else f" with an aversion of {found.aversion:g}"
    yield f"Attitude to risk: {found.attitude}{aversion}"
