"""Situations from and to SQL scripts of the kind the DQA release holds.

A script is data: ``CREATE TABLE`` and ``INSERT INTO ... VALUES`` are read by the scenario's
schema, and nothing is executed. Scripts whose rows stand one ``INSERT`` a line are read table by
table, at C speed; every other spelling, and every fault, by the tokenizer.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from dqa.core.errors import DataError, ParseError
from dqa.core.schema import quoted
from dqa.core.situation import Cell, Column, Schema, Situation, Table, TableSchema
from dqa.core.text import counted
from dqa.loaders.assembly import Findings, Parsed, RowSink, align, assemble, to_cell
from dqa.loaders.columns import ColumnReader
from dqa.loaders.tokens import SQL, Cursor

_PASSED_OVER = ("SET", "USE", "START", "BEGIN", "COMMIT", "LOCK", "UNLOCK", "DROP")
_VALUES = " VALUES ("
_HEAD = re.compile(r"INSERT INTO `?([^`()\"']+?)`? ?\([^()\"']*\)")


def parse_sql(text: str, schema: Schema, file: Path) -> Parsed:
    """Read a script of ``CREATE TABLE`` and ``INSERT`` statements as a situation.

    Parameters
    ----------
    text
        The script.
    schema
        Tables and columns that it has to fill.
    file
        Where it came from: its stem names the situation, and messages name it.

    Raises
    ------
    ParseError
        It cannot be read; the error names the line and what was expected there.
    """
    try:
        parsed = _fast(text, schema, file)
    except ParseError:
        parsed = None  # the tolerant reader tells better what is wrong, if anything is
    return parsed or _tolerant(text, schema, file)


# --- rows of one line each ------------------------------------------------------------------


def _fast(text: str, schema: Schema, file: Path) -> Parsed | None:
    """Read a script that is wholly of the release's form, or return None."""
    body = f"\n{text}\n".replace("\r\n", "\n") if "\r" in text else f"\n{text}\n"
    first = body.find("\nINSERT ") + 1
    if not first:
        return None
    declared = _declared(body[:first])
    written = _rows_by_table(body[first:])
    if written is None or not written.keys() <= {table.name for table in schema.tables}:
        return None
    findings = Findings(file)
    sink = RowSink({})
    for table in schema.tables:
        if table.name in written:
            rows = _read_rows(body, table, *written[table.name], findings)
        elif table.name in declared:
            rows = dict.fromkeys(table.column_names, ())
        else:
            return None
        if rows is None:
            return None
        sink.columns[table.name] = rows
    return assemble(schema, sink, findings)


@lru_cache(maxsize=16)
def _declared(head: str) -> frozenset[str]:
    """Return the tables that a script makes before its first row: many begin alike.

    Raises
    ------
    ParseError
        The tokenizer has to read it, as it holds rows or is at fault.
    """
    reader = _SqlReader(Cursor(head, SQL, Path()), Schema("", ()), Findings(Path()))
    reader.read()
    if reader.findings.defects():
        raise ParseError(Path(), None, "rows stand among what makes the tables")
    return frozenset(reader.declared)


def _rows_by_table(lines: str) -> dict[str, tuple[str, list[str]]] | None:
    """Return what stands before each table's rows and the rows, to their lines' ends.

    None where a line holds anything else, or a table's rows do not all begin alike.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines.split("\n"):
        head, _, row = line.partition(_VALUES)
        found[head].append(row)
    by_table: dict[str, tuple[str, list[str]]] = {}
    for head, rows in found.items():
        if not head.strip():
            continue
        match = _HEAD.fullmatch(head)
        if match is None or match[1] in by_table:
            return None
        by_table[match[1]] = (head, rows)
    return by_table


def _read_rows(
    body: str, table: TableSchema, head: str, rows: list[str], findings: Findings
) -> Mapping[str, Sequence[Any]] | None:
    """Return the columns of a table's rows; None where it takes the tokenizer."""
    names = [name.strip(" `") for name in head[head.index("(") + 1 : -1].split(",")]
    line = body.count("\n", 0, body.index(f"\n{head}{_VALUES}")) + 1
    aligned = align(names, table.column_names, f"table '{table.name}'", line, findings)
    if None in aligned or len(aligned) != len(table.columns):
        return None
    columns = [table.column(name) for name in aligned if name is not None]
    if len(columns) == 1:
        return None
    quote = '"' if '"' in rows[0] and "'" not in rows[0] else "'"
    reader = ColumnReader(SQL, quote, findings)
    read = _rows_alike(rows, columns, reader) or _rows_by_pattern(body, head, columns, reader)
    return read if read and len(next(iter(read.values()))) == len(rows) else None


def _rows_alike(
    rows: list[str], columns: Sequence[Column], reader: ColumnReader
) -> dict[str, Sequence[Any]] | None:
    """Read rows that are written like the first one, cell by cell at C speed; None for others.

    What stands between two rows becomes a cell that no other can be, so a row of too few or too
    many cells moves it from where it has to be.
    """
    lines = "\n".join(rows) + "\n"
    if lines.count(");\n") != len(rows):
        return None
    between = ", " if ", " in rows[0] else ","
    cells = lines.replace(");\n", f"{between}\n{between}").split(between)
    width = len(columns) + 1
    if len(cells) != len(rows) * width + 1 or cells[width - 1 :: width] != ["\n"] * len(rows):
        return None
    converted: dict[str, Sequence[Any]] = {}
    for place, column in enumerate(columns):
        values = reader.convert_cells(cells[place:-1:width], column)
        if values is None:
            return None
        converted[column.name] = values
    return converted


def _rows_by_pattern(
    body: str, head: str, columns: Sequence[Column], reader: ColumnReader
) -> dict[str, Sequence[Any]] | None:
    """Read rows by one regular expression; None where it takes the tokenizer."""
    cells = ", *".join(map(reader.pattern, columns))
    pattern = re.compile(rf"\n{re.escape(head + _VALUES)} *{cells} *\);(?=\n)")
    rows = pattern.findall(body)
    if not rows:
        return None

    def line_of(row: int) -> int:
        match = next(islice(pattern.finditer(body), row, None))
        return body.count("\n", 0, match.start()) + 1

    converted: dict[str, Sequence[Any]] = {}
    for column, cell_texts in zip(columns, zip(*rows, strict=True), strict=True):
        values = reader.convert(cell_texts, column, line_of)
        if values is None:
            return None
        converted[column.name] = values
    return converted


# --- statement by statement -----------------------------------------------------------------


def _tolerant(text: str, schema: Schema, file: Path) -> Parsed:
    findings = Findings(file)
    reader = _SqlReader(Cursor(text, SQL, file), schema, findings)
    reader.read()
    for table in schema.tables:
        if table.name not in reader.declared and not reader.rows[table.name]:
            raise ParseError(
                file,
                None,
                f"table '{table.name}' is missing; expected CREATE TABLE {table.name}"
                f"({', '.join(table.column_names)}) and its rows",
            )
    parsed = assemble(schema, RowSink.from_rows(schema, reader.rows, reader.lines), findings)
    if parsed is None:
        raise AssertionError("rows with known lines always assemble")
    return parsed


class _SqlReader:
    """Reads statements into rows whose values stand in the order of the schema's columns."""

    def __init__(self, cursor: Cursor, schema: Schema, findings: Findings) -> None:
        self.cursor = cursor
        self.tables = {table.name: table for table in schema.tables}
        self.findings = findings
        self.declared: dict[str, list[str]] = {}
        self.rows: dict[str, list[tuple[Cell, ...]]] = {name: [] for name in self.tables}
        self.lines: dict[str, list[int]] = {name: [] for name in self.tables}
        self._known_places: dict[tuple[str, ...], list[tuple[int, Column]]] = {}

    def read(self) -> None:
        cursor = self.cursor
        while cursor.token.kind != "end":
            if cursor.take(";"):
                continue
            if any(cursor.at(word) for word in _PASSED_OVER) or cursor.at("CREATE", "DATABASE"):
                cursor.skip_statement()
            elif cursor.take("CREATE", "TABLE"):
                self._create()
            elif cursor.take("INSERT", "INTO"):
                self._insert()
            else:
                cursor.fail("CREATE TABLE or INSERT INTO")

    def _table_name(self) -> str:
        name = self.cursor.name("a table's name")
        while self.cursor.take("."):  # a database's name before it
            name = self.cursor.name("a table's name")
        return name

    def _create(self) -> None:
        cursor = self.cursor
        cursor.take("IF", "NOT", "EXISTS")
        name = self._table_name()
        cursor.expect("(")
        columns: list[str] = []
        while True:
            if cursor.at("PRIMARY", "KEY") or any(
                cursor.at(word) for word in ("KEY", "UNIQUE", "FOREIGN", "CONSTRAINT", "CHECK")
            ):
                self._skip_definition()
            else:
                columns.append(cursor.name("a column's name"))
                self._skip_definition()
            if not cursor.take(","):
                break
        cursor.expect(")")
        cursor.skip_statement()
        self.declared[name] = columns

    def _skip_definition(self) -> None:
        """Pass over a column's type, or a key, up to the ``,`` or ``)`` that ends it."""
        cursor = self.cursor
        while not cursor.at(",") and not cursor.at(")"):
            if cursor.at("("):
                cursor.skip_parenthesised()
            elif cursor.token.kind == "end" or cursor.at(";"):
                cursor.fail("')' at the end of CREATE TABLE")
            else:
                cursor.skip()

    def _insert(self) -> None:
        cursor = self.cursor
        line = cursor.line
        name = self._table_name()
        table = self.tables.get(name)
        if cursor.take("("):
            names = [cursor.name("a column's name")]
            while cursor.take(","):
                names.append(cursor.name("a column's name"))
            cursor.expect(")")
        else:
            names = self.declared.get(name) or list(table.column_names if table else ())
        cursor.expect("VALUES")
        if table is None:
            self.findings.add(line, f"there is an unknown table '{name}'", "passed over")
            cursor.skip_statement()
            return
        places = self._places(names, table, line)
        while True:
            self._row(table, places, len(names))
            if not cursor.take(","):
                break
        if cursor.token.kind != "end":
            cursor.expect(";")

    def _places(self, names: list[str], table: TableSchema, line: int) -> list[tuple[int, Column]]:
        """Return where in a row of `names` each of the table's columns stands."""
        known = self._known_places.get((table.name, *names))
        if known is not None:
            return known
        where = f"table '{table.name}'"
        aligned = align(names, table.column_names, where, line, self.findings)
        missing = [name for name in table.column_names if name not in aligned]
        if missing:
            raise ParseError(
                self.cursor.file, line, f"{where} lacks {missing}; its columns here are {names}"
            )
        places = [(aligned.index(column.name), column) for column in table.columns]
        self._known_places[(table.name, *names)] = places
        return places

    def _row(self, table: TableSchema, places: list[tuple[int, Column]], width: int) -> None:
        cursor = self.cursor
        cursor.expect("(")
        line = cursor.line
        values = [cursor.value()]
        while cursor.take(","):
            values.append(cursor.value())
        if len(values) != width:
            raise ParseError(
                cursor.file,
                line,
                f"a row of '{table.name}' has {counted(len(values), 'value')}; expected {width}",
            )
        cursor.expect(")")
        cells = tuple(to_cell(values[i], column, line, self.findings) for i, column in places)
        self.rows[table.name].append(cells)
        self.lines[table.name].append(line)


# --- writing --------------------------------------------------------------------------------

_TYPES = {"text": "VARCHAR(255)", "float": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN"}
_LONGEST_TEXT = 255
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "''", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\x1a": "\\Z"}
)


def render_sql(situation: Situation) -> str:
    """Return the script that makes `situation` in MySQL or MariaDB, in their default SQL mode.

    Floats are written so that they are read back bit for bit (columns are DOUBLE: the release's
    FLOAT keeps seven digits), names compare by code point, and single quotes hold the strings,
    which ``ANSI_QUOTES`` does not change.

    Raises
    ------
    DataError
        A value that no MySQL column of these types holds: an infinity, or a text of more than 255
        characters in a key.
    """
    parts = [_create_table(situation[table.name]) for table in situation.schema.tables]
    parts.append("")
    for table in situation.schema.tables:
        names = ", ".join(_identifier(name) for name in table.column_names)
        head = f"INSERT INTO {_identifier(table.name)}({names}) VALUES ("  # noqa: S608 (a script, not run here)
        columns = [
            [_literal(value, column) for value in situation[table.name][column.name].tolist()]
            for column in table.columns
        ]
        parts += [f"{head}{', '.join(row)});" for row in zip(*columns, strict=True)]
    return "\n".join(parts) + "\n"


def _create_table(table: Table) -> str:
    schema = table.schema
    columns = "".join(f"{_identifier(c.name)} {_type(table, c)}, " for c in schema.columns)
    key = ", ".join(_identifier(name) for name in schema.key)
    return (
        f"CREATE TABLE {_identifier(schema.name)}({columns}PRIMARY KEY ({key})) "
        "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;"
    )


def _type(table: Table, column: Column) -> str:
    """Return a column's type: texts that ``VARCHAR(255)`` has no room for are ``LONGTEXT``."""
    if column.stored != "text":
        return _TYPES[column.stored]
    longest = max(map(len, table[column.name].tolist()), default=0)
    if longest <= _LONGEST_TEXT:
        return _TYPES["text"]
    if column.name in table.schema.key:
        raise DataError(
            f"Column '{column.name}' of '{table.schema.name}' holds a text of {longest} "
            f"characters; the key of a MySQL table has room for {_LONGEST_TEXT}."
        )
    return "LONGTEXT"


def _identifier(name: str) -> str:
    from sqlglot.dialects.mysql import MySQL

    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    if plain and name.lower() not in MySQL.Generator.RESERVED_KEYWORDS:
        return name
    return quoted(name, "`")


def _literal(value: Cell, column: Column) -> str:
    if isinstance(value, str):
        return f"'{value.translate(_ESCAPES)}'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "NULL"
        raise DataError(f"Column '{column.name}' holds {value}, which MySQL cannot store.")
    return repr(value)
