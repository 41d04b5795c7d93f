"""Servers on loopback that answer as they are told, and asking them."""

import json
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from dqa.core.errors import ModelUnavailableError
from dqa.models.bounds import REPLY_LIMIT
from dqa.models.calling import ModelReply, call_model
from dqa.models.faults import Fault, FaultKind
from dqa.models.openai_chat import OpenAIChat
from dqa.models.policy import CallPolicy, Retry
from tests.models.conftest import Hours
from tests.models.served import KEY

Answer = Callable[[BaseHTTPRequestHandler], None]
"""Answers a request whose body was read."""


@contextmanager
def listening(answer: Answer) -> Iterator[str]:
    """A server that answers every request as it is told; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            try:
                answer(self)
            except OSError:
                self.close_connection = True  # the client has had enough

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    status: int = 200,
    kind: str = "application/json",
    **headers: str,
) -> None:
    """Send a whole body."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def send_endlessly(handler: BaseHTTPRequestHandler, kind: str, *pieces: bytes) -> None:
    """Send a body that never ends: its first pieces, and then the last one again and again."""
    handler.send_response(200)
    handler.send_header("Content-Type", kind)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    *first, last = pieces
    for piece in first:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    while True:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(last), last))


def completion(message: dict[str, Any], **more: Any) -> bytes:
    """A reply of the protocol, as JSON."""
    choice = {"index": 0, "finish_reason": "stop"}
    said = {"role": "assistant", "content": None, **message}
    about = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
    return json.dumps({**about, "choices": [{**choice, "message": said}], **more}).encode()


def asking(url: str, *, patience: float = 60.0, limit: int = REPLY_LIMIT) -> OpenAIChat:
    """The model at an address."""
    key: Any = KEY
    return OpenAIChat(
        model="m",
        base_url=url,
        api_key=key,
        timeout=patience,
        max_retries=0,
        reply_limit=limit,
    )


def asked(model: BaseChatModel, hours: Hours, **policy: Any) -> tuple[ModelReply, list[Fault]]:
    """Ask it, with two more attempts."""
    faults: list[Fault] = []
    calls = CallPolicy(Retry(retries=2), clock=hours.clock, **policy)
    return call_model(model, [HumanMessage("Decide.")], (), calls, faults.append), faults


def refused(model: BaseChatModel, hours: Hours, **policy: Any) -> tuple[str, int]:
    """Return why no reply was taken, and how much memory that took at most, in MB."""
    faults: list[Fault] = []
    calls = CallPolicy(Retry(retries=1), clock=hours.clock, **policy)
    tracemalloc.start()
    try:
        with pytest.raises(ModelUnavailableError) as told:
            call_model(model, [HumanMessage("Decide.")], (), calls, faults.append)
        most = tracemalloc.get_traced_memory()[1] // 1_000_000
    finally:
        tracemalloc.stop()
    assert [fault.kind for fault in faults] == [FaultKind.MALFORMED] * 2, "asked again, in vain"
    return str(told.value), most


EVENT = (
    b'data: {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": '
    b'[{"index": 0, "delta": {"content": "%s"}, "finish_reason": null}]}\n\n'
)


class Saying(BaseChatModel):
    """Always says the same."""

    reply: AIMessage

    @property
    def _llm_type(self) -> str:
        return "saying"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.reply)])
