"""Fill the statements of a scenario, which are templates, with values as safe literals.

A literal must have the same meaning in every dialect, because a scenario's statements do not depend
on the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from string import Template
from typing import TypeAlias

from dqa.core.database import Kind
from dqa.core.errors import DataError
from dqa.scenarios.parameters import Scalar

__all__ = [
    "CYPHER_ESCAPES",
    "SUFFIXES",
    "Kind",
    "Values",
    "cypher_literal",
    "filled",
    "split_statements",
    "sql_literal",
]

Values: TypeAlias = Mapping[str, Scalar | Sequence[Scalar]]
"""Values of a statement by name; a sequence becomes literals separated by commas."""

SUFFIXES: Mapping[Kind, str] = {"relational": ".sql", "graph": ".cypher"}
"""Endings of the files of statements, by kind of database."""
_STAND_INS = "~^|#@!%&?*"
CYPHER_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)
"""The escapes of a text in Cypher."""


def sql_literal(value: Scalar) -> str:
    r"""Return `value` as an expression with the same meaning in every SQL dialect.

    The literal ``'\\'`` is one backslash in MySQL's default mode, and two in other dialects. The
    expression uses only the first character of this literal, which is a backslash in all dialects.

    Raises
    ------
    DataError
        The value contains a NUL, or it contains a backslash and all characters that could
        temporarily replace the backslash.
    """
    if not isinstance(value, str):
        return _plain(value).upper()
    _refuse_nul(value)
    if "\\" not in value:
        return _quoted(value)
    stand_in = next((sign for sign in _STAND_INS if sign not in value), None)
    if stand_in is None:
        raise DataError(
            f"The name {value!r} contains a backslash and too many special characters, so it "
            "cannot be written in a statement."
        )
    text = _quoted(value.replace("\\", stand_in))
    return f"REPLACE({text}, '{stand_in}', SUBSTR('\\\\', 1, 1))"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def cypher_literal(value: Scalar) -> str:
    r"""Return `value` as an expression with the same meaning in Neo4j and LadybugDB.

    Neo4j replaces ``\uXXXX`` before it reads strings. The expression therefore puts
    a literal backslash and a following u into separate strings.

    Raises
    ------
    DataError
        The value is a text with a NUL.
    """
    if not isinstance(value, str):
        return _plain(value)
    _refuse_nul(value)
    parts = re.split(r"(?<=\\)(?=[uU])", value)
    return " + ".join(f"'{part.translate(CYPHER_ESCAPES)}'" for part in parts)


def _plain(value: int | Decimal) -> str:
    """Return a truth value or a number as a literal. Numbers have no exponent."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(int(value))


def _refuse_nul(value: str) -> None:
    if "\0" in value:
        raise DataError(
            f"The name {value!r} contains a NUL character, which databases cannot store."
        )


_LITERALS: Mapping[Kind, Callable[[Scalar], str]] = {
    "relational": sql_literal,
    "graph": cypher_literal,
}


def split_statements(text: str) -> tuple[tuple[int, Template], ...]:
    """Return the statements of a text, each with the number of its first line (counted from 1).

    A statement ends with ``;`` at the end of a line. Lines that begin with ``--`` or ``//`` are
    comments.
    """
    found: list[tuple[int, Template]] = []
    first, statement = 0, ""
    for number, line in enumerate([*text.splitlines(keepends=True), ";"], start=1):
        if line.startswith(("--", "//")):
            continue
        if not statement.strip():
            first, statement = number, ""
        statement += line
        if line.rstrip().endswith(";"):
            ended = statement.rstrip().removesuffix(";").strip()
            if ended:
                found.append((first, Template(ended)))
            statement = ""
    return tuple(found)


def filled(template: Template, kind: Kind, values: Values) -> str:
    """Return the statement in which the values replace the placeholders.

    Raises
    ------
    KeyError
        A value is missing.
    DataError
        A value cannot be written as a literal.
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
