"""The replies of scripted models to the agents, in both protocols.

The message of a task contains its values (`dqa.models.conversation.StepPrompt`), so prompts are not
parsed. A script sees the same observations as a model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import ToolCall

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.evidence import COMPARE, QUERY, SIMULATE, SIMULATING, Evidence
from dqa.core.plans import steps_of
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.models.cassette import RecordedModel
from dqa.models.conversation import StepPrompt
from dqa.models.scripted import ScriptedModel
from dqa.models.scripted.steps import (
    Answer,
    Observed,
    Script,
    ScriptTurn,
    Task,
    numbered,
    run_script,
)
from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import scenarios
from dqa_planrag.recipes import Recipe

PACKAGE = "dqa_planrag"
_PLAINEST = numbered(["Look up what the decision needs.", "Decide."])
_Messages: TypeAlias = Sequence[BaseMessage]


@dataclass(frozen=True, slots=True)
class TaskValues:
    """The values in the message of a task.

    Attributes
    ----------
    question
        The question.
    recipe
        The agent.
    recorder
        The recorder of the decision, with evidence and plans.
    is_graph
        Whether the database is a graph.
    """

    question: Question
    recipe: Recipe
    recorder: Recorder
    is_graph: bool

    def to_message(self, text: str) -> StepPrompt:
        """Return the message of the task."""
        return StepPrompt(content=text, package=PACKAGE, purpose="task", values={"task": self})


class _AgentScripts:
    """Answers for scripted models; see `dqa.models.scripted.Responder`."""

    def answers(self, messages: _Messages) -> bool:
        """Return whether a conversation contains the task of an agent."""
        return bool(_tasks(messages))

    def reply(self, messages: _Messages, tools: Sequence[str], script: str, seed: int) -> AIMessage:
        """Return the next reply of a script: as tool calls if there are tools, else as text."""
        task = _tasks(messages)[-1]
        recipe, recorder = task.recipe, task.recorder
        asked = Task(
            question=task.question,
            is_graph=task.is_graph,
            once=recipe.reads_once,
            plans=recipe.plans,
            simulates=recipe.simulates,
        )
        scenario = scripted_scenario(task.question, script)
        started: Script = plugins.script(script, scenario)(asked, seed)
        acting = {QUERY, *SIMULATING}
        observed = [_observed(one) for one in recorder.evidence if one.tool in acting]
        turn = run_script(started, observed, closing=recorder.ended_by is not None)
        return _said(task, turn, tools)

    def word(
        self, messages: _Messages, tools: Sequence[str], turn: ScriptTurn
    ) -> tuple[AIMessage, bool]:
        """Return a turn as labelled text or as tool calls, and whether it is more than a plan."""
        return _said(_tasks(messages)[-1], turn, tools), "plan" not in tools


RESPONDER = _AgentScripts()


def check_script(model: BaseChatModel, question: Question) -> None:
    """Check that a scripted model has a script for a question. Other models pass.

    Raises
    ------
    UsageError
        `model` is scripted, directly or inside a recorded model, and the question's scenario does
        not have its script.
    """
    scripted = model.inner if isinstance(model, RecordedModel) else model
    if isinstance(scripted, ScriptedModel):
        scripted_scenario(question, scripted.script)


def scripted_scenario(question: Question, script: str) -> Scenario:
    """Return the scenario of a question. Raise `UsageError` if it does not have the script."""
    found = plugins.scenario_of(question)
    if found is not None and script in found.document.scripts:
        return found
    there_are = ", ".join(one.name for one in scenarios() if script in one.document.scripts)
    raise UsageError(
        f"scripted:{script} answers only questions of the scenarios {there_are} (--scenario). "
        "Name a language model with --model, such as openai:gpt-5, or use a decider that receives "
        "the rows in its prompt (--context)."
    )


def _tasks(messages: _Messages) -> list[TaskValues]:
    """Return the values of the tasks in a conversation."""
    prompts = [one for one in messages if isinstance(one, StepPrompt) and one.package == PACKAGE]
    return [prompt.values["task"] for prompt in prompts]


def _observed(evidence: Evidence) -> Observed:
    """Return the rows of an observation, in the form that the model sees."""
    header, *lines = evidence.observation.splitlines() or [""]
    rows = takewhile(lambda line: line.startswith("["), lines if header.startswith("[") else ())
    return Observed(tuple(tuple(json.loads(row)) for row in rows))


def _said(task: TaskValues, turn: ScriptTurn, tools: Sequence[str]) -> AIMessage:
    """Return a turn as a message in the protocol of the conversation."""
    return _calling(task, turn, set(tools)) if tools else AIMessage(_worded(task, turn))


def _current_step(task: TaskValues, turn: ScriptTurn) -> list[str]:
    """Return the line that names the current step of the plan; no line without a plan."""
    if not task.recipe.plans:
        return []
    steps = len(steps_of(turn.plan or _PLAINEST))
    number = min(len(task.recorder.evidence) + 1, steps)
    return [f"Current step: {steps if isinstance(turn.move, Answer) else number}"]


def _worded(task: TaskValues, turn: ScriptTurn) -> str:
    """Return a turn as labelled text."""
    recipe, plan = task.recipe, list[str]()
    if task.recipe.plans and not task.recorder.plans:
        plan = [f"Plan:\n{turn.plan or _PLAINEST}"]
    elif task.recipe.plans and recipe.replans:
        plan = [f"Re-plan:\n{turn.new_plan}" if turn.new_plan else "Re-plan: keep"]
    thought = [f"Thought: {turn.move.thought}"] if recipe.thinks != "never" else []
    if isinstance(turn.move, Answer):
        acts = [f"Final Answer: {turn.move.answer}"]
    else:
        acts = [f"Action: {turn.move.tool}", f"Action Input: {turn.move.given}"]
    step = _current_step(task, turn)
    first = recipe.plans and recipe.thinks == "planning"
    return "\n".join([*thought, *plan, *step, *acts] if first else [*plan, *step, *thought, *acts])


def _calling(task: TaskValues, turn: ScriptTurn, offered: set[str]) -> AIMessage:
    """Return a turn as calls of offered tools."""
    move, calls = turn.move, list[tuple[str, dict[str, Any]]]()
    if "plan" in offered:
        return _called("", [("plan", {"steps": _steps(turn.plan or _PLAINEST)})])
    if "replan" in offered and turn.new_plan and task.recorder.evidence:
        calls.append(("replan", {"steps": _steps(turn.new_plan)}))
    if isinstance(move, Answer):
        calls.append(("decide", {"decision": move.answer}))
    elif move.tool == COMPARE:
        calls.append((move.tool, {"candidates": [] if move.given == "all" else [move.given]}))
    else:
        name = "decision" if move.tool == SIMULATE else "statement"
        calls.append((move.tool, {name: move.given}))
    return _called("\n".join([*_current_step(task, turn), move.thought]), calls)


def _called(text: str, calls: list[tuple[str, dict[str, Any]]]) -> AIMessage:
    named = [
        ToolCall(name=name, args=arguments, id=str(number), type="tool_call")
        for number, (name, arguments) in enumerate(calls)
    ]
    return AIMessage(text, tool_calls=named)


def _steps(plan: str) -> list[str]:
    """Return the steps of a plan without their numbers."""
    return [line.partition(". ")[2] for line in plan.splitlines()]
