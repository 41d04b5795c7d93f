"""A chat model for OpenAI's protocol that validates replies and adapts to its server."""

from __future__ import annotations

import atexit
import json
import time
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import openai
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from dqa.core.errors import MalformedReplyError
from dqa.models.faults import ServedError
from dqa.models.replies import is_count, reasoning_text

if TYPE_CHECKING:
    import httpx2 as httpx
else:  # OpenAI's client uses httpx2 or httpx, depending on its version
    httpx = import_module(openai.DefaultHttpxClient.__base__.__module__.partition(".")[0])

_MOST = 16_000_000
"""The maximum size of a response in bytes. A stream needs some hundred bytes for each token."""
_REASONING = ("reasoning_content", "reasoning", "reasoning_details")


class OpenAIChat(ChatOpenAI):
    """A `ChatOpenAI` for any server with OpenAI's protocol.

    This class raises `MalformedReplyError` for incomplete replies, stores reasoning in
    ``additional_kwargs["reasoning_content"]``, and omits settings that the server refuses.
    """

    _omitted: frozenset[str] = PrivateAttr(default=frozenset())  # replaced, never changed

    def leave_out(self, setting: str) -> None:
        """Omit a setting in all later requests. For ``stream``, turn streaming on instead."""
        if setting == "stream":
            self.streaming = self.stream_usage = True
        else:
            self._omitted |= {setting}

    def _get_request_payload(
        self,
        input_: LanguageModelInput,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        for name in self._omitted & payload.keys():
            del payload[name]
        if "messages" in payload:
            # OpenAI's client compares each message with many types. It sends `extra_body` as it is.
            own = payload.get("extra_body") or {}
            payload |= {"messages": [], "extra_body": {"messages": payload["messages"], **own}}
        return payload

    def _create_chat_result(
        self,
        response: Any,  # noqa: ANN401  (the base class's signature)
        generation_info: dict[str, Any] | None = None,
    ) -> ChatResult:
        try:
            body = _body(response)
            choices = [_choice(choice) for choice in body["choices"]]
            body = {**body, "choices": choices, "usage": _usage(body.get("usage"))}
            result = super()._create_chat_result(body, generation_info)
            for choice, generation in zip(choices, result.generations, strict=True):
                _add_reasoning(generation.message, choice["message"])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            problem = "The server's response does not have the format of a reply"
            raise MalformedReplyError(f"{problem}: {error}") from error
        if not choices or not choices[0].get("finish_reason"):
            raise MalformedReplyError("The server's answer has no reply with a finish reason.")
        return result

    def _convert_chunk_to_generation_chunk(
        self,
        chunk: dict[str, Any],
        default_chunk_class: type,
        base_generation_info: dict[str, Any] | None,
    ) -> ChatGenerationChunk | None:
        choices = chunk.get("choices") or ()
        for part in (chunk, *choices):
            if part.get("error"):
                raise ServedError(part["error"])
        counted = {**chunk, "usage": _usage(chunk.get("usage"))}
        found = super()._convert_chunk_to_generation_chunk(
            counted, default_chunk_class, base_generation_info
        )
        if found is not None and choices:
            _add_reasoning(found.message, choices[0]["delta"])
        return found

    def _stream(
        self,
        *args: Any,  # noqa: ANN401  (the base class's signature)
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> Iterator[ChatGenerationChunk]:
        finished = False
        for chunk in super()._stream(*args, **kwargs):
            about = chunk.generation_info or {}
            if finished:
                about.pop("finish_reason", None)  # LangChain would concatenate the two reasons
            finished = finished or bool(about.get("finish_reason"))
            yield chunk
        if not finished:
            raise MalformedReplyError("The stream ended before the reply was complete.")


def _body(response: object) -> dict[str, Any]:
    """Return the JSON object of a completion."""
    if isinstance(response, str):
        if response.lstrip()[:1] != "{":
            raise MalformedReplyError(f"The server's answer is not JSON: {response[:200]}")
        response = json.loads(response)  # the server declared JSON as plain text
    body = response if isinstance(response, dict) else response.model_dump(warnings=False)  # type: ignore[attr-defined]
    if body.get("error"):
        raise ServedError(body["error"])
    return dict(body)


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice, with tool calls in the form that LangChain accepts."""
    if choice.get("error"):
        raise ServedError(choice["error"])
    message = choice["message"]
    calls = [{**call, "function": _function(call)} for call in message.get("tool_calls") or ()]
    return {**choice, "message": {**message, "role": "assistant", "tool_calls": calls}}


def _function(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the function of a tool call, with its arguments as the text of a JSON object.

    Arguments of another type are marked as invalid, so that the model is asked again.
    """
    function = call["function"]
    arguments = function.get("arguments") or "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    is_object = text.lstrip().startswith("{")  # LangChain itself reports invalid JSON
    return {**function, "arguments": text if is_object else f"{text} (not an object)"}


def _add_reasoning(message: BaseMessage, part: Mapping[str, Any]) -> None:
    """Store the reasoning of a reply or of a chunk."""
    reasoning = next((text for name in _REASONING if (text := reasoning_text(part.get(name)))), "")
    if reasoning:
        message.additional_kwargs["reasoning_content"] = reasoning


def _usage(usage: object) -> dict[str, Any] | None:
    """Return the valid token counts of a server; None if it does not count input and output."""
    counts = _counts(usage) if isinstance(usage, dict) else {}
    return counts if {"prompt_tokens", "completion_tokens"} <= counts.keys() else None


def _counts(usage: Mapping[str, Any]) -> dict[str, Any]:
    details = {name: _counts(value) for name, value in usage.items() if isinstance(value, dict)}
    return {name: value for name, value in usage.items() if is_count(value)} | details


@cache
def limited_client(seconds: float) -> httpx.Client:
    """Return the HTTP client that all models with this time limit (in seconds) share.

    The client does not follow redirects, because requests contain the key and the question.
    """
    client: httpx.Client = openai.DefaultHttpxClient(
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [partial(_bound, seconds)]},
    )
    atexit.register(client.close)
    return client


def _bound(seconds: float, response: httpx.Response) -> None:
    """Limit the size and the time of a response."""
    packed = response.headers.get("content-encoding", "identity")
    if packed != "identity":
        raise MalformedReplyError(f"The server's answer is compressed as '{packed[:40]}'.")
    stream: Any = response.stream
    response.stream = _Bounded(stream, seconds)


class _Bounded(httpx.SyncByteStream):
    """The bytes of a response. Reading raises an error if the response is too large or too slow."""

    def __init__(self, stream: httpx.SyncByteStream, seconds: float) -> None:
        self._stream = stream
        self._until = time.monotonic() + seconds

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > _MOST:
                raise MalformedReplyError(f"The server's answer is larger than {_MOST:,} bytes.")
            if time.monotonic() > self._until:
                raise httpx.ReadTimeout("The server's answer took too long.")
            yield piece

    def close(self) -> None:
        self._stream.close()
