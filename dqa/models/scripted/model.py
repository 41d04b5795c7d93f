"""The chat model that a script drives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.situation import Schema
from dqa.models.scripted.conversation import Observed, Task, read_conversation
from dqa.models.scripted.steps import Answer, Script, Step
from dqa.scenarios import Scenario, scenarios
from dqa_dellma.scripted.analyst import RESPONDER as DELLMA

__all__ = ["ScriptedModel", "check_agent", "scripted_model"]


class ScriptedModel(BaseChatModel):
    """A chat model whose replies a script decides from the conversation alone.

    Attributes
    ----------
    script
        Name of the script: one of `dqa.plugins.script_names`.
    seed
        Seed of whatever the script leaves to chance.
    """

    script: str
    seed: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"script": self.script, "seed": self.seed}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> ChatResult:
        del stop, run_manager  # a script ends its replies where they have to end
        if DELLMA.answers(messages):
            said = DELLMA.reply(messages, (), self.script, self.seed)
            return ChatResult(generations=[ChatGeneration(message=said)])
        task, observed = read_conversation(messages)
        scenario = _scenario(_named_in(task.schema), self.script)
        script: Script = plugins.script(self.script, scenario)(task, self.seed)
        turn = _advance(script, observed)
        offered = {tool["function"]["name"] for tool in kwargs.get("tools", ())}
        if offered:
            message = _calling(task, turn, offered, first=not observed)
        else:
            message = AIMessage(_reply(task, turn, first=not observed))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools to call; it calls whatever its script needs of them."""
        del tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the script does now, and the plan it holds."""

    move: Step | Answer
    new_plan: str | None


def _advance(script: Script, observed: list[Observed]) -> _Turn:
    """Run the script past everything that was observed, to what it does next.

    A script holds no state between calls: it is started anew and fed the observations, so the
    conversation alone decides.
    """
    plan: str | None = None
    try:
        step = next(script)
        for seen in observed:
            plan = step.plan or plan
            step = script.send(seen)
    except StopIteration as end:
        answer: Answer = end.value
        return _Turn(answer, None)
    return _Turn(step, step.plan if step.plan != plan else None)


def _reply(task: Task, turn: _Turn, *, first: bool) -> str:
    """Word a turn in the labels that the format asks for."""
    plan = []
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
    if task.plan_is_given:
        plan = []
    opening = [*thought, *plan] if task.thinks_first else [*plan, *thought]
    return "\n".join([*opening, *acts])


def _calling(task: Task, turn: _Turn, offered: set[str], *, first: bool) -> AIMessage:
    """Word a turn as calls of the tools that are offered."""
    move, calls = turn.move, list[tuple[str, dict[str, Any]]]()
    if "plan" in offered:
        return _called("", [("plan", {"steps": _steps(turn.new_plan)})])
    new_plan = turn.new_plan is not None and not first
    if "replan" in offered and (new_plan or not task.acts):
        calls.append(("replan", {"steps": _steps(turn.new_plan)}))
    if not task.acts:
        return _called("", calls)
    if isinstance(move, Answer):
        calls.append(("decide", {"decision": move.answer}))
    elif move.tool == "compare":
        calls.append((move.tool, {"candidates": [] if move.given == "all" else [move.given]}))
    else:
        name = "decision" if move.tool == "simulate" else "statement"
        calls.append((move.tool, {name: move.given}))
    return _called(move.thought, calls)


def _called(text: str, calls: list[tuple[str, dict[str, Any]]]) -> AIMessage:
    named = [
        ToolCall(name=name, args=arguments, id=str(number), type="tool_call")
        for number, (name, arguments) in enumerate(calls)
    ]
    return AIMessage(text, tool_calls=named)


def _steps(plan: str | None) -> list[str]:
    """Return the steps of a plan without their numbers; none for no plan."""
    return [line.partition(". ")[2] for line in (plan or "").splitlines()]


def _scenario(known: set[str], script: str) -> Scenario:
    """Return the scenario that a database's tables or labels belong to."""
    scripted = [found for found in scenarios() if script in found.scripts]
    for scenario in scripted:
        schema = scenario.schema
        tables, labels = {t.name for t in schema.tables}, {n.label for n in schema.nodes}
        if tables <= known or (labels and labels <= known):
            return scenario
    names = ", ".join(found.name for found in scripted)
    raise UsageError(
        f"scripted:{script} queries only databases of the scenarios {names}, and this one has "
        "other tables; name a language model with --model, e.g. openai:gpt-5, or take deciders "
        "whose model is given its rows, e.g. dellma-pairs and zero-shot."
    )


def _named_in(schema: str) -> set[str]:
    """Return the tables and labels in a schema's text."""
    return set(re.findall(r"^(?:\(:)?[`\"]?(\w+)", schema, re.MULTILINE))


def check_agent(model: BaseChatModel, schema: Schema) -> None:
    """Refuse a scripted model that cannot query databases of a schema; others pass.

    Raises
    ------
    UsageError
        `model` is scripted, itself or under a recorder, and its script knows no such tables.
    """
    asked = getattr(model, "inner", None) or model
    if isinstance(asked, ScriptedModel):
        _scenario({table.name for table in schema.tables}, asked.script)


def scripted_model(name: str, seed: int = 0) -> ScriptedModel:
    """Return the scripted model called `name`; `UnknownNameError` where there is none."""
    if name not in plugins.script_names():
        raise UnknownNameError("scripted model", name, plugins.script_names())
    return ScriptedModel(script=name, seed=seed)
