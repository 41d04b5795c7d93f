"""Messages of conversations with models."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage
from pydantic import Field

from dqa.core.errors import UnparsableReplyError

EMPTY_REPLY = "(empty reply)"
"""The text of an empty reply in a conversation. Providers reject empty messages."""


class StepPrompt(HumanMessage):
    """The prompt of a method's step. Language models receive it as a plain message.

    Scripted models read the values of the prompt instead of parsing its text.

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


def correction(problem: str) -> HumanMessage:
    """Return the message that states the problem of the last reply and asks for another reply."""
    return HumanMessage(f"The reply could not be used. {problem}")


def given_up(failures: int, problem: str) -> UnparsableReplyError:
    """Return the error for a decision that ends after too many unusable replies."""
    return UnparsableReplyError(f"{failures} replies in a row could not be used. {problem}")
