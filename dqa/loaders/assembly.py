"""What both script readers share: rows become a `Situation`.

Columns get their right names and cells their right types, and what is left of the rows reads as
tables and as a graph alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from dqa.core.errors import DataError, ParseError
from dqa.core.question_set import Defect
from dqa.core.situation import Cell, Column, Schema, Situation, Table, TableSchema

BOOLEANS: Mapping[str, bool] = {"true": True, "false": False, "1": True, "0": False}
"""Texts that stand for truth values, in lower case."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A database file's content, and what was wrong in it."""

    situation: Situation
    defects: tuple[Defect, ...]


@dataclass(slots=True)
class Findings:
    """Collects a file's defects: one of a kind, with the first line and the number of places."""

    file: Path
    _found: dict[tuple[str, str], list[int | None]] = field(default_factory=dict)

    def add(self, line: int | None, problem: str, action: str, *, times: int = 1) -> None:
        """Note a defect, `times` over; `line` is its first place."""
        self._found.setdefault((problem, action), []).extend([line] * times)

    def defects(self) -> tuple[Defect, ...]:
        """Return one `Defect` a kind, in the order in which they were found."""
        return tuple(
            Defect(
                self.file,
                lines[0],
                problem if len(lines) == 1 else f"{problem} (in {len(lines)} places)",
                action,
            )
            for (problem, action), lines in self._found.items()
        )


@dataclass(slots=True)
class RowSink:
    """Rows of each table as they are read, with the line each came from.

    A reader that does not know the lines leaves `lines` None.
    """

    columns: dict[str, Mapping[str, Sequence[Any]]]
    lines: dict[str, list[int]] | None = None

    @classmethod
    def from_rows(
        cls, schema: Schema, rows: Mapping[str, list[tuple[Cell, ...]]], lines: dict[str, list[int]]
    ) -> RowSink:
        """Turn rows in schema order into columns."""
        columns: dict[str, Mapping[str, Sequence[Any]]] = {}
        for table in schema.tables:
            listed = rows[table.name]
            by_column: Iterable[Sequence[Any]] = zip(*listed, strict=True) if listed else ()
            filled = list(by_column) or [()] * len(table.columns)
            columns[table.name] = dict(zip(table.column_names, filled, strict=True))
        return cls(columns, lines)


def align(
    names: Sequence[str], wanted: Sequence[str], where: str, line: int, findings: Findings
) -> list[str | None]:
    """Return which of the `wanted` columns each of `names` is; None for one to pass over.

    An unknown name that resembles a column nobody else is called (``has_has_merchant``) is taken
    as that column.

    Raises
    ------
    ParseError
        A name is given twice.
    """
    missing = [name for name in wanted if name not in names]
    aligned: list[str | None] = []
    for name in names:
        if name in wanted:
            aligned.append(name)
            continue
        close = get_close_matches(name, missing, n=1)
        if close:
            missing.remove(close[0])
            findings.add(line, f"{where} misspells '{close[0]}' as '{name}'", "read as meant")
        else:
            findings.add(line, f"{where} has an unknown '{name}'", "passed over")
        aligned.append(close[0] if close else None)
    given = [name for name in aligned if name is not None]
    if len(set(given)) < len(given):
        raise ParseError(findings.file, line, f"{where} names a column twice: {list(names)}")
    return aligned


def to_cell(value: Cell, column: Column, line: int, findings: Findings) -> Cell:
    """Return `value` as the type of `column`.

    Numbers and truth values that a file quotes as if they were text are taken for what they mean
    and reported; a missing float is NaN.

    Raises
    ------
    ParseError
        It cannot be of that type.
    """
    if column.stored == "text":
        if isinstance(value, str):
            return value
    elif isinstance(value, str):
        return _unquoted(value, column, line, findings)
    elif column.stored == "float":
        if value is None:
            return float("nan")
        if not isinstance(value, bool):
            return float(value)
    elif column.stored == "boolean":
        if value in (0, 1) and not isinstance(value, float):
            return bool(value)
    elif not isinstance(value, bool) and value is not None and value == value // 1:
        return int(value)
    raise ParseError(
        findings.file, line, f"column '{column.name}' holds {value!r}; expected {column.stored}"
    )


def _unquoted(value: str, column: Column, line: int, findings: Findings) -> Cell:
    meant: Cell = None
    if column.stored == "boolean":
        meant = BOOLEANS.get(value.strip().lower())
    else:
        try:
            meant = float(value) if column.stored == "float" else int(value)
        except ValueError:
            meant = None
    if meant is None:
        raise ParseError(
            findings.file,
            line,
            f"column '{column.name}' holds the text {value!r}; expected {column.stored}",
        )
    note_quoted(column, line, findings)
    return meant


def note_quoted(column: Column, line: int, findings: Findings, *, times: int = 1) -> None:
    """Report that `column` holds text where its type is another."""
    findings.add(
        line,
        f"'{column.name}' holds text instead of {column.stored} values",
        f"read as {column.stored}",
        times=times,
    )


def assemble(schema: Schema, sink: RowSink, findings: Findings) -> Parsed | None:
    """Make a situation of rows; None where rows are at fault whose lines the sink does not know.

    Rows that repeat a primary key, and rows of edges to nodes that are not there, cannot stand in
    a database of either kind: they are left out and reported.

    Raises
    ------
    ParseError
        A value does not fit its column.
    """
    kept = {
        table.name: _without_repeats(table, sink, findings)
        for table in (schema.table(name) for name in sink.columns)
    }
    dangling = _without_dangling(schema, sink, findings, kept)
    if sink.lines is None and (dangling or any(rows is not None for rows in kept.values())):
        return None
    for node in schema.nodes:
        if not next(iter(sink.columns[node.table].values())):
            findings.add(None, f"'{node.table}' has no rows", "kept as an empty table")
    try:
        tables = {
            table.name: Table(table, _chosen(sink.columns[table.name], kept[table.name]))
            for table in schema.tables
        }
        situation = Situation(schema, findings.file.stem, tables)
    except DataError as error:
        raise ParseError(findings.file, None, str(error)) from error
    return Parsed(situation, findings.defects())


def _chosen(
    columns: Mapping[str, Sequence[Any]], rows: list[int] | None
) -> Mapping[str, Sequence[Any]]:
    if rows is None:
        return columns
    return {name: [values[row] for row in rows] for name, values in columns.items()}


def _without_repeats(table: TableSchema, sink: RowSink, findings: Findings) -> list[int] | None:
    """Return the rows to keep, or None where all are."""
    keys = [sink.columns[table.name][name] for name in table.key]
    if len(set(zip(*keys, strict=True) if len(keys) > 1 else keys[0])) == len(keys[0]):
        return None
    first: dict[tuple[Any, ...], int] = {}
    for row, key in enumerate(zip(*keys, strict=True)):
        if first.setdefault(key, row) != row and sink.lines is not None:
            findings.add(
                sink.lines[table.name][row],
                f"'{table.name}' repeats the key {', '.join(table.key)}",
                "the first row is kept",
            )
    return list(first.values())


def _without_dangling(
    schema: Schema, sink: RowSink, findings: Findings, kept: dict[str, list[int] | None]
) -> bool:
    """Drop rows of edges without their nodes from `kept`; say whether there were any."""
    nodes = {node.label: node for node in schema.nodes}
    dropped = False
    for edge in schema.edges:
        columns = sink.columns[edge.table]
        for label, column in (edge.source, edge.target):
            node = nodes[label]
            there = set(sink.columns[node.table][node.key_column])
            if there.issuperset(columns[column]):
                continue
            dropped = True
            values = columns[column]
            rows = kept[edge.table]
            kept[edge.table] = [
                row
                for row in (range(len(values)) if rows is None else rows)
                if values[row] in there
            ]
            for row, value in enumerate(values):
                if value not in there and sink.lines is not None:
                    note_dangling(edge.table, node.table, sink.lines[edge.table][row], findings)
    return dropped


def note_dangling(table: str, node_table: str, line: int, findings: Findings) -> None:
    """Report an edge to a node that is not there."""
    findings.add(
        line, f"'{table}' refers to a {node_table} that is not there", "those rows are left out"
    )
