"""``dqa doctor``: whether every configured database works, and what is wrong where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.help import DATABASES
from dqa.cli.output import echo, echo_json

if TYPE_CHECKING:
    from dqa.api.databases import DatabaseHealth

_WIDTH = 16


def doctor(
    *,
    database: Annotated[
        list[str] | None,
        typer.Option(
            "--database",
            metavar="URL|PATH",
            help="A database to look at beside the configured ones; may be given several times.",
            rich_help_panel=DATABASES,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say which databases work, which are broken, and which are not set up.

    For a server that works it advises what its owner could mend: a role that may do more than
    read, limits that are not set. That is no fault.

    Exit code 1 where one is broken: configured, named or part of this installation, and failing.
    """
    from dqa.api.databases import HealthState, examine

    found = examine(database or ())
    if as_json:
        echo_json([health.to_json() for health in found])
    else:
        for health in found:
            for line in _lines(health):
                echo(line)
    if any(health.state is HealthState.BROKEN for health in found):
        raise typer.Exit(1)


def _lines(health: DatabaseHealth) -> list[str]:
    known = f"{health.state:<{_WIDTH}}{health.database or 'unknown'}"
    if health.problem:
        where = f" at {health.location}" if health.location else ""
        return [f"{known}{where}: {health.problem}"]
    where = f" at {health.location}" if health.location else " in memory"
    who = f", connected as {health.role}" if health.role else ""
    lines = [f"{known}{where}: {health.version}{who}"]
    for advice in health.advice:
        why = advice.why[:1].upper() + advice.why[1:]
        told = f"{advice.topic}: {advice.found}. {why}."
        lines += [f"{'  advice':<{_WIDTH}}{told}", " " * (_WIDTH + 4) + advice.mend]
    return lines
