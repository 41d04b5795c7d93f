"""``dqa dellma portfolio``: the best combination of actions under a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.help import LIMITS, MODELS
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError
from dqa.core.text import counted
from dqa_dellma.settings import Attitude

if TYPE_CHECKING:
    from dqa_dellma.portfolios import Portfolio


def portfolio(  # noqa: PLR0913  (one parameter an option)
    *,
    run: options.RunOrTrace,
    question: options.RunQuestion = None,
    database: options.OnDatabase = None,
    decider: options.ByDecider = None,
    budget: Annotated[
        float,
        typer.Option(
            "--budget", metavar="X", help="Most that all of it may cost.", rich_help_panel=LIMITS
        ),
    ] = 1.0,
    unit: Annotated[
        float | None,
        typer.Option(
            "--unit",
            metavar="X",
            help="Amounts are multiples of it; any by default.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            "--cost",
            metavar="ACTION=X",
            help="What an amount of 1 costs; 1 by default.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    least: Annotated[
        list[str] | None,
        typer.Option(
            "--least", metavar="ACTION=X", help="Least amount of an action.", rich_help_panel=LIMITS
        ),
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option(
            "--most", metavar="ACTION=X", help="Most of an action.", rich_help_panel=LIMITS
        ),
    ] = None,
    attitude: Annotated[
        Attitude | None,
        typer.Option(
            "--attitude",
            metavar="NAME",
            help="mean or cvar, what of the utilities over states decides; the decision's own by "
            "default.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    aversion: Annotated[
        float | None,
        typer.Option(
            "--aversion",
            metavar="X",
            help="Worst share for cvar; the decision's own by default, or 0.2.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Combine actions under a budget, by the utilities that a DeLLMa decision elicited."""
    from dqa.api.stored import read_run
    from dqa_dellma.portfolios import combine_actions
    from dqa_dellma.tree.decision_tree import find_tree

    found = combine_actions(
        find_tree(read_run(run).select(question, database, decider)),
        budget=budget,
        unit=unit,
        costs=_figures("--cost", cost or ()),
        least=_figures("--least", least or ()),
        most=_figures("--most", most or ()),
        attitude=attitude,
        aversion=aversion,
    )
    if as_json:
        echo_json(found.to_json())
        return
    for line in _lines(found):
        echo(line)


def _figures(option: str, given: Iterable[str]) -> dict[str, float]:
    """Read ``ACTION=X`` for some actions; a name may have an equals sign itself."""
    figures = {}
    for setting in given:
        name, _, figure = setting.rpartition("=")
        try:
            figures[name] = float(figure)
        except ValueError as error:
            raise UsageError(f"{option} {setting}: '{figure}' is no number.") from error
    return figures


def _lines(found: Portfolio) -> Iterator[str]:
    actions = found.actions
    yield f"Best combination (cost {found.cost:.4g} of {found.limits.budget:.4g}):"
    held = [pair for pair in zip(actions, found.amounts, strict=True) if pair[1] > 0.0]
    yield from [f"  {action}: {amount:.4g}" for action, amount in held] or ["  nothing"]
    yield (
        f"Value {found.value:.4g}, expected utility {found.expected:.4g} ("
        f"{counted(found.states, 'state')})"
    )
    single = f"{found.single_amount:.4g} of {actions[found.single]} alone"
    yield f"Against {single}: {found.single_value:.4g}, so {found.gain:.4g} more"
    decided = f"; the decision was made with {found.decided_with}"
    if found.risk == found.decided_with:
        decided = ", as in the decision"
    yield f"Attitude to risk: {found.risk}{decided}"
