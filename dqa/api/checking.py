"""Checking: what the guard says of the statements of a file, or of lines as they come in."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path

from dqa import guard
from dqa.core.errors import UsageError
from dqa.core.files import parse_json, problem_of_path, read_bytes
from dqa.core.records import Record


class CheckedStatement(Record):
    """What the guard says of a statement of a file.

    Attributes
    ----------
    file
        Where it stands; ``stdin`` for standard input.
    line
        The line that its first word is in, from 1.
    statement
        As it is written, without the semicolon behind it.
    reason
        Why it may not run, and what to write instead; empty where it may.
    """

    file: str
    line: int
    statement: str
    allowed: bool
    reason: str


def check_script(
    script: str | bytes, dialect: str, policy: guard.Policy = guard.DEFAULT, file: str = "stdin"
) -> tuple[CheckedStatement, ...]:
    """Return what the guard says of every statement of a script, in order.

    Statements take as many lines as they like and have semicolons between them; comments and a
    byte order mark are no part of them. Each is checked alone, as it would be if it were asked
    alone. Where it cannot be told with certainty where one ends, the rest is one that is refused.

    Parameters
    ----------
    script
        SQL or Cypher; bytes are UTF-8, or UTF-16 with a byte order mark.
    dialect
        One of `dqa.guard.DIALECTS`.
    policy
        What may be called and read.
    file
        What the script is called.

    Raises
    ------
    UnknownNameError
        There is no such dialect.
    UsageError
        These are lines of JSON, which `check_lines` reads.
    """
    text = (script if isinstance(script, str) else _decoded(script)).removeprefix("\ufeff")
    if text.lstrip().startswith("{"):  # no statement begins like that
        raise UsageError(f"{file} begins with a brace: JSON, a statement a line, needs --lines.")
    return tuple(
        _checked(found, guard.check(found.text, dialect, policy), file)
        for found in guard.split(text, dialect)
    )


def check_files(
    files: Iterable[str | Path], dialect: str, policy: guard.Policy = guard.DEFAULT
) -> tuple[CheckedStatement, ...]:
    """Return what the guard says of every statement of some files, each as `check_script` does.

    Raises
    ------
    UnknownNameError
        There is no such dialect.
    UsageError
        A file cannot be read; nothing is checked then.
    """
    guard.require_dialect(dialect)
    read = [(str(file), _bytes_of(Path(file))) for file in files]
    return tuple(one for name, text in read for one in check_script(text, dialect, policy, name))


def check_lines(
    lines: Iterable[bytes], dialect: str, policy: guard.Policy = guard.DEFAULT
) -> Iterator[guard.GuardVerdict]:
    """Return what the guard says of every line, in order and as soon as it is there.

    Lines are JSON objects with a ``statement``, where the first line that is not blank begins with
    a brace; otherwise each is a statement.

    Raises
    ------
    UnknownNameError
        There is no such dialect.
    """
    guard.require_dialect(dialect)
    return _checked_lines(lines, dialect, policy)


def _checked(
    found: guard.ScriptStatement, verdict: guard.GuardVerdict, file: str
) -> CheckedStatement:
    return CheckedStatement(
        file=file,
        line=found.line,
        # Bytes that are no text have no place in JSON either.
        statement=found.text.encode("utf-8", "replace").decode("utf-8"),
        allowed=verdict.allowed and found.problem is None,
        reason=verdict.reason if found.problem is None else found.problem,
    )


def _bytes_of(file: Path) -> bytes:
    try:
        return read_bytes(file, pipes=True)
    except OSError as error:
        raise UsageError(f"{problem_of_path(file, error)}.") from error


def _checked_lines(
    lines: Iterable[bytes], dialect: str, policy: guard.Policy
) -> Iterator[guard.GuardVerdict]:
    is_json: bool | None = None
    for line in lines:
        text = _decoded(line).rstrip("\r\n")
        if is_json is None and text.strip():
            is_json = text.lstrip().startswith("{")  # no statement begins like that
        if is_json and text.strip():
            yield _of_json(text, dialect, policy)
        else:
            yield guard.check(text, dialect, policy)


def _decoded(text: bytes) -> str:
    """Decode UTF-8; bytes that are none become lone surrogates, which the guard refuses."""
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return text.decode("utf-16", errors="replace")
    return text.decode("utf-8", errors="surrogateescape")


def _of_json(text: str, dialect: str, policy: guard.Policy) -> guard.GuardVerdict:
    try:
        line = parse_json(text)
    except ValueError as error:
        return guard.GuardVerdict(False, f"the line is no JSON: {error}")
    statement = line.get("statement") if isinstance(line, dict) else None
    if not isinstance(statement, str):
        return guard.GuardVerdict(False, "the line is no JSON object with a text 'statement'")
    return guard.check(statement, dialect, policy)
