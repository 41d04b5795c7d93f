"""``dqa export``: a run for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from dqa.cli import options
from dqa.cli.help import OUTPUT
from dqa.cli.options import option
from dqa.cli.output import echo, echo_exactly
from dqa.core.errors import UsageError

_STDOUT = Path("-")


def export(
    *,
    run: options.Run,
    as_format: Annotated[str | None, option("--format FORMAT", OUTPUT)] = None,
    out: Annotated[Path, option("--out FILE|DIR", OUTPUT)] = _STDOUT,
    for_spreadsheets: Annotated[bool, option("--for-spreadsheets", OUTPUT)] = False,
) -> None:
    """Write a run for other programs: a row per decision, or logs for 'inspect view'.

    Rows have all fields of results, with seconds, cost and the answers of the scenario's
    heuristics: every figure of 'dqa results' can be computed from them. Existing files are never
    overwritten.

    Parameters
    ----------
    as_format
        jsonl, csv, parquet, or inspect: logs of Inspect AI; by default the ending of --out.
    out
        New file, or new folder for inspect; - for standard output.
    for_spreadsheets
        Begin texts of a CSV that a spreadsheet would run as a formula with an apostrophe; otherwise
        every text is exact.
    """
    from dqa.api.exporting import export_rows, export_run, require_format

    if out != _STDOUT:
        wanted = None if as_format is None else require_format(as_format)
        written = export_run(run, out, wanted, for_spreadsheets=for_spreadsheets)
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
    if sys.stdout.isatty():  # which data must not control
        echo(*text.splitlines())
    else:
        echo_exactly(text)
