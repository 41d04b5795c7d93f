"""Check the statements of files without running them."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from pathlib import Path

from dqa import guard
from dqa.core.files import file_errors, read_bytes
from dqa.core.records import Record
from dqa.guard.check import CYPHER


class CheckedStatement(Record):
    """The guard's verdict on a statement of a file.

    Attributes
    ----------
    file
        The file of the statement; ``stdin`` for standard input.
    line
        The line of the statement's first word, counted from 1.
    statement
        The text of the statement, without the semicolon.
    reason
        The reason why the statement is refused, and the fix; empty if the statement is allowed.
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

    Semicolons separate statements, and a statement may span several lines. Comments and a byte
    order mark are ignored. Each statement is checked separately. If the end of a statement is
    unclear, the rest of the script counts as part of this statement, which is refused.

    Parameters
    ----------
    script
        SQL or Cypher. Bytes are decoded as UTF-8, or as UTF-16 if they have a byte order mark.
    dialect
        One of `dqa.guard.DIALECTS`.
    policy
        The policy, which defines the functions and tables that statements may use.
    file
        The name of the script.

    Raises
    ------
    UnknownNameError
        dqa does not know the dialect.
    UsageError
        The policy has attributes for tables, and the dialect is of a graph, or vice versa.
    """
    policy.require_kind("graph" if dialect in CYPHER else "relational")
    text = (script if isinstance(script, str) else _decoded(script)).removeprefix("\ufeff")
    verdicts = [(one, guard.check(one.text, dialect, policy)) for one in guard.split(text, dialect)]
    return tuple(
        CheckedStatement(
            file=file,
            line=one.line,
            # JSON cannot represent bytes that are not text.
            statement=one.text.encode("utf-8", "replace").decode("utf-8"),
            allowed=verdict.allowed and one.problem is None,
            reason=verdict.reason if one.problem is None else one.problem,
        )
        for one, verdict in verdicts
    )


def check_files(
    files: Iterable[str | Path], dialect: str, policy: guard.Policy = guard.DEFAULT
) -> tuple[CheckedStatement, ...]:
    """Return the verdict on every statement of several files; see `check_script`.

    Raises
    ------
    UnknownNameError
        dqa does not know the dialect.
    UsageError
        A file cannot be read. In this case, no file is checked.
    """
    texts = {}
    for file in files:
        with file_errors(file):
            texts[str(file)] = read_bytes(Path(file))
    return tuple(
        one for name, text in texts.items() for one in check_script(text, dialect, policy, name)
    )


def _decoded(text: bytes) -> str:
    """Decode UTF-8. Invalid bytes become lone surrogates, which the guard refuses."""
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return text.decode("utf-16", errors="replace")
    return text.decode("utf-8", errors="surrogateescape")
