"""Statements that a scenario asks about a question, with names from data as safe literals.

The literals mean the same in every dialect that `dqa` speaks, because a scenario knows only
whether its database is relational or a graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable
from string import Template
from types import MappingProxyType
from typing import Literal, TypeAlias

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question

__all__ = ["Kind", "cypher_literal", "read_statements", "sql_literal", "statements_for"]

Kind: TypeAlias = Literal["relational", "graph"]

_FILES: Mapping[Kind, str] = {"relational": "context.sql", "graph": "context.cypher"}
_COMMENT = re.compile(r"^(?:--|//).*\n?", re.MULTILINE)
_END = re.compile(r";[ \t]*(?:\n|\Z)")
_STAND_INS = "~^|#@!%&?*"
_CYPHER_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)


def sql_literal(value: Candidate) -> str:
    r"""Return `value` as an expression that every SQL dialect reads alike.

    A backslash begins an escape in MySQL's default mode and nowhere else, so it stands for itself
    in no literal: ``'\\'`` is one or two of them, and its first character is one everywhere.

    Raises
    ------
    DataError
        It is text with a NUL, which no database can hold, or with a backslash and every sign that
        could stand in for it.
    """
    if isinstance(value, int):
        return str(int(value))
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


def cypher_literal(value: Candidate) -> str:
    r"""Return `value` as an expression that Neo4j and LadybugDB read alike.

    Neo4j replaces ``\uXXXX`` before it reads strings, so a backslash and a u that mean themselves
    must not stand side by side: the string is cut between them.

    Raises
    ------
    DataError
        It is text with a NUL.
    """
    if isinstance(value, int):
        return str(int(value))
    _refuse_nul(value)
    parts = re.split(r"(?<=\\)(?=[uU])", value)
    return " + ".join(f"'{part.translate(_CYPHER_ESCAPES)}'" for part in parts)


def _refuse_nul(value: str) -> None:
    if "\0" in value:
        raise DataError(f"The name {value!r} holds a NUL character, which no database can hold.")


_LITERALS: Mapping[Kind, Callable[[Candidate], str]] = {
    "relational": sql_literal,
    "graph": cypher_literal,
}


def read_statements(folder: Traversable) -> Mapping[Kind, tuple[Template, ...]]:
    """Read a scenario's ``context.sql`` and ``context.cypher``, where it has them.

    Each holds statements that end with ``;`` at the end of a line. Lines that begin with ``--`` or
    ``//`` are remarks.
    """
    found: dict[Kind, tuple[Template, ...]] = {}
    for kind, name in _FILES.items():
        file = folder / name
        text = _COMMENT.sub("", file.read_text("utf-8")) if file.is_file() else ""
        found[kind] = tuple(Template(part.strip()) for part in _END.split(text) if part.strip())
    return MappingProxyType(found)


def statements_for(
    templates: tuple[Template, ...], question: Question, kind: Kind
) -> tuple[str, ...]:
    """Fill in what the statements say about the question: its target and ``$candidates``.

    Raises
    ------
    DataError
        A statement names something that the question does not tell, or a name that cannot be
        written as a literal.
    """
    literal = _LITERALS[kind]
    values = {key: literal(value) for key, value in question.target.items()}
    if question.candidates:
        values["candidates"] = ", ".join(map(literal, question.candidates))
    try:
        return tuple(template.substitute(values) for template in templates)
    except KeyError as error:
        raise DataError(
            f"Question '{question.key}' does not tell {error}, which its scenario's context asks "
            f"about; it tells {', '.join(values) or 'nothing'}."
        ) from error
