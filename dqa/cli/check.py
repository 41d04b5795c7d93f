"""``dqa check``: what the guard says of statements."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.completion import by_dialect
from dqa.cli.help import DATABASES, OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError
from dqa.core.files import problem_of_path
from dqa.core.text import counted, shortened, visible

if TYPE_CHECKING:
    from dqa.api.checking import CheckedStatement
    from dqa.guard import Policy

_SHOWN = 70


def check(  # noqa: PLR0913  (one parameter an option)
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="SQL or Cypher files; standard input if none."),
    ] = None,
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            metavar="NAME",
            help="What the statements are written in: mysql, mariadb, postgres, sqlite, duckdb, "
            "ansi (any other SQL), neo4j or ladybug.",
            autocompletion=by_dialect,
            rich_help_panel=DATABASES,
        ),
    ],
    policy: options.Policy = None,
    lines: Annotated[
        bool,
        typer.Option(
            "--lines",
            help="The input is one statement a line, or one JSON object with a 'statement'; the "
            "answer is one line of JSON each, as soon as it is known.",
            rich_help_panel=QUESTIONS,
        ),
    ] = False,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help="Exit code 1 where a statement is refused; 0 without it.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Say of every statement of files whether it only reads and may run.

    Statements take as many lines as they like, with semicolons between them; nothing is run.
    """
    from dqa import guard

    given = guard.DEFAULT if policy is None else guard.Policy.read(policy)
    guard.require_dialect(dialect)
    if lines:
        refused = _check_lines(files or (), dialect, given, as_json)
    else:
        refused = _check_files(files or (), dialect, given, as_json)
    if exit_code and refused:
        raise typer.Exit(1)


def _check_files(files: Sequence[Path], dialect: str, policy: Policy, as_json: bool) -> int:
    """Check whole files, and return how many statements are refused."""
    from dqa.api.checking import check_files, check_script

    if files:
        checked = check_files(files, dialect, policy)
    else:
        checked = check_script(sys.stdin.buffer.read(), dialect, policy)
    refused = sum(not one.allowed for one in checked)
    if as_json:
        echo_json([one.to_json() for one in checked])
        return refused
    for one in checked:
        _say(one)
    told = f": {len(checked) - refused} allowed, {refused} refused" if checked else ""
    echo(f"{counted(len(checked), 'statement')}{told}.")
    return refused


def _say(checked: CheckedStatement) -> None:
    where = f"{checked.file}:{checked.line}"
    text = visible(shortened(checked.statement, _SHOWN))
    echo(f"{where}: {'allowed' if checked.allowed else 'REFUSED'}  {text}")
    if not checked.allowed:
        echo(f"    {checked.reason}")


def _check_lines(files: Sequence[Path], dialect: str, policy: Policy, as_json: bool) -> int:
    """Answer every line as it comes, and return how many are refused."""
    from dqa.api.checking import check_lines

    if len(files) > 1 or as_json:
        raise UsageError("--lines takes one FILE or standard input, and always prints JSON.")
    try:
        stream = files[0].open("rb") if files else sys.stdin.buffer
    except OSError as error:
        raise UsageError(f"{problem_of_path(files[0], error)}.") from error
    refused = 0
    with stream:
        for verdict in check_lines(stream, dialect, policy):
            refused += not verdict.allowed
            answer = {"allowed": verdict.allowed, "reason": verdict.reason}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()  # the next program in a pipeline may wait for it
    return refused
