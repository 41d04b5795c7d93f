"""Define the read-only database tools and the decision tool that MCP and LangChain agents call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from dqa.api import looking
from dqa.api.asking import Decisions, ask, require_decided
from dqa.core import errors
from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.decision import Ending
from dqa.core.docstrings import descriptions
from dqa.core.errors import AuditError, DqaError, UnknownNameError, UsageError
from dqa.core.events import ReviewAction, ReviewKind
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.review import Reviewer, reviews_in
from dqa.core.secrets import redact
from dqa.deciders.tools import Arguments, Text, checked_arguments
from dqa.evaluation.traces import Trace
from dqa.evaluation.user_question import UserQuestion
from dqa.report.reading import decision_lines

_MOST_STATEMENTS = 50
_LONGEST = 4_000
"""The maximum number of characters of a decision's text, such as a plan, statement or answer."""


def bounded(text: str) -> str:
    """Remove secrets from a text and shorten it to the maximum length."""
    shown = redact(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


_Text: TypeAlias = Annotated[str, AfterValidator(bounded)]


class DecidedStatement(Record):
    """A statement that supports a decision, and its result."""

    statement: _Text
    row_count: int
    error: str | None = None


class DecidedReview(Record):
    """A person's answer to a review; see `dqa.core.events.ReviewEvent`."""

    about: ReviewKind
    text: _Text
    action: ReviewAction
    correction: _Text | None = None
    reason: _Text = ""
    by: str = ""


class Decided(looking.ToolText):
    """A decision in the form that other programs receive.

    Attributes
    ----------
    choice
        The chosen candidate; None if no candidate was chosen.
    answer
        The answer in the decider's own words.
    ending
        How the decision ended: ``answered``, or the reason why there is no answer.
    error
        The problem, if there is no answer.
    decider, model
        The names of the decider and its model.
    plan
        The last plan; empty if the decider made no plan.
    statements
        The first statements that ran, in order; at most 50.
    reviews
        The answers of people to reviews, in order.
    warnings
        Problems that may affect the decision.
    input_tokens, output_tokens, cost
        The numbers of tokens that the decision used, and their cost. The cost is None if prices are
        unknown.
    """

    choice: Candidate | None
    answer: _Text
    ending: Ending
    error: _Text | None = None
    decider: str
    model: str
    plan: _Text = ""
    statements: tuple[DecidedStatement, ...] = ()
    reviews: tuple[DecidedReview, ...] = ()
    warnings: tuple[_Text, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

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
        same = ("choice", "answer", "ending", "error", "decider", "model", "warnings", "cost")
        found = {
            **{name: getattr(trace, name) for name in ("database", *same)},
            "plan": trace.plans[-1] if trace.plans else "",
            "statements": trace.evidence[:_MOST_STATEMENTS],
            "reviews": reviews_in(trace.events),
            "input_tokens": trace.usage.input_tokens,
            "output_tokens": trace.usage.output_tokens,
            "text": bounded("\n".join([*decision_lines(trace), *warnings])),
        }
        return cls.model_validate(found, from_attributes=True)


def _decide(  # noqa: PLR0913  (the reviewer's arguments are not the agent's)
    decisions: Decisions,
    database: Database,
    question: str | None = None,
    *,
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


def _ask_function(decisions: Decisions) -> Callable[..., Decided]:
    """Return the function of the tool ``ask``.

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
    return partial(_decide, decisions)


Databases: TypeAlias = Database | Mapping[str, Database]
"""An open database, or several by name."""


class _Strict(Arguments):
    """Base class of a tool's arguments.

    An unknown argument is an error, so that misspelt names are noticed.
    """

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool that an agent can call.

    Attributes
    ----------
    name, description
        The name and description that an agent reads.
    arguments
        The pydantic model of the arguments.
    result
        The class of the result.
    action
        The function that runs the tool. It is called with a database and the arguments.
    databases
        The databases by the names that an agent uses.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    result: type[looking.ToolRecord]
    action: Callable[..., looking.ToolRecord]
    databases: Mapping[str, Database]

    @property
    def asks_model(self) -> bool:
        """Whether the tool may call a language model, which costs money."""
        return self.result is Decided

    def call(self, arguments: Mapping[str, Any]) -> looking.ToolRecord:
        """Run the tool with the arguments of an agent.

        Raises
        ------
        UnparsableReplyError
            The arguments are invalid.
        DqaError
            The tool failed. `is_fixable` returns whether the agent can fix the cause.
        """
        checked = checked_arguments(self.name, self.arguments, arguments)
        name = checked.pop("database", next(iter(self.databases)))
        found = self.action(self.databases[name], **checked)
        # Agents know a database by its name, not by the path of its file.
        return found.changed(database=name)


def agent_tools(
    databases: Databases, *, limits: Limits = DEFAULT_LIMITS, decisions: Decisions | None = None
) -> tuple[AgentTool, ...]:
    """Return the tools of an agent: ``schema``, ``describe``, ``sample``, ..., ``query``, ``ask``.

    Parameters
    ----------
    databases
        An open database, or several open databases by name. With several databases, the agent names
        a database in every call. The policy and the audit with which a database was opened apply to
        every call.
    limits
        The limits of a statement of ``query``.
    decisions
        Decides the questions of ``ask``. If None, there is no tool ``ask``.
    """
    opened = databases if isinstance(databases, Mapping) else {databases.name: databases}
    if not opened:
        raise UsageError("databases is empty: pass an open database, or several by name.")
    languages = ", ".join(dict.fromkeys(database.language for database in opened.values()))
    queries = (
        f"Run one read-only statement ({languages}). Returns at most {limits.rows:,} rows within "
        f"{limits.seconds:g} seconds, or says what to change."
    )
    tools = [_tool(opened, name, action) for name, action in _LOOKING.items()]
    tools.append(_tool(opened, "query", partial(looking.query, limits=limits), queries))
    if decisions is not None:
        fields = UserQuestion.model_fields.items()
        definitions = {name: (one.annotation, one) for name, one in fields}
        tools.append(_tool(opened, "ask", _ask_function(decisions), _ASKING, **definitions))
    return tuple(tools)


_ASKING = (
    "Have a whole question decided: a decider plans, queries the database and chooses one of the "
    "candidates, with its evidence. Takes minutes, and may cost money."
)
_LOOKING: Mapping[str, Callable[..., looking.ToolRecord]] = {
    "schema": looking.describe_database,
    "describe": looking.describe_table,
    "sample": looking.sample_rows,
    "find": looking.find_columns,
    "check": looking.check_statement,
}


def _tool(
    databases: Mapping[str, Database],
    name: str,
    action: Callable[..., looking.ToolRecord],
    description: str = "",
    **arguments: Any,  # noqa: ANN401  (types and fields)
) -> AgentTool:
    """Return a tool. By default, the docstring and the parameters of the action describe it.

    With several databases, the tool has a further argument that names the database.
    """
    signature = inspect.signature(action, eval_str=True)
    texts = descriptions(getattr(action, "func", action), "Parameters")
    for one in [*signature.parameters.values()][1:] if not arguments else ():
        if one.kind is one.POSITIONAL_OR_KEYWORD:
            is_required = one.default is one.empty
            field = Field(... if is_required else one.default, description=texts[one.name].text)
            arguments[one.name] = (Text if is_required else one.annotation, field)
    if len(databases) > 1:
        names: Any = Literal[tuple(databases)]
        arguments["database"] = (names, Field(description="the database to use"))
    model = create_model(f"{name.capitalize()}Arguments", __base__=_Strict, **arguments)
    summary = (inspect.getdoc(action) or "").partition("\n\nParameters\n")[0]
    description = description or " ".join(summary.split())
    return AgentTool(name, description, model, signature.return_annotation, action, databases)


def is_fixable(error: DqaError) -> bool:
    """Return whether an agent can fix the cause of an error by another call."""
    if isinstance(error, AuditError):
        return False
    mendable = errors.QueryError | UnknownNameError | errors.UnparsableReplyError | UsageError
    return isinstance(error, mendable)
