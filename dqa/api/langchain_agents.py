"""The tools of `dqa.api.agent_tools` for LangChain's agents, and decisions for its graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, overload

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from dqa.api.agent_tools import (
    AgentTool,
    Databases,
    ToolResult,
    agent_tools,
    is_mendable,
)
from dqa.api.deciding import Decisions, bounded
from dqa.api.pausing import PausingNode, pausing_node
from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.errors import DqaError, UnparsableReplyError, UsageError
from dqa.core.events import ReviewKind
from dqa.core.review import Reviewer
from dqa.deciders.tools import first_problem

Node: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
"""A node of a graph: from the state to what changes of it."""


def langchain_tools(
    databases: Databases,
    *,
    limits: Limits = DEFAULT_LIMITS,
    decisions: Decisions | None = None,
) -> list[BaseTool]:
    """Return LangChain tools over open databases, for ``create_agent`` and any other agent.

    A tool returns text for the model, and the record behind it (`QueriedRows`, `DescribedTable`)
    as its artifact. An error that the model can fix is a message with ``status="error"``; a
    database that fails raises `InfrastructureError`.

    Parameters
    ----------
    databases, limits, decisions
        As in `agent_tools`; without `decisions` there is no tool ``ask``.
    """
    tools = agent_tools(databases, limits=limits, decisions=decisions)
    return [_langchain(tool) for tool in tools if decisions is not None or not tool.asks_model]


def _langchain(tool: AgentTool) -> StructuredTool:
    def run(**arguments: Any) -> tuple[str, ToolResult]:  # noqa: ANN401  (what the tool takes)
        try:
            found = tool.call(arguments)
        except DqaError as error:
            if is_mendable(error):
                raise ToolException(bounded(str(error))) from error
            raise
        return found.to_text(), found

    return StructuredTool(
        func=run,
        name=tool.name,
        description=tool.description,
        args_schema=tool.arguments,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=partial(first_problem, tool.name, tool.arguments),
    )


@overload
def decision_node(  # type: ignore[overload-overlap]  # an empty review is none
    database: Database,
    decisions: Decisions,
    *,
    question: str = ...,
    decision: str = ...,
    review: tuple[()] = ...,
) -> Node: ...


@overload
def decision_node(
    database: Database,
    decisions: Decisions,
    *,
    question: str = ...,
    decision: str = ...,
    review: Sequence[ReviewKind],
) -> PausingNode: ...


def decision_node(
    database: Database,
    decisions: Decisions,
    *,
    question: str = "question",
    decision: str = "decision",
    review: Sequence[ReviewKind] = (),
) -> Node | PausingNode:
    """Return a node for LangGraph that decides the question in the state.

    Parameters
    ----------
    database
        The database of the questions.
    decisions
        Decides the questions.
    question
        The key of the state that holds the question: a text, or a mapping of what
        `Decisions.ask` takes (question, rules, candidates, ...).
    decision
        The key that the decision is written to: a `Decided` as plain JSON values, so that
        checkpoints can keep it.
    review
        What a person approves: ``plan``, ``statement``, ``decision``. The graph, which needs a
        checkpointer, is interrupted with a `Review` as plain JSON values, and resumes with
        ``Command(resume=...)`` and a `ReviewAnswer` in the same form. No model is called and no
        statement runs twice for it.

    Returns
    -------
    callable
        It raises `UsageError` if the state does not make a question, and the errors of
        `Decisions.ask`. With a review it is a graph of LangGraph's.
    """
    (ask,) = (tool for tool in agent_tools(database, decisions=decisions) if tool.asks_model)

    def decide(state: Mapping[str, Any], reviewer: Reviewer | None = None) -> dict[str, Any]:
        asked = state.get(question)
        asked = {"question": asked} if isinstance(asked, str) else asked
        if not isinstance(asked, Mapping):
            raise UsageError(
                f"The state has no question at '{question}': put a text there, or a mapping with "
                "question, rules and candidates."
            )
        action = partial(decisions.ask, reviewer=reviewer, review=review)
        try:
            return replace(ask, action=action).call(asked).to_json()
        except UnparsableReplyError as error:
            raise UsageError(f"The state's '{question}': {error}") from error

    if review:
        return pausing_node(decide, question, decision, review)
    return lambda state: {decision: decide(state)}
