"""Tools of agents: LangChain tools for a database and the simulator of a scenario.

All agents that accept LangChain tools can use these tools. A tool returns text for the model, and
an `Evidence` as its artifact.

If a statement cannot run, the error is an observation, so that the model can correct the statement.
If the database fails, `InfrastructureError` ends the decision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.display import DEFAULT_DISPLAY, Display, numbers_in
from dqa.core.errors import NotApprovedError, QueryError, UnparsableReplyError
from dqa.core.evidence import COMPARE, QUERY, SIMULATE, Evidence
from dqa.core.question import Candidate
from dqa.core.review import current_reviewing
from dqa.deciders.replies import problems_of
from dqa.deciders.reviewing import describe_correction, describe_refusal, settle_statement

if TYPE_CHECKING:
    from dqa.deciders.simulation import Simulation

_SEPARATED = re.compile(r"[,;\n]")


class Arguments(BaseModel):
    """Arguments of a tool. A number is accepted instead of a text, because ids may be numbers.

    An unknown argument is an error, so that agents notice misspelt names. Only deciders ignore it,
    as in other replies (`checked_arguments`).
    """

    model_config = ConfigDict(coerce_numbers_to_str=True, extra="forbid")


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A text that is not empty."""


class QueryArguments(Arguments):
    """Run one read-only statement. The result is one JSON array per row, or an error to correct."""

    statement: Text = Field(description="one read-only statement in the database's language")


class SimulateArguments(Arguments):
    """Apply the business rules to the database after one decision, and return its outcome."""

    decision: Text = Field(description="the candidate to choose, by its name or id in the database")


def _names_in(value: object) -> object:
    """Convert text to a list: JSON, or names separated by commas, semicolons or line ends."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.lstrip().startswith("[") else value
        except (ValueError, RecursionError):
            value = value.strip().strip("[]")
    if isinstance(value, str):
        value = [part.strip(" \"'`-*") for part in _SEPARATED.split(value)]
    return [one for one in value if str(one).strip()] if isinstance(value, list) else value


class CompareArguments(Arguments):
    """Apply the business rules after each of several decisions. Return the best outcome first."""

    candidates: Annotated[list[str], BeforeValidator(_names_in)] = Field(
        default=[], description="the candidates to compare; an empty list compares all"
    )


def evidence_tool(
    gather: Callable[..., Evidence], name: str, description: str, arguments: type[BaseModel]
) -> StructuredTool:
    """Return a LangChain tool that returns evidence.

    Parameters
    ----------
    gather
        Returns the evidence. Raises `InfrastructureError` if a server fails.
    name, description
        The name and the description that the model reads.
    arguments
        The arguments of `gather`.
    """

    def run(**arguments: Any) -> tuple[str, Evidence]:  # noqa: ANN401  (what its schema says)
        evidence = gather(**arguments)
        return evidence.observation, evidence

    return StructuredTool(
        func=run,
        name=name,
        description=description,
        args_schema=arguments,
        response_format="content_and_artifact",
    )


def observe(  # noqa: PLR0913  (each is a question of its own to the caller)
    database: Database,
    statement: str,
    limits: Limits = DEFAULT_LIMITS,
    display: Display = DEFAULT_DISPLAY,
    candidates: Iterable[Candidate | float] = (),
    *,
    closing: str = "",
) -> Evidence:
    """Run a statement, and return its evidence for a model.

    Parameters
    ----------
    database
        The database.
    statement
        The statement of the model.
    limits
        The limits of the statement.
    display
        How numbers are shown.
    candidates
        The candidates. A number in the rows is not rounded if it is a candidate.
    closing
        Text to add below the rows.

    Returns
    -------
    Evidence
        The rows as text, or the problem and its fix.

    Raises
    ------
    InfrastructureError
        The database failed.
    """
    started = perf_counter()
    try:
        rows = database.query(statement, limits)
    except QueryError as error:
        return Evidence.failed(statement, error, perf_counter() - started, closing)
    return Evidence.of(statement, rows, display, exact=numbers_in(candidates), closing=closing)


def query_tool(
    database: Database,
    limits: Limits = DEFAULT_LIMITS,
    display: Display = DEFAULT_DISPLAY,
    candidates: Iterable[Candidate] = (),
) -> StructuredTool:
    """Return the tool ``query_database(statement)``; the parameters are those of `observe`."""
    numbers = numbers_in(candidates)  # `observe` ignores other candidates

    def query(statement: str) -> Evidence:
        if current_reviewing() is None:
            return observe(database, statement, limits, display, numbers)
        settled = settle_statement(statement, database)  # the statement that a reviewer approves
        if settled.text is None:
            refused = f"Error: {describe_refusal(settled)}"
            return Evidence(statement, refused, error=NotApprovedError.__name__)
        closing = describe_correction(settled) if settled.corrected else ""
        return observe(database, settled.text, limits, display, numbers, closing=closing)

    description = (
        f"Run one read-only statement in {database.language} on the database. Returns at most "
        f"{limits.rows} rows as JSON arrays, one on each line, with the column names on the first "
        "line; or an error that says what to change."
    )
    return evidence_tool(query, QUERY, description, QueryArguments)


def simulation_tools(simulation: Simulation) -> tuple[StructuredTool, StructuredTool]:
    """Return the tools ``simulate(decision)`` and ``compare(candidates)``."""
    one, several = SimulateArguments, CompareArguments
    return (
        evidence_tool(simulation.simulate, SIMULATE, one.__doc__ or "", one),
        evidence_tool(simulation.compare, COMPARE, several.__doc__ or "", several),
    )


def checked_arguments(
    name: str, schema: type[BaseModel], arguments: Mapping[str, Any], *, strict: bool = False
) -> dict[str, Any]:
    """Return the arguments of a call, converted to the types of its schema.

    Unless `strict` is true, unknown arguments are ignored.

    Raises
    ------
    UnparsableReplyError
        The arguments do not fit the schema. The message tells the model how to correct them.
    """
    try:
        return dict(schema.model_validate(arguments, extra="forbid" if strict else "ignore"))
    except ValidationError as error:
        raise UnparsableReplyError(describe_misfit(name, schema, error)) from error


def arguments_from_text(tool: BaseTool, text: str) -> dict[str, Any]:
    """Return a tool's arguments from a text: a JSON object, or the value of the only argument.

    Raises
    ------
    UnparsableReplyError
        The tool has several arguments, and the text is not a JSON object. The message is for the
        model.
    """
    names = list(schema_of(tool).model_fields)
    with suppress(ValueError, RecursionError):
        arguments = json.loads(text) if text.lstrip().startswith("{") else None
        if isinstance(arguments, dict) and not arguments.keys().isdisjoint(names):
            return arguments
    if len(names) == 1:
        return {names[0]: text}
    raise UnparsableReplyError(
        f"The tool {tool.name} takes {', '.join(names) or 'no arguments'}: give a JSON object."
    )


def use_tool(tool: BaseTool, arguments: Mapping[str, Any]) -> Evidence:
    """Invoke a tool of this module, with LangChain's callbacks.

    Parameters
    ----------
    tool
        The tool.
    arguments
        The result of `checked_arguments`.

    Raises
    ------
    InfrastructureError
        The database failed.
    """
    call = {"type": "tool_call", "id": tool.name, "name": tool.name, "args": dict(arguments)}
    returned: ToolMessage = tool.invoke(call)
    evidence: Evidence = returned.artifact
    return evidence


def schema_of(tool: BaseTool) -> type[BaseModel]:
    """Return the pydantic model of a tool's arguments."""
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        raise TypeError(f"The tool '{tool.name}' has no pydantic model of its arguments.")
    return schema


def describe_misfit(name: str, schema: type[BaseModel], error: ValidationError) -> str:
    """Describe the problems of a call's arguments, and list the arguments of the tool."""
    taken = ", ".join(schema.model_fields)
    return f"The call of {name} does not fit: {problems_of(error)}. It takes {taken}."
