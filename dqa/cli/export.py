"""``dqa export``: a run for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dqa.cli import runs
from dqa.cli.help import OUTPUT
from dqa.cli.output import echo, echo_exactly
from dqa.core.errors import UsageError

_STDOUT = Path("-")


def export(
    *,
    run: runs.Kept,
    as_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="jsonl, csv, parquet, or inspect: logs of Inspect AI; by default as --out ends.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE|DIR",
            help="New file, or of inspect new folder; - for standard output.",
            rich_help_panel=OUTPUT,
        ),
    ] = _STDOUT,
    for_spreadsheets: Annotated[
        bool,
        typer.Option(
            "--for-spreadsheets",
            help="Begin texts of a CSV that a spreadsheet would run as a formula with an "
            "apostrophe; otherwise every text is exactly what was said.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
) -> None:
    """Write a run for other programs: a row a decision, or logs that 'inspect view' opens.

    Rows have all that results have, with seconds, cost and what the scenario's heuristics answer:
    every figure of 'dqa results' can be worked out from them. What is there is never written over.
    """
    from dqa.api.exporting import export_rows, export_run, require_format

    if out != _STDOUT:
        written = export_run(
            run,
            out,
            None if as_format is None else require_format(as_format),
            for_spreadsheets=for_spreadsheets,
        )
        echo(f"The run is in {written}.")
        return
    wanted = require_format("jsonl" if as_format is None else as_format)
    if wanted == "parquet" or wanted == "inspect":  # noqa: PLR1714  (type checkers narrow it so)
        kind = "folder" if wanted == "inspect" else "file"
        raise UsageError(f"{wanted} is no text: name a new {kind} for it (--out).")
    if for_spreadsheets and wanted != "csv":
        raise UsageError("Only a CSV is read by spreadsheets as formulas (--format csv).")
    from dqa.report.export_rows import encode_rows

    text = encode_rows(export_rows(run), wanted, for_spreadsheets=for_spreadsheets).decode()
    if sys.stdout.isatty():  # which data must not drive
        echo(*text.splitlines())
    else:
        echo_exactly(text)
