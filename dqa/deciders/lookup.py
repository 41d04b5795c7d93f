"""Tools with which agents look up the parts of a long schema that a prompt omits.

They use the visible schema and guarded statements, so a policy applies as usual. For an unknown
name, the observation contains the most similar name.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from time import perf_counter

from langchain_core.tools import StructuredTool
from pydantic import Field as Argument

from dqa.core.database import Database, Limits
from dqa.core.display import DEFAULT_DISPLAY, Display
from dqa.core.errors import UnknownReferenceError
from dqa.core.evidence import DESCRIBE, FIND, SAMPLE, Evidence
from dqa.core.fitting import rank_fields
from dqa.core.schema import DatabaseSchema, Part
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

    name: Text = Argument(description="a table, or of a graph a label or relationship type")


class _WordsArguments(Arguments):
    """Give the words to search for."""

    words: Text = Argument(description="words that say what the column holds")


class Lookup:
    """Looks up parts of a database's schema. Results have limited length.

    Parameters
    ----------
    database
        The guarded database.
    display
        How values are shown.
    """

    def __init__(self, database: Database, display: Display = DEFAULT_DISPLAY) -> None:
        self._database, self._display = database, display

    def describe(self, name: str) -> Evidence:
        """Describe the columns, keys and comments of a table, and the tables that refer to it."""
        started = perf_counter()
        parts = find_parts(self._schema, name)
        if not parts:
            return self._unknown(DESCRIBE, name)
        text = self._described(parts)
        return Evidence(name, text, seconds=perf_counter() - started, tool=DESCRIBE)

    def find_columns(self, words: str) -> Evidence:
        """Find the columns that match words best, by names and comments of columns and tables."""
        started = perf_counter()
        found = rank_fields(self._schema, words, _FOUND)
        lines = [describe_field(self._schema, part, field) for part, field in found]
        text = "\n".join(lines) or "No column matches these words. Try others, one at a time."
        seconds = perf_counter() - started
        return Evidence(words, text, row_count=len(lines), seconds=seconds, tool=FIND)

    def sample_rows(self, name: str) -> Evidence:
        """Show some rows of a table, label or relationship type.

        Raises
        ------
        InfrastructureError
            The database failed.
        """
        parts = find_parts(self._schema, name)
        if not parts:
            return self._unknown(SAMPLE, name)
        limited = self._database.dialect != "ansi"
        statement = look_at_rows(self._schema, parts[0], _ROWS.rows, limited=limited)
        seen = observe(self._database, statement, _ROWS, self._display)
        return replace(seen, statement=name, tool=SAMPLE)

    @cached_property
    def _schema(self) -> DatabaseSchema:
        return self._database.schema()

    def _unknown(self, tool: str, name: str) -> Evidence:
        near = closest(name, (part.name for part in self._schema.parts))
        what = kind_of_parts(self._schema)
        problem = f"Error: there is no {what} '{shortened(name, _NAME)}'.{near}"
        text = f"{problem} {FIND} finds columns by words."
        return Evidence(name, text, error=UnknownReferenceError.__name__, tool=tool)

    def _described(self, parts: tuple[Part, ...]) -> str:
        own = self._schema.replace_parts([narrow_part(part) for part in parts])
        sampled = sampled_schema(self._database, self._display.samples, schema=own)
        told = describe_parts(sampled, sampled.parts)
        lines = [*told, *describe_neighbours(self._schema, parts)]
        while len(lines) > 1 and sum(map(estimate_tokens, lines)) > _TOKENS:
            lines.pop()
        return "\n".join(lines)


def lookup_tools(
    database: Database, display: Display = DEFAULT_DISPLAY
) -> tuple[StructuredTool, ...]:
    """Return ``describe_table(name)``, ``sample_rows(name)`` and ``find_columns(words)``.

    Parameters
    ----------
    database
        The guarded database.
    display
        How values are shown.
    """
    look = Lookup(database, display)
    one = "table" if database.kind == "relational" else "node label or relationship type"
    described = f"It returns all columns, keys and comments of one {one}."
    sampled = f"It returns some rows of one {one}, {_ROWS.rows} rows at most."
    found = f"It returns the {_FOUND} columns that fit some words best."
    return (
        evidence_tool(look.describe, DESCRIBE, described, _NamedArguments),
        evidence_tool(look.sample_rows, SAMPLE, sampled, _NamedArguments),
        evidence_tool(look.find_columns, FIND, found, _WordsArguments),
    )
