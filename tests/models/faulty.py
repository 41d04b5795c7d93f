"""A server that answers every request in one faulty way, and the ways it knows."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-1234567890abcdef"
USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
Answer = Callable[[BaseHTTPRequestHandler], None]
"""Answers a request whose body was read."""


@dataclass
class Served:
    """A server: its answers, the last one for all further requests, and what it received."""

    answers: Sequence[Answer]
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def turn_to(self, *answers: Answer) -> None:
        """Answer the next requests in another way."""
        self.answers, self.bodies = answers, []


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def listening(*answers: Answer) -> Iterator[Served]:
    """Serve on loopback."""
    served = Served(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self.asked = json.loads(body or b"{}")
            served.bodies.append(self.asked)
            with suppress(OSError):  # the client has had enough
                served.answers[min(len(served.bodies), len(served.answers)) - 1](self)
                return
            self.close_connection = True

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = _Server(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    status: int = 200,
    kind: str = "application/json",
    length: int | None = None,
    **headers: str,
) -> None:
    """Send a body; of fewer bytes than promised, if `length` says so."""
    handler.send_response_only(status)
    headers.setdefault("Content_Length", str(len(body) if length is None else length))
    for name, value in {"Content_Type": kind, **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)
    handler.close_connection = length is not None


def completion(
    message: Mapping[str, Any] | None = None,
    reason: str | None = "stop",
    choice: Mapping[str, Any] | None = None,
    **more: Any,
) -> bytes:
    """A reply of the protocol, as JSON."""
    said = {"role": "assistant", "content": "Ghent", **(message or {})}
    told = {"index": 0, "message": said, "finish_reason": reason, **(choice or {})}
    about = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": USAGE}
    return json.dumps({**about, "choices": [told], **more}).encode()


def events(*deltas: Mapping[str, Any], reason: str | None = "stop", done: bool = True) -> bytes:
    """A streamed reply of the protocol."""
    about = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    parts: list[dict[str, Any]] = [
        {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    if reason is not None:
        parts.append({**about, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        parts.append({**about, "choices": [], "usage": USAGE})
    lines = [f"data: {json.dumps(part)}\n\n" for part in parts] + ["data: [DONE]\n\n"] * done
    return "".join(lines).encode()


def ok(*args: Any, **more: Any) -> Answer:
    """A completion with status 200."""
    return lambda handler: send(handler, completion(*args, **more))


def raw(body: bytes, **more: Any) -> Answer:
    """Any body with status 200."""
    return lambda handler: send(handler, body, **more)


def error(status: int, words: str = "no", code: object = None, **headers: str) -> Answer:
    """An error response."""
    body = json.dumps({"error": {"message": words, "code": code, "type": code}}).encode()
    return lambda handler: send(handler, body, status, **headers)  # type: ignore[arg-type]


def streamed(*deltas: Mapping[str, Any], **more: Any) -> Answer:
    """A stream, whatever was asked for."""
    return raw(events(*deltas, **more), kind="text/event-stream")


def drip(head: bytes, piece: bytes, pause: float = 0.02) -> Answer:
    """A response that never ends, a few bytes at a time."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(head)
        until = time.monotonic() + 2.0
        while time.monotonic() < until:
            handler.wfile.write(piece)
            time.sleep(pause)
        handler.close_connection = True

    return answer


def reset(handler: BaseHTTPRequestHandler) -> None:
    """Reset the connection in place of an answer."""
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.connection.close()
    raise OSError


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Close the connection in place of an answer."""
    handler.close_connection = True


def stall(handler: BaseHTTPRequestHandler) -> None:
    """Say nothing for longer than anyone waits."""
    time.sleep(0.6)
    handler.close_connection = True


def slowly(answer: Answer) -> Answer:
    """Answer after a pause that is within the limit."""

    def answered(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(0.1)
        answer(handler)

    return answered


def call(arguments: object, name: str = "look") -> dict[str, Any]:
    """A message that calls a tool."""
    function = {"name": name, "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
