"""``dqa query`` and ``dqa schema``: one statement, and a database as a model sees it."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dqa.cli import options
from dqa.cli.help import LIMITS, MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import argument, descriptions, option
from dqa.cli.output import echo, echo_exactly, echo_json, echo_result, echo_table
from dqa.core.database import DEFAULT_LIMITS, Limits
from dqa.core.display import DEFAULT_DISPLAY, LEAST_TOKENS, Display
from dqa.core.errors import UsageError
from dqa.core.text import counted, spelt_out, visible

if TYPE_CHECKING:
    from dqa.api.looking import QueriedRows

_LIMITS, _DISPLAY = (descriptions(owner, "Attributes") for owner in (Limits, Display))


def query(  # noqa: PLR0913  (one parameter per option)
    database: options.Location,
    statement: Annotated[str | None, argument("STATEMENT")] = None,
    *,
    file: Annotated[Path | None, option("--file FILE", QUESTIONS)] = None,
    tables: options.Tables = None,
    policy: options.Policy = None,
    audit: options.AuditFile = None,
    row_limit: Annotated[
        int, option("--row-limit N", LIMITS, _LIMITS["rows"], least=1)
    ] = DEFAULT_LIMITS.rows,
    as_csv: Annotated[bool, option("--csv", OUTPUT)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Run one read-only statement as an agent's would run: checked, bounded and audited.

    Parameters
    ----------
    statement
        SQL or Cypher; - reads standard input.
    file
        File with the statement.
    as_csv
        Print CSV instead of a table.
    """
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
        return options.nonempty("--file", options.text_in("--file", file))
    text = options.text_in("STATEMENT", Path("-")) if given == "-" else given or ""
    return options.nonempty("STATEMENT", text)


def _print_csv(found: QueriedRows) -> None:
    """Print exact values; on a terminal, which data must not control, escaped ones."""
    shown = _escaped if sys.stdout.isatty() else _plain
    for row in (found.columns, *found.rows):
        line = io.StringIO(newline="")
        # With this line terminator the writer quotes both kinds of line breaks.
        csv.writer(line, lineterminator="\r\n").writerow([shown(cell) for cell in row])
        echo_exactly(f"{line.getvalue()[:-2]}\n")


def _escaped(cell: Any) -> Any:  # noqa: ANN401  (any value of a result)
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


def schema(  # noqa: PLR0913  (one parameter per option)
    database: options.Location,
    *,
    question: Annotated[str | None, option("--question TEXT", QUESTIONS)] = None,
    tables: options.Tables = None,
    samples: Annotated[
        int, option("--samples N", MODELS, _DISPLAY["samples"], least=0)
    ] = DEFAULT_DISPLAY.samples,
    schema_tokens: Annotated[
        int, option("--schema-tokens N", MODELS, _DISPLAY["schema_tokens"], least=LEAST_TOKENS)
    ] = DEFAULT_DISPLAY.schema_tokens,
    policy: options.Policy = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the schema of a database as a model sees it.

    Tables, columns and keys; of a graph, labels and relationship types.

    Parameters
    ----------
    question
        Words that select what to describe first.
    """
    from dqa.api.looking import read_schema

    shown = read_schema(
        database,
        tables=options.tables_in(tables),
        samples=samples,
        about=options.nonempty("--question", question),
        tokens=schema_tokens,
        policy=policy,
    )
    echo_result(shown.to_json(), shown.text, as_json=as_json)
    if shown.warning is not None:
        echo(f"warning: {shown.warning}", err=True)
