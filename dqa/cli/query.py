"""``dqa query``: one statement as an agent's would run."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_exactly, echo_json, echo_table
from dqa.core.database import Limits
from dqa.core.errors import UsageError
from dqa.core.text import counted, spelt_out, visible

if TYPE_CHECKING:
    from dqa.api.looking import QueriedRows


def query(  # noqa: PLR0913  (one parameter an option)
    database: Annotated[
        str,
        typer.Argument(metavar="DATABASE", help="A URL, a file, or CSV and Parquet files."),
    ],
    statement: Annotated[
        str | None,
        typer.Argument(metavar="STATEMENT", help="SQL or Cypher; - reads standard input."),
    ] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="File with the statement.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    tables: options.Tables = None,
    policy: options.Policy = None,
    audit: options.AuditFile = None,
    row_limit: options.RowLimit = 200,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV instead of a table.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Run one read-only statement as an agent's would run: checked, bounded and audited."""
    from dqa.api.looking import query as query_one

    if as_csv and as_json:
        raise UsageError("--csv and --json are two forms of one result: give one.")
    found = query_one(
        database,
        _statement(statement, file),
        tables=options.tables_in(tables),
        limits=Limits(rows=row_limit),
        policy=policy,
        audit=audit,
    )
    if as_json:
        echo_json(found.to_json())
    elif as_csv:
        _print_csv(found)
    else:
        _print_table(found)
    if found.cut is not None:
        echo(f"warning: {_cut(found)}", err=True)


def _statement(given: str | None, file: Path | None) -> str:
    if (given is None) == (file is None):
        raise UsageError(
            "Give the statement, once: as an argument, - for standard input, or by --file."
        )
    if file is not None:
        return options.text_in("--file", file)
    return options.text_in("STATEMENT", Path("-")) if given == "-" else given or ""


def _print_csv(found: QueriedRows) -> None:
    """Print what was found exactly as it is, but to a terminal, which data must not drive."""
    shown = _spelt_out if sys.stdout.isatty() else _plain
    for row in (found.columns, *found.rows):
        line = io.StringIO(newline="")
        # A writer puts in quotes what is in its own end of a line: so both kinds of end are.
        csv.writer(line, lineterminator="\r\n").writerow([shown(cell) for cell in row])
        echo_exactly(f"{line.getvalue()[:-2]}\n")


def _spelt_out(cell: Any) -> Any:  # noqa: ANN401  (any value of a result)
    plain = _plain(cell)
    return spelt_out(plain, kept="\n\t") if isinstance(plain, str) else plain


def _print_table(found: QueriedRows) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name in found.columns:
        table.add_column(Text(visible(name)))
    for row in found.rows:
        table.add_row(*(Text(visible(_shown(cell))) for cell in row))
    echo_table(table)
    echo(counted(len(found.rows), "row"))


def _shown(cell: Any) -> str:  # noqa: ANN401  (any value of a result)
    return "NULL" if cell is None else str(_plain(cell)).replace("\n", "\\n")


def _plain(cell: Any) -> Any:  # noqa: ANN401  (as above)
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, list | dict | tuple) else cell


def _cut(found: QueriedRows) -> str:
    if found.cut == "cells":
        return "long cells were cut: select a part of them, e.g. by SUBSTRING."
    of = "" if found.total is None else f" of {found.total:,}"
    more = "raise --row-limit" if found.cut == "rows" else "select less"
    return (
        f"only the first {len(found.rows):,}{of} rows are here, by the limit on {found.cut}: "
        f"aggregate, filter, or {more}."
    )
