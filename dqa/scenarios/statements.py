"""Statements of a scenario: templates, filled with names from data as safe literals.

The literals mean the same in every dialect that `dqa` speaks, because a scenario knows only
whether its database is relational or a graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from importlib.resources.abc import Traversable
from string import Template
from typing import TypeAlias

from dqa.core.database import Kind
from dqa.core.errors import DataError
from dqa.core.files import read_text
from dqa.scenarios.parameters import Scalar

__all__ = [
    "SUFFIXES",
    "Kind",
    "Values",
    "cypher_literal",
    "filled",
    "read_statements",
    "sql_literal",
]

Values: TypeAlias = Mapping[str, Scalar | Sequence[Scalar]]
"""What fills a statement in, by name; a sequence becomes literals separated by commas."""

SUFFIXES: Mapping[Kind, str] = {"relational": ".sql", "graph": ".cypher"}
"""Endings of the files of statements, by what they are written for."""
_REMARK = re.compile(r"^(?:--|//).*\n?", re.MULTILINE)
_SPACE = re.compile(r"\s*")
_END = re.compile(r";[ \t]*(?:\n|\Z)")
_STAND_INS = "~^|#@!%&?*"
_CYPHER_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)


def sql_literal(value: Scalar) -> str:
    r"""Return `value` as an expression that every SQL dialect reads alike.

    A backslash begins an escape in MySQL's default mode and nowhere else, so it stands for itself
    in no literal: ``'\\'`` is one or two of them, and its first character is one everywhere.

    Raises
    ------
    DataError
        It is text with a NUL, which no database can hold, or with a backslash and every sign that
        could stand in for it.
    """
    if not isinstance(value, str):
        return _plain(value).upper()
    _refuse_nul(value)
    if "\\" not in value:
        return _quoted(value)
    stand_in = next((sign for sign in _STAND_INS if sign not in value), None)
    if stand_in is None:
        raise DataError(f"The name {value!r} holds too many odd signs to be asked about.")
    text = _quoted(value.replace("\\", stand_in))
    return f"REPLACE({text}, '{stand_in}', SUBSTR('\\\\', 1, 1))"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def cypher_literal(value: Scalar) -> str:
    r"""Return `value` as an expression that Neo4j and LadybugDB read alike.

    Neo4j replaces ``\uXXXX`` before it reads strings, so a backslash and a u that mean themselves
    must not stand side by side: the string is cut between them.

    Raises
    ------
    DataError
        It is text with a NUL.
    """
    if not isinstance(value, str):
        return _plain(value)
    _refuse_nul(value)
    parts = re.split(r"(?<=\\)(?=[uU])", value)
    return " + ".join(f"'{part.translate(_CYPHER_ESCAPES)}'" for part in parts)


def _plain(value: int | Decimal) -> str:
    """Return what is no text: a number without an exponent, or a truth value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(int(value))


def _refuse_nul(value: str) -> None:
    if "\0" in value:
        raise DataError(f"The name {value!r} holds a NUL character, which no database can hold.")


_LITERALS: Mapping[Kind, Callable[[Scalar], str]] = {
    "relational": sql_literal,
    "graph": cypher_literal,
}


def read_statements(file: Traversable) -> tuple[Template, ...]:
    """Read the statements of a file; none where there is no file.

    A statement ends with ``;`` at the end of a line. Lines that begin with ``--`` or ``//`` are
    remarks.
    """
    return tuple(template for _, template in read_lines(file))


def read_lines(file: Traversable) -> tuple[tuple[int, Template], ...]:
    """Read the statements of a file as `read_statements` does, each with its first line, from 1."""
    text = read_text(file) if file.is_file() else ""
    parts = _END.split(_REMARK.sub("", text))
    # Where remarks leave empty lines behind, what is left stands where it stood.
    gapped = _REMARK.sub("\n", text)
    starts = [0, *(match.end() for match in _END.finditer(gapped))]
    found: list[tuple[int, Template]] = []
    for start, part in zip(starts, parts, strict=True):
        first = _SPACE.match(gapped, start)
        if part.strip() and first is not None:
            found.append((gapped.count("\n", 0, first.end()) + 1, Template(part.strip())))
    return tuple(found)


def filled(template: Template, kind: Kind, values: Values) -> str:
    """Return the statement with its names filled in.

    Raises
    ------
    KeyError
        It names something that `values` does not tell.
    DataError
        A name that cannot be written as a literal.
    """
    return template.substitute(
        {
            name: _literals(values[name], _LITERALS[kind])
            for name in template.get_identifiers()
            if name in values
        }
    )


def _literals(value: Scalar | Sequence[Scalar], literal: Callable[[Scalar], str]) -> str:
    if isinstance(value, str | int | Decimal):
        return literal(value)
    return ", ".join(map(literal, value))
