"""Read situations from the SQL and Cypher scripts of the DQA release.

SQLite executes the statements of an SQL script in memory. SQLite may only create, fill and read
tables, and receives only quoted names and encoded literals. Regular expressions read the statements
of a Cypher script. Each expression can match a text in only one way, so a failed match also takes
linear time.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, TypeVar

from dqa.core.errors import DataError, ParseError
from dqa.core.question_set import Defect
from dqa.core.schema import quoted
from dqa.core.situation import (
    Cell,
    Column,
    EdgeSchema,
    NodeSchema,
    Schema,
    Situation,
    Table,
    TableSchema,
)
from dqa.core.text import shortened

_STRING = r"""(?:'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*")"""
_QUOTED_NAME = r"`(?:[^`]|``)+`"
_NAME = rf"(?:{_QUOTED_NAME}|\w+)"
_OPEN = r"(?:['\"`]|/\*).*"  # an open quote or comment
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_LITERAL = rf"(?:{_STRING}|(?:{_NUMBER}|true|false|null)(?!\w))"
_PAIR = rf"{_NAME}\s*:\s*{_LITERAL}"
_MAP = rf"(?:\{{\s*((?:{_PAIR}(?:\s*,\s*{_PAIR})*\s*)?)\}}\s*)?"
_NODE = rf"\(\s*(?:({_NAME})\s*)?:\s*({_NAME})\s*{_MAP}\)\s*"
_END = rf"\(\s*({_NAME})\s*\)\s*"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_COMMENT = _pattern(rf"(?:--|\#|//)[^\n]*|/\*.*?\*/|({_STRING}|{_QUOTED_NAME}|{_OPEN})")
# An open quote or comment starts a statement of its own, which cannot be read.
_STATEMENT = _pattern(rf"(?:[^;'\"`/]+|/(?!\*)|{_STRING}|{_QUOTED_NAME})+|{_OPEN}")
_IGNORED = _pattern(
    r"(?:(?:SET|USE|START|BEGIN|COMMIT|LOCK|UNLOCK|DROP|CREATE\s+(?:DATABASE|INDEX|CONSTRAINT))\b"
    r".*)?"
)
_TARGET = rf"(?:{_NAME}\s*\.\s*)*({_NAME})\s*"
_TABLE = _pattern(rf"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_TARGET}(\(.*)")
_PART = _pattern(rf"{_STRING}|{_NAME}|\S")
_COLUMN = _pattern(
    rf"(?!(?:PRIMARY|UNIQUE|KEY|INDEX|FULLTEXT|SPATIAL|CONSTRAINT|FOREIGN|CHECK)\b){_NAME}"
)
_INSERT = _pattern(
    rf"INSERT\s+INTO\s+{_TARGET}\(\s*({_NAME}(?:\s*,\s*{_NAME})*)\s*\)\s*VALUES(?!\w)(.*)"
)
_VALUE = _pattern(rf"({_LITERAL})|[^\s(),]")
_CREATE_NODE = _pattern(rf"CREATE\s*{_NODE}")
_CREATE_EDGE = _pattern(
    rf"MATCH\s*{_NODE},\s*{_NODE}CREATE\s*{_END}-\s*\[\s*(?:{_NAME}\s*)?:\s*({_NAME})\s*"
    rf"{_MAP}\]\s*->\s*{_END}"
)
_PROPERTIES = _pattern(rf"({_NAME})\s*:\s*({_LITERAL})")

_ESCAPES = {"b": "\b", "n": "\n", "r": "\r", "t": "\t"}
# In MySQL, the texts \% and \_ keep their backslash, because they are escapes only in LIKE.
_SQL_ESCAPES = _ESCAPES | {"0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_CYPHER_ESCAPES = _ESCAPES | {"f": "\f"}
_SQL_ESCAPE = {quote: _pattern(rf"\\(.)|{quote}{quote}") for quote in "'\""}
_CYPHER_ESCAPE = _pattern(r"\\(?:u([0-9a-f]{4})|(.))")
_READ: Mapping[str, Callable[[str], Cell]] = {
    "boolean": {"true": True, "false": False, "1": True, "0": False}.__getitem__,
    "float": lambda text: float("nan" if text == "null" else text),
    "integer": int,
}
_Known = TypeVar("_Known")
_SHOWN = 60
_ALLOWED = {
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_UPDATE,
}
"""The actions that SQLite may take. CREATE TABLE needs UPDATE, which changes SQLite's list of
tables."""
_MOST_PAGES = 2**18
"""The maximum size of the SQLite database, in pages of 4 KiB: 1 GiB."""


class Parsed(NamedTuple):
    """The content of a database file, and its defects."""

    situation: Situation
    defects: tuple[Defect, ...]


def parse_sql(text: str, schema: Schema, file: Path) -> Parsed:
    """Read a script of ``CREATE TABLE`` and ``INSERT`` statements as a situation.

    Parameters
    ----------
    text
        The script.
    schema
        The tables and columns that the script must fill.
    file
        The script's file, for messages. The situation has the name of the file without its ending.

    Raises
    ------
    ParseError
        A statement cannot be read, or a table is missing. The error names the statement.
    """
    script = _Script(schema, file, _sql_text)
    inserted: dict[bytes, list[str]] = {}
    try:
        with closing(_sqlite()) as database:
            for statement in script.read(text):
                if (table := _TABLE.fullmatch(statement)) is not None:
                    create = _create(script, table)
                    if _is_known(script, table[1]):
                        database.execute(create)
                elif (insert := _INSERT.fullmatch(statement)) is not None:
                    filled = _insert(script, insert)
                    if _is_known(script, insert[1]):
                        count = database.execute(filled).rowcount
                        inserted.setdefault(_key(insert[1]), []).extend([statement] * count)
                elif not _IGNORED.fullmatch(statement):
                    raise script.error("expected CREATE TABLE or INSERT INTO table VALUES")
            for name in (table_schema.name for table_schema in schema.tables):
                select = f"SELECT * FROM {_sqlite_name(name)}"  # noqa: S608  (a quoted name)
                script.statements.append(select)
                _add_rows(script, name, database.execute(select), inserted)
    except (sqlite3.Error, UnicodeError) as error:  # half a surrogate pair is no text
        # A table that is missing may be there under a misspelt name.
        ignored = [f"; {problem}" for problem, action in script.defects if action == "ignored"]
        raise script.error(f"SQLite reports: {error}{''.join(ignored)}") from error
    return script.parsed(ordered=False)


def _is_known(script: _Script, name: str) -> bool:
    """Return whether a table is in the schema. If not, report it."""
    if _key(name) in {_key(table.name) for table in script.schema.tables}:
        return True
    script.add_defect(f"there is an unknown table '{_unquoted(name)}'", "ignored")
    return False


def _sqlite() -> sqlite3.Connection:
    """Open a database in memory that can only create, fill and read tables."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute(f"PRAGMA max_page_count = {_MOST_PAGES}")
    ok, deny = sqlite3.SQLITE_OK, sqlite3.SQLITE_DENY
    database.set_authorizer(lambda action, *_: ok if action in _ALLOWED else deny)
    return database


def _create(script: _Script, table: re.Match[str]) -> str:
    """Return a statement that creates a table without types, defaults, keys and checks.

    Therefore no expression reaches SQLite, and a repeated row is a defect instead of an error.
    """
    names: list[str] = []
    depth, before = 0, ""
    for part in _PART.findall(table[2]):
        if depth == 1 and before in "(," and _COLUMN.fullmatch(part):
            names.append(_sqlite_name(part))
        depth += (part == "(") - (part == ")")
        if depth == 0:
            return f"CREATE TABLE {_sqlite_name(table[1])} ({', '.join(names)})"
        before = part
    raise script.error("expected CREATE TABLE table (columns)")


def _insert(script: _Script, insert: re.Match[str]) -> str:
    """Return a statement that inserts the text of each literal as bytes.

    SQLite does not convert bytes.
    """

    def cell(value: re.Match[str]) -> str:
        if value[1] is None:
            raise script.error(
                "expected rows (...) of quoted strings, numbers, TRUE, FALSE and NULL"
            )
        return f"x'{value[1].encode().hex()}'"

    name, listed, values = insert.groups()
    columns = ", ".join(map(_sqlite_name, re.findall(_NAME, listed)))
    cells = _VALUE.sub(cell, values)
    return f"INSERT INTO {_sqlite_name(name)} ({columns}) VALUES {cells}"  # noqa: S608  (quoted)


def _sqlite_name(name: str) -> str:
    return quoted(_unquoted(name), '"')


def _key(name: str) -> bytes:
    """Return a table's name without quotes and, for ASCII letters, in lower case."""
    return _unquoted(name).encode().lower()


def _add_rows(
    script: _Script, name: str, rows: sqlite3.Cursor, inserted: Mapping[bytes, Sequence[str]]
) -> None:
    """Add the rows of a table. `inserted` maps a table to the statements of its rows."""
    columns, wanted = [column for column, *_ in rows.description], script.schema.table(name)
    names = script.aligned(f"table '{name}'", tuple(columns), wanted.column_names)
    named = dict(zip(columns, names, strict=True))
    _require(script, wanted, named)
    for row, statement in zip(rows, inserted.get(_key(name), ()), strict=True):
        script.statements.append(statement)
        # Each literal is bytes, also NULL. None is a column that the INSERT leaves out.
        cells = {key: cell for key, cell in zip(columns, row, strict=True) if cell is not None}
        _require(script, wanted, {column: named[column] for column in cells})
        script.add(name, {named[column]: cell.decode() for column, cell in cells.items()})


def _require(script: _Script, table: TableSchema, named: Mapping[str, str | None]) -> None:
    """Require all columns of a table. `named` maps the script's columns to the schema's."""
    if missing := {*table.column_names}.difference(named.values()):
        problem = f"table '{table.name}' lacks {sorted(missing)}; its columns are {[*named]}"
        raise script.error(problem)


def parse_cypher(text: str, schema: Schema, file: Path) -> Parsed:
    """Read a script of ``CREATE`` and ``MATCH ... CREATE`` statements as a situation.

    The parameters and errors are those of `parse_sql`.
    """
    script = _Script(schema, file, _cypher_text)
    nodes = {node.label: node for node in schema.nodes}
    for statement in script.read(text):
        if (node := _CREATE_NODE.fullmatch(statement)) is not None:
            script.add_part(script.find(_unquoted(node[2]), nodes), node[3], {})
        elif (edge := _CREATE_EDGE.fullmatch(statement)) is not None:
            _add_edge(script, edge, nodes)
        elif not _IGNORED.fullmatch(statement):
            raise script.error("expected CREATE (:Label {...}) or MATCH ... CREATE ()-[:TYPE]->()")
    if not script.rows:
        raise ParseError(
            file, None, f"expected CREATE of a {schema.nodes[0].label} or another node"
        )
    return script.parsed(ordered=True)


def _add_edge(script: _Script, found: re.Match[str], nodes: Mapping[str, NodeSchema]) -> None:
    """Add the row of an edge between two nodes that the statement matches by their keys."""
    *matched, left, label, body, right = found.groups()
    keys: dict[str, tuple[str, str]] = {}
    for variable, node_label, text in (matched[:3], matched[3:]):
        node, properties = script.find(_unquoted(node_label), nodes), _map(text)
        if [*properties] != [node.key]:
            raise script.error(f"expected MATCH of a {node.label} by its key '{node.key}'")
        keys[_unquoted(variable or "")] = node.label, properties[node.key]
    source, source_key = script.find(_unquoted(left), keys)
    target, target_key = script.find(_unquoted(right), keys)
    edges = {f"(:{e.source[0]})-[:{e.label}]->(:{e.target[0]})": e for e in script.schema.edges}
    edge = script.find(f"(:{source})-[:{_unquoted(label)}]->(:{target})", edges)
    script.add_part(edge, body, {edge.source[1]: source_key, edge.target[1]: target_key})


def _map(text: str | None) -> dict[str, str]:
    """Return the literals of a property map by name."""
    return {_unquoted(name): literal for name, literal in _PROPERTIES.findall(text or "")}


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _sql_text(literal: str) -> str:
    quote = literal[0]  # a doubled quote of the other kind is two characters
    return _SQL_ESCAPE[quote].sub(
        lambda m: _SQL_ESCAPES.get(m[1], m[1]) if m[1] else quote, literal[1:-1]
    )


def _cypher_text(literal: str) -> str:
    text = _CYPHER_ESCAPE.sub(
        lambda m: chr(int(m[1], 16)) if m[1] else _CYPHER_ESCAPES.get(m[2], m[2]), literal[1:-1]
    )
    # A character above U+FFFF is two escapes. One of them alone raises UnicodeDecodeError.
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


class _Script:
    """Collects the rows of a script, and returns them as a situation.

    Attributes
    ----------
    statements
        The statements of the rows. The last one is the current statement.
    rows
        The rows, by table and key. Each row contains the index of its statement in `statements`,
        and the cells.
    defects
        The statements with a defect, by the problem and the action that is taken.
    """

    def __init__(self, schema: Schema, file: Path, unescape: Callable[[str], str]) -> None:
        self.schema, self.file, self._unescape = schema, file, unescape
        self.statements: list[str] = []
        self.rows: dict[str, dict[tuple[Cell, ...], tuple[int, list[Cell]]]] = {}
        self.defects: dict[tuple[str, str], list[str]] = {}
        self._aligned: dict[tuple[str, tuple[str, ...]], tuple[str | None, ...]] = {}

    def read(self, text: str) -> Iterator[str]:
        """Make each statement of a script the current statement, and yield it."""
        if re.search(r"--|#|//|/\*", text):
            text = _COMMENT.sub(lambda m: m[1] or " ", text)
        for match in _STATEMENT.finditer(text):
            self.statements.append(match[0].strip())
            yield self.statements[-1]

    def error(self, problem: str) -> ParseError:
        """Return an error whose message shows the current statement."""
        shown = shortened(self.statements[-1], _SHOWN)
        return ParseError(self.file, None, f"{problem}, in {shown!r}")

    def add_defect(self, problem: str, action: str, statement: str | None = None) -> None:
        """Add a defect of a statement, by default the current one.

        Several defects of the same kind are reported as one.
        """
        found = self.defects.setdefault((problem, action), [])
        found.append(self.statements[-1] if statement is None else statement)

    # --- rows ---

    def find(self, name: str, known: Mapping[str, _Known]) -> _Known:
        """Return the value of a name in `known`. Raise `ParseError` if the name is unknown."""
        if name not in known:
            raise self.error(f"{name} is unknown; expected one of {', '.join(known)}")
        return known[name]

    def add(self, name: str, literals: Mapping[str | None, str]) -> None:
        """Add a row with literals by column to a table. Report a key that occurs twice.

        A missing literal is NULL.
        """
        table = self.schema.table(name)
        row = [self._value(literals.get(c.name, "NULL"), c) for c in table.columns]
        key = tuple([row[table.column_names.index(column)] for column in table.key])
        rows = self.rows.setdefault(name, {})
        if rows.setdefault(key, (len(self.statements) - 1, row))[1] is not row:
            problem = f"'{name}' repeats the key {', '.join(table.key)}"
            self.add_defect(problem, "the first row is used")

    def add_part(
        self, part: NodeSchema | EdgeSchema, body: str | None, ends: Mapping[str | None, str]
    ) -> None:
        """Add the row of a node or an edge. The row of an edge contains the keys of its `ends`."""
        columns, literals = dict(part.properties), _map(body)
        names = self.aligned(f"'{part.label}'", tuple(literals), tuple(columns))
        cells = dict(ends)
        for name, literal in zip(names, literals.values(), strict=True):
            if name is not None:
                cells[columns[name]] = literal
        self.add(part.table, cells)

    def aligned(
        self, where: str, names: tuple[str, ...], wanted: Sequence[str]
    ) -> tuple[str | None, ...]:
        """Return, for each name in a script, the name in the schema.

        A misspelt name (``has_has_merchant``) becomes the most similar schema name that the script
        lacks. Any other unknown name becomes None.
        """
        if (where, names) not in self._aligned:
            missing = [name for name in wanted if name not in names]
            found: list[str | None] = []
            for name in names:
                close = [name] if name in wanted else get_close_matches(name, missing, n=1)
                found.append(close[0] if close and close[0] not in found else None)
                if not close:
                    self.add_defect(f"{where} has an unknown '{name}'", "ignored")
                elif close != [name]:
                    self.add_defect(f"{where} misspells '{close[0]}' as '{name}'", "read as meant")
            self._aligned[where, names] = tuple(found)
        return self._aligned[where, names]

    def _value(self, text: str, column: Column) -> Cell:
        """Convert a literal to a column's type.

        If a number or truth value is in quotes, report this.
        """
        stored, is_quoted = column.stored, text[0] in "'\""
        try:
            plain = self._unescape(text) if is_quoted else text
            if is_quoted and stored == "text":
                return plain
            value = _READ[stored](plain.strip().lower())
        except (KeyError, ValueError):
            raise self.error(f"column '{column.name}' contains {text}; expected {stored}") from None
        if is_quoted:
            problem = f"column '{column.name}' contains text instead of {stored} values"
            self.add_defect(problem, f"read as {stored}")
        return value

    # --- the situation ---

    def parsed(self, *, ordered: bool) -> Parsed:
        """Return the situation of the rows, and the defects.

        Edges of missing nodes are left out and reported. With `ordered`, edges that the script
        creates before their nodes are left out and reported, too.
        """
        for edge in self.schema.edges:
            for label, column in (edge.source, edge.target):
                self._drop_edges(edge, column, self.schema.node(label), ordered=ordered)
        for node in self.schema.nodes:
            if not self.rows.get(node.table):
                self.add_defect(f"table '{node.table}' has no rows", "read as an empty table", "")
        try:
            tables = {
                table.name: Table.from_rows(
                    table, [row for _, row in self.rows.get(table.name, {}).values()]
                )
                for table in self.schema.tables
            }
            return Parsed(Situation(self.schema, self.file.stem, tables), self._reported())
        except DataError as error:
            raise ParseError(self.file, None, str(error)) from error

    def _drop_edges(
        self, edge: EdgeSchema, column: str, node: NodeSchema, *, ordered: bool
    ) -> None:
        """Drop the edges whose node in `column` is missing."""
        key = self.schema.table(node.table).column_names.index(node.key_column)
        end = self.schema.table(edge.table).column_names.index(column)
        created: dict[Cell, int] = {}
        for index, row in self.rows.get(node.table, {}).values():
            created.setdefault(row[key], index)
        edges = self.rows.get(edge.table, {})
        for edge_key, (index, row) in [*edges.items()]:
            if row[end] not in created or (ordered and created[row[end]] > index):
                problem = f"'{edge.table}' refers to a {node.table} that does not exist"
                self.add_defect(problem, "these rows are left out", self.statements[index])
                del edges[edge_key]

    def _reported(self) -> tuple[Defect, ...]:
        found: list[Defect] = []
        first = {statements[0] for statements in self.defects.values()}
        shown = {statement: shortened(statement, _SHOWN) for statement in first}
        for (problem, action), statements in self.defects.items():
            many = "" if len(statements) == 1 else f" (in {len(statements)} places)"
            found.append(Defect(self.file, f"{problem}{many}", action, shown[statements[0]]))
        return tuple(found)
