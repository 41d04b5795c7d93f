"""``dqa list``: everything that is registered, ours and others'."""

from __future__ import annotations

from typing import Any

import typer

from dqa.cli import options
from dqa.cli.output import echo_json
from dqa.errors import PluginError

__all__ = ["list_registered"]


def list_registered(*, as_json: options.AsJson = False) -> None:
    """List the scenarios, deciders, databases, simulators and scripted models there are."""
    from dqa import plugins
    from dqa.models.scripted import SCRIPTS

    found = {
        f"{kind}s": [_entry(kind, name) for name in plugins.names(kind)]
        for kind in ("scenario", "decider", "database", "simulator")
    }
    found["models"] = [
        {"name": f"scripted:{name}", "description": "a program, not a language model"}
        for name in sorted(SCRIPTS)
    ]
    if as_json:
        echo_json(found)
        return
    for title, entries in found.items():
        typer.echo(f"{title}:")
        width = max((len(entry["name"]) for entry in entries), default=0)
        for entry in entries:
            typer.echo(f"  {entry['name']:<{width}}  {entry['description']}")


def _entry(kind: str, name: str) -> dict[str, Any]:
    """Describe one plug-in; one that cannot be loaded says why and hides no other."""
    try:
        return {"name": name, "description": _describe(kind, name)}
    except PluginError as error:
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
