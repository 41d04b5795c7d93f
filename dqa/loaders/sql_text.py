"""Situations from and to SQL scripts of the kind the DQA release holds.

A script is data: ``CREATE TABLE`` and ``INSERT INTO ... VALUES`` are read by the scenario's
schema, and nothing is executed. Scripts whose rows stand one ``INSERT`` a line are read by one
regular expression a table; every other spelling, and every fault, by the tokenizer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
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
_FIRST_INSERT = re.compile(r"\nINSERT ")
_BLANK_LINE = re.compile(r"\n\s*?(?=\n)")


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


# --- one regular expression a table ---------------------------------------------------------


def _fast(text: str, schema: Schema, file: Path) -> Parsed | None:
    """Read a script that is wholly of the release's form, or return None."""
    body = f"\n{text}\n".replace("\r\n", "\n") if "\r" in text else f"\n{text}\n"
    first = _FIRST_INSERT.search(body)
    if first is None:
        return None
    findings = Findings(file)
    reader = _SqlReader(Cursor(body[1 : first.start() + 1], SQL, file), schema, findings)
    reader.read()
    if any(reader.rows.values()):
        return None
    sink = RowSink({})
    read = 0
    for table in schema.tables:
        rows = _fast_table(body, first.start(), table, sink, findings)
        if rows is None:
            return None
        if not rows and table.name not in reader.declared:
            return None
        read += rows
    # Every row is one whole line, so equal counts mean that nothing was passed over.
    lines = body.count("\n", first.start()) - 1
    if read != lines and read != lines - len(_BLANK_LINE.findall(body, first.start())):
        return None
    return assemble(schema, sink, findings)


def _fast_table(
    body: str, start: int, table: TableSchema, sink: RowSink, findings: Findings
) -> int | None:
    """Read a table's rows into `sink` and count them; None where it takes the tokenizer."""
    sample = re.compile(
        rf"\n(INSERT INTO `?{re.escape(table.name)}`? ?\(([^()\n'\"]*)\) VALUES )\(([^\n]*)"  # noqa: S608 (it reads a script, and runs nothing)
    ).search(body, start)
    if sample is None:
        sink.columns[table.name] = dict.fromkeys(table.column_names, ())
        return 0
    names = [name.strip(" `") for name in sample[2].split(",")]
    line = body.count("\n", 0, sample.start()) + 1
    aligned = align(names, table.column_names, f"table '{table.name}'", line, findings)
    if None in aligned or len(aligned) != len(table.columns):
        return None
    columns = [table.column(name) for name in aligned if name is not None]
    if len(columns) == 1:
        return None
    quote = '"' if '"' in sample[3] and sample[3].find("'") < 0 else "'"
    reader = ColumnReader(SQL, quote, findings)
    rows = _rows_alike(body, sample, columns, reader) or _rows_by_pattern(
        body, sample, columns, reader
    )
    if rows is None:
        return None
    sink.columns[table.name] = rows
    return len(next(iter(rows.values())))


def _rows_alike(
    body: str, sample: re.Match[str], columns: Sequence[Column], reader: ColumnReader
) -> dict[str, Sequence[Any]] | None:
    """Read rows that are written like the first one, cell by cell at C speed; None for others.

    What stands between two rows becomes a cell that no other can be, so a row of too few or too
    many cells moves it from where it has to be.
    """
    opening, start = f"\n{sample[1]}(", sample.start()
    begin = start + len(opening)
    end = body.find(");\n", body.rfind(opening))
    if end < 0:
        return None
    block = body[begin:end]
    between = ", " if ", " in sample[3] else ","
    mark = f"{between}\n{between}"
    if block.count("\n") == block.count(f");{opening}"):
        rows = block.replace(f");{opening}", mark)
    else:  # other tables' rows stand among them
        rows = mark.join(re.findall(rf"{re.escape(opening)}(.*)\);(?=\n)", body[start:]))
    cells = rows.split(between)
    width = len(columns) + 1
    count, left = divmod(len(cells) + 1, width)
    if left or cells[width - 1 :: width] != ["\n"] * (count - 1):
        return None
    converted: dict[str, Sequence[Any]] = {}
    for place, column in enumerate(columns):
        values = reader.convert_cells(cells[place::width], column)
        if values is None:
            return None
        converted[column.name] = values
    return converted


def _rows_by_pattern(
    body: str, sample: re.Match[str], columns: Sequence[Column], reader: ColumnReader
) -> dict[str, Sequence[Any]] | None:
    """Read rows by one regular expression; None where it takes the tokenizer."""
    start = sample.start()
    cells = ", *".join(map(reader.pattern, columns))
    pattern = re.compile(rf"\n{re.escape(sample[1])}\( *{cells} *\);(?=\n)")
    rows = pattern.findall(body, start)
    if not rows:
        return None

    def line_of(row: int) -> int:
        match = next(islice(pattern.finditer(body, start), row, None))
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
    if column.type != "text":
        return _TYPES[column.type]
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
