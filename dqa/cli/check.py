"""``dqa check``: what the guard says of statements."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from dqa.cli.help import DATABASES, OUTPUT
from dqa.core.errors import UsageError


def check(
    *,
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            metavar="D",
            help="What the statements are written in.",
            rich_help_panel=DATABASES,
        ),
    ],
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Statements; standard input if none.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="JSON file of a policy; docs/guard.md.",
            rich_help_panel=DATABASES,
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole",
            help="The whole input is one statement, on many lines.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
) -> None:
    """Say of every statement, one JSON line each, whether it only reads and may run.

    The input is JSON lines with `statement` (where its first line that is not blank begins
    with a brace), or plain text with one statement a line. Every line gets a line, in order. The
    exit code says whether the statements could be checked, not what came of it.
    """
    from dqa import guard
    from dqa.api.checking import check_lines, check_whole

    given = guard.DEFAULT if policy is None else guard.Policy.read(policy)
    with _opened(file) as lines:
        verdicts = (
            [check_whole(lines.read(), dialect, given)]
            if whole
            else check_lines(lines, dialect, given)
        )
        for verdict in verdicts:
            answer = {"allowed": verdict.allowed, "reason": verdict.reason}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()  # the next program in a pipeline may wait for it


@contextmanager
def _opened(file: Path | None) -> Iterator[BinaryIO]:
    if file is None:
        yield sys.stdin.buffer
        return
    try:
        opened = file.open("rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    with opened:
        yield opened
