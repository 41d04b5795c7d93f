"""Provide a decision node to LangGraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import interrupt

from dqa.api.agents import ASK, AskArguments, decide, require_askable
from dqa.api.asking import Decisions
from dqa.core.database import Database
from dqa.core.errors import UnparsableReplyError, UsageError
from dqa.core.events import ReviewKind
from dqa.core.journal import Journal, use_journal
from dqa.core.review import Review, ReviewAnswer, Reviewer, review_kinds
from dqa.deciders.tools import checked_arguments

_JOURNAL, _PENDING = "dqa_journal", "dqa_pending"
_CHECKPOINTER = "__pregel_checkpointer"
"""The configuration key under which LangGraph passes the checkpointer to a subgraph."""


class _Pending(BaseException):
    """Raised when a decision must wait for a person's answer to a review."""

    def __init__(self, review: Review) -> None:
        super().__init__(review.kind)
        self.review = review


def _pausing_node(
    decide: Callable[[Mapping[str, Any], Reviewer], dict[str, Any]], question: str, decision: str
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a node that decides a question and pauses for a person's reviews.

    Parameters
    ----------
    decide
        A function that takes a state and a reviewer, and decides the question in the state. The
        graph stores the result of every call of a model, a database or the reviewer, so a resumed
        graph does not repeat these calls.
    question, decision
        The keys under which the state contains the question and the decision.
    """
    stored = {_JOURNAL: list[str], _PENDING: dict[str, Any] | None}
    inner = _state("Deciding", {question: Any, decision: Any, **stored})

    def resume(state: Any, config: RunnableConfig) -> dict[str, Any]:  # noqa: ANN401
        if not config.get("configurable", {}).get(_CHECKPOINTER):
            raise UsageError(
                "A review waits for a person, but the graph does not store its state: compile it "
                "with a checkpointer, e.g. compile(checkpointer=InMemorySaver()), and invoke it "
                "with a thread_id."
            )
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
    graph.add_node("decide", resume)
    graph.add_node("review", ask)
    graph.add_edge(START, "decide")
    graph.add_conditional_edges(
        "decide", lambda state: "review" if state[_PENDING] else END, ["review", END]
    )
    graph.add_edge("review", "decide")
    return graph.compile(name="decision")


def _state(name: str, keys: Mapping[str, Any]) -> Any:  # noqa: ANN401  (a class)
    """Return a class with these keys for the state of a graph."""
    made: Any = TypedDict
    return made(name, dict(keys), total=False)


def _pause(review: Review) -> NoReturn:
    raise _Pending(review)


def _answer(pending: Mapping[str, Any]) -> ReviewAnswer:
    """Wait for a person's answer. If the answer is invalid, ask again and state the problem."""
    shown = dict(pending)
    while True:
        try:
            return ReviewAnswer.of(interrupt(shown))
        except UsageError as error:
            shown["problem"] = str(error)


def decision_node(
    database: Database,
    decisions: Decisions,
    *,
    question: str = "question",
    decision: str = "decision",
    review: Sequence[ReviewKind] = (),
) -> Any:  # noqa: ANN401  (a function; with a review, a graph)
    """Return a LangGraph node that decides the question in the state.

    Parameters
    ----------
    database
        The database of the questions.
    decisions
        Decides the questions.
    question
        The key under which the state contains the question. The question is a text, or a mapping
        with the fields of a `UserQuestion` (question, rules, candidates, ...).
    decision
        The key under which the node stores the decision in the state. The decision is a `Decided`
        as plain JSON values, so that checkpoints can store it.
    review
        What a person reviews: ``plan``, ``statement`` or ``decision``. The graph then needs a
        checkpointer. For a review, the graph is interrupted; the value of the interrupt is a
        `Review` as plain JSON values. ``Command(resume=...)`` with a `ReviewAnswer` as plain JSON
        values resumes the graph. The resumed graph repeats neither model calls nor statements.

    Returns
    -------
    callable
        The node. It raises `UsageError` if the state has no valid question. If a failure unrelated
        to the question ends the decision, the node raises the error of the failure. With a review,
        the node is a LangGraph graph.
    """
    require_askable(decisions)

    def decide_state(state: Mapping[str, Any], reviewer: Reviewer | None = None) -> dict[str, Any]:
        text = state.get(question)
        text = {"question": text} if isinstance(text, str) else text
        if not isinstance(text, Mapping):
            raise UsageError(
                f"The state has no question under the key '{question}': store a text, or a "
                "mapping with question, rules and candidates."
            )
        try:
            asked = checked_arguments(ASK, AskArguments, text, strict=True)
        except UnparsableReplyError as error:
            raise UsageError(
                f"The question under the key '{question}' of the state is invalid: {error}"
            ) from error
        return decide(decisions, database, reviewer=reviewer, review=review, **asked).to_json()

    if review:
        review_kinds(review)
        return _pausing_node(decide_state, question, decision)
    return lambda state: {decision: decide_state(state)}
