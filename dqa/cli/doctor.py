"""``dqa doctor``: whether every configured database works, and what is wrong where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.help import DATABASES
from dqa.cli.output import echo_json

if TYPE_CHECKING:
    from dqa.api.databases import DatabaseHealth


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
    """Connect to every configured database and say what is wrong with it; exit code 1."""
    from dqa.api.databases import examine

    found = examine(database or ())
    if as_json:
        echo_json([health.to_json() for health in found])
    else:
        for health in found:
            for line in _lines(health):
                typer.echo(line)
    if any(health.problem for health in found):
        raise typer.Exit(1)


def _lines(health: DatabaseHealth) -> list[str]:
    where = f" at {health.location}" if health.location else " in memory"
    if health.problem:
        return [f"FAILED  {health.database}{where}: {health.problem}"]
    who = f", connected as {health.role}" if health.role else ""
    lines = [f"ok      {health.database}{where}: {health.version}{who}"]
    if health.may_write:
        lines.append(
            "warning   this role could write: statements are checked and sessions are read-only, "
            "but a role without the right to write is one more line of defence"
        )
    return lines
