"""Check the statements of files, or of lines as they arrive, with the guard."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path

from dqa import guard
from dqa.core.errors import UsageError
from dqa.core.files import parse_json, problem_of_path, read_bytes
from dqa.core.records import Record


class CheckedStatement(Record):
    """The guard's verdict on a statement of a file.

    Attributes
    ----------
    file
        Its file; ``stdin`` for standard input.
    line
        The line of its first word, from 1.
    statement
        Its text, without the semicolon.
    reason
        Why it may not run, and what to write instead; empty if it may.
    """

    file: str
    line: int
    statement: str
    allowed: bool
    reason: str


def check_script(
    script: str | bytes, dialect: str, policy: guard.Policy = guard.DEFAULT, file: str = "stdin"
) -> tuple[CheckedStatement, ...]:
    """Return the verdict on every statement of a script, in order.

    Statements have semicolons between them and any number of lines; comments and a byte order mark
    do not belong to them. Each is checked alone. From the first position on where the end of a
    statement is not certain, the rest is one statement, which is refused.

    Parameters
    ----------
    script
        SQL or Cypher; bytes are UTF-8, or UTF-16 with a byte order mark.
    dialect
        One of `dqa.guard.DIALECTS`.
    policy
        The functions and tables that statements may use.
    file
        The name of the script.

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
    checked = []
    for found in guard.split(text, dialect):
        verdict = guard.check(found.text, dialect, policy)
        one = CheckedStatement(
            file=file,
            line=found.line,
            # JSON has no place for bytes that are not text.
            statement=found.text.encode("utf-8", "replace").decode("utf-8"),
            allowed=verdict.allowed and found.problem is None,
            reason=verdict.reason if found.problem is None else found.problem,
        )
        checked.append(one)
    return tuple(checked)


def check_files(
    files: Iterable[str | Path], dialect: str, policy: guard.Policy = guard.DEFAULT
) -> tuple[CheckedStatement, ...]:
    """Return the verdict on every statement of some files, each as `check_script` does.

    Raises
    ------
    UnknownNameError
        There is no such dialect.
    UsageError
        A file cannot be read; then nothing is checked.
    """
    guard.require_dialect(dialect)
    texts = {}
    for file in files:
        try:
            texts[str(file)] = read_bytes(Path(file), pipes=True)
        except OSError as error:
            raise UsageError(f"{problem_of_path(file, error)}.") from error
    return tuple(
        one for name, text in texts.items() for one in check_script(text, dialect, policy, name)
    )


def check_lines(
    lines: Iterable[bytes], dialect: str, policy: guard.Policy = guard.DEFAULT
) -> Iterator[guard.GuardVerdict]:
    """Yield the verdict on every line, in order and as soon as it is there.

    If the first line that is not blank begins with a brace, lines are JSON objects with a
    ``statement``; otherwise each is a statement.

    Raises
    ------
    UnknownNameError
        There is no such dialect.
    """
    guard.require_dialect(dialect)
    is_json: bool | None = None
    for line in lines:
        text = _decoded(line).rstrip("\r\n")
        if is_json is None and text.strip():
            is_json = text.lstrip().startswith("{")  # no statement begins like that
        if not (is_json and text.strip()):
            yield guard.check(text, dialect, policy)
            continue
        try:
            found = parse_json(text)
        except ValueError as error:
            yield guard.GuardVerdict(False, f"the line is no JSON: {error}")
            continue
        statement = found.get("statement") if isinstance(found, dict) else None
        if isinstance(statement, str):
            yield guard.check(statement, dialect, policy)
        else:
            problem = "the line is no JSON object with a text 'statement'"
            yield guard.GuardVerdict(False, problem)


def _decoded(text: bytes) -> str:
    """Decode UTF-8; other bytes become lone surrogates, which the guard refuses."""
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return text.decode("utf-16", errors="replace")
    return text.decode("utf-8", errors="surrogateescape")
