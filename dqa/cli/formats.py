"""``dqa formats``: the JSON Schemas of what is written for other programs to read."""

from __future__ import annotations

from typing import Annotated

import typer

from dqa.cli.completion import by_format
from dqa.cli.output import echo, echo_json


def formats(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A format; all are listed without one.", autocompletion=by_format
        ),
    ] = None,
) -> None:
    """List the formats of what commands write, or print the JSON Schema of one."""
    from dqa.api.formats import format_names, json_schema

    if name is not None:
        echo_json(json_schema(name))
        return
    for known in format_names():
        echo(*known.split("\n"))
