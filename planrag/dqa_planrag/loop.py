"""The one loop that all agents share, as a graph (PlanRAG, Figure 3).

::

    START ─► reason ─► plan ─► retrieve ─► reason ─► ... ─► answer ─► END
               │ ▲               ▲                            │
               │ └── correct     └── (agents without a plan,  └─► reason (the answer names
               │                      or with nothing new)        no candidate, or several)
               └──► correct, stop ─► END

Where the decision's budget is spent, any of them may lead to ``close``, which asks for the decision
once, by what has been seen.

``reason`` asks the model; the reply says where to go. ``plan`` exists only in the graphs of agents
that plan. ``correct`` tells the model why its reply could not be read. ``stop`` ends a run that
has no answer, and says why. Where a model of its own plans, ``deliberate`` asks it before the
first ``reason`` and after every ``retrieve``, and ``plan`` passes the plan to the other model.

What happens is kept by the run's `Recorder`; the state holds the conversations and where the run
stands.
"""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.graph import END
from langgraph.runtime import Runtime

from dqa.core.decision import Decision, Ending
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.errors import InfrastructureError, NotApprovedError, UnparsableReplyError
from dqa.core.events import Event, ReplyEvent, ToolUse
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.reviewing import settle_decision, told_refusal
from dqa.models.calling import ChatRunnable
from dqa.models.conversation import Turn, correction, given_up, take_turn
from dqa_planrag.closing import last_stated
from dqa_planrag.graph import AgentGraph, Node
from dqa_planrag.planning import Planning, plan_in
from dqa_planrag.prompting import closing, out_of_budget, standing_plan
from dqa_planrag.protocols import TalkProtocol, ToolResult, protocol
from dqa_planrag.recipes import Recipe
from dqa_planrag.reply import Reply
from dqa_planrag.state import (
    CONVERSATION,
    Role,
    Run,
    State,
    Update,
    in_turns,
    reply_in,
)


def agent_graph(
    recipe: Recipe, models: Mapping[Role, BaseChatModel], settings: Settings
) -> AgentGraph:
    """Return the loop for one agent, over the models of its roles."""
    nodes = _Nodes(recipe, models, settings)
    acts, ends = ("retrieve", "answer"), ("close", "stop")
    asks = ("reason", "deliberate") if recipe.planner_apart else ("reason",)
    plan = ("plan",) if recipe.plans else ()
    graph = {
        "reason": Node(nodes.reason, nodes.after_reply, (*acts, "correct", END, *plan)),
        "retrieve": Node(nodes.retrieve, nodes.after_retrieval, (*asks, *ends, END)),
        "correct": Node(nodes.correct, nodes.after_correction, (*asks, *ends)),
        "answer": Node(nodes.answer, nodes.after_answer, ("reason", *ends, END)),
        "stop": Node(nodes.stop),
        "close": Node(nodes.close),
    }
    if recipe.plans:
        settle = Planning(recipe, settings.protocol).settle
        graph["plan"] = Node(settle, nodes.after_plan, (*acts, *asks, *ends))
    if recipe.planner_apart:
        leads = ("plan", "correct", END)
        graph["deliberate"] = Node(nodes.deliberate, nodes.after_reply, leads)
    return AgentGraph(graph, asks[-1])


class _Nodes:
    """Nodes and routes of one agent's graph."""

    def __init__(
        self, recipe: Recipe, models: Mapping[Role, BaseChatModel], settings: Settings
    ) -> None:
        self._recipe = recipe
        self._models = models
        self._settings = settings
        self._protocol: TalkProtocol = protocol(settings.protocol)
        self._plans = recipe.plans and not recipe.planner_apart

    def reason(self, state: State, runtime: Runtime[Run]) -> Update:
        """Ask the agent's model for its next reply and read it."""
        return self._turn(state, runtime.context, "agent")

    def deliberate(self, state: State, runtime: Runtime[Run]) -> Update:
        """Ask the model that plans for the plan, or for its verdict on it."""
        return self._turn(state, runtime.context, "planner")

    def _turn(self, state: State, run: Run, role: Role) -> Update:
        recorder, tools = run.recorder, self._offered(run, role)
        try:
            turn = take_turn(
                self._offering(run, role, tools),
                in_turns([*state[CONVERSATION[role]], *self._plan_shown(state, run, role)]),
                recorder,
                self._settings.calls,
                self._protocol.stop,
            )
        except EXPECTED_FAILURES as error:
            return {"decision": recorder.failed(error)}
        step = recorder.steps + 1
        reply, problem = self._read(turn, run, role, tools)
        if role == "agent":
            recorder.steps = step
        recorder.note(self._reply_event(turn, reply, step, role))
        update: Update = {
            CONVERSATION[role]: self._protocol.kept(turn.message, reply),
            "role": role,
            "reply": reply,
            "problem": problem,
        }
        if reply is None:
            return update | {"failures": state["failures"] + 1}
        if role == "agent":
            update["current_step"] = reply.current_step
        # Whether its tools exist and its answer names a candidate is not known yet.
        open_ended = reply.requests or reply.answer is not None
        return update if open_ended else update | {"failures": 0}

    def _plan_shown(self, state: State, run: Run, role: Role) -> list[BaseMessage]:
        """Return the plan that holds, for a model that goes on behind an observation.

        It is shown and not kept: a conversation that repeats its plan grows with every reply.
        """
        recorder, reply = run.recorder, state["reply"]
        if role == "planner" or not self._plans or not recorder.plans or not recorder.evidence:
            return []
        if reply is not None and not reply.acts:
            return []
        plan, step = recorder.plans[-1], state["current_step"]
        return [HumanMessage(standing_plan(self._protocol.name, plan, step))]

    def _offering(self, run: Run, role: Role, tools: tuple[str, ...]) -> ChatRunnable:
        """Return the model of a role, offered tools to call."""
        found = run.models.get((role, tools))
        if found is None:
            found = self._protocol.offering(self._models[role], tools, run.toolbox)
            run.models[role, tools] = found
        return found

    def _offered(self, run: Run, role: Role) -> tuple[str, ...]:
        recipe, recorder = self._recipe, run.recorder
        if recorder.ended_by is not None:
            return ("decide",)
        if role == "planner":
            return ("replan",) if recorder.plans else ("plan",)
        if recipe.reads_once:
            return ("decide",) if _has_read(recorder) else run.toolbox.names
        if self._plans and not recorder.plans:
            return ("plan",)
        replanning = ("replan",) if self._plans and recipe.replans else ()
        return (*run.toolbox.names, *replanning, "decide")

    def _read(
        self, turn: Turn, run: Run, role: Role, tools: tuple[str, ...]
    ) -> tuple[Reply | None, str]:
        """Return what a reply says, or None and what its model has to be told."""
        step = run.recorder.steps + 1
        try:
            turn.check()
            if role == "planner":
                reply = self._protocol.read_verdict(turn.message, step)
            else:
                reply = self._protocol.read(turn.message, step, tools, run.toolbox)
            self._check(reply, run, role)
        except UnparsableReplyError as error:
            return None, str(error)
        return reply, ""

    def _check(self, reply: Reply, run: Run, role: Role) -> None:
        """Raise `UnparsableReplyError` where a readable reply breaks this agent's own rules."""
        recipe, recorder = self._recipe, run.recorder
        if recorder.ended_by is not None:
            if reply.answer is None:
                raise UnparsableReplyError("The budget is spent, and the reply does not decide.")
            return
        plans = role == "planner" or self._plans
        if plans and not recorder.plans and plan_in(reply) is None:
            talk = self._protocol
            first = talk.verdict_first if role == "planner" else talk.plan_first
            raise UnparsableReplyError(first)
        if recipe.reads_once and reply.requests and _has_read(recorder):
            raise UnparsableReplyError(self._protocol.answer_now)
        if recipe.reads_once and len(reply.requests) > 1:
            raise UnparsableReplyError("The database can be read only once. Make a single call.")
        if not plans and not reply.acts:
            raise UnparsableReplyError("The reply neither asks for anything nor decides.")

    def _reply_event(self, turn: Turn, reply: Reply | None, step: int, role: Role) -> Event:
        calls = self._protocol.calls(turn.message, reply)
        return ReplyEvent(
            step=step,
            text=self._protocol.spoken(turn.message),
            thought=None if reply is None else reply.thought,
            calls=tuple(ToolUse(**call) for call in calls),
            role=role,
            input_tokens=turn.usage.input_tokens,
            output_tokens=turn.usage.output_tokens,
        )

    def retrieve(self, state: State, runtime: Runtime[Run]) -> Update:
        """Carry out what the reply asks for, and show what came back; a mere thought goes on."""
        run, reply = runtime.context, reply_in(state)
        if reply.only_thinks:
            return {"messages": self._protocol.thought_on()}
        results, problem, found = list[ToolResult](), "", 0
        for request in reply.requests:
            spent = run.recorder.has_read_enough()
            if spent is not None:
                results.append((request, f"Not run: the budget of {spent} is spent."))
                continue
            try:
                evidence = run.toolbox.use(request)
            except InfrastructureError as error:
                return {"decision": run.recorder.failed(error)}
            except UnparsableReplyError as error:
                problem = str(error)
                results.append((request, problem))
                run.note_failure(problem, "agent")
                continue
            found += 1
            results.append((request, evidence.observation))
            run.recorder.add_evidence(evidence)
        last_words = (
            closing(self._protocol.name, run.question.answer_form)
            if self._recipe.reads_once and _has_read(run.recorder)
            else ""
        )
        update: Update = {
            "messages": self._protocol.observed(results, last_words),
            "problem": problem,
            "failures": 0 if found else state["failures"] + 1,
        }
        if self._recipe.planner_apart:
            update["planning"] = [HumanMessage(_report(reply, results))]
        return update

    def correct(self, state: State, runtime: Runtime[Run]) -> Update:
        """Tell the model why its reply could not be read."""
        problem, role = state["problem"], state["role"]
        runtime.context.note_failure(problem, role)
        return {CONVERSATION[role]: [correction(problem)]}

    def answer(self, state: State, runtime: Runtime[Run]) -> Update:
        """Close the run with the model's decision, or tell it what it can decide for."""
        run, reply = runtime.context, reply_in(state)
        answer = reply.answer or ""
        try:
            settled, choice = settle_decision(answer, run.choose(answer), run.choose)
        except InfrastructureError as error:
            return {"decision": run.recorder.failed(error)}
        except UnparsableReplyError as error:
            problem = str(error)
            run.note_failure(problem, "agent")
            return {
                "messages": self._protocol.refused(reply, problem),
                "problem": problem,
                "failures": state["failures"] + 1,
            }
        if settled.text is None:
            return {"messages": self._protocol.objected(reply, told_refusal(settled, "decision"))}
        return {
            "messages": self._protocol.accepted(reply),
            "decision": run.recorder.answered(settled.text, choice),
        }

    def stop(self, state: State, runtime: Runtime[Run]) -> Update:
        """Close a run that has no answer."""
        recorder, most = runtime.context.recorder, self._settings.max_steps
        if state["failures"] >= self._settings.max_parse_failures:
            return {"decision": recorder.failed(given_up(state["failures"], state["problem"]))}
        problem = f"No decision within {most} replies."
        return {"decision": recorder.ended(Ending.STEP_LIMIT, problem)}

    def close(self, state: State, runtime: Runtime[Run]) -> Update:
        """Ask for the decision by what has been seen, as its budget is spent."""
        run, messages = runtime.context, state["messages"]
        recorder, told = run.recorder, any(isinstance(one, HumanMessage) for one in messages)
        if recorder.close_by_budget() and told:
            form = run.question.answer_form
            words = out_of_budget(self._protocol.name, recorder.spent or "", form)
            asked: State = {**state, "messages": [*messages, HumanMessage(words)]}
            update = self._turn(asked, run, "agent")
            if update.get("decision") is not None:
                return update
            decided = self._decided(update["reply"], update["problem"], run)
            if decided is not None:
                return {"decision": decided}
        return {"decision": last_stated(run)}

    def _decided(self, reply: Reply | None, problem: str, run: Run) -> Decision | None:
        """Return the decision of a reply; None where it makes none, which is recorded."""
        if reply is not None and reply.answer is not None:
            try:
                chosen = run.choose(reply.answer)
                settled, choice = settle_decision(reply.answer, chosen, run.choose)
                if settled.text is not None:
                    return run.recorder.answered(settled.text, choice)
                problem = told_refusal(settled, "decision")
            except InfrastructureError as error:
                return run.recorder.failed(error)
            except UnparsableReplyError as error:
                problem = str(error)
        run.note_failure(problem, "agent")
        return None

    def after_reply(self, state: State, runtime: Runtime[Run]) -> str:
        """Where a reply leads."""
        del runtime
        if state["decision"] is not None:
            return END
        reply = state["reply"]
        if reply is None:
            return "correct"
        return "plan" if self._plans or state["role"] == "planner" else _act(reply)

    def after_plan(self, state: State, runtime: Runtime[Run]) -> str:
        """Where a reply leads once its plan is recorded."""
        reply = reply_in(state)
        if state["role"] == "agent" and reply.acts:
            return _act(reply)
        refused = state["role"] == "planner" and state["problem"]
        return self._onward(state, runtime, "deliberate" if refused else "reason")

    def after_retrieval(self, state: State, runtime: Runtime[Run]) -> str:
        """Next speaker; the planner is not asked about unusable calls, nor about mere thoughts."""
        read = bool(reply_in(state).requests) and not state["problem"]
        judged = self._recipe.planner_apart and read
        return self._onward(state, runtime, "deliberate" if judged else "reason")

    def after_correction(self, state: State, runtime: Runtime[Run]) -> str:
        """Back to the model whose reply could not be read."""
        node = "reason" if state["role"] == "agent" else "deliberate"
        return self._onward(state, runtime, node)

    def after_answer(self, state: State, runtime: Runtime[Run]) -> str:
        """To the end, or back to a model whose answer names no candidate."""
        return self._onward(state, runtime, "reason")

    def _onward(self, state: State, runtime: Runtime[Run], node: str) -> str:
        """On to a node, unless the run has to end."""
        if state["decision"] is not None:
            return END
        over = (
            state["failures"] >= self._settings.max_parse_failures
            or runtime.context.recorder.steps >= self._settings.max_steps
        )
        if over:
            return "stop"
        reads_no_more = self._recipe.reads_once and _has_read(runtime.context.recorder)
        spent = runtime.context.recorder.over_budget(reads=not reads_no_more)
        return node if spent is None else "close"


def _has_read(recorder: Recorder) -> bool:
    """Whether anything was asked; what a person did not let run was not."""
    return any(found.error != NotApprovedError.__name__ for found in recorder.evidence)


def _act(reply: Reply) -> str:
    return "answer" if reply.answer is not None else "retrieve"


def _report(reply: Reply, results: list[ToolResult]) -> str:
    """Tell a model that only plans what was done and what came of it."""
    thought = [f"Thought: {reply.thought}"] if reply.thought else []
    done = [
        f"Action: {request.tool}\nAction Input: {request.text}\nObservation: {text}"
        for request, text in results
    ]
    return "\n".join([*thought, *done])
