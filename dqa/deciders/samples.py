"""Sample values in a schema, which show how a boolean or a name is stored."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from time import perf_counter

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.display import MOST_TOKENS
from dqa.core.errors import QueryError
from dqa.core.events import WarningEvent
from dqa.core.fitting import FittedSchema, fit_again, fit_schema
from dqa.core.question import Question
from dqa.core.schema import (
    DatabaseSchema,
    Field,
    Part,
    TableInfo,
    cypher_name,
    replace_fields,
)
from dqa.deciders.parts import match_pattern

_LONGEST = 40
"""Characters that are shown of a sample."""
_TEXT = re.compile(r"char|text|string|clob|enum", re.IGNORECASE)
_BOOLEAN = re.compile(r"bool|tinyint\(1\)", re.IGNORECASE)
_NESTED = re.compile(r"\[|list|map|struct", re.IGNORECASE)


_NAMED = 8
"""Names that a warning lists; its event has all of them."""


def about_of(question: Question) -> str:
    """Return all words of a question, which rank the tables if not all can be shown."""
    return "\n".join(
        [
            question.text,
            question.rules,
            question.candidate_query or "",
            *question.context_queries,
            *question.target.values(),
        ]
    )


def tables_of(question: Question) -> tuple[str, ...]:
    """Return the tables, labels and types of a question's scenario."""
    scenario = plugins.scenario_of(question)
    if scenario is None:
        return ()
    schema = scenario.schema
    names = [table.name for table in schema.tables]
    names += [node.label for node in schema.nodes] + [edge.label for edge in schema.edges]
    return tuple(dict.fromkeys(names))


def warning_of(shown: FittedSchema) -> WarningEvent | None:
    """Return the warning about an incomplete schema; None if all of it is shown."""
    left, briefly = len(shown.left_out), shown.shortened
    if shown.is_whole:
        return None
    parts = [f"{shown.total - left - briefly:,} are described to the model"]
    if briefly:
        parts.append(f"of {briefly:,} it is shown keys, joins and comments alone")
    if left:
        names = ", ".join(shown.left_out[:_NAMED]) + (", ..." if left > _NAMED else "")
        named = "only their names" if shown.named == left else f"only the names of {shown.named:,}"
        parts.append(f"of the other {left:,} it is shown {named} ({names})")
    return WarningEvent(
        about="schema",
        text=f"The schema is too long for the prompt: of {shown.total:,} tables or labels, "
        f"{'; '.join(parts)}. Name those that matter (--tables, or 'tables' of a --policy), or "
        "give the schema more room (--schema-tokens).",
        considered=shown.total - left,
        total=shown.total,
        left_out=shown.left_out,
    )


def shown_schema(
    database: Database,
    samples: int = 0,
    about: str = "",
    most: int = MOST_TOKENS,
    first: Collection[str] = (),
) -> FittedSchema:
    """Return the part of a schema for a prompt.

    Parameters
    ----------
    database
        The database.
    samples
        Number of sample values of each text and boolean column.
    about
        The words of the question, whose tables have priority if not all can be shown.
    most
        Tokens of the text, as `estimate_tokens` counts them.
    first
        Names that go before all others, such as a scenario's.

    Raises
    ------
    InfrastructureError
        The database failed.
    """
    fitted = fit_schema(database.schema(), about, most, first=first)
    if not samples:
        return fitted
    # Only the described part is sampled; with its samples it may be too long again.
    sampled = sampled_schema(database, samples, schema=fitted.schema)
    return fit_again(fitted, sampled, most)


def sampled_schema(
    database: Database,
    samples: int,
    seconds: float = 30.0,
    schema: DatabaseSchema | None = None,
) -> DatabaseSchema:
    """Return a schema with the first values of each text and boolean column.

    They are read by one statement a column, through the same guard as any other, so a policy that
    hides a column hides its values. They are distinct, in the database's order of texts, and by the
    characters' codes where that order is its server's to choose. A column whose values cannot be
    read within a third of the time, or before it is over, has none.

    Parameters
    ----------
    database
        The database.
    samples
        How many values of a column; 0 for none, which asks nothing.
    seconds
        What all columns together may take.
    schema
        The part of it that is sampled; None for all.

    Raises
    ------
    InfrastructureError
        The database failed.
    """
    schema = database.schema() if schema is None else schema
    if not samples:
        return schema
    limits = Limits(samples, seconds=seconds / 3.0, cell=_LONGEST)
    until = perf_counter() + seconds

    def sampled(part: Part, field: Field) -> Field:
        left = until - perf_counter()
        if not _is_sampled(field) or left <= 0.0:
            return field
        statement = _sample_statement(database, schema, part, field, samples)
        try:
            within = replace(limits, seconds=min(limits.seconds, left))
            rows = database.query(statement, within).rows
        except QueryError:
            return field
        return replace(field, samples=tuple(row[0] for row in rows))

    return schema.replace_parts(
        [
            replace_fields(part, [sampled(part, field) for field in part.fields])
            for part in schema.parts
        ]
    )


def _is_sampled(field: Field) -> bool:
    """Whether a column contains texts or booleans."""
    if _NESTED.search(field.type):
        return False
    return bool(_TEXT.search(field.type) or _BOOLEAN.search(field.type))


def _sample_statement(
    database: Database, schema: DatabaseSchema, part: Part, field: Field, rows: int
) -> str:
    """Return the statement that selects the first distinct values of a column."""
    if isinstance(part, TableInfo):
        column, table = schema.spell(field.name), schema.spell(part.name)
        # A server's own order of texts depends on its locale.
        by_code = database.dialect == "postgres" and _TEXT.search(field.type)
        value = f'{column} COLLATE "C"' if by_code else column
        most = "" if database.dialect == "ansi" else f" LIMIT {rows}"
        return (
            f"SELECT DISTINCT {value} AS shown FROM {table} WHERE {column} IS NOT NULL "  # noqa: S608
            f"ORDER BY shown{most}"
        )
    value = f"e.{cypher_name(field.name)}"
    return (
        f"MATCH {match_pattern(part)} WHERE {value} IS NOT NULL RETURN DISTINCT {value} AS shown "
        f"ORDER BY shown LIMIT {rows}"
    )
