"""A model server for tests: speaks OpenAI's chat completions protocol, and misbehaves on purpose.

It listens on loopback only, answers what a program says, streams where it is asked to, and does to
each request whatever `Trouble` its plan names::

    with ModelServer(lambda request: "Final Answer: 1", troubles) as server:
        model = chat_model("openai:test", Connection(server.url))

Nothing in it is specific to this project's agents: it serves to test any client of the protocol.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

__all__ = ["MADE_UP", "ModelServer", "Program", "Trouble", "answering"]

Request: TypeAlias = dict[str, Any]
"""The body of one request, as the protocol has it."""

Program: TypeAlias = Callable[[Request], str | dict[str, Any]]
"""Answers a request with a text, or with a whole message (``content``, ``tool_calls``)."""

MADE_UP = '\nObservation: ["profit"]\n[1000000]\n(1 row)\nFinal Answer: whatever comes to mind'
"""What a server that ignores stop sequences lets its model go on to say."""


class Trouble(StrEnum):
    """What the server can do to a request: lose the reply, spoil it, or refuse for good.

    A setting that is unsupported is refused where a request has it; others are let be.
    """

    RATE_LIMIT = "rate_limit"
    RATE_LIMIT_SECONDS = "rate_limit_seconds"
    RATE_LIMIT_DATE = "rate_limit_date"
    SERVER_ERROR = "server_error"
    DROPPED = "dropped"
    HALF_BODY = "half_body"
    STALL = "stall"
    INVALID_JSON = "invalid_json"
    WRONG_TYPE = "wrong_type"
    NO_CHOICES = "no_choices"

    EMPTY = "empty"
    UNKNOWN_TOOL = "unknown_tool"
    AFTER_STOP = "after_stop"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"

    BAD_KEY = "bad_key"
    UNKNOWN_MODEL = "unknown_model"
    BAD_REQUEST = "bad_request"
    NO_QUOTA = "no_quota"
    STOP_UNSUPPORTED = "stop_unsupported"
    TEMPERATURE_UNSUPPORTED = "temperature_unsupported"

    @property
    def loses_reply(self) -> bool:
        """Whether the client gets no reply, and asking again would give one."""
        return self in _LOSING

    @property
    def spoils_reply(self) -> bool:
        """Whether the client gets a reply other than the program's."""
        return self in _SPOILING


_ALL = list(Trouble)
_LOSING = frozenset(_ALL[: _ALL.index(Trouble.EMPTY)])
_SPOILING = frozenset(_ALL[_ALL.index(Trouble.EMPTY) : _ALL.index(Trouble.BAD_KEY)])
_REFUSED: Mapping[Trouble, tuple[int, str, str]] = {
    Trouble.RATE_LIMIT: (429, "rate_limit_exceeded", "Too many requests."),
    Trouble.RATE_LIMIT_SECONDS: (429, "rate_limit_exceeded", "Too many requests."),
    Trouble.RATE_LIMIT_DATE: (429, "rate_limit_exceeded", "Too many requests."),
    Trouble.SERVER_ERROR: (500, "server_error", "The server had an error."),
    Trouble.BAD_KEY: (401, "invalid_api_key", "Incorrect API key provided: {key}."),
    Trouble.UNKNOWN_MODEL: (404, "model_not_found", "The model does not exist."),
    Trouble.BAD_REQUEST: (400, "invalid_request_error", "This request cannot be served."),
    Trouble.NO_QUOTA: (429, "insufficient_quota", "You exceeded your current quota."),
    Trouble.STOP_UNSUPPORTED: (400, "unsupported_parameter", "This model takes no 'stop'."),
    Trouble.TEMPERATURE_UNSUPPORTED: (400, "unsupported_value", "'temperature' must be 1."),
}
_UNSUPPORTED: Mapping[Trouble | None, str] = {
    Trouble.STOP_UNSUPPORTED: "stop",
    Trouble.TEMPERATURE_UNSUPPORTED: "temperature",
}
"""The setting that each refuses."""


@dataclass
class ModelServer:
    """The server; listens from ``with`` to its end.

    Attributes
    ----------
    program
        What the model says.
    plan
        Names the trouble with a request, given its body and how often that body came before; None
        lets it be.
    retry_after
        Seconds that a rate limit names, in seconds or as a date.
    stall
        Most seconds that a stalled request hangs.
    counts_tokens
        Whether replies say how many tokens they took.
    requests
        Every body that came, in order.
    troubles
        How often each trouble struck.
    """

    program: Program
    plan: Callable[[Request, int], Trouble | None] = lambda request, before: None
    retry_after: float = 1.0
    stall: float = 60.0
    counts_tokens: bool = True
    requests: list[Request] = field(default_factory=list)
    troubles: Counter[Trouble] = field(default_factory=Counter)
    _seen: Counter[bytes] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)
    _http: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """The address to give as ``--base-url``."""
        if self._http is None:
            raise RuntimeError("the server listens inside its 'with' block only")
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        handler = type("_BoundHandler", (_Handler,), {"model_server": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        serving = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        serving.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()

    def admit(self, body: bytes) -> tuple[Request, Trouble | None]:
        """Take a request in and name its trouble."""
        request: Request = json.loads(body)
        with self._lock:
            before = self._seen[body]
            self._seen[body] += 1
            trouble = self.plan(request, before)
            if trouble in _UNSUPPORTED and _UNSUPPORTED[trouble] not in request:
                trouble = None
            self.requests.append(request)
            if trouble is not None:
                self.troubles[trouble] += 1
        return request, trouble

    def hang(self) -> None:
        """Stall until the time is up or the server closes."""
        self._closing.wait(self.stall)

    def completion(self, request: Request, trouble: Trouble | None) -> dict[str, Any]:
        """Return the reply to a request, spoilt where its trouble says so."""
        message, finish = _message(self.program, request, trouble)
        said = json.dumps(message)
        completion = {
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        if self.counts_tokens:
            asked = len(json.dumps(request["messages"])) // 4
            counted = {"prompt_tokens": asked, "completion_tokens": len(said) // 4}
            completion["usage"] = {**counted, "total_tokens": sum(counted.values())}
        return completion


_SPOILT: Mapping[Trouble, tuple[dict[str, Any], str]] = {
    Trouble.EMPTY: ({"content": ""}, "stop"),
    Trouble.CONTENT_FILTER: ({"content": ""}, "content_filter"),
    Trouble.REFUSAL: ({"content": None, "refusal": "I cannot help with that."}, "stop"),
    Trouble.UNKNOWN_TOOL: (
        {
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "browse_the_web", "arguments": '{"query": "answer"}'},
                }
            ],
        },
        "tool_calls",
    ),
}
"""Messages that take the program's place, and why they end."""


def _message(
    program: Program, request: Request, trouble: Trouble | None
) -> tuple[dict[str, Any], str]:
    """Return a message of the protocol and why it ends."""
    said: dict[str, Any] = {"role": "assistant", "content": None}
    if trouble is not None and trouble in _SPOILT:
        spoilt, finish = _SPOILT[trouble]
        return said | spoilt, finish
    answer = program(request)
    said |= {"content": answer} if isinstance(answer, str) else answer
    text = said["content"] or ""
    if trouble is Trouble.LENGTH:
        return said | {"content": text[: len(text) // 2]}, "length"
    if trouble is Trouble.AFTER_STOP:
        return said | {"content": text + MADE_UP}, "stop"
    return said, "tool_calls" if said.get("tool_calls") else "stop"


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection's requests; a subclass names its server."""

    model_server: ModelServer
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        server = self.model_server
        request, trouble = server.admit(self.rfile.read(int(self.headers["content-length"])))
        if trouble is not None and trouble in _REFUSED:
            self._refuse(trouble)
        elif trouble is Trouble.DROPPED:
            self.close_connection = True
        elif trouble is Trouble.STALL:
            server.hang()
            self.close_connection = True
        elif request.get("stream"):
            self._stream(request, trouble)
        else:
            self._answer(request, trouble)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""

    def _refuse(self, trouble: Trouble) -> None:
        status, code, words = _REFUSED[trouble]
        words = words.format(key=self.headers.get("authorization", "").removeprefix("Bearer "))
        headers, seconds = {}, self.model_server.retry_after
        if trouble is Trouble.RATE_LIMIT_SECONDS:
            headers["Retry-After"] = f"{seconds:g}"
        elif trouble is Trouble.RATE_LIMIT_DATE:
            headers["Retry-After"] = formatdate(time.time() + seconds, usegmt=True)
        error = {"message": words, "type": code, "code": code, "param": _UNSUPPORTED.get(trouble)}
        self._send(json.dumps({"error": error}).encode(), status, headers=headers)

    def _answer(self, request: Request, trouble: Trouble | None) -> None:
        completion = self.model_server.completion(request, trouble)
        if trouble is Trouble.NO_CHOICES:
            completion["choices"] = None
        body = json.dumps(completion).encode()
        if trouble is Trouble.WRONG_TYPE:
            self._send(b"<html><body>Bad gateway</body></html>", kind="text/html")
        elif trouble is Trouble.INVALID_JSON:
            self._send(body[:-1] + b",}")
        elif trouble is Trouble.HALF_BODY:
            self._send(body[: len(body) // 2], length=len(body))
            self.close_connection = True
        else:
            self._send(body)

    def _stream(self, request: Request, trouble: Trouble | None) -> None:
        """Send the reply in events; half a body here is a stream that ends without its end."""
        events = list(_events(self.model_server.completion(request, trouble), request))
        if trouble is Trouble.HALF_BODY:
            events = events[: len(events) // 2]
        elif trouble is Trouble.INVALID_JSON:
            events[1] = events[1][:-1] + ",}"
        elif trouble in {Trouble.NO_CHOICES, Trouble.WRONG_TYPE}:
            events = []
        body = "".join(f"data: {event}\n\n" for event in events)
        self._send(body.encode(), kind="text/event-stream")

    def _send(
        self,
        body: bytes,
        status: int = 200,
        kind: str = "application/json",
        length: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


def _events(completion: dict[str, Any], request: Request) -> Iterator[str]:
    """Cut a completion into the events of a stream."""
    choice = completion["choices"][0]
    message = choice["message"]
    shared = {name: completion[name] for name in ("id", "created", "model")}
    shared["object"] = "chat.completion.chunk"

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        part = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps({**shared, "choices": [part]})

    yield chunk({"role": "assistant", "content": ""})
    text = message["content"] or ""
    for start in range(0, len(text), 40):
        yield chunk({"content": text[start : start + 40]})
    for number, call in enumerate(message.get("tool_calls", ())):
        yield chunk({"tool_calls": [{"index": number, **call}]})
    if message.get("refusal"):
        yield chunk({"refusal": message["refusal"]})
    yield chunk({}, choice["finish_reason"])
    if "usage" in completion and (request.get("stream_options") or {}).get("include_usage"):
        yield json.dumps({**shared, "choices": [], "usage": completion["usage"]})
    yield "[DONE]"


def answering(*replies: str) -> ModelServer:
    """Return a server that gives these replies one after another, and the last ever after."""
    left = list(replies)
    return ModelServer(lambda _: left.pop(0) if len(left) > 1 else left[0])
