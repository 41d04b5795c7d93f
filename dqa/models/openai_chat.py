"""OpenAI's chat model, telling half a reply from a whole one, and yielding to its server."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from openai.types import CompletionUsage
from pydantic import Field, PrivateAttr, model_validator

from dqa.core.errors import MalformedReplyError
from dqa.models.bounded_http import bounded_client, close_clients
from dqa.models.bounds import REPLY_LIMIT, UNKNOWN, is_count

atexit.register(close_clients)  # while that still can be done


_SILENCE = 600.0
"""Seconds that OpenAI's client waits for a server where nobody says how long."""


class OpenAIChat(ChatOpenAI):
    """A `ChatOpenAI` that raises `MalformedReplyError` for what is no whole reply.

    LangChain's own raises ``KeyError``, ``TypeError`` and others for a body that is no completion
    (an error page with status 200, a body without choices), which look like bugs, and takes a
    stream that was cut off between two events for a whole reply.

    It also leaves out what its server refuses. LangChain's own leaves ``temperature`` out for names
    that begin with ``gpt-5`` and ``stop`` where it takes the Responses API, and sends both to
    everybody else, OpenAI's other reasoning models among them, which answer with status 400.
    """

    reply_limit: int = Field(default=REPLY_LIMIT, exclude=True)
    """Most bytes of a reply, unpacked."""

    # Replaced as a whole, never changed, so that threads may read it at any time.
    _left_out: frozenset[str] = PrivateAttr(default=frozenset())

    @model_validator(mode="before")
    @classmethod
    def _bound_client(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Have replies read by a client that bounds them, where the user gives no other one."""
        if given.get("http_client") is not None:
            return given
        silence = given.get("timeout", given.get("request_timeout"))
        client = bounded_client(
            given.get("reply_limit", REPLY_LIMIT),
            float(silence) if isinstance(silence, int | float) else _SILENCE,
            given.get("openai_proxy", os.environ.get("OPENAI_PROXY")),
        )
        # What else LangChain has for its own client would be of no use, or an error.
        own = {"http_client": client, "openai_proxy": None}
        return {"http_socket_options": (), **given, **own}

    def leave_out(self, setting: str) -> None:
        """Send no request with `setting` from now on."""
        self._left_out |= {setting}

    def _get_request_payload(
        self,
        input_: LanguageModelInput,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,  # noqa: ANN401  (handed on)
    ) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        kept = {name: value for name, value in payload.items() if name not in self._left_out}
        return _as_it_is(kept)

    def _create_chat_result(
        self,
        response: Any,  # noqa: ANN401  (the base class takes any of the package's models)
        generation_info: dict[str, Any] | None = None,
    ) -> ChatResult:
        try:
            _mark_arguments(response)
            response.usage = _known_counts(response.usage)
            result = super()._create_chat_result(response, generation_info)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise MalformedReplyError(f"The server's answer is no reply: {error}") from error
        if not result.generations:
            raise MalformedReplyError("The server's answer holds no reply: 'choices' is empty.")
        return result

    def _convert_chunk_to_generation_chunk(
        self,
        chunk: dict[str, Any],
        default_chunk_class: type,
        base_generation_info: dict[str, Any] | None,
    ) -> ChatGenerationChunk | None:
        told = {**chunk, "usage": _known_counts(chunk.get("usage"))}
        return super()._convert_chunk_to_generation_chunk(
            told, default_chunk_class, base_generation_info
        )

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


def _known_counts(usage: Any) -> Any:  # noqa: ANN401  (whatever a server sends)
    """Return a server's count of tokens, with `UNKNOWN` in the place of what is no count.

    LangChain adds the counts up, whatever they are; a reply is worth more than what is said of it.
    """
    told = vars(usage) if hasattr(usage, "__dict__") else usage
    if told is None or (isinstance(told, dict) and all(map(_is_known, told.items()))):
        return usage
    named = told if isinstance(told, dict) else {}
    found = [named.get(name) for name in ("prompt_tokens", "completion_tokens")]
    asked, said = (count if is_count(count) else UNKNOWN for count in found)
    known = CompletionUsage(prompt_tokens=asked, completion_tokens=said, total_tokens=asked + said)
    return known.model_dump() if isinstance(usage, dict) else known


def _is_known(told: tuple[str, Any]) -> bool:
    """Whether a part of a count is one, or says more of it."""
    name, value = told
    if not name.endswith("_tokens"):
        more = vars(value) if hasattr(value, "__dict__") else value
        return not isinstance(more, dict) or all(map(_is_known, more.items()))
    return is_count(value) or (value is None and name not in {"prompt_tokens", "completion_tokens"})


def _as_it_is(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload whose conversation the client sends without rewriting it first.

    The client compares every part of every message with each type that it could be, which takes
    longer than all the rest of a call. LangChain's messages are JSON already, and what stands in
    ``extra_body`` goes out as it is, in the place of the parameter of its name.
    """
    if "messages" not in payload:  # the Responses API calls them otherwise
        return payload
    body = {name: payload[name] for name in ("messages", "tools") if payload.get(name)}
    emptied: dict[str, Any] = {name: [] for name in body}
    return {**payload, **emptied, "extra_body": {**body, **(payload.get("extra_body") or {})}}


def _mark_arguments(response: Any) -> None:  # noqa: ANN401  (any of the package's models)
    """Mark arguments of tool calls that are JSON but no object, so that they count as unreadable.

    LangChain's own takes them for readable and then fails on the whole reply, as if the server had
    sent none: the model has to be told instead. Some servers send JSON where its text belongs, or
    nothing where there are no arguments.
    """
    for choice in response.choices or ():
        for call in choice.message.tool_calls or ():
            function = getattr(call, "function", None)
            if function is None:
                continue
            if function.arguments is None:
                function.arguments = "{}"
            elif not isinstance(function.arguments, str):
                function.arguments = json.dumps(function.arguments)
            if not _may_be_read(function.arguments):
                function.arguments += " (no object)"


def _may_be_read(arguments: str) -> bool:
    """Whether arguments are an object, or no JSON at all, which LangChain tells by itself."""
    try:
        return isinstance(json.loads(arguments), dict)
    except (RecursionError, ValueError):
        return True
