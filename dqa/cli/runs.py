"""Options of commands about a run that was written down."""

from __future__ import annotations

from typing import Annotated

import typer

from dqa.cli.completion import by_name
from dqa.cli.help import DATABASES, MODELS, QUESTIONS

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Folder or STORE#NAME of 'dqa eval --out', or file of 'dqa ask --trace'.",
    ),
]
Kept = Annotated[
    str,
    typer.Argument(metavar="RUN", help="Folder or STORE#NAME of 'dqa eval --out'."),
]
RunQuestion = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="SCENARIO/ID; a file needs none."),
]
OnDatabase = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="NAME",
        help="Only the runs on this database.",
        autocompletion=by_name("database"),
        rich_help_panel=DATABASES,
    ),
]
ByDecider = Annotated[
    str | None,
    typer.Option(
        "--decider",
        metavar="NAME",
        help="Only this decider's runs.",
        autocompletion=by_name("decider"),
        rich_help_panel=MODELS,
    ),
]
OfEpoch = Annotated[
    int | None,
    typer.Option(
        "--epoch", metavar="N", min=1, help="Only this repeat.", rich_help_panel=QUESTIONS
    ),
]
