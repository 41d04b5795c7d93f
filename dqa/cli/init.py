"""``dqa init``: a scenario's folder proposed from a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json


def init(  # noqa: PLR0913  (one parameter an option)
    *,
    database: options.DatabaseLocation,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="New or empty folder to write; by default one called after what can be chosen.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    question: Annotated[
        str,
        typer.Option(
            "--question",
            metavar="TEXT",
            help="What is to be decided: chooses the tables, and is the scenario's question.",
            rich_help_panel=QUESTIONS,
        ),
    ] = "",
    tables: options.Tables = None,
    policy: options.Policy = None,
    audit: options.AuditFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Propose a scenario's folder from a database: tables, rules, question and statements.

    What the database does not say is guessed, and marked. Nothing is written over.
    """
    from dqa.api.proposing import propose_scenario

    made = propose_scenario(
        database,
        out,
        question=question,
        tables=options.tables_in(tables),
        policy=policy,
        audit=audit,
    )
    if as_json:
        echo_json(made.to_json())
    else:
        echo(*made.to_text().split("\n"))
