"""The one loop that all agents share, as a LangGraph graph (PlanRAG, Figure 3).

::

    START ─► reason ─► plan ─► retrieve ─► reason ─► ... ─► answer ─► END
               │ ▲               ▲
               │ └── correct     └── (agents without a plan, or with nothing new in it)
               └──► correct, stop ─► END

``reason`` asks the model; the reply says where to go. ``plan`` exists only in the graphs of agents
that plan. ``correct`` tells the model why its reply could not be read. ``stop`` ends a run that
has no answer, and says why.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from dqa.deciders.base import Settings
from dqa.decision import Ending, Event, Evidence, Usage
from dqa.errors import BudgetSpentError, InfrastructureError, UnparsableReplyError
from dqa.models.calling import call_model
from dqa_planrag.recipes import Recipe, prompt
from dqa_planrag.replies import STOP, Reply, parse_reply, spoken

__all__ = ["Graph", "Run", "State", "build_graph", "initial_state"]


TOOL = "query_database"
"""The one tool that these agents have."""

Outage: TypeAlias = Literal["database", "model"]


class State(TypedDict):
    """A run so far. Lists grow by what each node adds; the rest is replaced."""

    messages: Annotated[list[BaseMessage], operator.add]
    events: Annotated[list[Event], operator.add]
    evidence: Annotated[list[Evidence], operator.add]
    plans: Annotated[list[str], operator.add]
    usage: Usage
    steps: int
    failures: int
    reply: Reply | None
    problem: str
    outage: Outage | None
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class Run:
    """What a run needs besides its state."""

    tool: BaseTool


Update: TypeAlias = dict[str, Any]
Graph: TypeAlias = CompiledStateGraph[State, Run, State, State]


def initial_state(messages: list[BaseMessage]) -> State:
    """Return the state of a run that has not begun."""
    shown = Event("prompt", 0, {"messages": [[m.type, m.text] for m in messages]})
    return State(
        messages=messages,
        events=[shown],
        evidence=[],
        plans=[],
        usage=Usage(),
        steps=0,
        failures=0,
        reply=None,
        problem="",
        outage=None,
        ending=None,
    )


def build_graph(recipe: Recipe, model: BaseChatModel, settings: Settings) -> Graph:
    """Compile the loop for one agent."""
    nodes = _Nodes(recipe, model, settings)
    graph = StateGraph(State, context_schema=Run)
    graph.add_node("reason", nodes.reason)
    graph.add_node("retrieve", nodes.retrieve)
    graph.add_node("correct", nodes.correct)
    graph.add_node("answer", nodes.answer)
    graph.add_node("stop", nodes.stop)
    acts = ["retrieve", "answer"]
    if recipe.plans:
        graph.add_node("plan", nodes.plan)
        graph.add_conditional_edges("plan", nodes.after_plan, acts)
    graph.add_edge(START, "reason")
    routes = [*acts, "correct", "stop", *(["plan"] if recipe.plans else [])]
    graph.add_conditional_edges("reason", nodes.after_reason, routes)
    graph.add_conditional_edges("retrieve", nodes.onward, ["reason", "stop"])
    graph.add_conditional_edges("correct", nodes.onward, ["reason", "stop"])
    graph.add_edge("answer", END)
    graph.add_edge("stop", END)
    return graph.compile()


class _Nodes:
    """Nodes and routes of one agent's graph."""

    def __init__(self, recipe: Recipe, model: BaseChatModel, settings: Settings) -> None:
        self._recipe = recipe
        self._model = model
        self._settings = settings

    def reason(self, state: State) -> Update:
        """Ask the model for its next reply and read it."""
        step, faults = state["steps"] + 1, list[Event]()
        try:
            called = call_model(
                self._model,
                state["messages"],
                STOP,
                self._settings.calls,
                lambda fault: faults.append(Event("fault", step, fault.to_data())),
            )
        except InfrastructureError as error:
            return _ended_by(error, "model") | {"events": faults}
        except BudgetSpentError as error:
            return {"ending": Ending.BUDGET, "problem": str(error), "events": faults}
        text, usage = spoken(called.reply.text), called.usage
        update: Update = {
            # Providers reject empty messages, and an empty reply must not end the run.
            "messages": [AIMessage(text or "(empty reply)")],
            "events": [
                *faults,
                Event(
                    "reply",
                    step,
                    {
                        "text": text,
                        "input_tokens": usage.input_tokens,
                        "output_tokens": usage.output_tokens,
                    },
                ),
            ],
            "usage": state["usage"] + usage,
            "steps": step,
        }
        try:
            called.check()
            reply = parse_reply(text)
            self._check(reply, state)
        except UnparsableReplyError as error:
            return update | {
                "reply": None,
                "problem": str(error),
                "failures": state["failures"] + 1,
            }
        known = reply.tool in {None, TOOL}
        failures = 0 if known else state["failures"]
        return update | {"reply": reply, "problem": "", "failures": failures}

    def _check(self, reply: Reply, state: State) -> None:
        """Raise `UnparsableReplyError` where a readable reply breaks this agent's own rules."""
        if self._recipe.plans and not state["plans"] and reply.plan is None:
            raise UnparsableReplyError(
                "The first reply has to open with the plan. Write the line 'Plan:' with a "
                "numbered list, then go on with Thought and Action."
            )
        if reply.statement is not None and self._recipe.reads_once and state["evidence"]:
            raise UnparsableReplyError(
                "The database has been read once and cannot be read again. Write the line "
                "'Final Answer: <the decision>'."
            )

    def plan(self, state: State) -> Update:
        """Take down the plan, or the one that replaces it."""
        reply = _read(state)
        text = _new_plan(reply, state["plans"], replans=self._recipe.replans)
        if text is None:
            return {}
        kind = "replan" if state["plans"] else "plan"
        return {"plans": [text], "events": [Event(kind, state["steps"], {"text": text})]}

    def retrieve(self, state: State, runtime: Runtime[Run]) -> Update:
        """Run the statement and show what came back."""
        reply, tool = _read(state), runtime.context.tool
        if reply.tool != tool.name:
            problem = f"There is no tool '{reply.tool}'. The tools are: {tool.name}."
            failed: Update = {"failures": state["failures"] + 1, "problem": problem}
            return failed | self._told(state, f"Observation: {problem}", problem)
        call = {
            "type": "tool_call",
            "id": str(state["steps"]),
            "name": tool.name,
            "args": {"statement": reply.statement},
        }
        try:
            result = tool.invoke(call)
        except InfrastructureError as error:
            return _ended_by(error, "database")
        evidence = _evidence(result)
        shown = f"Observation: {evidence.observation}"
        if self._recipe.closing is not None:
            shown += f"\n\n{prompt(self._recipe.closing).template}"
        return {
            "messages": [HumanMessage(shown)],
            "evidence": [evidence],
            "events": [
                Event(
                    "retrieval",
                    state["steps"],
                    {
                        "statement": evidence.statement,
                        "observation": evidence.observation,
                        "row_count": evidence.row_count,
                        "error": evidence.error,
                        "cut": evidence.cut,
                        "seconds": evidence.seconds,
                        "translated": evidence.translated,
                    },
                )
            ],
        }

    def correct(self, state: State) -> Update:
        """Tell the model why its reply could not be read."""
        problem = state["problem"]
        return self._told(state, f"The reply could not be read. {problem}", problem)

    @staticmethod
    def _told(state: State, message: str, problem: str) -> Update:
        return {
            "messages": [HumanMessage(message)],
            "events": [Event("parse_failure", state["steps"], {"problem": problem})],
        }

    def answer(self, state: State) -> Update:
        """Close the run with the model's decision."""
        return {
            "ending": Ending.ANSWERED,
            "events": [Event("answer", state["steps"], {"text": _read(state).answer})],
        }

    def stop(self, state: State) -> Update:
        """Close a run that has no answer."""
        ending, problem = state["ending"], state["problem"]
        if ending is None and state["failures"] >= self._settings.max_parse_failures:
            ending = Ending.UNPARSABLE
            problem = f"{state['failures']} replies in a row could not be read. {problem}"
        elif ending is None:
            ending = Ending.STEP_LIMIT
            problem = f"No decision within {self._settings.max_steps} replies."
        return {
            "ending": ending,
            "problem": problem,
            "events": [Event(ending.value, state["steps"], {"problem": problem})],
        }

    def after_reason(self, state: State) -> str:
        """Where a reply leads."""
        if state["ending"] is not None:
            return "stop"
        reply = state["reply"]
        if reply is None:
            return "correct"
        return "plan" if self._recipe.plans else _act(reply)

    @staticmethod
    def after_plan(state: State) -> str:
        """Where a reply leads once its plan is taken down."""
        return _act(_read(state))

    def onward(self, state: State) -> str:
        """Back to the model, unless the run has to end."""
        over = (
            state["ending"] is not None
            or state["failures"] >= self._settings.max_parse_failures
            or state["steps"] >= self._settings.max_steps
        )
        return "stop" if over else "reason"


def _ended_by(error: InfrastructureError, outage: Outage) -> Update:
    return {"ending": Ending.INFRASTRUCTURE, "problem": str(error), "outage": outage}


def _act(reply: Reply) -> str:
    return "answer" if reply.answer is not None else "retrieve"


def _read(state: State) -> Reply:
    reply = state["reply"]
    if reply is None:
        raise AssertionError("a node that needs a reply was reached without one")
    return reply


def _new_plan(reply: Reply, plans: list[str], *, replans: bool) -> str | None:
    """Return the plan that `reply` brings, or None where it brings none that counts."""
    if not plans:
        return reply.plan
    # A model that repeats "Plan:" with other steps has re-planned under the wrong label.
    text = reply.replan or reply.plan
    return text if replans and text is not None and text != plans[-1] else None


def _evidence(result: ToolMessage) -> Evidence:
    evidence = result.artifact
    if not isinstance(evidence, Evidence):
        raise TypeError(f"The query tool gave {type(evidence).__name__}, not Evidence.")
    return evidence
