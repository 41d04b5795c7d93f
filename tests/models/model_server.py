"""A model server for tests: OpenAI's chat completions on loopback, with errors on request.

::

    with ModelServer(lambda request: "Final Answer: 1") as server:
        model = chat_model("openai:test", Connection(server.url))

`tests.models.faulty` has the servers that break the protocol.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias

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
    """

    program: Program
    plan: Callable[[Request, int], Trouble | None] = lambda request, before: None
    requests: list[Request] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _http: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """The value of ``--base-url``."""
        if self._http is None:
            raise RuntimeError("the server listens inside its 'with' block only")
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        handler = type("_BoundHandler", (_Handler,), {"model_server": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()

    def admit(self, request: Request) -> Trouble | None:
        """Record a request, and return its trouble."""
        with self._lock:
            trouble = self.plan(request, self.requests.count(request))
            self.requests.append(request)
        is_refused = trouble is not Trouble.STOP_UNSUPPORTED or "stop" in request
        return trouble if is_refused else None

    def completion(self, request: Request) -> dict[str, Any]:
        """Return the reply to a request, with its tokens."""
        answer = self.program(request)
        message: dict[str, Any] = {"role": "assistant", "content": None}
        message |= {"content": answer} if isinstance(answer, str) else answer
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        asked, said = (len(json.dumps(text)) // 4 for text in (request["messages"], message))
        return {
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": asked,
                "completion_tokens": said,
                "total_tokens": asked + said,
            },
        }


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection; a subclass names its server."""

    model_server: ModelServer
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        trouble = self.model_server.admit(request)
        if trouble is None:
            self._send(self.model_server.completion(request))
            return
        status, words = _REFUSED[trouble]
        words = words.format(key=self.headers.get("authorization", "").removeprefix("Bearer "))
        param = "stop" if trouble is Trouble.STOP_UNSUPPORTED else None
        self._send({"error": {"message": words, "code": trouble, "param": param}}, status)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""

    def _send(self, content: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


def answering(*replies: str) -> ModelServer:
    """Return a server with these replies in order; the last one answers all further requests."""
    left = list(replies)
    return ModelServer(lambda _: left.pop(0) if len(left) > 1 else left[0])
