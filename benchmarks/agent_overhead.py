"""What a step of our agent costs beside a plain LangGraph loop with the same work in it.

Run ``python -m benchmarks.agent_overhead`` (``--rounds N``). Both loops ask a chat model of no
latency that sends the same statements, and both run those on the same SQLite database: the plain
loop through a LangChain tool that executes them with nothing around it, our agent through prompt,
parser, guard, bounded query, trace, retries and limits. Nothing waits, so processor time is
measured, which a busy machine changes least; both sides take turns, and medians are compared.
"""

from __future__ import annotations

import argparse
import operator
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from time import process_time
from typing import Annotated, Any, TypedDict

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, StateGraph
from pydantic import Field, SkipValidation
from sqlalchemy import create_engine, text
from sqlalchemy.pool import StaticPool

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.deciders.base import Settings
from dqa.loaders.generator import generate
from dqa.models.limits import Limiter
from dqa.models.policy import CallPolicy

STEPS = 20
STATEMENT = "SELECT trade_node, local_value FROM trade_node WHERE local_value > 1 LIMIT 5 OFFSET"


class Instant(BaseChatModel):
    """Sends one statement after the other, then decides; takes no time.

    Attributes
    ----------
    news
        Whether no statement comes twice, so that the guard has to read every one anew.
    """

    news: bool = True
    sent: SkipValidation[Iterator[int]] = Field(default_factory=count)

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> ChatResult:
        del stop, run_manager, kwargs
        step = sum(isinstance(message, AIMessage) for message in messages) + 1
        offset = next(self.sent) if self.news else step
        said = (
            f"Thought: look\nAction: query_database\nAction Input: {STATEMENT} {offset}"
            if step < STEPS
            else "Thought: done\nFinal Answer: nobody"
        )
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])


class State(TypedDict):
    """The small state of the plain loop."""

    messages: Annotated[list[BaseMessage], operator.add]
    steps: int


def plain_loop(model: BaseChatModel, look: BaseTool) -> Callable[[list[BaseMessage]], object]:
    """Return LangGraph's own loop: a model node, a tool node, an edge that decides."""

    def reason(state: State) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])], "steps": state["steps"] + 1}

    def act(state: State) -> dict[str, Any]:
        statement = state["messages"][-1].text.rpartition("Action Input: ")[2]
        call = {"type": "tool_call", "id": "1", "name": look.name, "args": {"statement": statement}}
        return {"messages": [HumanMessage(f"Observation: {look.invoke(call).text}")]}

    def onward(state: State) -> str:
        return "act" if "Action:" in state["messages"][-1].text else END

    graph = StateGraph(State)
    graph.add_node("reason", reason)
    graph.add_node("act", act)
    graph.add_edge(START, "reason")
    graph.add_conditional_edges("reason", onward, ["act", END])
    graph.add_edge("act", "reason")
    compiled = graph.compile()
    config = RunnableConfig(recursion_limit=4 * STEPS)
    return lambda messages: compiled.invoke({"messages": messages, "steps": 0}, config)


def plain_tool(database: Database) -> BaseTool:
    """Return a tool that executes statements on a copy of the data, with nothing around it."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    rows = database.query("SELECT trade_node, local_value FROM trade_node").rows
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE trade_node (trade_node TEXT, local_value REAL)"))
        for name, value in rows:
            row = {"name": name, "value": value}
            connection.execute(text("INSERT INTO trade_node VALUES (:name, :value)"), row)

    @tool("query_database")
    def look(statement: str) -> str:
        """Run one statement."""
        with engine.connect() as connection:
            return "\n".join(str(tuple(row)) for row in connection.execute(text(statement)))

    return look


def main() -> None:
    """Measure and print milliseconds a step, and what ours takes beyond the plain loop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=41, help="times each loop runs")
    rounds: int = parser.parse_args().rounds
    questions = generate(count=1, seed=0)
    # Without a list of candidates, "nobody" is an answer.
    question = replace(questions.find("locating/1"), candidates=None)
    database = plugins.backend("sqlite").load(questions.situation_of(question))
    loop = plain_loop(Instant(), plain_tool(database))
    opening: list[BaseMessage] = [HumanMessage("Decide.")]
    limited = CallPolicy(limiter=Limiter(concurrency=4))
    agents = {
        "known statements": (Instant(news=False), Settings(max_steps=STEPS)),
        "new statements": (Instant(), Settings(max_steps=STEPS)),
        "known, limits on": (Instant(news=False), Settings(max_steps=STEPS, calls=limited)),
    }
    runs: dict[str, Callable[[], object]] = {"plain loop": lambda: loop(opening)}
    for name, (model, settings) in agents.items():
        agent = plugins.decider("iterrag")(model, settings)
        assert agent.decide(question, database).ending is Ending.ANSWERED
        runs[name] = lambda agent=agent: agent.decide(question, database)  # type: ignore[misc]
    took = measured(runs, rounds)
    plain = took["plain loop"]
    print(f"IterRAG, milliseconds a step, {STEPS} steps a run, medians of {rounds} runs each")
    for name, spent in took.items():
        print(f"{name:20} {spent:6.3f}  {spent / plain:5.2f}x  {spent - plain:+.3f}")
    database.close()


def measured(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return each run's median milliseconds a step, measured in turn."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            start = process_time()
            run()
            times[name].append(1_000.0 * (process_time() - start) / STEPS)
    return {name: statistics.median(spent) for name, spent in times.items()}


if __name__ == "__main__":
    main()
