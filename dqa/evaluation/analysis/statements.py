"""The statements of a run as they are read, and the rows that each of them showed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.evidence import QUERY, Evidence
from dqa.core.situation import EdgeSchema, NodeSchema, Schema
from dqa.evaluation.analysis.reading import Reading, Value
from dqa.evaluation.traces import Trace

Row: TypeAlias = Sequence[tuple[Value, Any]]
"""By column of a row, what it is made of and what stood there."""

_BY_KIND: dict[Kind, tuple[str, ...]] = {
    "relational": ("mysql", "sqlite", "postgres", "duckdb", "ansi"),
    "graph": ("neo4j", "ladybug"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement that was asked, and what it shows.

    Attributes
    ----------
    evidence
        The statement and what came back.
    readings
        What its columns are made of, each part of a union by itself; none where it failed, or
        where nobody can read it.
    """

    evidence: Evidence
    readings: tuple[Reading, ...] = ()

    def rows(self, reading: Reading) -> Iterator[Row]:
        """Yield the rows that a reader saw; a list in a cell is a row for each of its items."""
        outputs = self._in_order(reading)
        for cells in rows_of(self.evidence):
            if len(cells) != len(outputs):
                continue
            parted = [_opened(v, c) for v, c in zip(outputs, cells, strict=True)]
            for k in range(max(map(len, parted))):
                found = (part[min(k, len(part) - 1)] for part in parted if part)
                yield [pair for value, cell in found for pair in _held(reading, value, cell)]

    def _in_order(self, reading: Reading) -> list[Value]:
        """Return the outputs in the order of the result, which a star does not tell."""
        header = next(_arrays(self.evidence.observation.split("\n")[:1]), [])
        names = [str(name).lower() for name in header]
        if len(set(names)) == len(names) and sorted(names) == sorted(reading.names):
            by_name = dict(zip(reading.names, reading.outputs, strict=True))
            return [by_name[name] for name in names]
        return reading.outputs


def asked_in(trace: Trace, schema: Schema | None) -> tuple[Asked, ...]:
    """Return the statements of a run, read in terms of its scenario's tables.

    Parameters
    ----------
    trace
        The run.
    schema
        The scenario's; None where nobody knows its tables, so that nothing is read.
    """
    return tuple(
        Asked(evidence, readings_of(evidence, schema, trace.kind, trace.database))
        for evidence in trace.evidence
    )


def readings_of(
    evidence: Evidence, schema: Schema | None, kind: Kind, database: str = ""
) -> tuple[Reading, ...]:
    """Return what a statement shows, where it ran; nothing where no dialect can read it.

    Parameters
    ----------
    evidence
        The statement and what came back.
    schema
        The scenario's, or None.
    kind
        Whether it was asked in SQL or Cypher.
    database
        What results call the database, which tells its dialect; any dialect of the kind that can
        read the statement is taken where it does not.
    """
    if schema is None or evidence.error is not None or evidence.tool != QUERY:
        return ()
    if kind == "graph":
        from dqa.evaluation.analysis.cypher import read_cypher as read
    else:
        from dqa.evaluation.analysis.sql import read_sql as read
    for dialect in _dialects_of(kind, database):
        found = read(evidence.translated or evidence.statement, dialect, schema)
        if found is not None:
            return tuple(found)
    return ()


def rows_of(evidence: Evidence) -> Iterator[list[Any]]:
    """Yield a result's rows as they were shown, up to the first line that is none."""
    return _arrays(evidence.observation.split("\n")[1:])


def _arrays(lines: Iterable[str]) -> Iterator[list[Any]]:
    for line in lines:
        if not line.startswith("["):
            return
        try:
            yield json.loads(line)
        except (RecursionError, ValueError):
            return


def _dialects_of(kind: Kind, database: str) -> tuple[str, ...]:
    """Return the dialects to try, the database's own first."""
    others = _BY_KIND[kind]
    if database not in plugins.names("database"):
        return others
    own = plugins.backend(database).dialect
    return own, *(name for name in others if name != own)


def _opened(value: Value, cell: Any) -> list[tuple[Value, Any]]:  # noqa: ANN401  (any cell)
    """Return a cell's items, each with what it is made of; a cell that is no list is one."""
    if isinstance(cell, str) and cell[:1] in {"[", "{"}:
        try:
            cell = json.loads(cell)
        except (RecursionError, ValueError):
            return [(value, cell)]
    return [(value, item) for item in cell] if isinstance(cell, list) else [(value, cell)]


def _held(reading: Reading, value: Value, cell: Any) -> Iterator[tuple[Value, Any]]:  # noqa: ANN401
    """Yield a cell with what it is made of; of an element or a map, what it holds."""
    if not isinstance(cell, dict) or (value.whole is None and value.fields is None):
        yield value, cell
        return
    for name, part in cell.items():
        if value.fields is not None:
            yield value.fields.get(name, value), part
        elif value.whole is not None:
            column = _columns(reading, value.whole).get(name)
            if column is not None:
                yield Value.of((value.whole, column)), part


def _columns(reading: Reading, instance: int) -> dict[str, str]:
    """Return an element's columns by property; of one that may be anything, none."""
    owners: list[NodeSchema | EdgeSchema] = [*reading.schema.nodes, *reading.schema.edges]
    table = reading.tables[instance]
    return next((dict(owner.properties) for owner in owners if owner.table == table), {})
