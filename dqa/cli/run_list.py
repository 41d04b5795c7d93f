"""``dqa runs``: the runs that were written down."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.output import echo_json, echo_table
from dqa.core.text import visible

if TYPE_CHECKING:
    from dqa.api.stored import StoredRun


def list_runs(
    *,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER",
            help="Where to look, and below; by default 'runs' and the current folder.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the runs below folders: what was evaluated and when, how much is decided and right.

    The latest comes first. What a failing server, a spent budget or a bug ended has failed, and is
    asked again by 'dqa eval --resume RUN', as is what was not reached.
    """
    from dqa.api.stored import find_runs

    found = find_runs(*folders or ())
    if as_json:
        echo_json([run.to_json() for run in found])
    elif found:
        _list(found)
    else:
        typer.echo("There is no run here: 'dqa eval ... --out runs/NAME' writes one.")


def _list(found: tuple[StoredRun, ...]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for title in ("Run", "Began (UTC)", "Questions", "Deciders", "Databases", "Model"):
        table.add_column(title, overflow="fold")
    for title in ("Decided", "Failed", "Right"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("State", no_wrap=True)
    for run in found:
        cells = _cells(run)
        table.add_row(*(Text(visible(cell)) for cell in cells))
    echo_table(table)
    for run in found:
        if run.problem is not None:
            typer.echo(f"{visible(run.folder)} cannot be read: {visible(run.problem)}", err=True)


def _cells(run: StoredRun) -> tuple[str, ...]:
    counts = run.counts
    began = f"{run.began:%Y-%m-%d %H:%M}"
    folder = os.path.normpath(run.folder)
    if run.problem is not None:
        return folder, began, "", "", "", "", "-", "-", "-", "unreadable"
    of = "" if counts.planned is None else f"/{counts.planned}"
    return (
        folder,
        began,
        run.questions,
        ", ".join(run.deciders),
        ", ".join(run.databases),
        run.model or "none",
        f"{counts.judged}{of}",
        str(counts.failed),
        "-" if counts.right is None else f"{100 * counts.right:.1f} %",
        {True: "complete", False: "not complete", None: "not known"}[counts.complete],
    )
