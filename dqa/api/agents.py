"""Decisions and read-only tools for other people's agents, which MCP and LangChain offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Literal, NoReturn, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from dqa.api import looking
from dqa.api.asking import ConnectedDecider, ask, require_decided
from dqa.api.running import Named
from dqa.core import errors
from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.decision import Ending
from dqa.core.display import LEAST_TOKENS, MOST_TOKENS
from dqa.core.errors import AuditError, DqaError, UnknownNameError, UsageError
from dqa.core.events import ReviewAction, ReviewKind
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.review import Reviewer, reviews_in
from dqa.core.secrets import redact
from dqa.core.text import counted
from dqa.deciders.tools import Arguments, Text, checked_arguments
from dqa.evaluation.asked import AskedQuestion
from dqa.evaluation.options import DEFAULT_CALLS, CallOptions
from dqa.evaluation.traces import Trace
from dqa.scenarios import scenario_name

_MOST_STATEMENTS = 50
_LONGEST = 4_000
"""Characters of a text of a decision: a plan, a statement, an answer."""


def bounded(text: str) -> str:
    """Return a text for another program: without secrets, and of bounded length."""
    shown = redact(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


_Text: TypeAlias = Annotated[str, AfterValidator(bounded)]


class DecidedStatement(Record):
    """A statement that a decision rests on, and its result."""

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


class Decided(looking.ToolRecord):
    """A decision as another program receives it.

    Attributes
    ----------
    choice
        The chosen candidate; None for none.
    answer
        The decider's own words.
    ending
        How it ended: ``answered``, or why there is no answer.
    error
        What went wrong, if there is no answer.
    decider, model
        Who decided.
    plan
        The last plan; empty without one.
    statements
        The statements that ran, in order, the first 50.
    reviews
        The answers of people to reviews, in order.
    warnings
        Facts that the decision does not take into account.
    input_tokens, output_tokens, cost
        The usage; `cost` if prices are known.
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
            It ended so, which says nothing about the question.
        """
        require_decided(trace)
        same = ("choice", "answer", "ending", "error", "decider", "model", "warnings", "cost")
        found = {
            **{name: getattr(trace, name) for name in same},
            "plan": trace.plans[-1] if trace.plans else "",
            "statements": trace.evidence[:_MOST_STATEMENTS],
            "reviews": reviews_in(trace.events),
            "input_tokens": trace.usage.input_tokens,
            "output_tokens": trace.usage.output_tokens,
        }
        return cls.model_validate(found, from_attributes=True)

    def to_text(self) -> str:
        """Return the decision as a model reads it."""
        lines = [
            "No decision." if self.choice is None else f"Choice: {self.choice}",
            f"Answer: {self.answer or '(none)'}",
            f"Ended: {self.ending}." + (f" {self.error}" if self.error else ""),
            *([f"Plan:\n{self.plan}"] if self.plan else []),
            f"Evidence: {counted(len(self.statements), 'statement')}",
            *(asked.statement for asked in self.statements),
            *(f"Warning: {warning}" for warning in self.warnings),
        ]
        return "\n".join(lines)


class Decisions:
    """Decides questions, all by the same decider and model.

    Parameters
    ----------
    decider
        The decider, as a name or an object; by default that of the installed packages.
    calls
        How models are called; a budget is for one question.
    scenarios
        Scenarios whose question may be asked, by name or folder.
    **deciding
        The fields of a `Deciding`: model, protocol, settings, ...

    Raises
    ------
    UsageError
        An argument is wrong, or the decider needs a model and `deciding` names none.
    """

    def __init__(
        self,
        decider: Named | None = None,
        *,
        calls: CallOptions = DEFAULT_CALLS,
        scenarios: Sequence[str] = (),
        **deciding: Any,  # noqa: ANN401  (fields of the spec)
    ) -> None:
        if calls.record is not None:
            raise UsageError(
                "record (--record) records the replies to one question, and here several may be "
                "asked: leave it out."
            )
        self._scenarios: Mapping[str, str] = {scenario_name(given): given for given in scenarios}
        self._decider = ConnectedDecider.of(decider, calls, deciding)
        name, connected = self._decider.name, self._decider.connected
        contestant = connected.contestants.get(name)
        if contestant is not None and contestant.factory.needs_model and "model" not in deciding:
            raise UsageError(f"The decider '{name}' asks a chat model: name one (--model).")
        connected.deciders(self._decider.fields.rule_set)  # a wrong setting is an error at once

    def ask(
        self,
        database: Database,
        question: str | None = None,
        *,
        scenario: str | None = None,
        reviewer: Reviewer | None = None,
        review: Sequence[ReviewKind] = (),
        **asked: Any,  # noqa: ANN401  (fields of a question)
    ) -> Decided:
        """Decide one question, as `dqa.ask` does.

        Parameters
        ----------
        database
            An open database.
        question, scenario, **asked
            The fields of an `AskedQuestion`; None is its default.
        reviewer, review
            The caller's own; another agent cannot set them.

        Raises
        ------
        UsageError
            The arguments do not make a question.
        QueryError, DataError
            The question cannot be made of the database's contents.
        InfrastructureError, BudgetSpentError, CrashError
            No decision was made, which says nothing about the question.
        """
        if scenario is None and question is None:
            also = f", or a scenario ({', '.join(self._scenarios)})" if self._scenarios else ""
            raise UsageError(f"Give the question to decide{also}.")
        if scenario is not None and scenario not in self._scenarios:
            raise UnknownNameError("scenario", scenario, self._scenarios)
        fields = {name: value for name, value in asked.items() if value is not None}
        trace = ask(
            database,
            question,
            scenario=None if scenario is None else self._scenarios[scenario],
            decider=self._decider.with_new_budget(),
            reviewer=reviewer,
            review=review,
            **fields,
        )
        return Decided.of(trace)


Databases: TypeAlias = Database | Mapping[str, Database]
"""An open database, or several by name."""

_MOST_SAMPLED = 100
"""Rows of a sample, and columns that are found, at most."""


_Action: TypeAlias = Callable[..., looking.ToolRecord]
"""The function of a tool: called with a database and arguments."""


class _Strict(Arguments):
    """Arguments that refuse unknown names: a misspelt one would be ignored."""

    model_config = ConfigDict(extra="forbid")


class SchemaArguments(_Strict):
    """What `schema` takes."""

    question: str = Field(
        default="", description="the topic: tables that its words name are described first"
    )
    tokens: int = Field(
        default=MOST_TOKENS,
        ge=LEAST_TOKENS,
        le=MOST_TOKENS,
        description="most tokens of the description, about",
    )


class DescribeArguments(_Strict):
    """What `describe` takes."""

    table: Text = Field(description="a table; of a graph a label or relationship type")


class SampleArguments(DescribeArguments):
    """What `sample` takes."""

    rows: int = Field(default=5, ge=1, le=_MOST_SAMPLED, description="most rows")


class FindArguments(_Strict):
    """What `find` takes."""

    words: Text = Field(description="words that describe the column")
    most: int = Field(default=20, ge=1, le=_MOST_SAMPLED, description="most columns")


class StatementArguments(_Strict):
    """What `check` and `query` take."""

    statement: Text = Field(description="one read-only statement in the database's language")


_QUESTION: Any = {name: (one.annotation, one) for name, one in AskedQuestion.model_fields.items()}
AskArguments = create_model(
    "AskArguments", __base__=_Strict, __doc__="What `ask` takes.", **_QUESTION
)


@dataclass(frozen=True, slots=True)
class AgentTool:
    """One thing that an agent may do.

    Attributes
    ----------
    name, description
        As an agent reads them.
    arguments
        The model of its arguments.
    result
        The class of its result.
    action
        Its function of a database and arguments.
    databases
        The databases, by the names that an agent knows.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    result: type[looking.ToolRecord]
    action: _Action
    databases: Mapping[str, Database] = field(default_factory=dict)

    @property
    def asks_model(self) -> bool:
        """Whether it may ask a language model, which costs something."""
        return self.result is Decided

    def call(self, arguments: Mapping[str, Any]) -> looking.ToolRecord:
        """Do it, with arguments as an agent gave them.

        Raises
        ------
        UnparsableReplyError
            The arguments do not fit.
        DqaError
            It failed; `is_mendable` says whether the agent can do something about it.
        """
        given = checked_arguments(self.name, self.arguments, arguments)
        name = given.pop("database", next(iter(self.databases)))
        found = self.action(self.databases[name], **given)
        # Agents know a database by its name, not by the path of its file.
        return found.changed(database=name) if "database" in self.result.model_fields else found


def agent_tools(
    databases: Databases,
    *,
    limits: Limits = DEFAULT_LIMITS,
    decisions: Decisions | None = None,
) -> tuple[AgentTool, ...]:
    """Return ``schema``, ``describe``, ``sample``, ``find``, ``check``, ``query`` and ``ask``.

    Parameters
    ----------
    databases
        An open database, or several by name; every call then names one. Each keeps the policy and
        the audit that it was opened with.
    limits
        The limits of a statement of ``query``.
    decisions
        Decides the questions of ``ask``; None if it is refused.
    """
    opened = databases if isinstance(databases, Mapping) else {databases.name: databases}
    if not opened:
        raise UsageError("databases names none: give an open database.")
    languages = ", ".join(dict.fromkeys(database.language for database in opened.values()))
    query_tool = AgentTool(
        "query",
        f"Run one read-only statement ({languages}). Returns at most {limits.rows:,} rows within "
        f"{limits.seconds:g} seconds, or says what to change.",
        StatementArguments,
        looking.QueriedRows,
        partial(looking.query, limits=limits),
    )
    action: _Action = _refuse
    if decisions is not None:
        action = decisions.ask
    ask_tool = AgentTool(
        "ask",
        "Have a whole question decided: a decider plans, queries the database and chooses one "
        "of the candidates, with its evidence. Takes minutes, and may cost money.",
        AskArguments,
        Decided,
        action,
    )
    return tuple(
        replace(tool, arguments=_naming_database(tool.arguments, tuple(opened)), databases=opened)
        for tool in (*_LOOKING, query_tool, ask_tool)
    )


def _refuse(_database: Database, **_asked: Any) -> NoReturn:  # noqa: ANN401  (any arguments)
    raise UsageError(
        "This server makes no decisions: it was set up without a decider and a model (--model, "
        "--decider). Use schema and query instead."
    )


_LOOKING = (
    AgentTool(
        "schema",
        "List the contents of a database: tables, columns, types and keys; or labels, relationship "
        "types and properties. If not all can be described, a question selects what matters.",
        SchemaArguments,
        looking.SchemaText,
        looking.SchemaText.of,
    ),
    AgentTool(
        "describe",
        "Describe one table, or label or relationship type: columns, types, keys, references "
        "and, where counting is quick, the number of rows.",
        DescribeArguments,
        looking.DescribedTable,
        looking.describe_table,
    ),
    AgentTool(
        "sample",
        "Show some rows of one table, or label or relationship type.",
        SampleArguments,
        looking.QueriedRows,
        looking.sample_rows,
    ),
    AgentTool(
        "find",
        "Find the columns or properties that some words are about, in whichever table, label or "
        "relationship type they stand.",
        FindArguments,
        looking.FoundColumns,
        looking.find_columns,
    ),
    AgentTool(
        "check",
        "Say whether a statement would be allowed to run, and if not, why. Nothing is run.",
        StatementArguments,
        looking.StatementVerdict,
        looking.check_statement,
    ),
)


def _naming_database(arguments: type[BaseModel], names: tuple[str, ...]) -> type[BaseModel]:
    """Return arguments that name one of several databases, too."""
    if len(names) == 1:
        return arguments
    which: Any = Literal[names]
    return create_model(
        arguments.__name__,
        __base__=arguments,
        __doc__=arguments.__doc__,
        database=(which, Field(description="the database to use")),
    )


def is_mendable(error: DqaError) -> bool:
    """Whether an agent can fix the cause of an error."""
    if isinstance(error, AuditError):
        return False
    mendable = errors.QueryError | UnknownNameError | errors.UnparsableReplyError | UsageError
    return isinstance(error, mendable)
