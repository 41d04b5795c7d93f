"""A model server for tests: OpenAI's chat completions on loopback, with errors on request.

::

    with ModelServer(lambda request: "Final Answer: 1") as server:
        model = chat_model("openai:test", Connection(server.url))

`tests.models.faulty` has the answers that break the protocol.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from typing import Any, Self, TypeAlias

from tests.models.faulty import listening, send

Request: TypeAlias = dict[str, Any]
"""The body of a request."""
Program: TypeAlias = Callable[[Request], str | dict[str, Any]]
"""Answers a request with a text, or with a whole message (``content``, ``tool_calls``)."""


class Trouble(StrEnum):
    """An error response. A setting that is unsupported is refused only if a request has it."""

    SERVER_ERROR = "server_error"
    BAD_KEY = "invalid_api_key"
    UNKNOWN_MODEL = "model_not_found"
    STOP_UNSUPPORTED = "unsupported_parameter"


_REFUSED: Mapping[Trouble, tuple[int, str]] = {
    Trouble.SERVER_ERROR: (500, "The server had an error."),
    Trouble.BAD_KEY: (401, "Incorrect API key provided: {key}."),
    Trouble.UNKNOWN_MODEL: (404, "The model does not exist."),
    Trouble.STOP_UNSUPPORTED: (400, "This model takes no 'stop'."),
}


@dataclass
class ModelServer:
    """The server; it listens inside its ``with`` block.

    Attributes
    ----------
    program
        Returns the model's replies.
    plan
        Returns the trouble of a request, by its body and its number of earlier occurrences.
    requests
        All bodies, in order.
    url
        The value of ``--base-url``.
    """

    program: Program
    plan: Callable[[Request, int], Trouble | None] = lambda request, before: None
    requests: list[Request] = field(default_factory=list)
    url: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        self.url = self._open.enter_context(listening(self._answer)).url
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        request: Request = handler.asked  # type: ignore[attr-defined]
        if handler.command != "POST":  # whether a server is there
            send(handler, b"{}")
            return
        with self._lock:
            trouble = self.plan(request, self.requests.count(request))
            self.requests.append(request)
        if trouble is None or (trouble is Trouble.STOP_UNSUPPORTED and "stop" not in request):
            send(handler, json.dumps(self.completion(request)).encode())
            return
        status, words = _REFUSED[trouble]
        words = words.format(key=handler.headers.get("authorization", "").removeprefix("Bearer "))
        param = "stop" if trouble is Trouble.STOP_UNSUPPORTED else None
        error = {"message": words, "code": trouble, "param": param}
        send(handler, json.dumps({"error": error}).encode(), status)

    def completion(self, request: Request) -> dict[str, Any]:
        """Return the reply to a request, with its tokens."""
        answer = self.program(request)
        message: dict[str, Any] = {"role": "assistant", "content": None}
        message |= {"content": answer} if isinstance(answer, str) else answer
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        asked, said = (len(json.dumps(text)) // 4 for text in (request["messages"], message))
        usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
        return {
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": usage,
        }


def answering(*replies: str) -> ModelServer:
    """Return a server with these replies in order; the last one answers all further requests."""
    left = list(replies)
    return ModelServer(lambda _: left.pop(0) if len(left) > 1 else left[0])
