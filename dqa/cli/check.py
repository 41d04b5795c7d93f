"""``dqa check``: the guard's verdict on statements."""

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
from dqa.cli.options import argument, option
from dqa.cli.output import echo, echo_json
from dqa.core.errors import UsageError
from dqa.core.files import problem_of_path
from dqa.core.text import counted, shortened, visible

if TYPE_CHECKING:
    from dqa.guard import Policy

_SHOWN = 70


def check(  # noqa: PLR0913  (one parameter per option)
    *,
    files: Annotated[list[Path] | None, argument("FILE...")] = None,
    dialect: Annotated[str, option("--dialect NAME", DATABASES, complete=by_dialect)],
    policy: options.Policy = None,
    lines: Annotated[bool, option("--lines", QUESTIONS)] = False,
    exit_code: Annotated[bool, option("--exit-code", OUTPUT)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Report for every statement of files whether it only reads and may run.

    A statement may span lines; semicolons separate statements. Nothing is run.

    Parameters
    ----------
    files
        SQL or Cypher files; standard input if none.
    dialect
        Dialect of the statements: mysql, mariadb, postgres, sqlite, duckdb, ansi (any other SQL),
        neo4j or ladybug.
    lines
        The input is one statement per line, or one JSON object with a 'statement'; each is answered
        at once by one line of JSON.
    exit_code
        Exit code 1 if a statement is refused; 0 without it.
    """
    from dqa import guard

    given = guard.DEFAULT if policy is None else guard.Policy.read(policy)
    guard.require_dialect(dialect)
    checked = _check_lines if lines else _check_files
    if checked(files or (), dialect, given, as_json) and exit_code:
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
        text = visible(shortened(one.statement, _SHOWN))
        echo(f"{one.file}:{one.line}: {'allowed' if one.allowed else 'REFUSED'}  {text}")
        if not one.allowed:
            echo(f"    {one.reason}")
    verdicts = f": {len(checked) - refused} allowed, {refused} refused" if checked else ""
    echo(f"{counted(len(checked), 'statement')}{verdicts}.")
    return refused


def _check_lines(files: Sequence[Path], dialect: str, policy: Policy, as_json: bool) -> int:
    """Answer every line at once, and return how many are refused."""
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
            sys.stdout.flush()  # the next program of a pipeline may wait for it
    return refused
