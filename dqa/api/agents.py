"""Offer decisions, and the tools of deciders, to other agents as LangChain tools."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Self, TypeAlias

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import AfterValidator, Field, create_model

from dqa.api.asking import Decisions, ask, require_decided
from dqa.api.looking import check_statement, read_schema
from dqa.core import errors
from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.decision import Ending
from dqa.core.display import Display
from dqa.core.errors import AuditError, UnknownNameError, UsageError
from dqa.core.events import ReviewKind
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.review import Reviewer
from dqa.core.secrets import redact
from dqa.deciders.lookup import lookup_tools
from dqa.deciders.tools import (
    Arguments,
    QueryArguments,
    describe_misfit,
    evidence_tool,
    query_tool,
    schema_of,
)
from dqa.evaluation.traces import Trace
from dqa.loaders.custom_question import UserQuestion
from dqa.report.reading import decision_lines

ASK = "ask"
_EXACT = Display(digits=0)
_LONGEST = 4_000
"""The maximum number of characters of a decision's text, such as an answer."""


def bounded(text: str) -> str:
    """Remove secrets from a text and shorten it to the maximum length."""
    shown = redact(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


_Text: TypeAlias = Annotated[str, AfterValidator(bounded)]


class Decided(Record):
    """A decision in the form that other programs receive.

    Attributes
    ----------
    text
        The decision as text: the choice, the statements and their results, and warnings.
    choice
        The chosen candidate; None if no candidate was chosen.
    answer
        The answer in the decider's own words.
    ending
        How the decision ended: ``answered``, or the reason why there is no answer.
    error
        The problem, if there is no answer.
    """

    text: _Text
    choice: Candidate | None
    answer: _Text
    ending: Ending
    error: _Text | None = None

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """Return the decision of a trace.

        Raises
        ------
        InfrastructureError, BudgetSpentError, CrashError
            A failure unrelated to the question ended the decision.
        """
        require_decided(trace)
        warnings = (f"Warning: {warning}" for warning in trace.warnings)
        return cls(
            text="\n".join([*decision_lines(trace), *warnings]),
            choice=trace.choice,
            answer=trace.answer,
            ending=trace.ending,
            error=trace.error,
        )


class _SchemaArguments(Arguments):
    """Choose what to describe first."""

    question: str = Field(default="", description="the tables that it names are described first")


_FIELDS: dict[str, Any] = {
    name: (field.annotation, field) for name, field in UserQuestion.model_fields.items()
}
AskArguments = create_model("AskArguments", __base__=Arguments, **_FIELDS)
"""The arguments of the tool ``ask``: the fields of a question."""


def langchain_tools(
    database: Database, *, limits: Limits = DEFAULT_LIMITS, decisions: Decisions | None = None
) -> list[BaseTool]:
    """Return LangChain tools for an open database, to use in ``create_agent`` or any other agent.

    The tools are ``schema``, ``check``, ``ask``, and the tools of deciders with all digits of
    numbers. A tool returns a text for the model. The artifact of the tool message is an `Evidence`,
    or for ``ask`` a `Decided`. If the agent can fix an error, this text describes the error. A
    failing database raises `InfrastructureError`.

    Parameters
    ----------
    database
        An open database. Its policy and its audit apply to every call.
    limits
        The limits of a statement of ``query_database``.
    decisions
        Decides the questions of ``ask``. If None, there is no tool ``ask``.

    Raises
    ------
    UsageError
        An option of `decisions` allows only a single question, a model is missing, or a setting is
        wrong.
    """

    def schema(question: str = "") -> Evidence:
        shown = read_schema(database, about=question)
        return Evidence(question, f"{shown.language}\n{shown.text}", tool="schema")

    def check(statement: str) -> Evidence:
        found = check_statement(database, statement)
        verdict = "Allowed." if found.allowed else f"Refused: {found.reason}."
        return Evidence(statement, verdict, tool="check")

    tools = [
        evidence_tool(schema, "schema", _SCHEMA, _SchemaArguments),
        *lookup_tools(database, _EXACT),
        evidence_tool(check, "check", _CHECK, QueryArguments),
        query_tool(database, limits, _EXACT),
    ]
    if decisions is not None:
        tools.append(_ask_tool(database, decisions))
    for tool in tools:
        tool.handle_validation_error = partial(describe_misfit, tool.name, schema_of(tool))
    return [*tools]


_SCHEMA = (
    "List the tables, columns, types and keys of the database, or the contents of a graph. If the "
    "list would be too long, it has only the parts that fit the question best."
)
_CHECK = "Return whether a statement may run, or the reason why not. Nothing is run."
_ASK = (
    "Have a whole question decided: a decider plans, queries the database and chooses one of the "
    "candidates, with its evidence. Takes minutes, and may cost money."
)


def _ask_tool(database: Database, decisions: Decisions) -> StructuredTool:
    require_askable(decisions)

    def run(**asked: Any) -> tuple[str, Decided]:  # noqa: ANN401  (fields of a question)
        try:
            decided = decide(decisions, database, **asked)
        except AuditError:
            raise
        except (errors.QueryError, errors.UnparsableReplyError, UsageError) as error:
            raise ToolException(bounded(str(error))) from error  # the agent can fix the cause
        return decided.text, decided

    return StructuredTool(
        func=run,
        name=ASK,
        description=_ASK,
        args_schema=AskArguments,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def require_askable(decisions: Decisions) -> None:
    """Raise an error if the decider cannot decide the questions of an agent.

    Raises
    ------
    UsageError
        An option allows only a single question, a model is missing, or a setting is wrong.
    """
    if decisions.calls.record is not None:
        raise UsageError(
            "The option record (--record) stores a single question, but an agent may ask "
            "several: leave out the option."
        )
    if decisions.contestant.needs_model and not decisions.names_model:
        raise UsageError(
            f"The decider '{decisions.name}' needs a chat model: choose one (--model)."
        )
    decisions.make_decider()  # raises an error for a wrong setting


def decide(  # noqa: PLR0913  (the reviewer's arguments are not the agent's)
    decisions: Decisions,
    database: Database,
    *,
    question: str | None = None,
    scenario: str | None = None,
    reviewer: Reviewer | None = None,
    review: Sequence[ReviewKind] = (),
    **asked: Any,  # noqa: ANN401  (fields of a question)
) -> Decided:
    """Decide one question of an agent. An argument that is None keeps its default value.

    `reviewer` and `review` come from the program that runs the agent, never from the agent.
    """
    known = decisions.scenarios
    if scenario is None and question is None:
        also = f", or a scenario ({', '.join(known)})" if known else ""
        raise UsageError(f"No question is given: pass a question{also}.")
    if scenario is not None and scenario not in known:
        raise UnknownNameError("scenario", scenario, known)
    trace = ask(
        database,
        question,
        scenario=None if scenario is None else known[scenario],
        decider=decisions,
        reviewer=reviewer,
        review=review,
        **{name: value for name, value in asked.items() if value is not None},
    )
    return Decided.of(trace)
