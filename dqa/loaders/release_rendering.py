"""Render situations as SQL and Cypher scripts of a release."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from dqa.core.schema import quoted
from dqa.core.situation import Cell, Situation, Table
from dqa.scenarios.statements import CYPHER_ESCAPES

_TYPES = {"text": "VARCHAR(255)", "float": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN"}
_SQL_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "''", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\x1a": "\\Z"}
)


def render_sql(situation: Situation) -> str:
    """Return the script that creates `situation` in MySQL or MariaDB, in their default SQL mode.

    Floats are read back bit for bit. Their columns are DOUBLE, because FLOAT has only seven digits.
    In the database, texts are compared by code point. Strings are in single quotes, so the script
    also works in the mode ``ANSI_QUOTES``.

    Raises
    ------
    ValueError
        MySQL cannot store a value: an infinity, or a key with more than 255 characters.
    """
    parts = [_create_table(situation[table.name]) for table in situation.schema.tables]
    parts.append("")
    for table in situation.schema.tables:
        names = ", ".join(_sql_name(name) for name in table.column_names)
        head = f"INSERT INTO {_sql_name(table.name)}({names}) VALUES ("  # noqa: S608 (a script, not run here)
        columns = [
            [_sql_literal(value) for value in situation[table.name][column.name].tolist()]
            for column in table.columns
        ]
        parts += [f"{head}{', '.join(row)});" for row in zip(*columns, strict=True)]
    return "\n".join(parts) + "\n"


def _create_table(table: Table) -> str:
    """Return a CREATE TABLE statement. Texts that are too long for VARCHAR become ``LONGTEXT``."""
    columns = ""
    for column in table.schema.columns:
        is_long = column.stored == "text" and max(map(len, table[column.name]), default=0) > 255
        if is_long and column.name in table.schema.key:
            raise ValueError(f"the key '{column.name}' has a text of more than 255 characters")
        kind = "LONGTEXT" if is_long else _TYPES[column.stored]
        columns += f"{_sql_name(column.name)} {kind}, "
    key = ", ".join(_sql_name(name) for name in table.schema.key)
    return (
        f"CREATE TABLE {_sql_name(table.schema.name)}({columns}PRIMARY KEY ({key})) "
        "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;"
    )


def _sql_name(name: str) -> str:
    from sqlglot.dialects.mysql import MySQL

    is_reserved = name.lower() in MySQL.Generator.RESERVED_KEYWORDS
    return quoted(name, "`") if is_reserved else _name(name)


def _sql_literal(value: Cell) -> str:
    if isinstance(value, str):
        return f"'{value.translate(_SQL_ESCAPES)}'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return _number(value) or "NULL"


def _number(value: Cell) -> str | None:
    """Return a number as text; None for NaN. Raise `ValueError` for an infinity."""
    is_missing = isinstance(value, float) and math.isnan(value)
    return None if is_missing else json.dumps(value, allow_nan=False)


def render_cypher(situation: Situation) -> str:
    """Return the script that creates `situation` in Neo4j 5.

    Floats are read back bit for bit. A missing float is ``null``, so Neo4j stores no property.

    Raises
    ------
    ValueError
        A number is infinite, because Cypher has no literal for infinity.
    """
    schema = situation.schema
    parts = []
    for node in schema.nodes:
        label = _name(node.label)
        maps = _maps(situation, node.table, node.properties)
        parts += [f"CREATE (:{label} {properties});" for properties in maps]
    for edge in schema.edges:
        ends = []
        for variable, (label, column) in (("a", edge.source), ("b", edge.target)):
            key = ((schema.node(label).key, column),)
            head = f"({variable}:{_name(label)} "
            ends.append([f"{head}{keys})" for keys in _maps(situation, edge.table, key)])
        maps = _maps(situation, edge.table, edge.properties)
        kind = _name(edge.label)
        parts += [
            f"MATCH {source}, {target} CREATE (a)-[:{kind} {properties}]->(b);"
            for source, target, properties in zip(*ends, maps, strict=True)
        ]
    return "\n".join(parts) + "\n"


def _maps(situation: Situation, table: str, properties: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the property map of every row of a table."""
    columns: Mapping[str, list[Cell]] = {
        _name(name): situation[table][column].tolist() for name, column in properties
    }
    if not columns:
        return ["{}"] * len(situation[table])
    texts = [
        [f"{name}: {_cypher_literal(value)}" for value in cells] for name, cells in columns.items()
    ]
    return [f"{{{', '.join(row)}}}" for row in zip(*texts, strict=True)]


def _name(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return name
    return quoted(name, "`")


def _cypher_literal(value: Cell) -> str:
    if isinstance(value, str):
        # Neo4j 5 decodes \uXXXX before it reads strings, so a literal backslash must not precede a
        # u. NUL is escaped last, because its escape contains a u.
        escaped = value.translate(CYPHER_ESCAPES).replace("\\\\u", "\\\\\\u0075")
        return "'" + escaped.replace("\0", "\\u0000") + "'"
    return (_number(value) or "null").replace("e+", "e")
