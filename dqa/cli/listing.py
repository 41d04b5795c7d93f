"""``dqa list`` and ``dqa formats``: plug-ins, the contents of a database, and formats."""

from __future__ import annotations

from typing import Annotated

from dqa.cli import options
from dqa.cli.completion import by_format, by_name
from dqa.cli.help import DATABASES, MODELS, QUESTIONS
from dqa.cli.options import argument, option
from dqa.cli.output import echo, echo_json, show
from dqa.core.text import counted


def list_known(
    *,
    database: Annotated[str | None, option("--database URL|PATH", DATABASES)] = None,
    settings: Annotated[
        str | None, option("--settings DECIDER", MODELS, complete=by_name("decider"))
    ] = None,
    worlds: Annotated[bool, option("--worlds", QUESTIONS)] = False,
    scenarios: Annotated[str | None, option("--scenarios FOLDERS", QUESTIONS)] = None,
    as_json: options.AsJson = False,
) -> None:
    """List scenarios, deciders, databases, simulators and models; or a database's contents.

    Parameters
    ----------
    database
        List what 'dqa load' put there instead.
    settings
        List a decider's own settings instead.
    worlds
        List the worlds instead, with their number of players and their programs.
    scenarios
        Folders of scenarios that are not installed, separated by commas: list them, too.
    """
    from dqa.api.listing import installed, list_worlds, settings_of

    if database is not None:
        from dqa.api.databases import loaded

        held = loaded(database)
        empty = "It holds no situation that 'dqa load' put there."
        lines = [
            f"{one.namespace}: {one.scenario} {one.name}, {counted(one.rows, 'row')}"
            for one in held
        ]
        show(held, lines or [empty], as_json=as_json)
    elif settings is not None:
        own = settings_of(settings)
        lines = [f"{one.name}={one.default}  {one.accepts}: {one.description}" for one in own]
        show(own, lines or [f"{settings} has no settings of its own."], as_json=as_json)
    elif worlds:
        named = list_worlds()
        show(named, (f"{one.name}: {one.description}" for one in named), as_json=as_json)
    else:
        found = installed(options.scenarios_in(scenarios) or ())
        lines = []
        for title, entries in found.items():
            width = max((len(entry.name) for entry in entries), default=0)
            lines.append(f"{title}:")
            lines += [f"  {entry.name:<{width}}  {entry.description}" for entry in entries]
        show(found, lines, as_json=as_json)


def formats(*, name: Annotated[str | None, argument("NAME", complete=by_format)] = None) -> None:
    """List the formats of what commands write, or print the JSON Schema of one.

    Parameters
    ----------
    name
        A format; all are listed without one.
    """
    from dqa.api.listing import format_names, json_schema

    if name is not None:
        echo_json(json_schema(name))
        return
    for known in format_names():
        echo(*known.split("\n"))
