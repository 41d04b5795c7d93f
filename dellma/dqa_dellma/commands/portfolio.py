"""``dqa dellma portfolio``: the best combination of actions under a budget."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from dqa.cli import options, runs
from dqa.cli.options import AttitudeName
from dqa.cli.output import echo_json
from dqa.core.errors import UnknownNameError, UsageError
from dqa.report.untrusted import visible
from dqa_dellma.commands.tree import only_tree

if TYPE_CHECKING:
    from dqa.core.question import Candidate
    from dqa_dellma.portfolios import Limits, Portfolio
    from dqa_dellma.tree import Tree

__all__ = ["portfolio"]

_AVERSION = 0.2


def portfolio(  # noqa: PLR0913  (one parameter an option)
    *,
    run: runs.Run,
    question: runs.RunQuestion = None,
    database: runs.OnDatabase = None,
    decider: runs.ByDecider = None,
    budget: Annotated[
        float, typer.Option("--budget", metavar="X", help="Most that all of it may cost.")
    ] = 1.0,
    unit: Annotated[
        float | None,
        typer.Option("--unit", metavar="X", help="Amounts are multiples of it; any by default."),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option("--cost", metavar="ACTION=X", help="What an amount of 1 costs; 1 by default."),
    ] = None,
    least: Annotated[
        list[str] | None,
        typer.Option("--least", metavar="ACTION=X", help="Least amount of an action."),
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option("--most", metavar="ACTION=X", help="Most of an action."),
    ] = None,
    attitude: Annotated[
        AttitudeName | None,
        typer.Option(
            "--attitude",
            help="What of the utilities over states decides; the decision's own by default.",
        ),
    ] = None,
    aversion: Annotated[
        float | None,
        typer.Option(
            "--aversion",
            metavar="X",
            help="Worst share for cvar, risk aversion for exponential; the decision's own by "
            "default, and 0.2 for another attitude.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Combine actions under a budget, by the utilities that a DeLLMa decision elicited."""
    from dqa_dellma.portfolios import Limits, best_portfolio, joint_utilities
    from dqa_dellma.tree_reading import read_tree

    traces, _ = runs.read_runs(run, question)
    tree = read_tree(only_tree(runs.select_runs(traces, question, database, decider)))
    _check(tree)
    actions = tuple(action.action for action in tree.actions)
    utilities = joint_utilities(*tree.sampled(), len(actions))
    costs = _by_action("--cost", cost, actions, 1.0, positive=True)
    limits = Limits(
        budget=budget,
        costs=costs,
        unit=unit,
        least=_by_action("--least", least, actions, 0.0),
        most=_by_action("--most", most, actions, budget / min(costs)),
    )
    decided = _decided_with(tree)
    risk = _used(decided, attitude, aversion)
    found = best_portfolio(utilities, limits, attitude=risk.attitude, aversion=risk.aversion)
    if as_json:
        told = {**risk.to_data(), "decided_with": decided.to_data()}
        echo_json(found.to_data(actions) | told)
        return
    for line in (*_lines(found, limits, actions), _attitudes(risk, decided)):
        typer.echo(visible(line))


@dataclass(frozen=True, slots=True)
class _Risk:
    """An attitude to risk, and the aversion that goes with it; `mean` heeds none."""

    attitude: AttitudeName
    aversion: float = _AVERSION

    def to_data(self) -> dict[str, Any]:
        return {
            "attitude": self.attitude,
            "aversion": None if self.attitude == "mean" else self.aversion,
        }

    def __str__(self) -> str:
        told = "" if self.attitude == "mean" else f" with an aversion of {self.aversion:g}"
        return f"{self.attitude}{told}"


def _decided_with(tree: Tree) -> _Risk:
    """Return what a decision was made with; `UsageError` where its trace does not tell."""
    attitude, aversion = tree.method["attitude"], tree.method["aversion"]
    if attitude == "mean":
        return _Risk("mean")
    if attitude not in get_args(AttitudeName) or not isinstance(aversion, int | float):
        raise UsageError(
            f"{tree.question} by {tree.decider} on {tree.database} was decided with the attitude "
            f"{attitude!r} and the aversion {aversion!r}, which this version does not know. Decide "
            "it anew."
        )
    return _Risk(attitude, aversion)


def _used(decided: _Risk, attitude: AttitudeName | None, aversion: float | None) -> _Risk:
    """Return what to combine with: what is given, and the decision's own where nothing is."""
    chosen = attitude or decided.attitude
    # One attitude's aversion is a share, and another's is not, so it is of no use to that one.
    usual = decided.aversion if chosen == decided.attitude else _AVERSION
    return _Risk(chosen, usual if aversion is None else aversion)


def _attitudes(risk: _Risk, decided: _Risk) -> str:
    if risk.to_data() == decided.to_data():
        return f"Attitude to risk: {risk}, as in the decision"
    return f"Attitude to risk: {risk}; the decision was made with {decided}"


def _check(tree: Tree) -> None:
    """Raise unless a decision has utilities that can be added up."""
    run = f"{tree.question} by {tree.decider} on {tree.database}"
    if len(tree.actions) == 1:
        raise UsageError(f"{run} has one action only: there is nothing to combine.")
    if not tree.method:
        raise UsageError(
            f"{run} ended before it had utilities, so nothing can be combined; 'dqa trace' shows "
            "how."
        )
    if tree.method["scale"] != "all":
        raise UsageError(
            f"{run} was decided with dellma.scale={tree.method['scale']}: utilities scaled within "
            "each action cannot be added up. Decide anew with dellma.scale=all."
        )


def _by_action(
    option: str,
    given: list[str] | None,
    actions: tuple[Candidate, ...],
    usual: float,
    *,
    positive: bool = False,
) -> tuple[float, ...]:
    """Read ``ACTION=X`` for some actions; the others have the usual figure."""
    figures = {str(action): usual for action in actions}
    for setting in given or ():
        name, _, figure = setting.rpartition("=")
        if name not in figures:
            raise UnknownNameError(f"action of {option}", name, figures)
        try:
            number = float(figure)
        except ValueError as error:
            raise UsageError(f"{option} {setting}: '{figure}' is no number.") from error
        if not isfinite(number) or number < 0.0 or (positive and number == 0.0):
            bounds = "above 0" if positive else "0 or more"
            raise UsageError(f"{option} {setting}: '{figure}' is not finite and {bounds}.")
        figures[name] = number
    return tuple(figures.values())


def _lines(found: Portfolio, limits: Limits, actions: tuple[Candidate, ...]) -> list[str]:
    held = [
        f"  {action}: {amount:.4g}"
        for action, amount in zip(actions, found.amounts, strict=True)
        if amount > 0.0
    ]
    single = f"{found.single_amount:.4g} of {actions[found.single]} alone"
    return [
        f"Best combination (cost {found.cost:.4g} of {limits.budget:.4g}):",
        *(held or ["  nothing"]),
        f"Value {found.value:.4g}, expected utility {found.expected:.4g} ({found.states} states)",
        f"Against {single}: {found.single_value:.4g}, so {found.gain:.4g} more",
    ]
