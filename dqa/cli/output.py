"""What commands write: results to stdout, everything said about them to stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from dqa.core.text import spelt_out, visible

if TYPE_CHECKING:
    from rich.table import Table

    from dqa.api.runs import Run
    from dqa.core.question_set import Defect

_DEFECTS_SHOWN = 10


def echo(*lines: str, err: bool = False) -> None:
    """Print lines in which nothing acts on a terminal, whoever named what is in them."""
    typer.echo("\n".join(map(visible, lines)), err=err)


def echo_exactly(text: str) -> None:
    """Write data as it is, for a program to read."""
    sys.stdout.write(text)


def echo_json(value: object) -> None:
    """Print a value as JSON; NaN and infinities become null, which JSON has no numbers for.

    What would act on a terminal stands in JSON's own escapes, so the value stays as it is.
    """
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, default=str)
    typer.echo(spelt_out(text, kept="\n", spell=lambda character: json.dumps(character)[1:-1]))


def _finite(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(item) for item in value]
    return value


def echo_result(value: object, text: str, *, as_json: bool) -> None:
    """Print a result as JSON or as text."""
    if as_json:
        echo_json(value)
    else:
        echo(*text.split("\n"))


def echo_tables(tables: Iterable[tuple[str, Table]], notes: Iterable[str]) -> None:
    """Print tables below their titles, and notes below them."""
    for title, table in tables:
        echo(title)
        echo_table(table)
    for line in notes:
        echo(line)


def echo_table(table: Table) -> None:
    """Print a table: as wide as the terminal, or at a fixed width where there is none."""
    from rich.console import Console

    from dqa.report.widths import as_text, fitted, piped_width

    console = Console(highlight=False)
    if not console.is_terminal:
        echo(*as_text(table, piped_width()).splitlines())
        return
    for block in fitted(table, console.width):
        console.print(block)


def echo_report(run: Run) -> None:
    """Print a run's tables, what is said below them, and where all of it is kept."""
    echo_tables(run.tables(), run.lines())
    if run.place is not None:
        echo(f"Results and traces are in {run.place}.")


def report_defects(defects: Sequence[Defect], verbose: bool = False) -> None:
    """Say on stderr what was wrong in the data that was read, a line for what is the same."""
    from dqa.core.question_set import said_once

    told = defects if verbose else said_once(defects)
    for defect in told if verbose else told[:_DEFECTS_SHOWN]:
        echo(f"defect: {defect}", err=True)
    if not verbose and len(told) > _DEFECTS_SHOWN:
        more = len(told) - _DEFECTS_SHOWN
        echo(f"defect: ... and {more} more, --verbose shows all", err=True)
