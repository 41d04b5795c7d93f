"""``dqa report`` and ``dqa view``: runs as one page, written or served."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dqa.cli import options
from dqa.cli.help import OUTPUT
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError
from dqa.core.text import counted

Title = Annotated[
    str | None, option("--title TEXT", OUTPUT, "The report's title; by default the runs' names.")
]


def report(  # noqa: PLR0913  (one parameter per option)
    *,
    runs: options.Runs,
    out: Annotated[Path | None, option("--out FILE", OUTPUT)] = None,
    title: Title = None,
    questions: options.QuestionsFolder = None,
    analysis: Annotated[bool, option("--analysis", OUTPUT)] = False,
    details: Annotated[bool | None, option("--details/--no-details", OUTPUT)] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write runs as one self-contained page: figures, charts, questions and traces.

    It opens offline and makes no network requests. With --json its figures are printed, too, or
    alone.

    Parameters
    ----------
    out
        New page; optional with --json.
    analysis
        Also assign failures to the paper's classes, as 'dqa analyse' does.
    details
        Include every trace and every candidate's outcome; by default up to 2,500 decisions.
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


def view(
    *,
    runs: options.Runs,
    title: Title = None,
    port: Annotated[int, option("--port N", OUTPUT, least=0, most=65535)] = 0,
) -> None:
    """Serve the report of runs to this machine, live, until Ctrl-C.

    The page is that of 'dqa report', and is updated as decisions are made; open parts stay open.

    Parameters
    ----------
    port
        Port; 0 for any free one.
    """
    from dqa.api.viewing import ReportServer

    server = ReportServer(runs, title, port)
    echo(f"The report is at {server.url} until Ctrl-C.")
    server.serve()
