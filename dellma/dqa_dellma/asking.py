"""Asking a model for one thing in JSON, and again where it cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from dqa.core.database import Database
from dqa.core.decision import Usage
from dqa.core.errors import ModelUnavailableError, RequestTooLongError, UnparsableReplyError
from dqa.core.events import (
    Event,
    FaultEvent,
    ParseFailureEvent,
    PromptEvent,
    ReplyEvent,
    RetrievalEvent,
)
from dqa.core.evidence import Evidence
from dqa.deciders.base import Settings
from dqa.deciders.tools import observe
from dqa.models.calling import Called, ChatRunnable, call_model
from dqa.models.faults import Fault, told_too_long
from dqa_dellma.events import Finding

__all__ = ["Asker", "read_object"]

_Read = TypeVar("_Read")
_THINKING = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


@dataclass
class Asker:
    """A model with the record of what it was asked.

    Attributes
    ----------
    model
        Who is asked.
    settings
        What bounds it.
    events
        What happened, for the trace.
    evidence
        What the database was asked, and what came back.
    usage, steps
        Tokens and replies so far.
    """

    model: ChatRunnable
    settings: Settings
    events: list[Event] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    steps: int = 0

    def begin_anew(self, fault: Fault) -> None:
        """Forget what the steps found, for they begin anew, and write down why.

        What was read, asked and said stays: it happened, and was paid for. What was made of it
        would be counted twice.
        """
        self.events[:] = [event for event in self.events if not isinstance(event, Finding)]
        self.events.append(FaultEvent(step=self.steps, **fault.to_data()))

    def retrieve(self, database: Database, statement: str) -> Evidence:
        """Run a statement and write down what came back, also where it cannot run."""
        found = observe(database, statement, self.settings.limits)
        self.evidence.append(found)
        self.events.append(RetrievalEvent.of(found, self.steps))
        return found

    def ask(
        self,
        purpose: str,
        text: str,
        read: Callable[[str], _Read],
        model: ChatRunnable | None = None,
    ) -> _Read:
        """Ask, and ask again with what was wrong, as often as `Settings.max_parse_failures` says.

        Parameters
        ----------
        purpose
            What it is for, for the trace.
        text
            The prompt.
        read
            Reads the reply; `UnparsableReplyError` tells the model what to write instead.
        model
            Who is asked, where it is not the usual one.

        Raises
        ------
        UnparsableReplyError
            No reply could be read.
        InfrastructureError, BudgetSpentError
            As `dqa.models.calling.call_model` says it.
        """
        messages: list[BaseMessage] = [HumanMessage(text)]
        self.events.append(
            PromptEvent(step=self.steps, messages=(("human", text),), purpose=purpose)
        )
        most = self.settings.max_parse_failures
        for left in reversed(range(most)):
            called, said = self._reply(model or self.model, messages)
            try:
                called.check()
                return read(said)
            except UnparsableReplyError as error:
                self.events.append(ParseFailureEvent(step=self.steps, problem=str(error)))
                if not left:
                    raise UnparsableReplyError(
                        f"{most} replies in a row could not be read. {error}"
                    ) from error
                messages += [
                    AIMessage(said or "(empty reply)"),
                    HumanMessage(f"The reply could not be read. {error}"),
                ]
        raise AssertionError("the last failure raises")

    def _reply(self, model: ChatRunnable, messages: Sequence[BaseMessage]) -> tuple[Called, str]:
        """Call the model once; return what came, and what of it was said and not only thought."""
        try:
            called = call_model(
                model,
                messages,
                policy=self.settings.calls,
                on_fault=lambda fault: self.events.append(
                    FaultEvent(step=self.steps + 1, **fault.to_data())
                ),
            )
        except ModelUnavailableError as failure:
            if told_too_long(str(failure)):
                # A cassette plays a failure by its words, whatever class it had.
                raise RequestTooLongError(str(failure)) from failure
            raise
        self.steps += 1
        self.usage += called.usage
        thought, said = _parts(called.reply.text)
        self.events.append(
            ReplyEvent(
                step=self.steps,
                text=said,
                thought=thought,
                input_tokens=called.usage.input_tokens,
                output_tokens=called.usage.output_tokens,
            )
        )
        return called, said


def read_object(text: str, *names: str) -> Mapping[str, Any]:
    """Return the JSON object in a reply, whatever stands around it.

    Of several, the last one that has one of `names` counts: what comes before is a draft, or an
    example.

    Raises
    ------
    UnparsableReplyError
        There is none.
    """
    found = list(_objects(text))
    if not found:
        raise UnparsableReplyError(
            "The reply holds no JSON object. Reply with one, and nothing else."
        )
    return next((one for one in reversed(found) if not one.keys().isdisjoint(names)), found[-1])


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield every object that stands in no other one, in order."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        end = start + 1
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass  # a brace of prose, or the beginning of half an object
        else:
            yield found
        start = text.find("{", end)


def _parts(reply: str) -> tuple[str | None, str]:
    """Return what a model thought aloud first, if it did, and what it said."""
    thought = _THINKING.match(reply)
    if thought is None:
        return None, reply.strip()
    return thought.group().strip(), reply[thought.end() :].strip()
