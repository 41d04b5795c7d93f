"""A decision as a node of a LangGraph graph that waits for a person and resumes.

LangGraph runs a node from its start when it resumes, so the node is its own graph. The result of a
step holds the replies of models, databases and people so far, and the checkpointer stores it before
a person is asked. After the answer the decision is made again: the stored replies are replayed, and
only later requests are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import interrupt

from dqa.core.errors import UsageError
from dqa.core.events import ReviewKind
from dqa.core.journal import Journal, use_journal
from dqa.core.review import Review, ReviewAnswer, Reviewer, review_kinds

PausingNode: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]
"""A node that may wait for a person."""
Decide: TypeAlias = Callable[[Mapping[str, Any], Reviewer], dict[str, Any]]
"""Decides the question of a state, and asks a reviewer on the way."""

_JOURNAL, _PENDING = "dqa_journal", "dqa_pending"
_CHECKPOINTER = "__pregel_checkpointer"
"""Where LangGraph hands the checkpointer on to a node's own graph."""


class _Pending(BaseException):
    """A person has to be asked before the decision can continue."""

    def __init__(self, review: Review) -> None:
        super().__init__(review.kind)
        self.review = review


def pausing_node(
    decide: Decide, question: str, decision: str, review: Sequence[ReviewKind]
) -> PausingNode:
    """Return a node that decides a question, and waits for the answers of a person.

    Parameters
    ----------
    decide
        Decides; its requests to models, databases and the reviewer are stored.
    question, decision
        The keys of the state.
    review
        The kinds of review.

    Raises
    ------
    UsageError
        `review` names something else.
    """
    review_kinds(review)
    kept = {_JOURNAL: list[str], _PENDING: dict[str, Any] | None}
    inner = _state("Deciding", {question: Any, decision: Any, **kept})

    def go_on(state: Any, config: RunnableConfig) -> dict[str, Any]:  # noqa: ANN401
        _require_checkpointer(config)
        journal = Journal(state.get(_JOURNAL) or ())
        try:
            with use_journal(journal):
                decided = decide(state, _pause)
        except _Pending as pending:
            return {_JOURNAL: journal.lines, _PENDING: pending.review.to_json()}
        return {decision: decided, _JOURNAL: [], _PENDING: None}

    def ask(state: Any) -> dict[str, Any]:  # noqa: ANN401  (of keys of the caller's)
        pending, journal = state[_PENDING], Journal(state[_JOURNAL])
        journal.record("review", pending, _answer(pending).to_json())
        return {_JOURNAL: journal.lines, _PENDING: None}

    graph = StateGraph(
        inner,
        input_schema=_state("Asked", {question: Any}),
        output_schema=_state("Decided", {decision: Any}),
    )
    graph.add_node("decide", go_on)
    graph.add_node("review", ask)
    graph.add_edge(START, "decide")
    graph.add_conditional_edges(
        "decide", lambda state: "review" if state[_PENDING] else END, ["review", END]
    )
    graph.add_edge("review", "decide")
    return graph.compile(name="decision")


def _state(name: str, keys: Mapping[str, Any]) -> Any:  # noqa: ANN401  (a class)
    """Return a state with the caller's keys."""
    made: Any = TypedDict
    return made(name, dict(keys), total=False)


def _pause(review: Review) -> NoReturn:
    raise _Pending(review)


def _answer(pending: Mapping[str, Any]) -> ReviewAnswer:
    """Wait for an answer; ask again with the problem of an invalid one."""
    shown = dict(pending)
    while True:
        try:
            return ReviewAnswer.of(interrupt(shown))
        except UsageError as error:
            shown["problem"] = str(error)


def _require_checkpointer(config: RunnableConfig) -> None:
    if not config.get("configurable", {}).get(_CHECKPOINTER):
        raise UsageError(
            "review waits for a person, and the graph keeps nothing meanwhile: compile it with a "
            "checkpointer, e.g. compile(checkpointer=InMemorySaver()), and invoke it with a "
            "thread_id."
        )
