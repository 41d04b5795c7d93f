"""``dqa list``: everything that is registered, or every situation that a database holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.help import DATABASES, MODELS, QUESTIONS
from dqa.cli.output import echo, echo_json
from dqa.core.text import counted


def list_known(
    *,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL|PATH",
            help="List what 'dqa load' put there instead.",
            rich_help_panel=DATABASES,
        ),
    ] = None,
    settings: Annotated[
        str | None,
        typer.Option(
            "--settings",
            metavar="DECIDER",
            help="List a decider's own settings instead.",
            autocompletion=by_name("decider"),
            rich_help_panel=MODELS,
        ),
    ] = None,
    worlds: Annotated[
        bool,
        typer.Option(
            "--worlds",
            help="List the worlds instead: how many play each, and which programs do.",
            rich_help_panel=QUESTIONS,
        ),
    ] = False,
    scenarios: Annotated[
        str | None,
        typer.Option(
            "--scenarios",
            metavar="FOLDERS",
            help="Folders of scenarios that nobody installed, separated by commas: list them, too.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List scenarios, deciders, databases, simulators and models; or what a database holds."""
    if database is not None:
        _list_loaded(database, as_json)
        return
    if settings is not None:
        _list_settings(settings, as_json)
        return
    if worlds:
        from dqa.api.listing import list_worlds

        named = list_worlds()
        if as_json:
            echo_json([entry.to_json() for entry in named])
            return
        for entry in named:
            echo(f"{entry.name}: {entry.description}")
        return
    from dqa.api.listing import installed

    found = installed(options.scenarios_in(scenarios) or ())
    if as_json:
        echo_json({title: [entry.to_json() for entry in found[title]] for title in found})
        return
    for title, entries in found.items():
        echo(f"{title}:")
        width = max((len(entry.name) for entry in entries), default=0)
        for entry in entries:
            echo(f"  {entry.name:<{width}}  {entry.description}")


def _list_settings(decider: str, as_json: bool) -> None:
    from dqa.api.listing import settings_of

    found = settings_of(decider)
    if as_json:
        echo_json([asdict(setting) for setting in found])
        return
    for setting in found:
        echo(f"{setting.name}={setting.default}  {setting.accepts}: {setting.description}")
    if not found:
        echo(f"{decider} has no settings of its own.")


def _list_loaded(location: str, as_json: bool) -> None:
    from dqa.api.databases import loaded

    held = loaded(location)
    if as_json:
        echo_json([asdict(entry) for entry in held])
        return
    for entry in held:
        echo(f"{entry.namespace}: {entry.scenario} {entry.name}, {counted(entry.rows, 'row')}")
    if not held:
        echo("It holds no situation that 'dqa load' put there.")
