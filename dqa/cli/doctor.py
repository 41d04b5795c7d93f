"""``dqa doctor``: whether every configured database works, and what is wrong where it does not."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.output import echo_json
from dqa.cli.targets import configured
from dqa.core.errors import DqaError, UsageError
from dqa.core.secrets import redact

__all__ = ["doctor"]


def doctor(
    *,
    database: Annotated[
        list[str] | None,
        typer.Option(
            "--database",
            metavar="URL|PATH",
            help="A database to look at beside the configured ones; may be given several times.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Connect to every configured database and say what is wrong; exit code 1 where anything is."""
    found = [_examined(name, location) for name, location in _locations(database or [])]
    if as_json:
        echo_json(found)
    else:
        for entry in found:
            for line in _lines(entry):
                typer.echo(line)
    if any(entry["problem"] for entry in found):
        raise typer.Exit(1)


def _locations(given: list[str]) -> list[tuple[str, str | None]]:
    """Return what to look at: embedded databases, configured servers, and what was named."""
    from dqa import plugins

    embedded: list[tuple[str, str | None]] = []
    for name in plugins.names("database"):
        try:
            if plugins.backend(name).embedded:
                embedded.append((name, None))
        except DqaError:
            embedded.append((name, None))
    servers = list(configured().items())
    return [*embedded, *servers, *(("", location) for location in given)]


def _examined(name: str, location: str | None) -> dict[str, Any]:
    from dqa import plugins

    entry: dict[str, Any] = {
        "database": name,
        "location": location and redact(location),
        "version": None,
        "role": None,
        "may_write": None,
        "problem": None,
    }
    try:
        if name:
            backend = plugins.backend(name)
        elif location is None:
            raise UsageError("An empty location names no database.")
        else:
            backend = plugins.backend_for(location)
        seen = backend.examine(location)
    except DqaError as error:
        return entry | {"problem": redact(" ".join(str(error).split()))}
    return entry | {
        "database": backend.name,
        "version": seen.version,
        "role": seen.role,
        "may_write": seen.may_write,
    }


def _lines(entry: dict[str, Any]) -> list[str]:
    where = f" at {entry['location']}" if entry["location"] else " in memory"
    if entry["problem"]:
        return [f"FAILED  {entry['database']}{where}: {entry['problem']}"]
    who = f", connected as {entry['role']}" if entry["role"] else ""
    lines = [f"ok      {entry['database']}{where}: {entry['version']}{who}"]
    if entry["may_write"]:
        lines.append(
            "warning   this role could write: statements are checked and sessions are read-only, "
            "but a role without the right to write is one more line of defence"
        )
    return lines
