"""Options of commands about a run that was written down."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqa.cli.completion import by_name
from dqa.cli.help import DATABASES, MODELS

Run = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="Folder of 'dqa eval --out', or file of 'dqa ask --trace'."),
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
