"""``dqa doctor``: whether every configured database works, and what is wrong where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.completion import by_target
from dqa.cli.help import DATABASES, QUESTIONS
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError

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
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario",
            metavar="DIR",
            help="Folder of a scenario: every line of it is checked against --database instead.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="KEY=VALUE",
            help="What the scenario's statements are tried with; the rest is taken from the "
            "database. May be given several times.",
            autocompletion=by_target,
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    policy: options.Policy = None,
    as_json: options.AsJson = False,
) -> None:
    """Say which databases work, which are broken, and which are not set up.

    For a server that works it advises what its owner could mend: a role that may do more than
    read, limits that are not set. That is no fault. With --scenario, say what is wrong with a
    scenario's folder: file, line, and the line as it should read.

    Exit code 1 where one is broken: configured, named or part of this installation, and failing;
    or where the folder has an error.
    """
    from dqa.api.databases import HealthState, examine

    if scenario is not None:
        _check_scenario(scenario, database or (), target or (), policy, as_json=as_json)
        return
    if target or policy is not None:
        raise UsageError("--target and --policy are for a scenario: name its folder (--scenario).")
    found = examine(database or ())
    if as_json:
        echo_json([health.to_json() for health in found])
    else:
        for health in found:
            for line in _lines(health):
                echo(line)
    if any(health.state is HealthState.BROKEN for health in found):
        raise typer.Exit(1)


def _check_scenario(
    folder: Path,
    databases: Sequence[str],
    target: Sequence[str],
    policy: Path | None,
    *,
    as_json: bool,
) -> None:
    from dqa.api.scenario_checks import check_scenario

    if not databases:
        raise UsageError("--scenario is checked against a database: name it (--database URL).")
    told = options.pairs_in("--target", target)
    checks = [check_scenario(folder, place, target=told, policy=policy) for place in databases]
    if as_json:
        echo_json([check.to_json() for check in checks])
    else:
        for check in checks:
            echo(*check.to_text().split("\n"))
    if not all(check.is_good for check in checks):
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
