"""What a statement that ran read of a scenario's data: columns, and sums or means over them.

Both languages are read in terms of the scenario's tables: a property of a node or relationship is
the column behind it. Statements are parsed, so names in strings and comments do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.evidence import Evidence
from dqa.core.situation import Schema

Column: TypeAlias = tuple[str, str]
"""A table of the scenario, and one of its columns."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A sum or mean over whole groups of a table's rows.

    Attributes
    ----------
    function
        ``"sum"`` or ``"avg"``.
    table
        Whose rows.
    columns
        All columns in the function's argument.
    by
        The only columns of the table that the query reads beside, to choose or group its rows.
    """

    function: str
    table: str
    columns: frozenset[str]
    by: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one statement read."""

    columns: frozenset[Column] = frozenset()
    aggregates: frozenset[Aggregate] = frozenset()


NOTHING = Reading()
"""What a statement reads that failed, brought no data, or that nobody can parse."""

_HELD = re.compile(r'\\?"(\w+)\\?": (?!null\b)')
"""A property with a value, in a cell that holds a node or relationship, also as JSON text."""
_BY_KIND: dict[Kind, tuple[str, ...]] = {
    "relational": ("mysql", "sqlite", "postgres", "duckdb", "ansi"),
    "graph": ("neo4j", "ladybug"),
}


def read_statement(evidence: Evidence, schema: Schema, kind: Kind, database: str = "") -> Reading:
    """Return what a statement read, where it ran and brought data.

    A sum that came out as zero is none: of no row some databases make null, and others 0.

    Parameters
    ----------
    evidence
        The statement and what came back.
    schema
        The scenario's.
    kind
        Whether it was asked in SQL or Cypher.
    database
        What results call the database, which tells its dialect; any dialect of the kind that can
        read the statement is taken where it does not.
    """
    if not brought_data(evidence):
        return NOTHING
    if kind == "graph":
        from dqa.evaluation.analysis.cypher import read_cypher as read

        shown = frozenset(_HELD.findall(evidence.observation))
    else:
        from dqa.evaluation.analysis.sql import read_sql as read

        shown = frozenset(name.lower() for name in header(evidence))
    for dialect in dialects_of(kind, database):
        found = read(evidence.translated or evidence.statement, dialect, schema, shown)
        if found is not None:
            return found if _has_amounts(evidence) else replace(found, aggregates=frozenset())
    return NOTHING


def brought_data(evidence: Evidence) -> bool:
    """Whether a statement ran and brought at least one row with a value in it.

    A sum over nothing is a row, too: of nulls alone, which says as little as no row.
    """
    if evidence.error is not None or not evidence.row_count:
        return False
    found = list(cells(evidence))
    return not found or any(cell is not None for cell in found)


def _has_amounts(evidence: Evidence) -> bool:
    """Whether a result holds a value that is neither null nor zero, as far as it can be read."""
    found = list(cells(evidence))
    return not found or any(cell is not None and cell != 0 for cell in found)


def cells(evidence: Evidence) -> Iterator[Any]:
    """Yield what stands in a result's rows, up to the first line that is none."""
    for line in evidence.observation.split("\n")[1:]:
        if not line.startswith("["):
            return
        try:
            yield from json.loads(line)
        except (RecursionError, ValueError):
            return


def dialects_of(kind: Kind, database: str) -> tuple[str, ...]:
    """Return the dialects to try, the database's own first."""
    others = _BY_KIND[kind]
    if database not in plugins.names("database"):
        return others
    own = plugins.backend(database).dialect
    return own, *(name for name in others if name != own)


def header(evidence: Evidence) -> tuple[str, ...]:
    """Return the column names of a result; empty where it is none that a database gave."""
    first = evidence.observation.split("\n", 1)[0]
    try:
        names = json.loads(first) if first.startswith("[") else []
    except (RecursionError, ValueError):
        return ()
    return tuple(map(str, names))
