"""What happened in a decision, as messages and events of an Inspect log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

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
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.traces import Trace

Json: TypeAlias = dict[str, Any]

_ROLES: Mapping[str, str] = {"human": "user", "ai": "assistant", "system": "system"}
_Told = (PromptEvent, ReplyEvent)


@dataclass(slots=True)
class Conversation:
    """A decision as a conversation, and as a list of what happened.

    Where several models talk, such as one that plans, each has a conversation of its own: the
    messages are those of the one that acts, and events have all.

    Attributes
    ----------
    model
        What answered.
    at
        When, as far as it is known.
    prompt
        What was said to the model first; None where none was asked.
    messages
        The conversation.
    events
        What happened, in order.
    traceback
        Where a bug ended it.
    """

    model: str
    at: str
    prompt: list[Json] | None = None
    messages: list[Json] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    traceback: str | None = None
    _talks: dict[str, list[Json]] = field(default_factory=dict)
    _main: str = "agent"
    _open: list[Json] = field(default_factory=list)
    _calls: int = 0

    @classmethod
    def of(cls, trace: Trace | None, model: str, at: str) -> Self:
        """Return the conversation of a trace; an empty one where none was kept."""
        roles = [] if trace is None else [e.role for e in trace.events if isinstance(e, _Told)]
        main = "agent" if "agent" in roles else next(iter(roles), "agent")
        made = cls(model=model, at=at, _main=main)
        for event in () if trace is None else trace.events:
            made._add(event)
        return made

    def output(self, model: str, answer: str) -> Json:
        """Return the last words, as an output of a model."""
        choice = {"message": _assistant(str(redacted(answer)), model), "stop_reason": "stop"}
        return {"model": model, "choices": [choice] if model != NO_MODEL or answer else []}

    def _add(self, event: Event) -> None:
        add = next((add for kind, add in _ADD.items() if isinstance(event, kind)), None)
        if add is None:
            self._note("info", source=event.kind, data=redacted(event.to_json()))
        else:
            add(self, event)

    def _note(self, kind: str, **told: Any) -> None:  # noqa: ANN401  (as Inspect has them)
        self.events.append({"event": kind, "timestamp": self.at, "working_start": 0.0, **told})

    def prompted(self, event: PromptEvent) -> None:
        """Begin a conversation, of which a decision may have several, one after the other."""
        said = [
            {"role": _ROLES.get(role, "user"), "content": str(redacted(text))}
            for role, text in event.messages
        ]
        self._talks[event.role], self._open = [], []
        for message in said:
            self._say(event.role, message)
        if self.prompt is None and event.role == self._main:
            self.prompt = said

    def _say(self, role: str, message: Json) -> None:
        self._talks.setdefault(role, []).append(message)
        if role == self._main:
            self.messages.append(message)

    def replied(self, event: ReplyEvent) -> None:
        """Add a model's reply, with what it called."""
        calls = [self._call(use) for use in event.calls]
        self._open = [*calls]
        message = _assistant(str(redacted(event.text)), self.model)
        if calls:
            message["tool_calls"] = calls
        asked, said = event.input_tokens, event.output_tokens
        stop = "tool_calls" if calls else "stop"
        self._note(
            "model",
            model=self.model,
            role=None if event.role == "agent" else event.role,
            input=[*self._talks.get(event.role, ())],
            tools=[],
            tool_choice="auto",
            config={},
            output={
                "model": self.model,
                "choices": [{"message": message, "stop_reason": stop}],
                "usage": {
                    "input_tokens": asked,
                    "output_tokens": said,
                    "total_tokens": asked + said,
                },
            },
        )
        self._say(event.role, message)

    def _call(self, use: ToolUse) -> Json:
        self._calls += 1
        given = redacted(use.input)
        arguments = given if isinstance(given, dict) else {"input": given}
        return {
            "id": f"call_{self._calls}",
            "function": use.tool,
            "arguments": arguments,
            "type": "function",
        }

    def returned(self, event: ToolEvent) -> None:
        """Add what a tool returned."""
        call = next((call for call in self._open if call["function"] == event.tool), None)
        if call is None:  # the program asked, or the reply stated it as text
            call = self._call(ToolUse(tool=event.tool, input={"statement": event.statement}))
        else:
            self._open.remove(call)
        shown = str(redacted(event.observation))
        error = None if event.error is None else {"type": "unknown", "message": event.error}
        self._note(
            "tool",
            type="function",
            id=call["id"],
            function=call["function"],
            arguments=call["arguments"],
            result=shown,
            error=error,
            working_time=event.seconds,
        )
        if self._main in self._talks:
            said = {"tool_call_id": call["id"], "function": call["function"], "error": error}
            self._say(self._main, {"role": "tool", "content": shown, **said})

    def unread(self, event: ParseFailureEvent) -> None:
        """Add what a model was told of a reply that could not be read."""
        problem = str(redacted(event.problem))
        self._say(event.role, {"role": "user", "content": problem})
        self._note("info", source=event.kind, data=problem)

    def ended(self, event: EndingEvent) -> None:
        """Add why there is no decision."""
        self.traceback = None if event.traceback is None else str(redacted(event.traceback))
        self._note("info", source=event.kind, data=redacted(event.to_json()))


_ADD: Mapping[type[Event], Callable[[Conversation, Any], None]] = {
    PromptEvent: Conversation.prompted,
    ReplyEvent: Conversation.replied,
    ToolEvent: Conversation.returned,
    ParseFailureEvent: Conversation.unread,
    EndingEvent: Conversation.ended,
}


def _assistant(text: str, model: str) -> Json:
    return {"role": "assistant", "content": text, "source": "generate", "model": model}
