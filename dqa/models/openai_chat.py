"""OpenAI's chat model, telling half a reply from a whole one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

from dqa.errors import MalformedReplyError

__all__ = ["OpenAIChat"]


class OpenAIChat(ChatOpenAI):
    """A `ChatOpenAI` that raises `MalformedReplyError` for what is no whole reply.

    LangChain's own raises ``KeyError``, ``TypeError`` and others for a body that is no completion
    (an error page with status 200, a body without choices), which look like bugs, and takes a
    stream that was cut off between two events for a whole reply.
    """

    def _create_chat_result(
        self,
        response: Any,  # noqa: ANN401  (the base class takes any of the package's models)
        generation_info: dict[str, Any] | None = None,
    ) -> ChatResult:
        try:
            result = super()._create_chat_result(response, generation_info)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise MalformedReplyError(f"The server's answer is no reply: {error}") from error
        if not result.generations:
            raise MalformedReplyError("The server's answer holds no reply: 'choices' is empty.")
        return result

    def _stream(
        self,
        *args: Any,  # noqa: ANN401  (handed on)
        **kwargs: Any,  # noqa: ANN401  (handed on)
    ) -> Iterator[ChatGenerationChunk]:
        finished = False
        for chunk in super()._stream(*args, **kwargs):
            finished = finished or bool((chunk.generation_info or {}).get("finish_reason"))
            yield chunk
        if not finished:
            raise MalformedReplyError("The stream ended before the reply did.")
