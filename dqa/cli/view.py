"""``dqa view``: runs as a page that follows them while they go on."""

from __future__ import annotations

from typing import Annotated

import typer

from dqa.cli.help import OUTPUT
from dqa.cli.output import echo
from dqa.cli.report import Runs, Title


def view(
    *,
    runs: Runs,
    title: Title = None,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65535,
            help="Where it listens; 0 for any that is free.",
            rich_help_panel=OUTPUT,
        ),
    ] = 0,
) -> None:
    """Serve the report of runs to this machine, live while they go on, until Ctrl-C.

    The page is that of 'dqa report', and changes as decisions are made; what is open stays open.
    """
    from dqa.api.viewing import ReportServer

    server = ReportServer(runs, title, port)
    echo(f"The report is at {server.url} until Ctrl-C.")
    server.serve()
