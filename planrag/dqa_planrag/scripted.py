"""The replies of scripted models to the agents, in both protocols.

A script does not parse the text of a prompt. It reads the task from attributes of the prompt's
message object (`dqa.models.conversation.StepPrompt`). A script sees the same observations as a
model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import ToolCall, tool_call
from pydantic import Field

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.evidence import COMPARE, QUERY, SIMULATE, SIMULATING, Evidence
from dqa.core.plans import steps_of
from dqa.core.question import Question
from dqa.models.cassette import inner_model
from dqa.models.conversation import StepPrompt
from dqa.models.scripted import ScriptedModel
from dqa.models.scripted.steps import Answer, Observed, Script, Step, Task, next_move, numbered
from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import scenarios
from dqa_planrag.recipes import Recipe

_SHORTEST_PLAN = numbered(["Look up what the decision needs.", "Decide."])
_Messages: TypeAlias = Sequence[BaseMessage]


class TaskPrompt(StepPrompt):
    """The prompt with the task. Its attributes are for scripts, and are not sent to a model."""

    task: Task = Field(exclude=True)
    recipe: Recipe = Field(exclude=True)
    recorder: Any = Field(exclude=True)


class _AgentScripts:
    """Reply as a scripted model; see `dqa.models.scripted.Responder`."""

    def answers(self, messages: _Messages) -> bool:
        """Return whether a conversation contains the task of an agent."""
        return any(isinstance(message, TaskPrompt) for message in messages)

    def reply(self, messages: _Messages, tools: Sequence[str], script: str, seed: int) -> AIMessage:
        """Return the next reply of a script: tool calls if there are tools, otherwise text."""
        prompt = _prompt(messages)
        scenario = scripted_scenario(prompt.task.question, script)
        started: Script = plugins.script(script, scenario)(prompt.task, seed)
        acting = {QUERY, *SIMULATING}
        evidence = prompt.recorder.evidence
        observed = [_observed(one) for one in evidence if one.tool in acting]
        move = next_move(started, observed, closing=prompt.recorder.ended_by is not None)
        return self.word(messages, tools, move)[0]

    def word(
        self, messages: _Messages, tools: Sequence[str], move: Step | Answer
    ) -> tuple[AIMessage, bool]:
        """Write the next step of a script as labelled text or as tool calls.

        Returns
        -------
        tuple of AIMessage and bool
            The reply, and whether it does more than plan.
        """
        prompt = _prompt(messages)
        plans: list[str] = prompt.recorder.plans
        evidence, own_plan = prompt.recorder.evidence, move.plan if isinstance(move, Step) else None
        plan = own_plan or (plans[-1] if plans else _SHORTEST_PLAN)
        is_new = not plans or plan != plans[-1]
        current = list[str]()
        if prompt.recipe.plans:
            steps = len(steps_of(plan))
            number = min(len(evidence) + 1, steps)
            current = [f"Current step: {steps if isinstance(move, Answer) else number}"]
        if tools:
            calls = _calls(
                move, plan, set(tools), replans=is_new and bool(prompt.recorder.evidence)
            )
            text = "" if "plan" in tools else "\n".join([*current, move.thought])
            return AIMessage(text, tool_calls=calls), "plan" not in tools
        planned = _planned(prompt.recipe, plan, is_first=not plans, is_new=is_new)
        return AIMessage(_text(move, prompt.recipe, [*planned, *current])), True


RESPONDER = _AgentScripts()


def check_script(model: BaseChatModel, question: Question) -> None:
    """Check that a scripted model has a script for a question. Other models pass the check.

    Raises
    ------
    UsageError
        `model` is scripted, directly or inside a recorded model, and the question's scenario lacks
        the script of the model.
    """
    scripted = inner_model(model)
    if isinstance(scripted, ScriptedModel):
        scripted_scenario(question, scripted.script)


def scripted_scenario(question: Question, script: str) -> Scenario:
    """Return the scenario of a question. Raise `UsageError` if the scenario lacks the script."""
    found = plugins.scenario_of(question)
    if found is not None and script in found.document.scripts:
        return found
    available = ", ".join(one.name for one in scenarios() if script in one.document.scripts)
    raise UsageError(
        f"scripted:{script} answers only questions of the scenarios {available}: choose one of "
        "them, name a language model (--model openai:gpt-5), or choose another decider."
    )


def _prompt(messages: _Messages) -> TaskPrompt:
    return [message for message in messages if isinstance(message, TaskPrompt)][-1]


def _observed(evidence: Evidence) -> Observed:
    """Return the rows of a statement's result that were shown to the model, or the error."""
    lines = takewhile(lambda line: line.startswith("["), evidence.observation.splitlines())
    problem = evidence.observation if evidence.error is not None else ""
    rows = tuple(tuple(json.loads(row)) for row in [*lines][1:])
    return Observed(rows, problem=problem, is_cut=evidence.cut in {"rows", "bytes"})


def _planned(recipe: Recipe, plan: str, *, is_first: bool, is_new: bool) -> list[str]:
    """Return the lines about the plan for a labelled reply; empty if the agent does not plan."""
    if recipe.plans and is_first:
        return [f"Plan:\n{plan}"]
    if recipe.plans and recipe.replans:
        return [f"Re-plan:\n{plan}" if is_new else "Re-plan: keep"]
    return []


def _text(move: Step | Answer, recipe: Recipe, planned: list[str]) -> str:
    """Write the next step of a script as labelled text."""
    thought = [f"Thought: {move.thought}"] if recipe.thinks != "never" else []
    thinks_first = recipe.plans and recipe.thinks == "planning"
    begin = [*thought, *planned] if thinks_first else [*planned, *thought]
    if isinstance(move, Answer):
        return "\n".join([*begin, f"Final Answer: {move.answer}"])
    return "\n".join([*begin, f"Action: {move.tool}", f"Action Input: {move.given}"])


def _calls(move: Step | Answer, plan: str, offered: set[str], *, replans: bool) -> list[ToolCall]:
    """Write the next step of a script as calls of the offered tools."""
    steps = [line.partition(". ")[2] for line in plan.splitlines()]
    if "plan" in offered:
        return [tool_call(name="plan", args={"steps": steps}, id="0")]
    calls: list[tuple[str, dict[str, Any]]]
    calls = [("replan", {"steps": steps})] if replans and "replan" in offered else []
    if isinstance(move, Answer):
        calls.append(("decide", {"decision": move.answer}))
    elif move.tool == COMPARE:
        calls.append((COMPARE, {"candidates": [] if move.given == "all" else [move.given]}))
    else:
        argument = "decision" if move.tool == SIMULATE else "statement"
        calls.append((move.tool, {argument: move.given}))
    return [tool_call(name=n, args=arguments, id=str(i)) for i, (n, arguments) in enumerate(calls)]
