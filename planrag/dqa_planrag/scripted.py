"""What scripted models say in the agents' conversations.

Conversations come in two protocols. In the text one, formats and observations are labelled; in the
other one, the names of tools stand in backticks and results come under the ids of calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import ToolCall

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.evidence import COMPARE, QUERY, SIMULATE, SIMULATING
from dqa.core.plans import steps_of
from dqa.core.situation import Schema
from dqa.models.cassette import RecordedModel
from dqa.models.scripted import ScriptedModel
from dqa.models.scripted.steps import (
    Answer,
    Observed,
    Script,
    ScriptTurn,
    Step,
    Task,
    numbered,
    run_script,
)
from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import scenarios
from dqa.scenarios.recognising import target_in

_ACTING = frozenset({QUERY, *SIMULATING})
"""The tools whose results are observations."""

_PLAINEST = numbered(["Look up what the decision needs.", "Decide."])

_SECTION = re.compile(r"^# (?P<title>[\w ]+)\n(?P<body>.*?)(?=^# |\Z)", re.DOTALL | re.MULTILINE)
_OBSERVATION = re.compile(r"^Observation: ", re.MULTILINE)
_ANSWER = re.compile(r"^Final Answer: ", re.MULTILINE)
_SPENT = re.compile(r"^The budget of this \w+ is spent \(", re.MULTILINE)
_NAMED = re.compile(
    r'^(?:\(:)?(?:"(?P<double>(?:[^"\n]|"")+)"|`(?P<back>(?:[^`\n]|``)+)`|(?P<plain>\w+))',
    re.MULTILINE,
)
"""What a line of a schema begins with: the name of a table or label, quoted where it must be."""


@dataclass(frozen=True, slots=True)
class AgentTask(Task):
    """A task, and the format in which an agent's model has to talk.

    Attributes
    ----------
    acts
        Whether this conversation's model reads the database and decides, rather than only plans.
    plan_is_given
        Whether somebody else makes the plan.
    thinks, thinks_first
        Whether the format asks for a thought, and whether that stands before the plan.
    """

    acts: bool = True
    plan_is_given: bool = False
    thinks: bool = True
    thinks_first: bool = False


_Messages: TypeAlias = Sequence[BaseMessage]


class _AgentScripts:
    """Answers for scripted models; see `dqa.models.scripted.Responder`."""

    def answers(self, messages: _Messages) -> bool:
        """Whether a conversation sets an agent's task."""
        return _task_place(messages) is not None

    def reply(self, messages: _Messages, tools: Sequence[str], script: str, seed: int) -> AIMessage:
        """Return what a script says next: as labelled text, or as calls where there are tools."""
        task, observed = read_conversation(messages)
        scenario = scripted_scenario(_named_in(task.schema), script, task.question)
        started: Script = plugins.script(script, scenario)(task, seed)
        turn = run_script(started, observed, closing=_is_closing(messages))
        return _said(task, turn, tools, len(observed))

    def opening(
        self, messages: _Messages, tools: Sequence[str], plan: str | None
    ) -> AIMessage | None:
        """Return the plan where a call or a model of its own makes it; a later one is kept."""
        task, observed = read_conversation(messages)
        if task.acts and "plan" not in tools:
            return None
        made = plan or _PLAINEST
        turn = ScriptTurn(Step("", ""), None if observed else made, made)
        return _said(task, turn, tools, len(observed))

    def word(self, messages: _Messages, tools: Sequence[str], turn: ScriptTurn) -> AIMessage:
        """Return a turn that somebody else decided, as labelled text or as calls.

        Where the format asks for a plan and there is none, it is the plainest one.
        """
        task, observed = read_conversation(messages)
        if task.plans and turn.plan is None:
            turn = replace(turn, plan=_PLAINEST, new_plan=None if observed else _PLAINEST)
        return _said(task, turn, tools, len(observed))


RESPONDER = _AgentScripts()


def _said(task: AgentTask, turn: ScriptTurn, tools: Sequence[str], observed: int) -> AIMessage:
    """Word a turn in the protocol of the conversation."""
    if tools:
        return _calling(task, turn, set(tools), observed)
    return AIMessage(_worded(task, turn, observed))


def check_script(model: BaseChatModel, schema: Schema) -> None:
    """Refuse a scripted model that cannot query databases of a schema; others pass.

    Raises
    ------
    UsageError
        `model` is scripted, itself or under a recorder, and its script knows no such tables.
    """
    scripted = model.inner if isinstance(model, RecordedModel) else model
    if isinstance(scripted, ScriptedModel):
        scripted_scenario({table.name for table in schema.tables}, scripted.script)


def scripted_scenario(names: set[str], script: str, question: str | None = None) -> Scenario:
    """Return the scenario that has a script for the database with these tables or labels.

    Of several that share their tables it is the one that asks in the words of the question.

    Raises
    ------
    UsageError
        No scenario with a script of that name has such tables.
    """
    scripted = [scenario for scenario in scenarios() if script in scenario.document.scripts]
    held = [scenario for scenario in scripted if _holds(names, scenario)]
    asking = (s for s in held if question is not None and target_in(s, question) is not None)
    found = next(asking, held[0] if held else None)
    if found is not None:
        return found
    there_are = ", ".join(scenario.name for scenario in scripted)
    raise UsageError(
        f"scripted:{script} queries only databases of the scenarios {there_are}, and this one has "
        "other tables; name a language model with --model, e.g. openai:gpt-5, or take a decider "
        "that reads the rows itself (--context)."
    )


def _holds(names: set[str], scenario: Scenario) -> bool:
    tables = {table.name for table in scenario.schema.tables}
    labels = {node.label for node in scenario.schema.nodes}
    return tables <= names or bool(labels and labels <= names)


def read_conversation(messages: _Messages) -> tuple[AgentTask, list[Observed]]:
    """Return the last task, and what the statements since it returned, in order.

    Raises
    ------
    UsageError
        It is no conversation of an agent, or its replies and observations do not fit each other.
    """
    system = "\n".join(m.text for m in messages if isinstance(m, SystemMessage))
    sections, since = _last_task(messages)
    _, _, schema = sections["Database"].partition("Schema, as the database describes it:\n")
    tools = "`" in system
    own_plan = "\nPlan:" in system or "`plan`" in system
    acts = "`query_database`" in system if tools else "\nAction:" in system
    task = AgentTask(
        question=sections["Question"],
        rules=sections.get("Business rules", ""),
        schema=schema,
        graph="Kind: graph" in sections["Database"],
        once=acts and ("`decide`" if tools else "\nFinal Answer:") not in system,
        plans=own_plan or "Plan" in sections,
        replans=any(mark in system for mark in ("\nRe-plan:", "`replan`", "New plan:")),
        simulates="`compare`" in system or "may be compare" in system,
        acts=acts,
        plan_is_given="Plan" in sections,
        thinks="\nThought:" in system,
        thinks_first=0 <= system.find("\nThought:") < system.find("\nPlan:"),
    )
    observed = [_observed(text) for text in _observations(since)]
    if len(observed) != _asked(since, acts=acts):
        raise UsageError(
            "A scripted model met a reply of its own that brought no observation; its script and "
            "the agent's format do not fit each other."
        )
    return task, observed


def _last_task(messages: _Messages) -> tuple[dict[str, str], _Messages]:
    """Return the sections of the last task, and the messages after it."""
    place = _task_place(messages)
    if place is None:
        raise UsageError("The conversation sets no task with a question and a database.")
    return _sections(messages[place]), messages[place + 1 :]


def _task_place(messages: _Messages) -> int | None:
    """Return where the last task stands; None where there is none."""
    for place in range(len(messages) - 1, -1, -1):
        if {"Question", "Database"} <= _sections(messages[place]).keys():
            return place
    return None


def _sections(message: BaseMessage) -> dict[str, str]:
    """Return the texts between the headings of a user's message."""
    if not isinstance(message, HumanMessage):
        return {}
    return {found["title"]: found["body"].strip() for found in _SECTION.finditer(message.text)}


def _is_closing(messages: _Messages) -> bool:
    """Whether the last message says that a budget is spent and asks for the decision."""
    last = messages[-1]  # behind a call's result the words stand in that message
    return isinstance(last, HumanMessage | ToolMessage) and _SPENT.search(last.text) is not None


def _observations(messages: _Messages) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ToolMessage) and message.name in _ACTING:
            yield message.text
        elif isinstance(message, HumanMessage | ToolMessage):
            yield from _OBSERVATION.split(message.text)[1:]


def _asked(messages: _Messages, *, acts: bool) -> int:
    """Count what was to be observed: one thing a reply, or each tool that an acting one called.

    A decision is not observed; where one was refused, the script says it again.
    """
    asked = 0
    for message in messages:
        if isinstance(message, AIMessage) and not _ANSWER.search(message.text):
            calls = [call for call in message.tool_calls if call["name"] in _ACTING]
            asked += len(calls) if acts and message.tool_calls else 1
    return asked


def _observed(text: str) -> Observed:
    rows = []
    for line in text.splitlines()[1:]:
        if not line.startswith("["):
            break
        rows.append(tuple(json.loads(line)))
    return Observed(tuple(rows) if text.startswith("[") else ())


def _current_step(turn: ScriptTurn, observed: int) -> list[str]:
    """Return the line that says which step of the plan a turn takes; none without a plan."""
    steps = len(steps_of(turn.plan)) if turn.plan else 0
    number = steps if isinstance(turn.move, Answer) else min(observed + 1, steps)
    return [f"Current step: {number}"] if number else []


def _worded(task: AgentTask, turn: ScriptTurn, observed: int) -> str:
    """Word a turn in the labels that the format asks for."""
    plan, first = [], not observed
    if first and task.plans:
        plan = [f"Plan:\n{turn.new_plan}"]
    elif task.replans:
        plan = [f"Re-plan:\n{turn.new_plan}" if turn.new_plan else "Re-plan: keep"]
    if not task.acts:
        return "\n".join(plan)
    thought = [f"Thought: {turn.move.thought}"] if task.thinks else []
    if isinstance(turn.move, Answer):
        acts = [f"Final Answer: {turn.move.answer}"]
    else:
        acts = [f"Action: {turn.move.tool}", f"Action Input: {turn.move.given}"]
    step = _current_step(turn, observed) if task.plans and not task.plan_is_given else []
    if task.plan_is_given:
        plan = []
    opening = [*thought, *plan, *step] if task.thinks_first else [*plan, *step, *thought]
    return "\n".join([*opening, *acts])


def _calling(task: AgentTask, turn: ScriptTurn, offered: set[str], observed: int) -> AIMessage:
    """Word a turn as calls of the tools that are offered."""
    move, calls = turn.move, list[tuple[str, dict[str, Any]]]()
    if "plan" in offered:
        return _called("", [("plan", {"steps": _steps(turn.new_plan)})])
    new_plan = turn.new_plan is not None and bool(observed)
    if "replan" in offered and (new_plan or not task.acts):
        calls.append(("replan", {"steps": _steps(turn.new_plan)}))
    if not task.acts:
        return _called("", calls)
    if isinstance(move, Answer):
        calls.append(("decide", {"decision": move.answer}))
    elif move.tool == COMPARE:
        calls.append((move.tool, {"candidates": [] if move.given == "all" else [move.given]}))
    else:
        name = "decision" if move.tool == SIMULATE else "statement"
        calls.append((move.tool, {name: move.given}))
    step = _current_step(turn, observed) if task.plans and not task.plan_is_given else []
    return _called("\n".join([*step, move.thought]), calls)


def _called(text: str, calls: list[tuple[str, dict[str, Any]]]) -> AIMessage:
    named = [
        ToolCall(name=name, args=arguments, id=str(number), type="tool_call")
        for number, (name, arguments) in enumerate(calls)
    ]
    return AIMessage(text, tool_calls=named)


def _steps(plan: str | None) -> list[str]:
    """Return the steps of a plan without their numbers; none for no plan."""
    return [line.partition(". ")[2] for line in (plan or "").splitlines()]


def _named_in(schema: str) -> set[str]:
    """Return the tables and labels in a schema's text."""
    names = set[str]()
    for found in _NAMED.finditer(schema):
        plain, double, back = found["plain"], found["double"], found["back"]
        names.add(plain or (double or "").replace('""', '"') or back.replace("``", "`"))
    return names
