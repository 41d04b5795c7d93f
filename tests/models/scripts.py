"""What the model servers and models of tests say: scripts, and moods."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from string import Template
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import ToolCall

from dqa.core.evidence import Evidence
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.models.conversation import StepPrompt
from dqa.models.scripted import scripted_model
from dqa.scenarios.catalogue import scenarios
from dqa_planrag.recipes import Recipe
from dqa_planrag.scripted import TaskValues

_MESSAGES = {"system": SystemMessage, "user": HumanMessage}
_NO_TOOL = "There is no tool '"
_SECTION = re.compile(r"^# (?P<title>[\w ]+)\n(?P<body>.*?)(?=^# |\Z)", re.DOTALL | re.MULTILINE)


def scripted(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as the script that the request names would, had no reply been spoilt on the way."""
    messages: list[BaseMessage] = []
    for message in request["messages"]:
        content = str(message["content"] or "")
        if content.startswith(("The reply could not be used.", _NO_TOOL)):
            messages.pop()
        elif message["role"] == "assistant":
            messages.append(AIMessage(content, tool_calls=_calls(message)))
        elif message["role"] == "tool":
            messages.append(_result(messages, message["tool_call_id"], content))
        else:
            messages.append(_MESSAGES[message["role"]](content))
    model = scripted_model(request["model"])
    reply = model.invoke([_task(messages)], tools=request.get("tools", ()))
    called = [_called(call) for call in reply.tool_calls]
    return {"content": reply.text} | ({"tool_calls": called} if called else {})


def _task(messages: list[BaseMessage]) -> StepPrompt:
    """Return the task of an agent's conversation, read from its words: HTTP brings nothing else."""
    system = messages[0].text
    texts = [m.text if isinstance(m, HumanMessage) else "" for m in messages]
    place = max(number for number, text in enumerate(texts) if "# Question\n" in text)
    sections = {one["title"]: one["body"].strip() for one in _SECTION.finditer(texts[place])}
    recipe = Recipe(
        "served",
        "",
        plans="\nPlan:" in system or "`plan`" in system,
        replans="\nRe-plan:" in system or "`replan`" in system,
    )
    recorder = Recorder()
    for message in messages[place + 1 :]:
        if isinstance(message, ToolMessage) and message.name == "query_database":
            recorder.add_evidence(Evidence("", message.text))
        elif isinstance(message, HumanMessage):
            for text in message.text.split("Observation: ")[1:]:
                recorder.add_evidence(Evidence("", text))
        elif isinstance(message, AIMessage):
            called = [call["name"] for call in message.tool_calls]
            if "plan" in called or "Plan:\n" in message.text:
                recorder.plans.append("1. Decide.")
    question = _question(sections["Question"], sections.get("Business rules", ""))
    graph = "Kind: graph" in sections["Database"]
    return TaskValues(question, recipe, recorder, graph).to_message("")


def _question(text: str, rules: str) -> Question:
    """Return the question of a scenario by its words."""
    for scenario in scenarios():
        form = rf"(?:\s+{re.escape(scenario.answer_form)})?" if scenario.answer_form else ""
        asked = re.fullmatch(rf"\s*{_pattern(scenario.template)}{form}\s*", text, re.DOTALL)
        if asked is not None:
            return Question(scenario.name, "1", text, rules, target=asked.groupdict())
    raise AssertionError(f"no scenario asks: {text}")


def _pattern(template: Template) -> str:
    """Return a template as a regular expression with a group for each parameter."""
    parts: list[str] = []
    named: set[str] = set()
    end = 0
    for place in template.pattern.finditer(template.template):
        parts.append(re.escape(template.template[end : place.start()]))
        end = place.end()
        name = place["named"] or place["braced"]
        if name is None:
            parts.append(re.escape("$"))
        else:
            parts.append(f"(?P={name})" if name in named else f"(?P<{name}>.+?)")
            named.add(name)
    return "".join([*parts, re.escape(template.template[end:])])


def _calls(message: dict[str, Any]) -> list[ToolCall]:
    return [
        ToolCall(
            name=call["function"]["name"],
            args=json.loads(call["function"]["arguments"]),
            id=call["id"],
            type="tool_call",
        )
        for call in message.get("tool_calls") or ()
    ]


def _result(messages: list[BaseMessage], name: str, content: str) -> ToolMessage:
    """Return a tool's result; the protocol leaves it to the reader which tool was called."""
    tools = {
        call["id"]: call["name"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    return ToolMessage(content, tool_call_id=name, name=tools[name])


def _called(call: ToolCall) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call["args"])}
    return {"id": call["id"], "type": "function", "function": function}


class Moody:
    """A program that never says the same again, soon or late: as a model at a high temperature.

    It suits agents that talk in labelled text, and deciders that want a decision in JSON.
    """

    def __init__(self, latest: float = 0.02) -> None:
        self.said = 0
        self._latest = latest
        self._draw = random.Random(1)  # noqa: S311
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> str:
        """Answer a request of a `ModelServer`."""
        return self.reply(str(request["messages"][-1]["content"]))

    def reply(self, text: str) -> str:
        """Answer a message; no two answers are alike."""
        with self._lock:
            self.said += 1
            said, choice = self.said, self._draw.randint(1, 6)
            reads, wait = self._draw.random() < 0.5, self._draw.random() * self._latest
        time.sleep(wait)
        if '{"decision"' in text:
            # One of the first two actions, which every problem has.
            return json.dumps({"decision": str(choice % 2 + 1), "explanation": f"mood {said}"})
        if reads:
            return f"Thought: mood {said}\nAction: query_database\nAction Input: SELECT {said}"
        return f"Thought: mood {said}\nFinal Answer: {choice}"
