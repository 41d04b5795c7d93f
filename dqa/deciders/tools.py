"""The agent tools over a database, and the step they are made of: a statement to evidence.

A statement that cannot run is an observation like any other, so that the model can mend it; a
database that fails is none, so `InfrastructureError` propagates and the run ends as such.
"""

from __future__ import annotations

from time import perf_counter

from langchain_core.tools import StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.errors import QueryError, StatementTimeoutError
from dqa.core.evidence import Evidence

__all__ = ["Arguments", "QueryArguments", "observe", "query_tool", "schema_tool"]


class Arguments(BaseModel):
    """What a model calls a tool with. Ids are numbers, and models write them as such."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


class QueryArguments(Arguments):
    """Run one read-only statement; gives rows, one JSON array a line, or an error to mend."""

    statement: str = Field(description="one read-only statement in the database's language")


class _NoArguments(BaseModel):
    pass


def observe(database: Database, statement: str, limits: Limits = DEFAULT_LIMITS) -> Evidence:
    """Run a statement and return what happened as a model is shown it.

    Parameters
    ----------
    database
        What to query.
    statement
        As the model wrote it.
    limits
        What it may cost.

    Returns
    -------
    Evidence
        With the rows as text, or what was wrong and how to mend it.

    Raises
    ------
    InfrastructureError
        The database failed, which says nothing about the statement.
    """
    started = perf_counter()
    try:
        rows = database.query(statement, limits)
    except QueryError as error:
        return Evidence(
            statement=statement,
            observation=f"Error: {error}",
            error=type(error).__name__,
            cut="seconds" if isinstance(error, StatementTimeoutError) else None,
            seconds=perf_counter() - started,
        )
    return Evidence(
        statement=statement,
        observation=rows.to_text(),
        row_count=len(rows.rows),
        cut=rows.cut,
        seconds=rows.seconds,
        translated=rows.translated,
    )


def query_tool(database: Database, limits: Limits = DEFAULT_LIMITS) -> StructuredTool:
    """Return the tool ``query_database(statement)``.

    Its content is what `observe` shows the model, its artifact the whole `Evidence`.
    """

    def run(statement: str) -> tuple[str, Evidence]:
        evidence = observe(database, statement, limits)
        return evidence.observation, evidence

    return StructuredTool.from_function(
        run,
        name="query_database",
        description=(
            f"Run one read-only statement in {database.language} on the "
            f"database. Returns at most {limits.rows} rows, one JSON array a line, the column "
            "names first; or an error that says what to change."
        ),
        args_schema=QueryArguments,
        response_format="content_and_artifact",
    )


def schema_tool(database: Database) -> StructuredTool:
    """Return the tool ``describe_database()``, whose content is the schema as text."""

    def describe() -> str:
        return database.schema().to_text()

    return StructuredTool.from_function(
        describe,
        name="describe_database",
        description="List what the database holds: names, columns or properties, types and keys.",
        args_schema=_NoArguments,
    )
