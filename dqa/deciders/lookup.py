"""Looking up what a long schema has beside what a prompt shows: tools for agents.

All of it is the schema that may be read, and rows that pass the guard as any statement's do: what a
policy hides is in none of it. A name that is not there is an observation, which says what is near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from time import perf_counter

from langchain_core.tools import StructuredTool
from pydantic import Field as Argument

from dqa.core.database import Database, Limits
from dqa.core.display import DEFAULT_DISPLAY, Display
from dqa.core.evidence import DESCRIBE, FIND, SAMPLE, Evidence
from dqa.core.fitting import replace_parts, schema_parts
from dqa.core.relevance import Index, Part, part_fields, part_name
from dqa.core.schema import (
    DatabaseSchema,
    EdgeInfo,
    Field,
    NodeInfo,
    TableInfo,
    cypher_name,
    sql_name,
)
from dqa.core.text import estimate_tokens, shortened
from dqa.deciders.samples import sampled_schema
from dqa.deciders.tools import Arguments, Text, observe
from dqa.guard.names import closest

_ROWS = Limits(rows=5, bytes=4_000, cell=100)
"""What a look at a table may return."""
_COLUMNS, _BESIDE, _FOUND = 150, 20, 20
"""Most columns of a description, tables that refer to one, and columns that are found."""
_TOKENS = 4_000
"""Most tokens of a description."""
_COMMENT = 100
_OWN, _OWNER = 1.0, 0.4
"""What a word is worth in a column's own name and comment, and in its table's."""


class _NamedArguments(Arguments):
    """Name one table, node label or relationship type."""

    name: Text = Argument(description="a table, or of a graph a label or relationship type")


class _WordsArguments(Arguments):
    """Say what is looked for."""

    words: Text = Argument(description="words that say what the column holds")


class Lookup:
    """Looks up parts of a database's schema, bounded as everything that a model reads.

    Parameters
    ----------
    database
        What is looked into, through its guard.
    display
        What is shown of values.
    """

    def __init__(self, database: Database, display: Display = DEFAULT_DISPLAY) -> None:
        self._database, self._display = database, display

    def describe(self, name: str) -> Evidence:
        """Tell all columns, keys and comments of a table, and what refers to it."""
        return self._looked_up(DESCRIBE, name, self._described)

    def find_columns(self, words: str) -> Evidence:
        """Tell the columns whose names and comments, or whose table's, the words match best."""
        started = perf_counter()
        lines = list(self._found(words))
        text = "\n".join(lines) or "No column matches these words. Try others, one at a time."
        return Evidence(
            words, text, row_count=len(lines), seconds=perf_counter() - started, tool=FIND
        )

    def sample_rows(self, name: str) -> Evidence:
        """Tell some rows of a table, or of what has a label or relationship type.

        Raises
        ------
        InfrastructureError
            The database failed.
        """
        parts = self._named(name)
        if not parts:
            return self._unknown(SAMPLE, name)
        statement = self._statement(parts[0])
        seen = observe(self._database, statement, _ROWS, self._display)
        return replace(seen, statement=name, tool=SAMPLE)

    @cached_property
    def _schema(self) -> DatabaseSchema:
        return self._database.schema()

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        return schema_parts(self._schema)

    @cached_property
    def _fields(self) -> tuple[tuple[Part, Field], ...]:
        return tuple((part, field) for part in self._parts for field in part_fields(part))

    @cached_property
    def _index(self) -> Index:
        return Index(
            [
                (_OWN, (field.name,)),
                (_OWN, (field.comment,)),
                (_OWNER, (part_name(part), part.comment)),
            ]
            for part, field in self._fields
        )

    def _named(self, name: str) -> tuple[Part, ...]:
        """Return what is called so, as it is written or, failing that, in any case."""
        wanted = name.strip().strip("`\"'[]:()")
        wanted = wanted if self._has(wanted) else wanted.rpartition(".")[2].strip("`\"'[]")
        exact = tuple(part for part in self._parts if part_name(part) == wanted)
        folded = wanted.casefold()
        return exact or tuple(p for p in self._parts if part_name(p).casefold() == folded)

    def _has(self, name: str) -> bool:
        return any(part_name(part).casefold() == name.casefold() for part in self._parts)

    def _looked_up(self, tool: str, name: str, told: Callable[[tuple[Part, ...]], str]) -> Evidence:
        started = perf_counter()
        parts = self._named(name)
        if not parts:
            return self._unknown(tool, name)
        return Evidence(name, told(parts), seconds=perf_counter() - started, tool=tool)

    def _unknown(self, tool: str, name: str) -> Evidence:
        near = closest(name, map(part_name, self._parts))
        what = "table" if self._schema.tables else "label or relationship type"
        problem = f"Error: there is no {what} '{shortened(name, _COMMENT)}'.{near}"
        return Evidence(name, f"{problem} {FIND} finds columns by words.", error=_ERROR, tool=tool)

    def _described(self, parts: tuple[Part, ...]) -> str:
        kept = [_bounded(part) for part in parts[:_BESIDE]]
        schema = replace_parts(self._schema, kept)
        sampled = sampled_schema(self._database, self._display.samples, schema=schema)
        lines = [*sampled.lines(), *self._beside(parts)]
        while len(lines) > 1 and sum(map(estimate_tokens, lines)) > _TOKENS:
            lines.pop()
        return "\n".join(lines)

    def _beside(self, parts: tuple[Part, ...]) -> Iterator[str]:
        """Yield what refers to a table, or the relationships that a label has."""
        names = {part_name(part) for part in parts}
        if isinstance(parts[0], TableInfo):
            found = [
                sql_name(table.name, self._schema.quote)
                for table in self._schema.tables
                if names & {other for _, other, _ in table.references}
            ]
            if found:
                more = f" and {len(found) - _BESIDE:,} more" if len(found) > _BESIDE else ""
                yield f"Referred to by: {', '.join(found[:_BESIDE])}{more}"
        elif isinstance(parts[0], NodeInfo):
            edges = [e for e in self._schema.edges if names & {e.source, e.target}]
            yield from DatabaseSchema(edges=tuple(map(_bounded_edge, edges[:_BESIDE]))).lines()

    def _found(self, words: str) -> Iterator[str]:
        scores = self._index.score(words)
        order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        for place in order[:_FOUND]:
            if scores[place] > 0.0:
                yield self._line(*self._fields[place])

    def _line(self, part: Part, field: Field) -> str:
        quote = self._schema.quote
        names = part_name(part), field.name
        if isinstance(part, TableInfo):
            owner, column = (sql_name(name, quote) for name in names)
        else:
            owner, column = map(cypher_name, names)
        said = [text for text in (field.comment, part.comment) if text]
        comment = f" /* {shortened('; of: '.join(said), 2 * _COMMENT)} */" if said else ""
        return f"{owner}.{column}: {field.type}{comment}".replace("\n", " ")

    def _statement(self, part: Part) -> str:
        """Return the statement that looks at some rows, of the columns that may be read."""
        if isinstance(part, TableInfo):
            quote = self._schema.quote
            columns = ", ".join(sql_name(f.name, quote) for f in part.columns[:_COLUMNS]) or "*"
            most = "" if self._database.dialect == "ansi" else f" LIMIT {_ROWS.rows}"
            return f"SELECT {columns} FROM {sql_name(part.name, quote)}{most}"  # noqa: S608
        values = [
            f"e.{cypher_name(field.name)} AS {cypher_name(field.name)}"
            for field in part_fields(part)[:_COLUMNS]
        ]
        returned = ", ".join(values) or "count(*) AS how_many"
        label = cypher_name(part_name(part))
        pattern = f"(e:{label})"
        if isinstance(part, EdgeInfo):
            source, target = cypher_name(part.source), cypher_name(part.target)
            pattern = f"(:{source})-[e:{label}]->(:{target})"
        return f"MATCH {pattern} RETURN {returned} LIMIT {_ROWS.rows}"


_ERROR = "UnknownReferenceError"


def _bounded(part: Part) -> Part:
    """Return a part with no more columns than a description has."""
    omitted = max(len(part_fields(part)) - _COLUMNS, 0)
    if not omitted:
        return part
    if isinstance(part, TableInfo):
        return replace(part, columns=part.columns[:_COLUMNS], omitted=omitted)
    return replace(part, properties=part.properties[:_COLUMNS], omitted=omitted)


def _bounded_edge(edge: EdgeInfo) -> EdgeInfo:
    bounded = _bounded(edge)
    assert isinstance(bounded, EdgeInfo)  # noqa: S101
    return bounded


def lookup_tools(
    database: Database, display: Display = DEFAULT_DISPLAY
) -> tuple[StructuredTool, ...]:
    """Return ``describe_table(name)``, ``sample_rows(name)`` and ``find_columns(words)``.

    Parameters
    ----------
    database
        What is looked into, through its guard.
    display
        What is shown of values.
    """
    look = Lookup(database, display)

    def describe(name: str) -> tuple[str, Evidence]:
        return _told(look.describe(name))

    def sample(name: str) -> tuple[str, Evidence]:
        return _told(look.sample_rows(name))

    def find(words: str) -> tuple[str, Evidence]:
        return _told(look.find_columns(words))

    one = "table" if database.kind == "relational" else "node label or relationship type"
    few = f"{_ROWS.rows} rows at most"
    made = (
        (describe, DESCRIBE, _NamedArguments, f"all columns, keys and comments of one {one}."),
        (sample, SAMPLE, _NamedArguments, f"some rows of one {one}, {few}."),
        (find, FIND, _WordsArguments, f"the {_FOUND} columns that fit some words best."),
    )
    return tuple(
        StructuredTool(
            func=function,
            name=name,
            description=f"It returns {returns}",
            args_schema=arguments,
            response_format="content_and_artifact",
        )
        for function, name, arguments, returns in made
    )


def _told(evidence: Evidence) -> tuple[str, Evidence]:
    return evidence.observation, evidence
