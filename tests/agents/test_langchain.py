"""LangChain tools inside an agent of LangChain's own, and the node inside somebody's graph."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import dqa
from dqa.core.errors import BudgetSpentError, DatabaseUnavailableError, UsageError
from dqa.testing import PreparedReplies, answer, query
from tests.agents.conftest import TOOLS


@pytest.fixture
def database(shop: Path) -> Iterator[dqa.Database]:
    """The shop, opened."""
    opened = dqa.open_database(shop)
    yield opened
    opened.close()


class Caller(BaseChatModel):
    """A chat model that calls the tools that it is given to call, then says what it was told."""

    calls: list[tuple[str, dict[str, Any]]]

    @property
    def _llm_type(self) -> str:
        return "caller"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        done = sum(isinstance(message, ToolMessage) for message in messages)
        if done == len(self.calls):
            said = AIMessage(f"It is: {messages[-1].text}")
        else:
            name, given = self.calls[done]
            call = {"type": "tool_call", "id": str(done), "name": name, "args": given}
            said = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])

    def bind_tools(
        self, tools: Sequence[Any], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Take any tools."""
        return self


def told(database: dqa.Database, *calls: tuple[str, dict[str, Any]]) -> list[ToolMessage]:
    """Let an agent call tools, and return what it was told."""
    agent = create_agent(Caller(calls=list(calls)), dqa.langchain_tools(database))
    messages = agent.invoke({"messages": [HumanMessage("Whom do we drop?")]})["messages"]
    assert messages[-1].text == f"It is: {messages[-2].text}"
    return [message for message in messages if isinstance(message, ToolMessage)]


def test_an_agent_of_langchain_s_uses_the_tools(database: dqa.Database) -> None:
    """It looks, checks, makes mistakes that it is told of, and queries; artifacts are evidence."""
    schema, described, sampled, checked, refused, unfit, unknown, rows = told(
        database,
        ("schema", {"question": "Which supplier?"}),
        ("describe_table", {"name": "supplier"}),
        ("sample_rows", {"name": "supplier"}),
        ("check", {"statement": "SELECT 1"}),
        ("query_database", {"statement": "DELETE FROM supplier"}),
        ("query_database", {"sql": "SELECT 1"}),
        ("query_database", {"statement": "SELECT 1", "purpose": "to see"}),
        ("query_database", {"statement": "SELECT name FROM supplier ORDER BY price"}),
    )
    assert "supplier(id: INTEGER" in schema.text
    assert described.text.startswith("supplier(")
    assert "1.123456789" in sampled.text
    assert sampled.artifact.rows[0] == (1, "Ada", 1.123456789, "ada@example.org")
    assert checked.text == "Allowed."
    assert refused.artifact.error == "RefusedStatementError"
    assert (unfit.status, unknown.status, rows.status) == ("error", "error", "success")
    assert "purpose" in unknown.text
    assert "only a query may run" in refused.text
    assert unfit.text.startswith(
        'The call of query_database does not fit: "statement": Field required'
    )
    assert rows.text == '["name"]\n["Cy"]\n["Ada"]\n["Bo"]\n(3 rows)'


def test_a_failing_database_ends_the_agent(database: dqa.Database) -> None:
    """No model takes it for something that it could mend."""
    database.close()
    with pytest.raises(DatabaseUnavailableError):
        told(database, ("query_database", {"statement": "SELECT 1"}))


def test_ask_is_a_tool_where_somebody_decides(database: dqa.Database) -> None:
    """And only there."""
    without = dqa.langchain_tools(database)
    assert [tool.name for tool in without] == TOOLS[:-1]
    *_, ask = dqa.langchain_tools(database, decisions=dqa.Decisions("first"))
    assert ask.invoke({"question": "Whom?", "candidates": ["Bo"]}).startswith("Choice: Bo\n")


class State(TypedDict, total=False):
    """What goes through somebody's graph."""

    question: str | dict[str, Any]
    decision: dict[str, Any]
    letter: str


def graph(node: Any) -> Any:
    """Somebody's graph: a decision, then a letter about it."""

    def write(state: State) -> State:
        return {"letter": f"Dear {state['decision']['choice']}, we are sorry."}

    made = StateGraph(State)
    made.add_node("decide", node)
    made.add_node("write", write)
    made.add_edge(START, "decide")
    made.add_edge("decide", "write")
    made.add_edge("write", END)
    return made.compile(checkpointer=InMemorySaver())


HERE: Any = {"configurable": {"thread_id": "1"}}


def test_a_node_decides_within_a_graph(database: dqa.Database) -> None:
    """A planning agent with a scripted model; the state keeps plain values."""
    model = PreparedReplies(
        [query("SELECT name FROM supplier ORDER BY price DESC LIMIT 1"), answer("Bo")]
    )
    decisions = dqa.Decisions("planrag", model=model)
    compiled = graph(dqa.decision_node(database, decisions))
    question = {
        "question": "Whom do we drop?",
        "rules": "The dearest goes.",
        "candidates": "SELECT name FROM supplier",
    }
    state = compiled.invoke({"question": question}, HERE)
    assert state["letter"] == "Dear Bo, we are sorry."
    assert state["decision"]["ending"] == "answered"
    assert "SELECT name FROM supplier ORDER BY price DESC LIMIT 1" in state["decision"]["text"]
    assert compiled.get_state(HERE).values["decision"] == state["decision"]


def test_questions_share_the_rate_of_a_model_and_have_budgets_of_their_own(
    database: dqa.Database,
) -> None:
    """Else several questions ask faster than a provider allows, or the first spends it all."""
    starts: list[float] = []

    def reply(_request: object) -> AIMessage:
        starts.append(time.monotonic())
        looked = "Action: query_database\nAction Input: SELECT name FROM supplier"
        text = looked if len(starts) % 2 else "Final Answer: Bo"
        used: Any = {"input_tokens": 900, "output_tokens": 100, "total_tokens": 1_000}
        return AIMessage(text, usage_metadata=used)

    calls = dqa.CallOptions(requests_per_minute=120, budget_tokens=3_000)
    decisions = dqa.Decisions("iterrag", model=PreparedReplies(reply, name="m"), calls=calls)
    people = ("Al", "Bo")
    asked = [dqa.ask(database, "Who goes?", candidates=people, decider=decisions) for _ in range(2)]
    assert [one.choice for one in asked] == ["Bo", "Bo"]
    assert starts[-1] - starts[0] > 1.4


def test_a_state_without_a_question_says_so(database: dqa.Database) -> None:
    """Where it is looked for, and what would do."""
    node = dqa.decision_node(database, dqa.Decisions("first"))
    for question, said in (
        (None, "no question under the key 'question'"),
        ({"question": "?", "candidate": ["a"]}, '"candidate"'),
        ({"question": "?", "candidates": []}, '"candidates"'),
    ):
        with pytest.raises(UsageError, match=said):
            node({"question": question})


class Ending(dqa.Decider):
    """Ends every decision in one way."""

    name = "ending"

    def __init__(self, ending: dqa.Ending | None) -> None:
        self._ending = ending

    def decide(self, question: dqa.Question, database: dqa.Database) -> dqa.Decision:
        if self._ending is None:
            raise ZeroDivisionError("postgresql://ada:secret@host/db")
        return dqa.Decision(self._ending, error="That is why.")


@pytest.mark.parametrize(
    ("ending", "raised"),
    [
        (dqa.Ending.INFRASTRUCTURE, dqa.InfrastructureError),
        (dqa.Ending.BUDGET, BudgetSpentError),
        (None, dqa.CrashError),
    ],
)
def test_what_ended_a_decision_from_outside_is_raised(
    database: dqa.Database, ending: dqa.Ending | None, raised: type[Exception]
) -> None:
    """It says nothing about the question, and no model is told of it."""
    decisions = dqa.Decisions(Ending(ending))
    asked = {"question": "Whom?", "candidates": ["Ada", "Bo"]}
    with pytest.raises(raised):
        dqa.decision_node(database, decisions)({"question": asked})
    *_, ask = dqa.langchain_tools(database, decisions=decisions)
    with pytest.raises(raised):
        ask.invoke(asked)
