"""The events of a decision, as messages and events of an Inspect log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from dqa.core.events import (
    EndingEvent,
    Event,
    ParseFailureEvent,
    PromptEvent,
    ReplyEvent,
    ToolEvent,
    ToolUse,
)
from dqa.core.secrets import redacted

Json: TypeAlias = dict[str, Any]

_ROLES: Mapping[str, str] = {"human": "user", "ai": "assistant", "system": "system"}
_USAGE = {"cached_tokens": "input_tokens_cache_read", "reasoning_tokens": "reasoning_tokens"}
"""Tokens that servers count apart: the names of a reply's fields, and Inspect's."""


class Conversation:
    """A decision as a conversation, and as a list of events.

    If several models talk, such as one that plans, each has its own conversation: the messages are
    those of the one that acts, and the events have all.

    Parameters
    ----------
    events
        The events of the decision.
    model
        The model that answered.
    at
        The time of every event, as far as it is known.

    Attributes
    ----------
    prompt
        The first prompt of the model that acts; None without a model.
    messages, events
        The conversation, and Inspect's events.
    traceback
        Of a bug that ended the decision.
    """

    def __init__(self, events: Iterable[Event], model: str, at: str) -> None:
        self.prompt: list[Json] | None = None
        self.messages: list[Json] = []
        self.events: list[Json] = []
        self.traceback: str | None = None
        self._model, self._at = model, at
        self._talks: dict[str, list[Json]] = {}
        self._open: list[Json] = []
        self._calls = 0
        listed = list(events)
        roles = [e.role for e in listed if isinstance(e, PromptEvent | ReplyEvent)]
        self._main = "agent" if "agent" in roles or not roles else roles[0]
        for event in listed:
            self._add(event)

    def _add(self, event: Event) -> None:
        match event:
            case PromptEvent():
                self._begin(event)
            case ReplyEvent():
                self._reply(event)
            case ToolEvent():
                self._return(event)
            case ParseFailureEvent():
                problem = str(redacted(event.problem))
                self._say(event.role, {"role": "user", "content": problem})
                self._note("info", source=event.kind, data=problem)
            case _:
                if isinstance(event, EndingEvent) and event.traceback is not None:
                    self.traceback = str(redacted(event.traceback))
                self._note("info", source=event.kind, data=redacted(event.to_json()))

    def _note(self, kind: str, **fields: Any) -> None:  # noqa: ANN401  (as Inspect has them)
        event = {"event": kind, "timestamp": self._at, "working_start": 0.0}
        self.events.append(event | fields)

    def _say(self, role: str, message: Json) -> None:
        self._talks.setdefault(role, []).append(message)
        if role == self._main:
            self.messages.append(message)

    def _begin(self, event: PromptEvent) -> None:
        """Begin a conversation; a decision may have several, one after the other."""
        prompt = [
            {"role": _ROLES.get(role, "user"), "content": str(redacted(text))}
            for role, text in event.messages
        ]
        self._talks[event.role], self._open = [], []
        for message in prompt:
            self._say(event.role, message)
        if self.prompt is None and event.role == self._main:
            self.prompt = prompt

    def _reply(self, event: ReplyEvent) -> None:
        calls = [self._call(use) for use in event.calls]
        self._open = [*calls]
        message = assistant_message(event.text, self._model, getattr(event, "reasoning", ""))
        message |= {"tool_calls": calls} if calls else {}
        usage = usage_of(event.input_tokens, event.output_tokens)
        usage |= {name: getattr(event, own) for own, name in _USAGE.items() if hasattr(event, own)}
        choice = {"message": message, "stop_reason": "tool_calls" if calls else "stop"}
        self._note(
            "model",
            model=self._model,
            role=None if event.role == "agent" else event.role,
            input=[*self._talks.get(event.role, ())],
            tools=[],
            tool_choice="auto",
            config={},
            output={"model": self._model, "choices": [choice], "usage": usage},
        )
        self._say(event.role, message)

    def _call(self, use: ToolUse) -> Json:
        self._calls += 1
        given = redacted(use.input)
        arguments = given if isinstance(given, dict) else {"input": given}
        call = {"id": f"call_{self._calls}", "function": use.tool, "arguments": arguments}
        return call | {"type": "function"}

    def _return(self, event: ToolEvent) -> None:
        call = next((call for call in self._open if call["function"] == event.tool), None)
        if call is None:  # the program called it, or the reply stated the call as text
            call = self._call(ToolUse(tool=event.tool, input={"statement": event.statement}))
        else:
            self._open.remove(call)
        result = str(redacted(event.observation))
        error = None if event.error is None else {"type": "unknown", "message": event.error}
        self._note("tool", **call, result=result, error=error, working_time=event.seconds)
        if self._main in self._talks:
            about = {"tool_call_id": call["id"], "function": call["function"], "error": error}
            self._say(self._main, {"role": "tool", "content": result, **about})


def assistant_message(text: str, model: str, reasoning: str = "") -> Json:
    """Return a reply as a message, with the model's reasoning before it."""
    content: str | list[Json] = str(redacted(text))
    if reasoning:
        thought = {"type": "reasoning", "reasoning": str(redacted(reasoning))}
        content = [thought, {"type": "text", "text": content}]
    return {"role": "assistant", "content": content, "source": "generate", "model": model}


def usage_of(input_tokens: int, output_tokens: int) -> Json:
    """Return tokens as Inspect counts them."""
    total = input_tokens + output_tokens
    return {"input_tokens": input_tokens, "output_tokens": output_tokens, "total_tokens": total}
