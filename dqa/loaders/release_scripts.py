"""Situations from the SQL and Cypher scripts of the DQA release.

A script is data: patterns read its ``INSERT`` and ``CREATE`` statements, and nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from dqa.core.errors import DataError, ParseError
from dqa.core.question_set import Defect
from dqa.core.situation import Cell, Column, EdgeSchema, NodeSchema, Schema, Situation, Table
from dqa.core.text import counted

_STRING = r"""(?:'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*")"""
_NAME = r"(?:`(?:[^`]|``)+`|\w+)"
_LITERAL = (
    rf"(?:{_STRING}|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)|(?:true|false|null)(?!\w))"
)
_VALUES = rf"{_LITERAL}(?:\s*,\s*{_LITERAL})*"
_PAIR = rf"{_NAME}\s*:\s*{_LITERAL}"
_MAP = rf"(?:\{{\s*((?:{_PAIR}(?:\s*,\s*{_PAIR})*)?)\s*\}}\s*)?"
_NODE = rf"\(\s*({_NAME})?\s*:\s*({_NAME})\s*{_MAP}\)\s*"
_END = rf"\(\s*({_NAME})\s*\)\s*"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_COMMENT = _pattern(rf"({_STRING}|`[^`]*`)|(?:--|\#|//)[^\n]*|/\*.*?\*/")
_STATEMENT = _pattern(rf"(?:[^;'\"`]+|{_STRING}|`[^`]*`)+")
_PASSED_OVER = _pattern(
    r"\s*(?:(?:SET|USE|START|BEGIN|COMMIT|LOCK|UNLOCK|DROP|CREATE\s+(?:DATABASE|INDEX|CONSTRAINT))\b"
    r".*)?"
)
_TABLE = _pattern(
    rf"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:{_NAME}\s*\.\s*)*({_NAME})\s*\((.*)\)[^)]*"
)
_DEFINITION = _pattern(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+")
_INSERT = _pattern(
    rf"\s*INSERT\s+INTO\s+(?:{_NAME}\s*\.\s*)*({_NAME})\s*"
    rf"(?:\(\s*({_NAME}(?:\s*,\s*{_NAME})*)\s*\)\s*)?VALUES(?!\w)"
)
_ROW = _pattern(rf"\s*\(\s*({_VALUES})\s*\)\s*(?:,\s*(?=\()|\Z)")
_CELLS = _pattern(_LITERAL)
_CREATE_NODE = _pattern(rf"\s*CREATE\s*{_NODE}")
_CREATE_EDGE = _pattern(
    rf"\s*MATCH\s*{_NODE},\s*{_NODE}CREATE\s*{_END}(<?)-\s*\[\s*(?:{_NAME})?\s*:\s*({_NAME})\s*"
    rf"{_MAP}\]\s*-(>?)\s*{_END}"
)
_PROPERTIES = _pattern(rf"({_NAME})\s*:\s*({_LITERAL})")

_KEYS = frozenset({"PRIMARY", "KEY", "UNIQUE", "FOREIGN", "CONSTRAINT", "CHECK", "INDEX"})
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
# MySQL keeps the backslash of \% and \_: they only mean something to LIKE.
_SQL_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_SQL_ESCAPES |= {"%": "\\%", "_": "\\_"}
_CYPHER_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
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
        The tables and columns that it has to fill.
    file
        Where it came from: its stem names the situation, and messages name it.

    Raises
    ------
    ParseError
        A statement cannot be read, or a table is missing; names the line and the statement.
    """
    script = _Script(text, schema, file, _sql_text)
    declared: dict[str, list[str]] = {}
    heads: dict[str, _Head | None] = {}
    for start, statement in script.statements():
        before = statement.partition("VALUES")[0]
        if before not in heads and (insert := _INSERT.match(statement)) is not None:
            heads[before] = _head(script, start, insert, declared)
        if before in heads:
            if (head := heads[before]) is not None:
                _add_rows(script, head, start, statement)
        elif (table := _TABLE.fullmatch(statement)) is not None:
            words = [one.split()[0] for one in _DEFINITION.findall(table[2]) if one.strip()]
            declared[_unquoted(table[1])] = [
                _unquoted(one) for one in words if one.upper() not in _KEYS
            ]
        elif not _PASSED_OVER.fullmatch(statement):
            raise script.wrong(start, statement, "CREATE TABLE or INSERT INTO ... VALUES")
    for table_schema in schema.tables:
        name = table_schema.name
        if name not in declared and not script.rows[name]:
            columns = ", ".join(table_schema.column_names)
            problem = f"table '{name}' is missing; expected CREATE TABLE {name}({columns})"
            raise ParseError(file, None, f"{problem} and its rows")
    return script.parsed(ordered=False)


class _Head(NamedTuple):
    """The part of an INSERT before its rows: how many values a row has, and which go where."""

    table: str
    width: int
    places: Sequence[int]
    end: int


def _head(
    script: _Script, start: int, insert: re.Match[str], declared: Mapping[str, list[str]]
) -> _Head | None:
    """Return the head of an INSERT; None for an unknown table, which is reported."""
    name = _unquoted(insert[1])
    if name not in script.rows:
        script.add_defect(start, f"there is an unknown table '{name}'", "passed over")
        return None
    wanted = script.schema.table(name).column_names
    listed = insert[2].split(",") if insert[2] else declared.get(name, wanted)
    names = [_unquoted(one.strip()) for one in listed]
    places = script.aligned((name, *names), wanted, f"table '{name}'", start)
    missing = [name for name, place in zip(wanted, places, strict=True) if place is None]
    if missing:
        raise script.error(start, f"table '{name}' lacks {missing}; its columns here are {names}")
    return _Head(name, len(names), [one for one in places if one is not None], insert.end())


def _add_rows(script: _Script, head: _Head, start: int, statement: str) -> None:
    """Add the rows of an INSERT, whose cells are brought into the order of the schema."""
    position = head.end
    rows, starts = script.rows[head.table], script.starts[head.table]
    while row := _ROW.match(statement, position):
        cells = _CELLS.findall(row[1])
        if len(cells) != head.width:
            problem = f"a row of '{head.table}' has {counted(len(cells), 'value')}"
            raise script.error(start + position, f"{problem}; expected {head.width}")
        rows.append([cells[place] for place in head.places])
        starts.append(start + position)
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
    for start, statement in script.statements():
        if (node := _CREATE_NODE.fullmatch(statement)) is not None:
            part = script.node(node[2], start)
            names, cells = _properties(node[3])
            script.add_part(part, names, cells, {}, start)
        elif (edge := _CREATE_EDGE.fullmatch(statement)) is not None:
            _add_edge(script, edge, start)
        elif not _PASSED_OVER.fullmatch(statement):
            expected = "CREATE (:Label {...}) or MATCH ... CREATE (a)-[:TYPE {...}]->(b)"
            raise script.wrong(start, statement, expected)
    if not any(script.rows.values()):
        raise ParseError(file, None, f"no CREATE of a {schema.nodes[0].label} or another node")
    return script.parsed(ordered=True)


def _add_edge(script: _Script, found: re.Match[str], start: int) -> None:
    """Add the row of an edge between two nodes that the statement matches by their keys."""
    one, first, first_key, two, second, second_key, left, back, label, body, forth, right = (
        found.groups()
    )
    keys: dict[str, tuple[str, str]] = {}
    for variable, node_label, text in ((one, first, first_key), (two, second, second_key)):
        node = script.node(node_label, start)
        names, cells = _properties(text)
        if names != (node.key,):
            problem = f"MATCH of a {node.label} by {list(names)}; expected its key '{node.key}'"
            raise script.error(start, problem)
        keys[_unquoted(variable or "")] = (node.label, cells[0])
    ends = [_unquoted(left), _unquoted(right)]
    for variable in ends:
        if variable not in keys:
            raise script.error(start, f"'{variable}' is not bound by the MATCH before it")
    if bool(back) == bool(forth):
        raise script.wrong(start, found[0], "an arrow in one direction: -[:TYPE {...}]->")
    source, target = (keys[variable] for variable in (reversed(ends) if back else ends))
    edge = script.edge(_unquoted(label), source[0], target[0], start)
    names, cells = _properties(body)
    script.add_part(
        edge, names, cells, {edge.source[1]: source[1], edge.target[1]: target[1]}, start
    )


def _properties(text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names and the literals of a property map."""
    pairs = _PROPERTIES.findall(text or "")
    if not pairs:
        return (), ()
    names, values = zip(*pairs, strict=True)
    return (tuple(map(_unquoted, names)) if "`" in (text or "") else names), values


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _sql_text(body: str, quote: str) -> str:
    return re.sub(
        rf"\\(.)|{quote}{quote}",
        lambda match: _SQL_ESCAPES.get(match[1], match[1]) if match[1] else quote,
        body,
        flags=re.DOTALL,
    )


def _cypher_text(body: str, quote: str) -> str:
    del quote  # Cypher has no doubled quotes

    def plain(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _CYPHER_ESCAPES.get(match[2], match[2])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", plain, body, flags=re.DOTALL)


@dataclass(slots=True)
class _Script:
    """Collects the rows of a script as literals, and turns them into a situation.

    Attributes
    ----------
    unescape
        Returns the text between two quotes, without escapes.
    rows, starts
        By table, the literals of each row in the order of the schema's columns, and its place.
    """

    text: str
    schema: Schema
    file: Path
    unescape: Callable[[str, str], str]
    rows: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    starts: dict[str, list[int]] = field(default_factory=dict)
    _defects: dict[tuple[str, str], list[int | None]] = field(default_factory=dict)
    _places: dict[tuple[str, ...], list[int | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = {table.name: [] for table in self.schema.tables}
        self.starts = {table.name: [] for table in self.schema.tables}
        if re.search(r"--|#|//|/\*", self.text):
            self.text = _COMMENT.sub(lambda m: m[1] or "\n" * m[0].count("\n"), self.text)

    # --- statements ---

    def statements(self) -> Iterator[tuple[int, str]]:
        """Yield each statement with its place."""
        position = 0
        for match in _STATEMENT.finditer(self.text):
            self._refuse_open_quote(position, match.start())
            position = match.end()
            statement = match[0].lstrip()
            yield position - len(statement), statement
        self._refuse_open_quote(position, len(self.text))

    def _refuse_open_quote(self, start: int, end: int) -> None:
        quote = self.text[start:end].strip("; \t\r\n")
        if quote:
            raise self.error(start, f"a string that starts with {quote[0]} is never closed")

    def line(self, place: int) -> int:
        """Return the line of a place in the script."""
        return self.text.count("\n", 0, place) + 1

    def error(self, place: int, problem: str) -> ParseError:
        """Return an error with the line of a place."""
        return ParseError(self.file, self.line(place), problem)

    def wrong(self, place: int, found: str, expected: str) -> ParseError:
        """Return the error for a statement that cannot be read."""
        shown = " ".join(found.split())
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        return self.error(place, f"found {shown or 'nothing'!r}; expected {expected}")

    def add_defect(self, place: int | None, problem: str, action: str) -> None:
        """Note a defect; those of the same kind are reported once."""
        self._defects.setdefault((problem, action), []).append(place)

    # --- rows ---

    def node(self, label: str, start: int) -> NodeSchema:
        """Return the schema of a label; `ParseError` for an unknown one."""
        label = _unquoted(label)
        for node in self.schema.nodes:
            if node.label == label:
                return node
        labels = ", ".join(node.label for node in self.schema.nodes)
        raise self.error(start, f"found label '{label}'; expected one of {labels}")

    def edge(self, label: str, source: str, target: str, start: int) -> EdgeSchema:
        """Return the schema of a relationship; `ParseError` for an unknown one."""
        for edge in self.schema.edges:
            if (edge.label, edge.source[0], edge.target[0]) == (label, source, target):
                return edge
        expected = ", ".join(
            f"(:{e.source[0]})-[:{e.label}]->(:{e.target[0]})" for e in self.schema.edges
        )
        problem = f"found (:{source})-[:{label}]->(:{target}); expected one of {expected}"
        raise self.error(start, problem)

    def add_part(
        self,
        part: NodeSchema | EdgeSchema,
        names: Sequence[str],
        cells: Sequence[str],
        ends: Mapping[str, str],
        start: int,
    ) -> None:
        """Add the row of a node, or of an edge with the keys of its ends, by its properties."""
        wanted = dict(part.properties)
        places = self.aligned((part.label, *names), [*wanted], f"'{part.label}'", start)
        by_column = dict(ends)
        for column, place in zip(wanted.values(), places, strict=True):
            by_column[column] = "NULL" if place is None else cells[place]
        columns = self.schema.table(part.table).column_names
        self.rows[part.table].append([by_column.get(name, "NULL") for name in columns])
        self.starts[part.table].append(start)

    def aligned(
        self, key: tuple[str, ...], wanted: Sequence[str], where: str, start: int
    ) -> list[int | None]:
        """Return the place of each wanted column among the names of `key`; None without one.

        An unknown name that resembles a missing one (``has_has_merchant``) is read as that one.
        """
        if key in self._places:
            return self._places[key]
        names = list(key[1:])
        missing = [name for name in wanted if name not in names]
        for place, name in enumerate(names):
            if name in wanted:
                continue
            close = get_close_matches(name, missing, n=1)
            if close:
                missing.remove(close[0])
                names[place] = close[0]
                problem = f"{where} misspells '{close[0]}' as '{name}'"
                self.add_defect(start, problem, "read as meant")
            else:
                self.add_defect(start, f"{where} has an unknown '{name}'", "passed over")
        if any(names.count(name) > 1 for name in wanted):
            raise self.error(start, f"{where} names a column twice: {list(key[1:])}")
        found = [names.index(name) if name in names else None for name in wanted]
        self._places[key] = found
        return found

    # --- the situation ---

    def parsed(self, *, ordered: bool) -> Parsed:
        """Return the situation that the rows make, and the defects.

        Rows that repeat a key, and edges of missing nodes, are left out and reported. With
        `ordered`, an edge only finds nodes that were created before it.
        """
        columns = {
            table.name: self._columns(table.name, table.columns) for table in self.schema.tables
        }
        kept = {name: list(range(len(rows))) for name, rows in self.rows.items()}
        for edge in self.schema.edges:
            for label, column in (edge.source, edge.target):
                node = self.schema.node(label)
                keys = columns[node.table][node.key_column]
                first = dict(zip(reversed(keys), reversed(self.starts[node.table]), strict=True))
                problem = f"'{edge.table}' refers to a {node.table} that is not there"
                held: list[int] = []
                for row in kept[edge.table]:
                    start = self.starts[edge.table][row]
                    found = first.get(columns[edge.table][column][row])
                    if found is None or (ordered and found > start):
                        self.add_defect(start, problem, "those rows are left out")
                    else:
                        held.append(row)
                kept[edge.table] = held
        for table in self.schema.tables:
            kept[table.name] = self._distinct(table.name, columns[table.name], kept[table.name])
        for node in self.schema.nodes:
            if not self.rows[node.table]:
                self.add_defect(None, f"'{node.table}' has no rows", "kept as an empty table")
        try:
            tables = {
                table.name: Table(table, _chosen(columns[table.name], kept[table.name]))
                for table in self.schema.tables
            }
            return Parsed(Situation(self.schema, self.file.stem, tables), self._found())
        except DataError as error:
            raise ParseError(self.file, None, str(error)) from error

    def _columns(self, table: str, columns: Sequence[Column]) -> dict[str, list[Cell]]:
        """Return the values of a table by column."""
        rows, starts = self.rows[table], self.starts[table]
        literals = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        return {
            column.name: self._values(texts, column, starts)
            for column, texts in zip(columns, literals, strict=True)
        }

    def _values(self, texts: Sequence[str], column: Column, starts: Sequence[int]) -> list[Cell]:
        """Return literals as values of a column's type."""
        try:
            if column.stored == "float":
                return list(map(float, texts))
            if column.stored == "integer":
                return list(map(int, texts))
        except ValueError:
            pass  # a literal of another kind: each is looked at
        return [self._value(text, column, at) for text, at in zip(texts, starts, strict=True)]

    def _value(self, text: str, column: Column, start: int) -> Cell:
        """Return a literal as a column's type; a number or truth value in quotes is reported."""
        is_quoted = text[0] in "'\""
        plain = text[1:-1] if is_quoted else text
        if is_quoted and ("\\" in plain or text[0] in plain):
            plain = self.unescape(plain, text[0])
        if column.stored == "text":
            if is_quoted:
                return plain
        elif (value := _number_or_truth(plain.strip(), column.stored, is_quoted)) is not None:
            if is_quoted:
                problem = f"'{column.name}' holds text instead of {column.stored} values"
                self.add_defect(start, problem, f"read as {column.stored}")
            return value
        raise self.error(start, f"column '{column.name}' holds {text}; expected {column.stored}")

    def _distinct(
        self, table: str, columns: Mapping[str, Sequence[Cell]], rows: list[int]
    ) -> list[int]:
        """Return the first row of each key."""
        key = self.schema.table(table).key
        keys = list(zip(*(columns[name] for name in key), strict=True))
        if len(set(keys)) == len(keys):
            return rows
        first: dict[tuple[Cell, ...], int] = {}
        for row in rows:
            if first.setdefault(keys[row], row) != row:
                problem = f"'{table}' repeats the key {', '.join(key)}"
                self.add_defect(self.starts[table][row], problem, "the first row is kept")
        return list(first.values())

    def _found(self) -> tuple[Defect, ...]:
        return tuple(
            Defect(
                self.file,
                None if places[0] is None else self.line(places[0]),
                problem if len(places) == 1 else f"{problem} (in {len(places)} places)",
                action,
            )
            for (problem, action), places in sorted(
                self._defects.items(), key=lambda one: (one[1][0] is None, one[1][0] or 0)
            )
        )


def _number_or_truth(text: str, stored: str, is_quoted: bool) -> Cell:
    """Return the value of a literal, None for none of its type; a missing float is NaN."""
    if stored == "boolean":
        return _TRUTH.get(text.lower())
    if stored == "float" and text.lower() == "null" and not is_quoted:
        return float("nan")
    try:
        if stored == "float":
            return float(text)
        return int(text) if is_quoted or text.lstrip("+-").isdigit() else _whole(float(text))
    except ValueError:
        return None


def _whole(number: float) -> int | None:
    return int(number) if number.is_integer() else None


def _chosen(columns: Mapping[str, list[Cell]], rows: Sequence[int]) -> dict[str, list[Cell]]:
    if all(len(rows) == len(values) for values in columns.values()):
        return dict(columns)
    return {name: [values[row] for row in rows] for name, values in columns.items()}
