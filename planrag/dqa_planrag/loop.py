"""The one loop that all agents share, as a LangGraph graph (PlanRAG, Figure 3).

::

    START ─► reason ─► plan ─► retrieve ─► reason ─► ... ─► answer ─► END
               │ ▲               ▲
               │ └── correct     └── (agents without a plan, or with nothing new in it)
               └──► correct, stop ─► END

``reason`` asks the model; the reply says where to go. ``plan`` exists only in the graphs of agents
that plan. ``correct`` tells the model why its reply could not be read. ``stop`` ends a run that
has no answer, and says why. Where a model of its own plans, ``deliberate`` asks it before the
first ``reason`` and after every ``retrieve``, and ``plan`` tells the other model what it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from dqa.core.decision import Ending
from dqa.core.errors import BudgetSpentError, InfrastructureError, UnparsableReplyError
from dqa.core.events import (
    AnswerEvent,
    EndingEvent,
    Event,
    FaultEvent,
    PlanEvent,
    ReplanEvent,
    ReplyEvent,
    RetrievalEvent,
    SimulationEvent,
    ToolUse,
)
from dqa.core.evidence import Evidence
from dqa.deciders.base import Settings
from dqa.models.calling import Called, ChatRunnable, call_model
from dqa_planrag.prompting import closing
from dqa_planrag.protocols import Result, TalkProtocol, protocol
from dqa_planrag.recipes import Recipe
from dqa_planrag.reply import STEP_NUMBER, Reply
from dqa_planrag.state import (
    CONVERSATION,
    Outage,
    Role,
    Run,
    State,
    Update,
    in_turns,
    prompt_event,
    reply_in,
    step_of,
    unread_event,
)
from dqa_planrag.toolbox import QUERY, SIMULATING

__all__ = ["Graph", "build_graph"]

Graph: TypeAlias = CompiledStateGraph[State, Run, State, State]


def build_graph(recipe: Recipe, models: Mapping[Role, BaseChatModel], settings: Settings) -> Graph:
    """Compile the loop for one agent, over the models of its roles."""
    nodes = _Nodes(recipe, models, settings)
    graph = StateGraph(State, context_schema=Run)
    graph.add_node("reason", nodes.reason)
    graph.add_node("retrieve", nodes.retrieve)
    graph.add_node("correct", nodes.correct)
    graph.add_node("answer", nodes.answer)
    graph.add_node("stop", nodes.stop)
    acts = ["retrieve", "answer"]
    asks = ["reason"]
    if recipe.plans:
        graph.add_node("plan", nodes.plan)
        graph.add_conditional_edges("plan", nodes.after_plan, [*acts, "reason", "stop"])
    if recipe.planner_apart:
        asks.append("deliberate")
        graph.add_node("deliberate", nodes.deliberate)
        graph.add_conditional_edges("deliberate", nodes.after_reply, ["plan", "correct", "stop"])
    graph.add_edge(START, asks[-1])
    routes = [*acts, "correct", "stop", *(["plan"] if recipe.plans else [])]
    graph.add_conditional_edges("reason", nodes.after_reply, routes)
    graph.add_conditional_edges("retrieve", nodes.after_retrieval, [*asks, "stop"])
    graph.add_conditional_edges("correct", nodes.after_correction, [*asks, "stop"])
    graph.add_edge("answer", END)
    graph.add_edge("stop", END)
    return graph.compile()


class _Nodes:
    """Nodes and routes of one agent's graph."""

    def __init__(
        self, recipe: Recipe, models: Mapping[Role, BaseChatModel], settings: Settings
    ) -> None:
        self._recipe = recipe
        self._models = models
        self._settings = settings
        self._protocol: TalkProtocol = protocol(settings.protocol)
        self._offering: dict[tuple[Role, tuple[str, ...]], ChatRunnable] = {}

    def reason(self, state: State) -> Update:
        """Ask the agent's model for its next reply and read it."""
        return self._turn(state, "agent")

    def deliberate(self, state: State) -> Update:
        """Ask the model that plans for the plan, or for its verdict on it."""
        return self._turn(state, "planner")

    def _turn(self, state: State, role: Role) -> Update:
        step, faults = state["steps"] + 1, list[Event]()
        tools = self._offered(state, role)
        try:
            called = call_model(
                self._asked(role, tools),
                in_turns(state[CONVERSATION[role]]),
                self._protocol.stop,
                self._settings.calls,
                lambda fault: faults.append(FaultEvent(step=step, **fault.to_data())),
            )
        except InfrastructureError as error:
            return _ended_by(error, "model") | {"events": faults}
        except BudgetSpentError as error:
            return {"ending": Ending.BUDGET, "problem": str(error), "events": faults}
        reply, problem = self._read(called, state, role, tools)
        update: Update = {
            CONVERSATION[role]: self._protocol.kept(called.reply, reply),
            "events": [*faults, self._said(called, reply, step, role)],
            "usage": state["usage"] + called.usage,
            "steps": step if role == "agent" else state["steps"],
            "role": role,
            "reply": reply,
            "problem": problem,
        }
        if reply is None:
            return update | {"failures": state["failures"] + 1}
        # Whether the tools that it calls exist is not known before they are used.
        return update if reply.calls else update | {"failures": 0}

    def _asked(self, role: Role, tools: tuple[str, ...]) -> ChatRunnable:
        """Return the model of a role, offered tools to call."""
        found = self._offering.get((role, tools))
        if found is None:
            found = self._protocol.offering(self._models[role], tools)
            self._offering[role, tools] = found
        return found

    def _offered(self, state: State, role: Role) -> tuple[str, ...]:
        recipe = self._recipe
        if role == "planner":
            return ("replan",) if state["plans"] else ("plan",)
        if recipe.reads_once:
            return ("decide",) if state["evidence"] else (QUERY,)
        own_plan = recipe.plans and not recipe.planner_apart
        if own_plan and not state["plans"]:
            return ("plan",)
        acting = (QUERY, *SIMULATING) if recipe.simulates else (QUERY,)
        return (*acting, *(("replan",) if own_plan and recipe.replans else ()), "decide")

    def _read(
        self, called: Called, state: State, role: Role, tools: tuple[str, ...]
    ) -> tuple[Reply | None, str]:
        """Return what a reply says, or None and what its model has to be told."""
        step = state["steps"] + 1
        try:
            called.check()
            if role == "planner":
                reply = self._protocol.read_verdict(called.reply, step)
            else:
                reply = self._protocol.read(called.reply, step, tools)
            self._check(reply, state, role)
        except UnparsableReplyError as error:
            return None, str(error)
        return reply, ""

    def _check(self, reply: Reply, state: State, role: Role) -> None:
        """Raise `UnparsableReplyError` where a readable reply breaks this agent's own rules."""
        recipe = self._recipe
        plans = role == "planner" or (recipe.plans and not recipe.planner_apart)
        if plans and not state["plans"] and _plan_in(reply) is None:
            talk = self._protocol
            first = talk.verdict_first if role == "planner" else talk.plan_first
            raise UnparsableReplyError(first)
        if recipe.reads_once and reply.calls and state["evidence"]:
            raise UnparsableReplyError(self._protocol.answer_now)
        if recipe.reads_once and len(reply.calls) > 1:
            raise UnparsableReplyError("The database can be read only once. Make a single call.")
        if not plans and not reply.calls and reply.answer is None:
            raise UnparsableReplyError("The reply neither asks for anything nor decides.")

    def _said(self, called: Called, reply: Reply | None, step: int, role: Role) -> Event:
        return ReplyEvent(
            step=step,
            text=self._protocol.spoken(called.reply),
            thought=None if reply is None else reply.thought,
            calls=tuple(ToolUse(**call) for call in self._protocol.calls(called.reply, reply)),
            role=role,
            input_tokens=called.usage.input_tokens,
            output_tokens=called.usage.output_tokens,
        )

    def plan(self, state: State, runtime: Runtime[Run]) -> Update:
        """Take down the plan, or the one that replaces it."""
        reply = reply_in(state)
        text = _new_plan(reply, state["plans"], replans=self._recipe.replans)
        only_plan = state["role"] == "agent" and not reply.calls and reply.answer is None
        onward: Update = {"messages": self._protocol.noted()} if only_plan else {}
        if text is None:
            return onward
        kind = ReplanEvent if state["plans"] else PlanEvent
        events: list[Event] = [kind(step=step_of(state), text=text)]
        if state["role"] == "agent":
            return onward | {"plans": [text], "events": events}
        if state["plans"]:
            told = [HumanMessage(f"New plan:\n{text}")]
        else:
            told = [HumanMessage(runtime.context.task(text))]
            events.append(prompt_event("agent", [*state["messages"], *told]))
        return {"plans": [text], "events": events, "messages": told}

    def retrieve(self, state: State, runtime: Runtime[Run]) -> Update:
        """Carry out what the reply calls, and show what came back."""
        reply, step = reply_in(state), state["steps"]
        evidence, events, results = list[Evidence](), list[Event](), list[Result]()
        problem = ""
        for call in reply.calls:
            try:
                found = runtime.context.toolbox.use(call)
            except InfrastructureError as error:
                return _ended_by(error, "database") | {"evidence": evidence, "events": events}
            except UnparsableReplyError as error:
                problem = str(error)
                results.append((call, problem))
                events.append(unread_event(problem, state))
                continue
            results.append((call, found.observation))
            evidence.append(found)
            kind = RetrievalEvent if found.tool == QUERY else SimulationEvent
            events.append(kind.of(found, step))
        last_words = closing(self._protocol.name) if self._recipe.reads_once and evidence else ""
        update: Update = {
            "messages": self._protocol.observed(results, last_words),
            "evidence": evidence,
            "events": events,
            "problem": problem,
            "failures": 0 if evidence else state["failures"] + 1,
        }
        if self._recipe.planner_apart:
            update["planning"] = [HumanMessage(_report(reply, results))]
        return update

    def correct(self, state: State) -> Update:
        """Tell the model why its reply could not be read."""
        problem = state["problem"]
        return {
            CONVERSATION[state["role"]]: [HumanMessage(f"The reply could not be read. {problem}")],
            "events": [unread_event(problem, state)],
        }

    def answer(self, state: State) -> Update:
        """Close the run with the model's decision."""
        return {
            "ending": Ending.ANSWERED,
            "events": [AnswerEvent(step=state["steps"], text=reply_in(state).answer or "")],
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
            "events": [EndingEvent.of(ending, state["steps"], problem)],
        }

    def after_reply(self, state: State) -> str:
        """Where a reply leads."""
        if state["ending"] is not None:
            return "stop"
        reply = state["reply"]
        if reply is None:
            return "correct"
        takes_plan = self._recipe.plans and not self._recipe.planner_apart
        return "plan" if takes_plan or state["role"] == "planner" else _act(reply)

    def after_plan(self, state: State) -> str:
        """Where a reply leads once its plan is taken down."""
        reply = reply_in(state)
        if state["role"] == "agent" and (reply.calls or reply.answer is not None):
            return _act(reply)
        return self._onward(state, "reason")

    def after_retrieval(self, state: State) -> str:
        """On to whoever speaks next: who plans is not asked about calls that could not be used."""
        judged = self._recipe.planner_apart and not state["problem"]
        return self._onward(state, "deliberate" if judged else "reason")

    def after_correction(self, state: State) -> str:
        """Back to whoever was not understood."""
        return self._onward(state, "reason" if state["role"] == "agent" else "deliberate")

    def _onward(self, state: State, node: str) -> str:
        """On to a node, unless the run has to end."""
        over = (
            state["ending"] is not None
            or state["failures"] >= self._settings.max_parse_failures
            or state["steps"] >= self._settings.max_steps
        )
        return "stop" if over else node


def _ended_by(error: InfrastructureError, outage: Outage) -> Update:
    return {"ending": Ending.INFRASTRUCTURE, "problem": str(error), "outage": outage}


def _act(reply: Reply) -> str:
    return "answer" if reply.answer is not None else "retrieve"


def _plan_in(reply: Reply) -> str | None:
    """Return the plan that a reply brings, under whichever name."""
    return reply.replan or reply.plan


def _new_plan(reply: Reply, plans: list[str], *, replans: bool) -> str | None:
    """Return the plan that `reply` brings, or None where it brings none that counts."""
    if not plans:
        return reply.plan or reply.replan
    # A model that repeats "Plan:" with other steps has re-planned under the wrong label.
    text = _plan_in(reply)
    return text if replans and text is not None and _steps(text) != _steps(plans[-1]) else None


def _steps(plan: str) -> list[str]:
    """Return a plan's lines without what says nothing: numbers, spaces, case and full stops."""
    lines = (
        STEP_NUMBER.sub("", " ".join(line.split())).rstrip(".").lower() for line in plan.split("\n")
    )
    return [line for line in lines if line]


def _report(reply: Reply, results: list[Result]) -> str:
    """Tell a model that only plans what was done and what came of it."""
    thought = [f"Thought: {reply.thought}"] if reply.thought else []
    done = [
        f"Action: {call.tool}\nAction Input: {call.given}\nObservation: {text}"
        for call, text in results
    ]
    return "\n".join([*thought, *done])
