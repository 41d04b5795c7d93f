"""``dqa list``: everything that is registered, or every situation that a database holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.output import echo_json
from dqa.core.errors import DataError, PluginError

__all__ = ["list_known"]


def list_known(
    *,
    database: Annotated[
        str | None,
        typer.Option(
            "--database", metavar="URL|PATH", help="List what 'dqa load' put there instead."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List scenarios, deciders, databases, simulators and models; or what a database holds."""
    if database is not None:
        _list_loaded(database, as_json)
        return
    found = _registered()
    if as_json:
        echo_json(found)
        return
    for title, entries in found.items():
        typer.echo(f"{title}:")
        width = max((len(entry["name"]) for entry in entries), default=0)
        for entry in entries:
            typer.echo(f"  {entry['name']:<{width}}  {entry['description']}")


def _list_loaded(location: str, as_json: bool) -> None:
    from dqa import plugins

    held = plugins.backend_for(location).loaded(location)
    if as_json:
        echo_json([asdict(entry) for entry in held])
        return
    for entry in held:
        typer.echo(f"{entry.namespace}: {entry.scenario} {entry.name}, {entry.rows} rows")
    if not held:
        typer.echo("It holds no situation that 'dqa load' put there.")


def _registered() -> dict[str, list[dict[str, Any]]]:
    from dqa import plugins

    found = {
        f"{kind}s": [_entry(kind, name) for name in plugins.names(kind)]
        for kind in ("scenario", "decider", "database", "simulator")
    }
    found["models"] = [
        {"name": f"scripted:{name}", "description": "a program, not a language model"}
        for name in plugins.script_names()
    ]
    return found


def _entry(kind: str, name: str) -> dict[str, Any]:
    """Describe one plug-in; one that cannot be loaded says why and hides no other."""
    try:
        return {"name": name, "description": _describe(kind, name)}
    except (PluginError, DataError) as error:
        return {"name": name, "description": f"cannot be loaded: {error}"}


def _describe(kind: str, name: str) -> str:
    from dqa import plugins

    if kind == "scenario":
        scenario = plugins.scenario(name)
        return f"choose a {scenario.candidate_noun} to {scenario.goal} the {scenario.unit}"
    if kind == "decider":
        return plugins.decider(name).description
    if kind == "database":
        backend = plugins.backend(name)
        return f"{backend.kind} database, {backend.dialect}"
    return f"rules: {', '.join(plugins.simulator(name).rule_sets)}"
