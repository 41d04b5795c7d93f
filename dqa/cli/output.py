"""Output of commands: results go to stdout, messages go to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer

from dqa.core.text import escape_invisible, visible
from dqa.report.plain import plain
from dqa.report.table import Table

if TYPE_CHECKING:
    from rich.text import Text

    from dqa.core.question_set import Defect

_DEFECTS_SHOWN = 10


def show(value: object, parts: Iterable[str | Table], *, as_json: bool) -> None:
    """Print a result: `value` as JSON, or `parts` as lines and tables.

    If the result is printed as JSON, `parts` is not used.
    """
    if as_json:
        echo_json(value)
        return
    for part in parts:
        if isinstance(part, Table):
            echo_table(part)
        else:
            echo(*part.split("\n"))


def echo(*lines: str, err: bool = False) -> None:
    """Print lines. Invisible characters are escaped."""
    typer.echo("\n".join(map(visible, lines)), err=err)


def echo_data(text: str) -> None:
    """Write data to stdout.

    On a terminal, invisible characters are escaped. Otherwise the data is not changed.
    """
    if sys.stdout.isatty():
        echo(*text.splitlines())
    else:
        sys.stdout.write(text)


def echo_text(text: Text) -> None:
    """Print a text. On a terminal, it is in colour. Invisible characters are escaped."""
    from rich.console import Console

    Console(highlight=False).print(text, soft_wrap=True)


def echo_json(value: object) -> None:
    """Print a value or records as JSON.

    NaN and infinities become null. Invisible characters are escaped as JSON does.
    """
    text = json.dumps(plain(value), indent=2, ensure_ascii=False, default=str)
    typer.echo(
        escape_invisible(text, unescaped="\n", spell=lambda character: json.dumps(character)[1:-1])
    )


def echo_table(table: Table) -> None:
    """Print a table with its title. On a terminal, cells are wrapped to fit the width."""
    from rich.console import Console

    console = Console(highlight=False)
    if table.title:
        echo(table.title)
    if console.is_terminal:
        console.print(table.to_rich())
    else:
        echo(*table.to_text().splitlines())


def report_defects(defects: Sequence[Defect], verbose: bool = False) -> None:
    """Print defects in the data on stderr. Without `verbose`, equal defects share a line."""
    from dqa.core.question_set import without_repetition

    listed = defects if verbose else without_repetition(defects)
    shown = listed if verbose else listed[:_DEFECTS_SHOWN]
    for defect in shown:
        echo(f"defect: {defect}", err=True)
    if more := len(listed) - len(shown):
        echo(f"defect: ... and {more} more; --verbose prints all", err=True)
