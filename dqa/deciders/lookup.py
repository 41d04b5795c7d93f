"""Tools with which agents look up the parts of a long schema that a prompt omits.

The tools return only what the database's policy allows. For an unknown name, the result contains
the most similar name.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter

from langchain_core.tools import StructuredTool
from pydantic import Field as Argument

from dqa.core.database import Database, Limits
from dqa.core.display import DEFAULT_DISPLAY, Display
from dqa.core.errors import UnknownReferenceError
from dqa.core.evidence import DESCRIBE, FIND, SAMPLE, Evidence
from dqa.core.fitting import rank_fields
from dqa.core.schema import DatabaseSchema
from dqa.core.text import estimate_tokens, shortened
from dqa.deciders.parts import (
    describe_field,
    describe_neighbours,
    describe_parts,
    find_parts,
    kind_of_parts,
    look_at_rows,
    narrow_part,
    sampled_schema,
)
from dqa.deciders.tools import Arguments, Text, evidence_tool, observe
from dqa.guard.hints import closest

_ROWS = Limits(rows=5, bytes=4_000, cell=100)
"""The limits of the rows in a sample."""
_FOUND = 20
"""The maximum number of columns that a search returns."""
_TOKENS = 4_000
"""The maximum number of tokens of a description."""
_NAME = 100
"""The maximum number of characters of an unknown name in a message."""


class _NamedArguments(Arguments):
    """Name one table, node label or relationship type."""

    name: Text = Argument(description="a table, or in a graph a node label or relationship type")


class _WordsArguments(Arguments):
    """Give the words to search for."""

    words: Text = Argument(description="words that say what the column holds")


def describe_table(database: Database, name: str, display: Display = DEFAULT_DISPLAY) -> Evidence:
    """Return the columns, keys and comments of one table, node label or relationship type.

    Parameters
    ----------
    database
        The guarded database.
    name
        The name. Its case matters only if two names differ only in case.
    display
        The format in which sample values are shown.
    """
    started, schema = perf_counter(), database.schema()
    parts = find_parts(schema, name)
    if not parts:
        return _unknown(schema, DESCRIBE, name)
    own = schema.replace_parts([narrow_part(part) for part in parts])
    shown = sampled_schema(database, display.samples, schema=own)
    lines = [*describe_parts(shown, shown.parts), *describe_neighbours(schema, parts)]
    while len(lines) > 1 and sum(map(estimate_tokens, lines)) > _TOKENS:
        lines.pop()
    seconds = perf_counter() - started
    return Evidence(name, "\n".join(lines), seconds=seconds, tool=DESCRIBE)


def find_columns(database: Database, words: str) -> Evidence:
    """Return the columns or properties whose names or comments match words best."""
    started, schema = perf_counter(), database.schema()
    found = rank_fields(schema, words, _FOUND)
    lines = [describe_field(schema, part, field) for part, field in found]
    text = "\n".join(lines) or "No column matches these words. Try other words, one at a time."
    seconds = perf_counter() - started
    return Evidence(words, text, row_count=len(lines), seconds=seconds, tool=FIND)


def sample_rows(database: Database, name: str, display: Display = DEFAULT_DISPLAY) -> Evidence:
    """Return some rows of one table, node label or relationship type; see `describe_table`."""
    schema = database.schema()
    parts = find_parts(schema, name)
    if not parts:
        return _unknown(schema, SAMPLE, name)
    statement = look_at_rows(database, schema, parts[0], _ROWS.rows)
    seen = observe(database, statement, _ROWS, display)
    return replace(seen, statement=name, tool=SAMPLE)


def lookup_tools(
    database: Database, display: Display = DEFAULT_DISPLAY
) -> tuple[StructuredTool, ...]:
    """Return the tools ``describe_table``, ``sample_rows`` and ``find_columns`` for a database."""
    one = "table" if database.kind == "relational" else "node label or relationship type"
    described = f"It returns all columns, keys and comments of one {one}."
    sampled = f"It returns some rows of one {one}, {_ROWS.rows} rows at most."
    found = f"It returns the {_FOUND} columns that fit some words best."
    describe = partial(describe_table, database, display=display)
    sample = partial(sample_rows, database, display=display)
    return (
        evidence_tool(describe, DESCRIBE, described, _NamedArguments),
        evidence_tool(sample, SAMPLE, sampled, _NamedArguments),
        evidence_tool(partial(find_columns, database), FIND, found, _WordsArguments),
    )


def _unknown(schema: DatabaseSchema, tool: str, name: str) -> Evidence:
    """Return evidence with the error for an unknown name and the most similar known name."""
    near = closest(name, (part.name for part in schema.parts))
    problem = f"Error: there is no {kind_of_parts(schema)} '{shortened(name, _NAME)}'.{near}"
    text = f"{problem} {FIND} finds columns by words."
    return Evidence(name, text, error=UnknownReferenceError.__name__, tool=tool)
