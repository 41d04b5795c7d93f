"""The chat model that stands before another one and records it, or in its place and replays it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from dqa.core.secrets import redacted
from dqa.models.bounds import REPLY_LIMIT, require_bounded
from dqa.models.cassette import Cassette
from dqa.models.cleaning import without_halves


class RecordedModel(BaseChatModel):
    """A chat model whose replies are on a cassette, which is its LangChain cache.

    The cassette's keys are made of this model's own fields, not of the recorded model's, so replay
    needs neither that model's package nor its key nor its address.

    Attributes
    ----------
    model
        The recorded model's name, ``provider:model``.
    parameters
        What else its replies depend on, e.g. ``{"temperature": 0}``.
    inner
        The model that is recorded; None where the cassette is played.
    reply_limit
        Most bytes of a reply; a larger one is not recorded.
    """

    model: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    inner: BaseChatModel | None = None
    reply_limit: int = REPLY_LIMIT

    def record_failure(self, words: str) -> None:
        """Record that the request which this thread made last has failed for good."""
        if isinstance(self.cache, Cassette):
            self.cache.record_failure(words)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools, in the one form that all providers' packages read."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    @property
    def _llm_type(self) -> str:
        return "recorded"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model": self.model, **self.parameters}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> ChatResult:
        del run_manager
        if self.inner is None:
            raise AssertionError("a cassette that is played answers or raises before this")
        if "tools" in kwargs:
            reply = self.inner.bind_tools(**kwargs).invoke(messages, stop=stop)
        else:
            reply = self.inner.invoke(messages, stop=stop, **kwargs)
        require_bounded(reply, self.reply_limit)
        return ChatResult(
            generations=[ChatGeneration(message=_without_secrets(without_halves(reply)))]
        )


def recorded(
    model: str,
    cassette: Cassette,
    inner: BaseChatModel | None,
    parameters: Mapping[str, Any],
    reply_limit: int = REPLY_LIMIT,
) -> RecordedModel:
    """Put a cassette before `inner`, or, where it is played, in its place."""
    return RecordedModel(
        name=model,
        model=model,
        parameters=dict(parameters),
        inner=inner,
        reply_limit=reply_limit,
        cache=cassette,
    )


def _without_secrets(reply: AIMessage) -> BaseMessage:
    written = message_to_dict(reply)
    clean = redacted(written)
    return reply if clean == written else messages_from_dict([clean])[0]
