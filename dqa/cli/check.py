"""``dqa check``: what the guard says of statements."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.guard import GuardVerdict, Policy

__all__ = ["check"]


def check(
    *,
    dialect: Annotated[
        str, typer.Option("--dialect", metavar="D", help="What the statements are written in.")
    ],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Statements; standard input if none.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", metavar="FILE", help="JSON file of a policy; docs/guard.md."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="The whole input is one statement, on many lines.")
    ] = False,
) -> None:
    """Say of every statement, one JSON line each, whether it only reads and may run.

    The input is JSON lines with `statement` (where its first line that is not blank begins
    with a brace), or plain text with one statement a line. Every line gets a line, in order. The
    exit code says whether the statements could be checked, not what came of it.
    """
    from dqa import guard
    from dqa.core.errors import UnknownNameError

    if dialect not in guard.DIALECTS:
        raise UnknownNameError("dialect", dialect, guard.DIALECTS)
    given = guard.DEFAULT if policy is None else guard.Policy.read(policy)
    with _opened(file) as lines:
        for verdict in _verdicts(lines, dialect, given, whole):
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


def _verdicts(lines: BinaryIO, dialect: str, policy: Policy, whole: bool) -> Iterator[GuardVerdict]:
    from dqa import guard

    if whole:
        yield guard.check(_text(lines.read()), dialect, policy)
        return
    is_json: bool | None = None
    for line in lines:
        text = _text(line).rstrip("\r\n")
        if is_json is None and text.strip():
            is_json = text.lstrip().startswith("{")  # no statement begins like that
        if is_json and text.strip():
            yield _of_json(text, dialect, policy)
        else:
            yield guard.check(text, dialect, policy)


def _text(line: bytes) -> str:
    """Decode UTF-8; bytes that are none become lone surrogates, which the guard refuses."""
    return line.decode("utf-8", errors="surrogateescape")


def _of_json(text: str, dialect: str, policy: Policy) -> GuardVerdict:
    from dqa import guard

    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        return guard.GuardVerdict(False, f"the line is no JSON: {error}")
    statement = line.get("statement") if isinstance(line, dict) else None
    if not isinstance(statement, str):
        return guard.GuardVerdict(False, "the line is no JSON object with a text 'statement'")
    return guard.check(statement, dialect, policy)
