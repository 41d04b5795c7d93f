"""Read situations from the SQL and Cypher scripts of the DQA release.

Regular expressions find the rows in both languages, and `_Script` converts them. No statement is
executed, so a script can only provide data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, TypeVar

from dqa.core.errors import DataError, ParseError
from dqa.core.question_set import Defect
from dqa.core.situation import Cell, Column, EdgeSchema, NodeSchema, Schema, Situation, Table
from dqa.core.text import counted, shortened

_STRING = r"""(?:'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*")"""
_NAME = r"(?:`(?:[^`]|``)+`|\w+)"
_LITERAL = (
    rf"(?:{_STRING}|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)|(?:true|false|null)(?!\w))"
)
_PAIR = rf"{_NAME}\s*:\s*{_LITERAL}"
_MAP = rf"(?:\{{\s*((?:{_PAIR}(?:\s*,\s*{_PAIR})*)?)\s*\}}\s*)?"
_NODE = rf"\(\s*({_NAME})?\s*:\s*({_NAME})\s*{_MAP}\)\s*"
_END = rf"\(\s*({_NAME})\s*\)\s*"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_COMMENT = _pattern(rf"({_STRING}|`[^`]*`)|(?:--|\#|//)[^\n]*|/\*.*?\*/")
_STATEMENT = _pattern(rf"(?:[^;'\"`]+|{_STRING}|`[^`]*`)+")
_IGNORED = _pattern(
    r"\s*(?:(?:SET|USE|START|BEGIN|COMMIT|LOCK|UNLOCK|DROP|CREATE\s+(?:DATABASE|INDEX|CONSTRAINT))\b"
    r".*)?"
)
_TABLE = _pattern(
    rf"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:{_NAME}\s*\.\s*)*({_NAME})\s*\(.*"
)
_INSERT = _pattern(
    rf"\s*INSERT\s+INTO\s+(?:{_NAME}\s*\.\s*)*({_NAME})\s*"
    rf"\(\s*({_NAME}(?:\s*,\s*{_NAME})*)\s*\)\s*VALUES(?!\w)"
)
_ROW = _pattern(rf"\s*\(\s*({_LITERAL}(?:\s*,\s*{_LITERAL})*)\s*\)\s*(?:,\s*(?=\()|\Z)")
_LITERALS = _pattern(_LITERAL)
_CREATE_NODE = _pattern(rf"\s*CREATE\s*{_NODE}")
_CREATE_EDGE = _pattern(
    rf"\s*MATCH\s*{_NODE},\s*{_NODE}CREATE\s*{_END}-\s*\[\s*(?:{_NAME})?\s*:\s*({_NAME})\s*"
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
_Part = TypeVar("_Part", NodeSchema, EdgeSchema)
_SHOWN = 60


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
        A statement cannot be read, or a table is missing. The error names the line and the
        statement.
    """
    script = _Script(text, schema, file, _sql_text)
    for start, statement in script.statements():
        if (insert := _INSERT.match(statement)) is not None:
            _add_rows(script, insert, start)
        elif (table := _TABLE.fullmatch(statement)) is not None:
            script.rows.setdefault(_unquoted(table[1]), {})
        elif not _IGNORED.fullmatch(statement):
            raise script.wrong(
                start, statement, "CREATE TABLE or INSERT INTO table(columns) VALUES"
            )
    for table_schema in schema.tables:
        if table_schema.name not in script.rows:
            created = f"{table_schema.name}({', '.join(table_schema.column_names)})"
            problem = f"table '{table_schema.name}' is missing; expected CREATE TABLE {created}"
            raise ParseError(file, None, problem)
    return script.parsed(ordered=False)


def _add_rows(script: _Script, insert: re.Match[str], start: int) -> None:
    """Add the rows of an INSERT. If the table is unknown, only report the table."""
    name, statement, position = _unquoted(insert[1]), insert.string, insert.end()
    if name not in (table.name for table in script.schema.tables):
        script.add_defect(start, f"there is an unknown table '{name}'", "ignored")
        return
    wanted, listed = script.schema.table(name).column_names, re.findall(_NAME, insert[2])
    names = script.aligned(f"table '{name}'", tuple(map(_unquoted, listed)), wanted, start)
    missing = [column for column in wanted if column not in names]
    if missing:
        raise script.error(start, f"table '{name}' lacks {missing}; its columns are {listed}")
    while row := _ROW.match(statement, position):
        cells = _LITERALS.findall(row[1])
        if len(cells) != len(names):
            problem = f"a row of '{name}' has {counted(len(cells), 'value')}"
            raise script.error(start + position, f"{problem}; expected {len(names)}")
        script.add(name, dict(zip(names, cells, strict=True)), start + position)
        position = row.end()
        if position == len(statement):
            return
    expected = "(...) of quoted strings, numbers, TRUE, FALSE and NULL"
    raise script.wrong(start + position, statement[position:], expected)


def parse_cypher(text: str, schema: Schema, file: Path) -> Parsed:
    """Read a script of ``CREATE`` and ``MATCH ... CREATE`` statements as a situation.

    The parameters and errors are those of `parse_sql`.
    """
    script = _Script(text, schema, file, _cypher_text)
    nodes = {f"label '{node.label}'": node for node in schema.nodes}
    for start, statement in script.statements():
        if (node := _CREATE_NODE.fullmatch(statement)) is not None:
            part = script.part(f"label '{_unquoted(node[2])}'", nodes, start)
            script.add_part(part, node[3], {}, start)
        elif (edge := _CREATE_EDGE.fullmatch(statement)) is not None:
            _add_edge(script, edge, nodes, start)
        elif not _IGNORED.fullmatch(statement):
            expected = "CREATE (:Label {...}) or MATCH ... CREATE (a)-[:TYPE {...}]->(b)"
            raise script.wrong(start, statement, expected)
    if not script.rows:
        raise ParseError(
            file,
            None,
            f"the script creates no nodes; expected CREATE of a {schema.nodes[0].label} or "
            "another node",
        )
    return script.parsed(ordered=True)


def _add_edge(
    script: _Script, found: re.Match[str], nodes: Mapping[str, NodeSchema], start: int
) -> None:
    """Add the row of an edge between two nodes that the statement matches by their keys."""
    *matched, left, label, body, right = found.groups()
    keys: dict[str, tuple[str, str]] = {}
    for variable, node_label, text in (matched[:3], matched[3:]):
        node, properties = script.part(f"label '{_unquoted(node_label)}'", nodes, start), _map(text)
        if [*properties] != [node.key]:
            problem = (
                f"MATCH finds a {node.label} by {[*properties]}; expected its key '{node.key}'"
            )
            raise script.error(start, problem)
        keys[_unquoted(variable or "")] = node.label, properties[node.key]
    ends = _unquoted(left), _unquoted(right)
    for variable in ends:
        if variable not in keys:
            raise script.error(start, f"'{variable}' is not bound by the MATCH before it")
    (source, source_key), (target, target_key) = (keys[variable] for variable in ends)
    edges = {f"(:{e.source[0]})-[:{e.label}]->(:{e.target[0]})": e for e in script.schema.edges}
    edge = script.part(f"(:{source})-[:{_unquoted(label)}]->(:{target})", edges, start)
    script.add_part(edge, body, {edge.source[1]: source_key, edge.target[1]: target_key}, start)


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
    return _CYPHER_ESCAPE.sub(
        lambda m: chr(int(m[1], 16)) if m[1] else _CYPHER_ESCAPES.get(m[2], m[2]), literal[1:-1]
    )


class _Script:
    """Collects the rows of a script, and returns them as a situation.

    Attributes
    ----------
    rows
        For each table, its rows by key. A row has its offset in the script and its cells.
    """

    def __init__(
        self, text: str, schema: Schema, file: Path, unescape: Callable[[str], str]
    ) -> None:
        if re.search(r"--|#|//|/\*", text):
            text = _COMMENT.sub(lambda m: m[1] or "\n" * m[0].count("\n"), text)
        self.text, self.schema, self.file, self._unescape = text, schema, file, unescape
        self.rows: dict[str, dict[tuple[Cell, ...], tuple[int, list[Cell]]]] = {}
        self._defects: dict[tuple[str, str], list[int | None]] = {}
        self._aligned: dict[tuple[str, tuple[str, ...]], tuple[str | None, ...]] = {}

    def statements(self) -> Iterator[tuple[int, str]]:
        """Yield each statement with its offset."""
        position = 0
        for match in [*_STATEMENT.finditer(self.text), None]:
            start = len(self.text) if match is None else match.start()
            quote = self.text[position:start].strip("; \t\r\n")
            if quote:
                raise self.error(position, f"a string that starts with {quote[0]} is not closed")
            if match is not None:
                position = match.end()
                statement = match[0].lstrip()
                yield position - len(statement), statement

    def _line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def error(self, offset: int, problem: str) -> ParseError:
        """Return an error with the line of an offset."""
        return ParseError(self.file, self._line(offset), problem)

    def wrong(self, offset: int, found: str, expected: str) -> ParseError:
        """Return the error for a statement that cannot be read."""
        shown = shortened(found, _SHOWN) or "nothing"
        return self.error(offset, f"found {shown!r}; expected {expected}")

    def add_defect(self, offset: int | None, problem: str, action: str) -> None:
        """Add a defect. Several defects of the same kind are reported as one."""
        self._defects.setdefault((problem, action), []).append(offset)

    # --- rows ---

    def part(self, found: str, known: Mapping[str, _Part], start: int) -> _Part:
        """Return the schema of a label or relationship. Raise `ParseError` if it is unknown."""
        if found not in known:
            raise self.error(start, f"found {found}; expected one of {', '.join(known)}")
        return known[found]

    def add(self, name: str, literals: Mapping[str | None, str], start: int) -> None:
        """Add a row to a table, given the literals by column. A key that occurs twice is reported.

        A missing literal is NULL.
        """
        table = self.schema.table(name)
        row = [self._value(literals.get(c.name, "NULL"), c, start) for c in table.columns]
        key = tuple([row[table.column_names.index(column)] for column in table.key])
        if self.rows.setdefault(name, {}).setdefault(key, (start, row))[1] is not row:
            problem = f"'{name}' repeats the key {', '.join(table.key)}"
            self.add_defect(start, problem, "the first row is used")

    def add_part(
        self,
        part: NodeSchema | EdgeSchema,
        body: str | None,
        ends: Mapping[str | None, str],
        start: int,
    ) -> None:
        """Add the row of a node or an edge. The row of an edge contains the keys of its `ends`."""
        columns, literals = dict(part.properties), _map(body)
        names = self.aligned(f"'{part.label}'", tuple(literals), tuple(columns), start)
        cells = dict(ends)
        for name, literal in zip(names, literals.values(), strict=True):
            if name is not None:
                cells[columns[name]] = literal
        self.add(part.table, cells, start)

    def aligned(
        self, where: str, names: tuple[str, ...], wanted: Sequence[str], start: int
    ) -> tuple[str | None, ...]:
        """Return, for each name in a script, the name in the schema.

        A misspelt name (``has_has_merchant``) gets the most similar schema name that the script
        lacks. Any other unknown name gets None.
        """
        if (where, names) not in self._aligned:
            missing = [name for name in wanted if name not in names]
            found: list[str | None] = []
            for name in names:
                close = [name] if name in wanted else get_close_matches(name, missing, n=1)
                found.append(close[0] if close and close[0] not in found else None)
                if not close:
                    self.add_defect(start, f"{where} has an unknown '{name}'", "ignored")
                elif close != [name]:
                    problem = f"{where} misspells '{close[0]}' as '{name}'"
                    self.add_defect(start, problem, "read as meant")
            self._aligned[where, names] = tuple(found)
        return self._aligned[where, names]

    def _value(self, text: str, column: Column, start: int) -> Cell:
        """Convert a literal to a column's type.

        If a number or truth value is in quotes, report this.
        """
        stored, is_quoted = column.stored, text[0] in "'\""
        plain = self._unescape(text) if is_quoted else text
        if is_quoted and stored == "text":
            return plain
        try:
            value = _READ[stored](plain.strip().lower())
        except (KeyError, ValueError):
            problem = f"column '{column.name}' contains {text}; expected {stored}"
            raise self.error(start, problem) from None
        if is_quoted:
            problem = f"column '{column.name}' contains text instead of {stored} values"
            self.add_defect(start, problem, f"read as {stored}")
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
                self.add_defect(None, f"table '{node.table}' has no rows", "read as an empty table")
        tables: dict[str, Table] = {}
        try:
            for table in self.schema.tables:
                rows = [row for _, row in self.rows.get(table.name, {}).values()]
                columns = [*map(list, zip(*rows, strict=True))] or [[] for _ in table.columns]
                named = dict(zip(table.column_names, columns, strict=True))
                tables[table.name] = Table(table, named)
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
        for start, row in self.rows.get(node.table, {}).values():
            created.setdefault(row[key], start)
        edges = self.rows.get(edge.table, {})
        for edge_key, (start, row) in [*edges.items()]:
            if row[end] not in created or (ordered and created[row[end]] > start):
                problem = f"'{edge.table}' refers to a {node.table} that does not exist"
                self.add_defect(start, problem, "these rows are left out")
                del edges[edge_key]

    def _reported(self) -> tuple[Defect, ...]:
        """Return the defects in the order of the script."""
        found: list[Defect] = []
        for (problem, action), offsets in self._defects.items():
            line = None if offsets[0] is None else self._line(offsets[0])
            many = "" if len(offsets) == 1 else f" (in {len(offsets)} places)"
            found.append(Defect(self.file, line, f"{problem}{many}", action))
        return tuple(sorted(found, key=lambda defect: (defect.line is None, defect.line or 0)))
