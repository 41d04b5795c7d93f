"""``dqa doctor``: whether every configured database works, and what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.completion import by_target
from dqa.cli.help import DATABASES, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.api.databases import DatabaseHealth

_WIDTH = 16


def doctor(
    *,
    database: Annotated[list[str] | None, option("--database URL|PATH", DATABASES)] = None,
    scenario: Annotated[Path | None, option("--scenario DIR", QUESTIONS)] = None,
    target: Annotated[
        list[str] | None, option("--target KEY=VALUE", QUESTIONS, complete=by_target)
    ] = None,
    policy: options.Policy = None,
    as_json: options.AsJson = False,
) -> None:
    """Report which databases work, which are broken, and which are not set up.

    For a server that works it suggests what its owner could fix: a role that may do more than
    read, limits that are not set. That is not an error. With --scenario, report what is wrong with
    a scenario's folder: file, line, and the correct line.

    Exit code 1 if one is broken: configured, named or part of this installation, and failing; or if
    the folder has an error.

    Parameters
    ----------
    database
        A database to examine next to the configured ones; may be given several times.
    scenario
        Folder of a scenario: every line of it is checked against --database instead.
    target
        Target for the scenario's statements; the rest is taken from the database. May be given
        several times.
    """
    from dqa.api.databases import HealthState, examine

    if scenario is not None:
        if not database:
            raise UsageError("--scenario is checked against a database: name it (--database URL).")
        from dqa.api.scenario_checks import check_scenario

        values = options.pairs_in("--target", target or ())
        checks = [check_scenario(scenario, one, target=values, policy=policy) for one in database]
        if as_json:
            echo_json([check.to_json() for check in checks])
        else:
            for check in checks:
                echo(*check.to_text().split("\n"))
        healthy = all(check.is_good for check in checks)
    elif target or policy is not None:
        raise UsageError("--target and --policy are for a scenario: name its folder (--scenario).")
    else:
        found = examine(database or ())
        if as_json:
            echo_json([health.to_json() for health in found])
        else:
            echo(*(line for health in found for line in _lines(health)))
        healthy = all(health.state is not HealthState.BROKEN for health in found)
    if not healthy:
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
        found = f"{advice.topic}: {advice.found}. {why}."
        lines += [f"{'  advice':<{_WIDTH}}{found}", " " * (_WIDTH + 4) + advice.mend]
    return lines
