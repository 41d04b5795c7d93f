"""The one place where a chat model is called and its failures get their names."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from dqa.decision import Usage
from dqa.errors import DqaError, ModelUnavailableError
from dqa.models.scripted import ScriptedModel
from dqa.secrets import redact

__all__ = ["call_model", "usage_of"]


def call_model(
    model: BaseChatModel, messages: Sequence[BaseMessage], stop: Sequence[str] = ()
) -> AIMessage:
    """Ask the model for one reply.

    Raises
    ------
    ModelUnavailableError
        The model or its provider failed; the message holds the provider's words without secrets.
    """
    try:
        reply = model.invoke(list(messages), stop=list(stop) or None)
    except DqaError:
        raise
    except Exception as error:
        # Providers share no base class for what can go wrong between here and their servers. A
        # scripted model has no provider: whatever it raises is a bug and must look like one.
        if isinstance(model, ScriptedModel):
            raise
        raise ModelUnavailableError(
            f"The model failed with {type(error).__name__}: {redact(str(error))}"
        ) from error
    return reply


def usage_of(reply: AIMessage) -> Usage:
    """Return the tokens that the provider counted for one reply; 0 where it counts none."""
    counted = reply.usage_metadata
    if counted is None:
        return Usage(calls=1)
    return Usage(counted["input_tokens"], counted["output_tokens"], calls=1)
