"""``dqa report``: runs as one page that a person opens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError
from dqa.core.text import counted

Runs = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Runs of 'dqa eval --out': folders, or STORE#NAME."),
]
Title = Annotated[
    str | None,
    typer.Option(
        "--title",
        metavar="TEXT",
        help="What the report is called; by default as its runs.",
        rich_help_panel=OUTPUT,
    ),
]


def report(  # noqa: PLR0913  (one parameter an option)
    *,
    runs: Runs,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="New page; with --json it may be left out.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    title: Title = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="DIR",
            help="Folder of the runs' questions, where it is another by now.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    analysis: Annotated[
        bool,
        typer.Option(
            "--analysis",
            help="Put failures into the paper's classes, too, as 'dqa analyse' does.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    details: Annotated[
        bool | None,
        typer.Option(
            "--details/--no-details",
            help="Hold every trace and what every candidate leads to; by default up to 2,500 "
            "decisions.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write runs as one self-contained page: figures, charts, questions and traces.

    It opens anywhere, offline, and asks no network for anything. With --json the figures that it
    shows are printed, too, or alone.
    """
    from dqa.api.reporting import read_report, write_report

    if out is None:
        if not as_json:
            raise UsageError("Name the page to write (--out FILE), or print the figures (--json).")
        found = read_report(*runs, title=title, questions=questions, analysis=analysis)
        echo_json(found.to_json())
        return
    found = write_report(
        runs, out, title=title, questions=questions, analysis=analysis, details=details
    )
    if as_json:
        echo_json(found.to_json())
        return
    for note in (found.pictures, found.traces):
        if note is not None:
            echo(note)
    size = out.stat().st_size / 1e6
    echo(f"The report on {counted(len(found.questions), 'question')} is {out} ({size:.1f} MB).")
