"""Take one turn of a conversation with a model: ask, record faults, and count tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import Field

from dqa.core.decision import Usage
from dqa.core.errors import UnparsableReplyError
from dqa.core.events import FaultEvent
from dqa.core.recorder import Recorder
from dqa.models.calling import ChatRunnable, call_model, estimate_tokens
from dqa.models.faults import Fault
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa.models.replies import ModelReply

EMPTY_REPLY = "(empty reply)"
"""The text of an empty reply in a conversation. Providers reject empty messages."""


class StepPrompt(HumanMessage):
    """The prompt of a method's step. A model receives a plain message.

    Scripted models read the values of the prompt instead of parsing it.

    Attributes
    ----------
    package
        The package of the method.
    purpose
        The name of the step in the method.
    values
        The values of the prompt, by name.
    """

    package: str = Field(default="", exclude=True)
    purpose: str = Field(default="", exclude=True)
    values: dict[str, Any] = Field(default_factory=dict, exclude=True, repr=False)


def take_turn(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    recorder: Recorder,
    calls: CallPolicy = DEFAULT_POLICY,
    stop: Sequence[str] = (),
) -> ModelReply:
    """Ask a model for its next reply. Record faults and tokens.

    The caller records the reply itself, because only the caller can parse it.

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
        Sequences that end the reply.

    Raises
    ------
    InfrastructureError, BudgetSpentError, UsageError
        The errors of `dqa.models.calling.call_model`.
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

    turn = call_model(model, messages, stop, calls, note)
    recorder.usage += turn.usage
    if not turn.usage.input_tokens:
        # The decision's budget must also end with models that count nothing, such as scripted ones.
        recorder.uncounted += Usage(estimate_tokens(messages), estimate_tokens([turn.reply]))
    return turn


def correction(problem: str) -> HumanMessage:
    """Return the message that states the problem of the last reply and asks for another reply."""
    return HumanMessage(f"The reply could not be used. {problem}")


def given_up(failures: int, problem: str) -> UnparsableReplyError:
    """Return the error for a decision that ends after too many unusable replies."""
    return UnparsableReplyError(f"{failures} replies in a row could not be used. {problem}")
