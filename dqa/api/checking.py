"""Checking: what the guard says of statements, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from dqa import guard
from dqa.core.errors import UnknownNameError


def check_whole(
    text: bytes, dialect: str, policy: guard.Policy = guard.DEFAULT
) -> guard.GuardVerdict:
    """Return what the guard says of one statement on many lines."""
    _check_dialect(dialect)
    return guard.check(_decoded(text), dialect, policy)


def check_lines(
    lines: Iterable[bytes], dialect: str, policy: guard.Policy = guard.DEFAULT
) -> Iterator[guard.GuardVerdict]:
    """Return what the guard says of every line, in order.

    Lines are JSON objects with a ``statement``, where the first line that is not blank begins with
    a brace; otherwise each is a statement.

    Raises
    ------
    UnknownNameError
        There is no such dialect.
    """
    _check_dialect(dialect)
    return _checked(lines, dialect, policy)


def _checked(
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


def _check_dialect(dialect: str) -> None:
    if dialect not in guard.DIALECTS:
        raise UnknownNameError("dialect", dialect, guard.DIALECTS)


def _decoded(line: bytes) -> str:
    """Decode UTF-8; bytes that are none become lone surrogates, which the guard refuses."""
    return line.decode("utf-8", errors="surrogateescape")


def _of_json(text: str, dialect: str, policy: guard.Policy) -> guard.GuardVerdict:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        return guard.GuardVerdict(False, f"the line is no JSON: {error}")
    statement = line.get("statement") if isinstance(line, dict) else None
    if not isinstance(statement, str):
        return guard.GuardVerdict(False, "the line is no JSON object with a text 'statement'")
    return guard.check(statement, dialect, policy)
