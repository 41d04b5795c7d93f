"""Replies that are too large, too deep or too slow, from servers on loopback."""

import gzip
import time
import zlib
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from dqa.core.errors import ModelUnavailableError
from dqa.models.calling import call_model
from dqa.models.cassette import Cassette
from dqa.models.faults import Fault, FaultKind
from dqa.models.policy import CallPolicy, Retry
from dqa.models.reaching import check_reachable
from dqa.models.registry import Connection, given_model
from tests.models.conftest import Hours
from tests.models.listening import (
    EVENT,
    Answer,
    Saying,
    asked,
    asking,
    completion,
    listening,
    refused,
    send,
    send_endlessly,
)
from tests.models.model_server import ModelServer


def _bomb(megabytes: int, bits: int) -> bytes:
    """A body that unpacks to so much: its first piece, and a second one many times."""
    packer, piece = zlib.compressobj(9, zlib.DEFLATED, bits), b" " * 1_000_000
    first, second = (packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + second * (megabytes - 1)


GZIPPED = _bomb(1_000, zlib.MAX_WBITS | 16)
LARGE = completion({"content": "x" * 50_000_000})
DIGITS = completion({"content": "x"})[:-1] + b', "n": ' + b"9" * 9_999 + b"}"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda h: send(h, LARGE), "larger than 1,000,000 bytes"),
        (lambda h: send(h, GZIPPED, Content_Encoding="gzip"), "larger than 1,000,000"),
        (lambda h: send(h, GZIPPED, Content_Encoding="gzip, gzip"), "packed as 'gzip, gzip'"),
        (lambda h: send(h, b"x", Content_Encoding="br"), "packed as 'br'"),
        (lambda h: send_endlessly(h, "application/json", b" " * 5_000), "larger than 1,000,000"),
        (lambda h: send(h, b"[" * 900_000), "recursion"),
        (lambda h: send(h, DIGITS), "digits"),
    ],
    ids=["plain", "gzip", "twice", "brotli", "endless", "lists", "digits"],
)
def test_a_reply_that_is_too_much_is_a_fault_and_never_held(
    answer: Answer, words: str, hours: Hours
) -> None:
    """Whether or not it is packed, and whatever holds it up."""
    with listening(answer) as url:
        told, most = refused(asking(url), hours)
    assert words in told
    assert most < 30, f"{most} MB were held"


def test_a_reply_within_the_limit_is_read_packed(hours: Hours) -> None:
    """The limit is of what is read, not of what travels."""
    size = 900_000
    body = completion({"content": "x" * size})

    def answer(handler: BaseHTTPRequestHandler) -> None:
        packed = "gzip" in handler.headers["accept-encoding"]
        assert packed
        send(handler, gzip.compress(body), Content_Encoding="gzip")

    with listening(answer) as url:
        assert len(asked(asking(url), hours)[0].reply.text) == size
        assert "larger than 100,000" in refused(asking(url, limit=100_000), hours)[0]


def test_the_words_of_an_error_are_cut(hours: Hours) -> None:
    """They say what failed all the same."""
    page = b"The server is full. " * 1_000_000
    with listening(lambda h: send(h, page, 503, "text/plain")) as url:
        faults: list[Fault] = []
        with pytest.raises(ModelUnavailableError, match="Error code: 503"):
            call_model(
                asking(url),
                [HumanMessage("?")],
                policy=CallPolicy(Retry(retries=1), clock=hours.clock),
                on_fault=faults.append,
            )
    assert [fault.kind for fault in faults] == [FaultKind.SERVER] * 2


@pytest.mark.parametrize("word", [b"", b"word " * 200], ids=["nothing", "words"])
def test_a_stream_without_an_end_is_a_fault(word: bytes, hours: Hours) -> None:
    """Whether or not anything is said in it."""
    with listening(lambda h: send_endlessly(h, "text/event-stream", EVENT % word)) as url:
        model = asking(url, limit=1_000)
        model.streaming = True
        told, most = refused(model, hours)
    assert "larger than 16,000 bytes" in told
    assert most < 60, f"{most} MB were held"


def test_a_streamed_reply_may_be_as_large_as_another(hours: Hours) -> None:
    """Its frame does not count."""
    said = "word " * 2_000
    with ModelServer(lambda _: said) as served:
        model = asking(served.url, limit=len(said) + 1_000)
        model.streaming = True
        assert asked(model, hours)[0].reply.text == said
        with pytest.raises(ModelUnavailableError, match="reply is larger than 9,000 bytes"):
            asked(model, hours, reply_limit=len(said) - 1_000)


def test_a_body_that_never_ends_is_not_waited_for(hours: Hours) -> None:
    """A byte now and then is no silence."""

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while True:
            handler.wfile.write(b"1\r\n \r\n")
            time.sleep(0.05)

    with listening(drip) as url:
        told, _ = refused(asking(url, patience=0.1), hours)
    assert "longer than 1 s" in told


def test_whatever_a_package_makes_of_a_reply_is_bounded(hours: Hours) -> None:
    """Of a provider whose answers another package reads."""
    messages: tuple[dict[str, Any], ...] = (
        {"content": "", "tool_calls": [{"name": "q", "args": {"a": "x" * 2_000}, "id": "1"}]},
        {"content": "é" * 600},
        {"content": [{"type": "text", "text": "x" * 2_000}]},
        {"content": "", "additional_kwargs": {"thoughts": "x" * 2_000}},
        {"content": "", "response_metadata": {"more": ["x" * 999, "x" * 999]}},
    )
    for message in messages:
        told, _ = refused(Saying(reply=AIMessage(**message)), hours, reply_limit=1_000)
        assert "larger than 1,000 bytes" in told


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_arguments_that_nothing_could_store_are_a_fault(hours: Hours) -> None:
    """Before anything writes them."""
    for value, words in ((_nested(100_000), "deeper than 64 levels"), (10**400, "digits")):
        reply = AIMessage("")
        reply.tool_calls = [{"name": "q", "args": {"a": value}, "id": "1"}]
        told, _ = refused(Saying.model_construct(reply=reply, cache=None), hours)
        assert words in told


def test_a_reply_that_is_too_large_is_not_recorded(tmp_path: Any, hours: Hours) -> None:
    """What was told of it is."""
    tape = tmp_path / "tape.jsonl"
    saying = Saying(reply=AIMessage("x" * 5_000), name="m")
    connection = Connection(cassette=Cassette.record(tape, ["m"]), reply_limit=1_000)
    told, _ = refused(given_model("m", saying, connection), hours)
    assert "larger than 1,000" in told
    assert "xxxxx" not in tape.read_text()
    playing = given_model("m", saying, Connection(cassette=Cassette.replay(tape, ["m"])))
    with pytest.raises(ModelUnavailableError, match="larger than 1,000"):
        asked(playing, hours)


def test_a_probe_is_not_stopped_by_what_it_reads() -> None:
    """Somebody is there, whatever is said."""
    for body in (LARGE, b"[" * 90_000, DIGITS):
        with listening(lambda h, body=body: send(h, body)) as url:  # type: ignore[misc]
            check_reachable("m", asking(url))
