"""``dqa schema``: what a model is shown of a database."""

from __future__ import annotations

from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.help import QUESTIONS
from dqa.cli.output import echo, echo_json

_Location = Annotated[
    str,
    typer.Argument(metavar="DATABASE", help="A URL, a file, or CSV and Parquet files."),
]


def schema(  # noqa: PLR0913  (one parameter an option)
    database: _Location,
    *,
    question: Annotated[
        str,
        typer.Option(
            "--question",
            metavar="TEXT",
            help="Words that say what to describe first, where not all can be.",
            rich_help_panel=QUESTIONS,
        ),
    ] = "",
    tables: options.Tables = None,
    samples: options.Samples = 0,
    schema_tokens: options.SchemaTokens = 10_000,
    policy: options.Policy = None,
    as_json: options.AsJson = False,
) -> None:
    """Print what a model is shown of a database: tables, columns, keys; or labels and types."""
    from dqa.api.looking import read_schema

    shown = read_schema(
        database,
        tables=options.tables_in(tables),
        samples=samples,
        about=question,
        tokens=schema_tokens,
        policy=policy,
    )
    if as_json:
        echo_json(shown.to_json())
    else:
        for line in shown.text.split("\n"):
            echo(line)
    if shown.warning is not None:
        echo(f"warning: {shown.warning}", err=True)
