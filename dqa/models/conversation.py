"""The conversation with a model: ask, report what could not be used, and ask again.

`take_turn` asks for one reply and counts it; agents with a long conversation call it themselves.
`Conversation` asks for one thing at a time, each in a conversation of its own. Both record what
happened in a `Recorder`; `dqa.core.endings.ending_of` says how an error ends a decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import PrivateAttr

from dqa.core.decision import Usage
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.events import FaultEvent, ParseFailureEvent, PromptEvent, ReplyEvent
from dqa.core.recorder import Recorder
from dqa.models.calling import ChatRunnable, ModelReply, call_model, estimate_tokens
from dqa.models.faults import Fault
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa.models.replies import split_thinking

_Read = TypeVar("_Read")

EMPTY_REPLY = "(empty reply)"
"""An empty reply in a conversation: providers reject empty messages."""


class StepPrompt(HumanMessage):
    """The prompt of a method's step; models see a plain message.

    Scripted models also read the values of the prompt, instead of parsing it.
    """

    _package: str = PrivateAttr("")
    _purpose: str = PrivateAttr("")
    _values: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, text: str, package: str, purpose: str, values: dict[str, Any]) -> Self:
        """Return the prompt of a step.

        Parameters
        ----------
        text
            The prompt.
        package, purpose
            The method's package, and the name of the step in it.
        values
            The values of the prompt, by name.
        """
        message = cls(content=text)
        message._package, message._purpose, message._values = package, purpose, values
        return message

    @property
    def package(self) -> str:
        """The method's package."""
        return self._package

    @property
    def purpose(self) -> str:
        """The name of the step."""
        return self._purpose

    @property
    def values(self) -> dict[str, Any]:
        """The values of the prompt."""
        return self._values


@dataclass(frozen=True, slots=True)
class Turn(ModelReply):
    """One reply of a model.

    Attributes
    ----------
    text
        The reply without its ``<think>`` part.
    thought
        The ``<think>`` part; None without one.
    """

    text: str = ""
    thought: str | None = None

    def event(self, step: int, text: str, thought: str | None, **more: Any) -> ReplyEvent:  # noqa: ANN401
        """Return the trace's event of the reply, as its reader understood it."""
        return ReplyEvent(
            step=step,
            text=text,
            thought=thought,
            reasoning=self.reasoning,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            cached_tokens=self.usage.cached_tokens,
            reasoning_tokens=self.usage.reasoning_tokens,
            **more,
        )


def take_turn(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    recorder: Recorder,
    calls: CallPolicy = DEFAULT_POLICY,
    stop: Sequence[str] = (),
) -> Turn:
    """Ask a model for its next reply, and record faults and tokens.

    The reader of the reply records it, because only the reader understands it.

    Parameters
    ----------
    model
        The chat model.
    messages
        The conversation so far.
    recorder
        Records faults and tokens.
    calls
        Retries, limits and budget.
    stop
        Sequences that end the reply, for models that honour them.

    Raises
    ------
    InfrastructureError, BudgetSpentError, UsageError
        As `dqa.models.calling.call_model` raises them.
    """
    recorder.asking()

    def note(fault: Fault) -> None:
        recorder.lost += fault.usage
        if fault.usage.uncounted:
            recorder.uncounted += Usage(estimate_tokens(messages))
        recorder.note(
            FaultEvent(
                step=recorder.steps + 1,
                fault=fault.kind.value,
                error=fault.error,
                message=fault.message,
                attempt=fault.attempt,
                wait=fault.wait,
            )
        )

    called = call_model(model, messages, stop, calls, note)
    recorder.usage += called.usage
    if not called.usage.input_tokens:
        # The decision's budget must also end with models that count nothing, such as scripted ones.
        recorder.uncounted += Usage(estimate_tokens(messages), estimate_tokens([called.reply]))
    thought, text = split_thinking(called.reply.text)
    return Turn(called.reply, called.usage, called.incomplete, called.reasoning, text, thought)


def correction(problem: str) -> HumanMessage:
    """Return the message that asks again, with the problem of the last reply."""
    return HumanMessage(f"The reply could not be used. {problem}")


def given_up(failures: int, problem: str) -> UnparsableReplyError:
    """Return the error that ends a decision after too many replies that could not be used."""
    return UnparsableReplyError(f"{failures} replies in a row could not be used. {problem}")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Asks a model for one thing at a time.

    Attributes
    ----------
    model
        The chat model.
    max_failures
        Most replies to one question that may be unreadable.
    calls
        Retries, limits and budget.
    recorder
        Records prompts and replies.
    """

    model: ChatRunnable
    max_failures: int = 3
    calls: CallPolicy = DEFAULT_POLICY
    recorder: Recorder = field(default_factory=Recorder)

    def ask(
        self,
        prompt: str | HumanMessage,
        read: Callable[[str], _Read],
        purpose: str | None = None,
        *,
        model: ChatRunnable | None = None,
    ) -> _Read:
        """Ask, and ask again with the problem of the reply, up to `max_failures` times.

        Parameters
        ----------
        prompt
            The request.
        read
            Reads the reply; its `UnparsableReplyError` tells the model what to write instead.
        purpose
            The purpose, for the trace.
        model
            Another model than the usual one.

        Raises
        ------
        UnparsableReplyError
            No reply could be read.
        OutOfBudgetError
            The decision's budget is spent, but for a last request once the run is closed.
        InfrastructureError, BudgetSpentError, UsageError
            As `dqa.models.calling.call_model` raises them.
        """
        first = HumanMessage(prompt) if isinstance(prompt, str) else prompt
        messages: list[BaseMessage] = [first]
        record = self.recorder
        if record.ended_by is None and record.over_budget(reads=False) is not None:
            raise OutOfBudgetError(f"The budget of {record.spent} is spent.")
        asked = (("human", first.text),)
        record.note(PromptEvent(step=record.steps, messages=asked, purpose=purpose))
        problem = ""
        for _ in range(self.max_failures):
            turn = take_turn(model or self.model, messages, record, self.calls)
            record.steps += 1
            record.note(turn.event(record.steps, turn.text, turn.thought))
            try:
                turn.check()
                return read(turn.text)
            except UnparsableReplyError as error:
                problem = str(error)
                record.note(ParseFailureEvent(step=record.steps, problem=problem))
                messages += [AIMessage(turn.text or EMPTY_REPLY), correction(problem)]
        raise given_up(self.max_failures, problem)
