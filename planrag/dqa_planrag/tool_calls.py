"""The protocol `tools`: the model acts, plans and decides by tool calls.

In addition to the tools of the agent, the model has three tools: ``plan`` and ``replan`` take the
steps of a plan, and ``decide`` takes the decision. Each request offers only the tools that may be
called. Calls get new ids, because some providers repeat ids or leave them empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, BeforeValidator, Field

from dqa.core.errors import UnparsableReplyError
from dqa.core.plans import STEP_NUMBER, list_in, steps_of
from dqa.deciders.base import ProtocolName
from dqa.deciders.tools import Arguments, Text, checked_arguments, schema_of
from dqa.models.calling import ChatRunnable
from dqa.models.conversation import EMPTY_REPLY
from dqa_planrag.react import spoken
from dqa_planrag.reply import (
    MOST_CALLS,
    THOUGHT_NOTED,
    Reply,
    ToolRequest,
    is_thinking,
    step_in,
    without_step,
)
from dqa_planrag.toolbox import Toolbox


def _listed(value: object) -> object:
    """Return a plan as a list of steps, also if the model wrote all steps as a single text."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = list_in(value[0]) or value
    return [step.text for step in steps_of(value)] if isinstance(value, str) else value


Steps: TypeAlias = Annotated[list[str], BeforeValidator(_listed)]


class _Plan(Arguments):
    """Write the plan: every analysis that the decision needs, in order."""

    steps: Steps = Field(description="what to look up, to calculate and to compare")


class _Replan(Arguments):
    """Replace the plan if the data shows that it does not work."""

    steps: Steps = Field(description="the whole new plan; an empty list keeps the old plan")


class _Decide(Arguments):
    """Make the decision when all analyses are complete."""

    decision: Text = Field(description="only the decision: its name or id in the database")


class _Write(Arguments):
    """Submit the statement whose rows are the answer, after you have checked its rows."""

    decision: Text = Field(description="only the whole statement")


_SAYING: Mapping[str, type[Arguments]] = {"plan": _Plan, "replan": _Replan, "decide": _Decide}
"""The tools of plans and decisions, by name."""

_DROPPED = (
    "Not accepted: this decision was made before the results of the other calls were known. Read "
    "them first."
)
_NOTED = "Noted."
_NO_NAME = re.compile(r"[^\w-]", re.ASCII)
_LONGEST_NAME = 64


def _tool_definition(name: str, toolbox: Toolbox) -> dict[str, Any]:
    """Return the definition of a tool for providers."""
    if name in _SAYING:
        writes = name == "decide" and toolbox.answer_form == "statement"
        schema: type[BaseModel] = _Write if writes else _SAYING[name]
        description = schema.__doc__ or ""
    else:
        tool = toolbox.tools[name]
        schema, description = schema_of(tool), tool.description
    parameters = _openai_tool(schema)["function"]
    return {
        "type": "function",
        "function": {**parameters, "name": name, "description": description},
    }


@cache
def _openai_tool(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the arguments of a tool in OpenAI's form. The result is cached to save time."""
    return convert_to_openai_tool(schema)


class ToolCalls:
    """The protocol in which replies are tool calls; see `dqa_planrag.react.ReAct`."""

    name: ProtocolName = "tools"
    stop: tuple[str, ...] = ()
    plan_first = (
        "The first reply must be the plan. Call the tool 'plan' with the steps of the plan."
    )
    answer_now = (
        "The database has been read once and cannot be read again. Call decide with the decision."
    )
    after_plan = after_thought = ""  # the results of the calls ask the model to continue

    def offering(
        self, model: BaseChatModel, tools: Sequence[str], toolbox: Toolbox
    ) -> ChatRunnable:
        """Return the model with the offered tools."""
        return model.bind_tools([_tool_definition(name, toolbox) for name in tools])

    def calls(self, message: AIMessage, reply: Reply | None) -> list[dict[str, Any]]:
        """Return all calls, including unreadable calls, with their arguments as JSON."""
        del reply
        broken = [(call["name"], call["args"]) for call in message.invalid_tool_calls]
        called = [(call["name"], _as_json(call["args"])) for call in message.tool_calls]
        return [{"tool": name or "", "input": text or ""} for name, text in called + broken]

    def read(
        self, message: AIMessage, step: int, offered: Sequence[str], toolbox: Toolbox
    ) -> Reply:
        """Read a reply. If a reply decides and also calls a tool for data, its decision is dropped.

        A tool that is not offered counts as unknown. A call of ``plan`` is also accepted in place
        of ``replan``.
        """
        _check_calls(message)
        accepted = {*offered, "plan"} if "replan" in offered else set(offered)
        text = spoken(message.text)
        requests, notes = list[ToolRequest](), list[tuple[str, str]]()
        thoughts, plans = [without_step(text)], dict[str, str | None]()
        answer, answer_id = None, ""
        for index, call in enumerate(message.tool_calls):
            call_id, tool, arguments = f"call_{step}_{index}", call["name"], call["args"]
            if tool in toolbox.tools:
                requests.append(ToolRequest(tool, toolbox.checked(tool, arguments), call_id))
            elif is_thinking(tool):
                thoughts += [str(value) for value in arguments.values()]
                notes.append((call_id, THOUGHT_NOTED))
            elif tool not in accepted or tool not in _SAYING:
                requests.append(ToolRequest(tool, _as_json(arguments), call_id))
            elif tool == "decide":
                if answer_id:
                    raise UnparsableReplyError(
                        "The reply contains two decisions. Call the tool 'decide' only once."
                    )
                answer = checked_arguments(tool, _Decide, arguments)["decision"]
                answer_id = call_id
            else:
                plans[tool] = _numbered(checked_arguments(tool, _SAYING[tool], arguments)["steps"])
                if tool == "plan" and not plans[tool]:
                    raise UnparsableReplyError(
                        "The plan has no steps. Call the tool 'plan' with the steps of the plan."
                    )
                notes.append((call_id, _NOTED))
        only_notes = not requests and not answer_id
        if answer_id and requests:
            notes.append((answer_id, _DROPPED))
            answer, answer_id = None, ""
        return Reply(
            plan=plans.get("plan"),
            replan=plans.get("replan"),
            thought="\n".join(filter(None, thoughts)),
            requests=tuple(requests),
            answer=answer,
            answer_id=answer_id,
            notes=tuple(notes),
            current_step=step_in(text),
            only_thinks=only_notes and any(note == THOUGHT_NOTED for _, note in notes),
        )

    def history(self, message: AIMessage, reply: Reply | None) -> list[BaseMessage]:
        """Return the calls of a reply, and the answers to the calls that run no tool.

        An unreadable reply is replaced by a text that describes the reply. Providers reject calls
        that stay unanswered, and calls whose arguments are not JSON.
        """
        text = spoken(message.text)
        if reply is None:
            called = [f"(called {c['tool']} with {c['input']})" for c in self.calls(message, None)]
            return [AIMessage("\n".join([text, *called]).strip() or EMPTY_REPLY)]
        ids = [name for name, _ in reply.notes] + [request.id for request in reply.requests]
        ids += [reply.answer_id] if reply.answer_id else []
        calls = [
            ToolCall(name=_sendable(call["name"]), args=call["args"], id=name, type="tool_call")
            for name, call in zip(sorted(ids, key=_position), message.tool_calls, strict=True)
        ]
        notes = [ToolMessage(note, tool_call_id=name) for name, note in reply.notes]
        return [AIMessage(text, tool_calls=calls), *notes]

    def observed(
        self, results: Sequence[tuple[ToolRequest, str]], closing: str
    ) -> list[BaseMessage]:
        """Return each result with the id of its call.

        The text `closing` is added to the last result, because some providers reject a user's
        message after the results of tools.
        """
        texts = [text for _, text in results]
        if closing:
            texts[-1] += f"\n\n{closing}"
        return [
            ToolMessage(text, tool_call_id=request.id, name=_sendable(request.tool))
            for (request, _), text in zip(results, texts, strict=True)
        ]

    def refused(self, reply: Reply, problem: str) -> list[BaseMessage]:
        """Answer the call of the tool ``decide``: say why the decision is invalid."""
        return self.objected(reply, f"Error: the decision was not accepted. {problem}")

    def objected(self, reply: Reply, message: str) -> list[BaseMessage]:
        """Answer the call of the tool ``decide`` with a person's message about the decision."""
        return [ToolMessage(message, tool_call_id=reply.answer_id, name="decide")]


def _numbered(steps: Iterable[str]) -> str | None:
    """Return steps as a numbered list, with new numbers; None if there are no steps."""
    texts = [STEP_NUMBER.sub("", " ".join(step.split())) for step in steps]
    lines = [f"{number}. {step}" for number, step in enumerate(filter(None, texts), 1)]
    return "\n".join(lines) or None


def _check_calls(message: AIMessage) -> None:
    """Raise `UnparsableReplyError` if there are no calls, too many calls, or unreadable calls."""
    if message.invalid_tool_calls:
        broken = message.invalid_tool_calls[0]
        raise UnparsableReplyError(
            f"The arguments of {broken['name'] or 'a call'} are not a JSON object. Call the tool "
            "again."
        )
    if not message.tool_calls:
        raise UnparsableReplyError(
            "The reply does not call a tool. Reply only by calling one of the tools."
        )
    if len(message.tool_calls) > MOST_CALLS:
        raise UnparsableReplyError(
            f"The reply makes {len(message.tool_calls)} calls. Make at most {MOST_CALLS} at a time."
        )


def _sendable(tool: str) -> str:
    """Return the name of a tool with only characters that all providers accept."""
    return _NO_NAME.sub("_", tool)[:_LONGEST_NAME] or "unnamed"


def _as_json(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, default=str)


def _position(name: str) -> int:
    """Return the position of a call in its reply. The call's id ends with this position."""
    return int(name.rpartition("_")[2])
