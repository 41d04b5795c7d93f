"""Replies that are too large, too deep, too slow or sent elsewhere, from servers on loopback."""

from __future__ import annotations

import gzip
import json
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from dqa.core.decision import Usage
from dqa.core.errors import ModelUnavailableError, UsageError
from dqa.core.events import FaultEvent, WarningEvent
from dqa.core.recorder import Recorder
from dqa.models.bounds import REPLY_LIMIT
from dqa.models.budget import Budget, Prices
from dqa.models.calling import ModelReply, call_model
from dqa.models.cassette import Cassette
from dqa.models.conversation import take_turn
from dqa.models.faults import Fault, FaultKind
from dqa.models.openai_chat import OpenAIChat
from dqa.models.policy import CallPolicy, Retry
from dqa.models.reaching import check_reachable
from dqa.models.registry import Connection, given_model
from tests.models.conftest import Hours
from tests.models.model_server import ModelServer, Trouble
from tests.models.served import KEY, both_ways

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


def _bomb(megabytes: int, bits: int) -> bytes:
    """A body that unpacks to so much: its first piece, and a second one many times."""
    packer, piece = zlib.compressobj(9, zlib.DEFLATED, bits), b" " * 1_000_000
    first, second = (packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + second * (megabytes - 1)


def _called(arguments: str) -> dict[str, Any]:
    function = {"name": "query_database", "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}


GZIPPED = _bomb(1_000, zlib.MAX_WBITS | 16)
DEFLATED = _bomb(1_000, zlib.MAX_WBITS)
LARGE = completion({"content": "x" * 50_000_000})
LARGE_CALL = completion(_called("a" * 5_000_000))
DIGITS = completion({"content": "x"})[:-1] + b', "n": ' + b"9" * 9_999 + b"}"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda h: send(h, LARGE), "larger than 1,000,000 bytes"),
        (lambda h: send(h, GZIPPED, Content_Encoding="gzip"), "larger than 1,000,000"),
        (lambda h: send(h, DEFLATED, Content_Encoding="deflate"), "larger than 1,000,000"),
        (lambda h: send(h, GZIPPED, Content_Encoding="gzip, gzip"), "packed as 'gzip, gzip'"),
        (lambda h: send(h, b"x", Content_Encoding="br"), "packed as 'br'"),
        (lambda h: send_endlessly(h, "application/json", b" " * 5_000), "larger than 1,000,000"),
        (lambda h: send(h, LARGE_CALL), "larger than 1,000,000 bytes"),
        (lambda h: send(h, b"[" * 900_000), "recursion"),
        (lambda h: send(h, b'{"a":' * 90_000 + b"1" + b"}" * 90_000), "recursion"),
        (lambda h: send(h, DIGITS), "digits"),
    ],
    ids=[
        "plain",
        "gzip",
        "deflate",
        "twice",
        "brotli",
        "endless",
        "call",
        "lists",
        "objects",
        "digits",
    ],
)
def test_a_reply_that_is_too_much_is_a_fault_and_never_held(
    answer: Answer, words: str, hours: Hours
) -> None:
    """Whether or not it is packed, and whatever holds it up."""
    with listening(answer) as url:
        told, most = refused(asking(url), hours)
    assert words in told
    assert most < 30, f"{most} MB were held"


@pytest.mark.parametrize("size", [200_000, 900_000])
def test_a_reply_within_the_limit_is_read_packed_or_not(size: int, hours: Hours) -> None:
    """The limit is of what is read, not of what travels."""
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


EVENT = (
    b'data: {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": '
    b'[{"index": 0, "delta": {"content": "%s"}, "finish_reason": null}]}\n\n'
)


@pytest.mark.parametrize("word", [b"", b"word " * 200], ids=["nothing", "words"])
def test_a_stream_without_an_end_is_a_fault(word: bytes, hours: Hours) -> None:
    """Whether or not anything is said in it."""
    with listening(lambda h: send_endlessly(h, "text/event-stream", EVENT % word)) as url:
        model = asking(url, limit=5_000)
        model.streaming = True
        told, most = refused(model, hours)
    assert "larger than 80,000 bytes" in told
    assert most < 60, f"{most} MB were held"


def test_a_streamed_reply_may_be_as_large_as_another(hours: Hours) -> None:
    """Its frame does not count."""
    said = "word " * 20_000
    with ModelServer(lambda _: said) as served:
        model = asking(served.url, limit=len(said) + 1_000)
        model.streaming = True
        assert asked(model, hours)[0].reply.text == said
        with pytest.raises(ModelUnavailableError, match="reply is larger than 99,000 bytes"):
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


@pytest.mark.parametrize(
    "message",
    [
        {"content": "", "tool_calls": [{"name": "q", "args": {"a": "x" * 2_000}, "id": "1"}]},
        {"content": "x" * 2_000},
        {"content": "é" * 600},
        {"content": [{"type": "text", "text": "x" * 2_000}]},
        {"content": "", "additional_kwargs": {"thoughts": "x" * 2_000}},
        {"content": "", "response_metadata": {"more": ["x" * 999, "x" * 999]}},
    ],
)
def test_whatever_a_package_makes_of_a_reply_is_bounded(
    message: dict[str, Any], hours: Hours
) -> None:
    """Of a provider whose answers are read by somebody else."""
    told, _ = refused(Saying(reply=AIMessage(**message)), hours, reply_limit=1_000)
    assert "larger than 1,000 bytes" in told


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [(_nested(80), "deeper than 64 levels"), (_nested(100_000), "deeper"), (10**400, "digits")],
    ids=["some", "many", "digits"],
)
def test_arguments_that_nothing_could_keep_are_a_fault(
    value: Any, words: str, hours: Hours
) -> None:
    """Before anybody tries to write them down."""
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


class Saying(BaseChatModel):
    """Always says the same."""

    reply: AIMessage

    @property
    def _llm_type(self) -> str:
        return "saying"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.reply)])


# --- redirects ---


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_is_sent_to_another_host(status: int, hours: Hours) -> None:
    """Neither a key nor a question; nor to another port, where somebody else may listen."""
    came: list[str] = []
    with listening(lambda h: came.append(h.path)) as other:
        for elsewhere in (other, other.replace("127.0.0.1", "localhost")):
            with listening(lambda h, to=elsewhere: send(h, b"", status, Location=to)) as url:  # type: ignore[misc]
                with pytest.raises(UsageError) as told:
                    asked(asking(url), hours)
                with pytest.raises(UsageError):
                    check_reachable("m", asking(url))
            assert elsewhere.removesuffix("/v1") in str(told.value)
            assert "nothing was sent there" in str(told.value)
            assert "--base-url" in str(told.value)
            assert KEY not in str(told.value)
    assert came == []
    assert hours.slept == [], "asking again would not help"


def test_a_redirect_at_the_same_host_is_followed(hours: Hours) -> None:
    """As from one path to another; TLS may be asked for, and not be left."""
    keys: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path.startswith("/v2"):
            keys.append(handler.headers["authorization"])
            send(handler, completion({"content": "Ghent"}))
        else:
            send(handler, b"", 307, Location="/v2" + handler.path)

    with listening(answer) as url:
        assert asked(asking(url), hours)[0].reply.text == "Ghent"
    assert keys == [f"Bearer {KEY}"]
    # Nobody speaks TLS there, so it is tried, and that is all that can be seen of it.
    with (
        listening(lambda h: send(h, b"", 308, Location=f"https://{h.headers['host']}/v1")) as url,
        pytest.raises(ModelUnavailableError, match="TLS"),
    ):
        asked(asking(url), hours)


def test_a_probe_is_not_stopped_by_what_it_reads() -> None:
    """Somebody is there, whatever is said."""
    for body in (LARGE, b"[" * 90_000, DIGITS):
        with listening(lambda h, body=body: send(h, body)) as url:  # type: ignore[misc]
            check_reachable("m", asking(url))


# --- tokens ---

BAD_COUNTS = [-1, 1.5, "many", None, 10**30, [1], {"a": 1}]


@pytest.mark.parametrize("place", ["prompt_tokens", "completion_tokens"])
@pytest.mark.parametrize("count", [*BAD_COUNTS, float("nan")], ids=repr)
def test_what_is_no_count_of_tokens_is_unknown_and_costs_no_reply(
    count: Any, place: str, hours: Hours
) -> None:
    """A budget then goes by an estimate, and nothing is won or lost by odd numbers."""
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12, place: count}
    budget = Budget(tokens=10_000)
    with listening(lambda h: send(h, completion({"content": "Ghent"}, usage=usage))) as url:
        called, faults = asked(asking(url), hours, budget=budget)
    assert (called.reply.text, faults) == ("Ghent", [])
    assert (called.usage, called.miscounted) == (Usage(calls=1), True)
    spent = budget.spent
    assert 0 < spent.input_tokens + spent.output_tokens < 20


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": "many"},
        {"prompt_tokens": 7, "completion_tokens": 5},
        {"prompt_tokens": 7, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 2}},
        {
            "prompt_tokens": 7,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": "x"},
            "completion_tokens_details": {"reasoning_tokens": -2},
        },
    ],
)
def test_what_else_a_provider_says_of_tokens_changes_no_count(usage: Any, hours: Hours) -> None:
    """The counts that matter are there."""
    with listening(lambda h: send(h, completion({"content": "Ghent"}, usage=usage))) as url:
        called, _ = asked(asking(url), hours)
    assert (called.usage, called.miscounted) == (Usage(7, 5, 1), False)


@pytest.mark.parametrize("usage", ["lots", [], 3])
def test_a_count_that_is_none_at_all_is_unknown(usage: Any, hours: Hours) -> None:
    """The reply is there."""
    with listening(lambda h: send(h, completion({"content": "Ghent"}, usage=usage))) as url:
        called, _ = asked(asking(url), hours)
    assert (called.reply.text, called.usage, called.miscounted) == ("Ghent", Usage(calls=1), True)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("count", BAD_COUNTS, ids=repr)
def test_counts_of_a_stream_are_judged_alike(count: Any, hours: Hours) -> None:
    """One event may have them, or each."""
    usage = {"prompt_tokens": count, "completion_tokens": 1, "total_tokens": 1}
    last = json.dumps({"id": "1", "model": "m", "choices": [], "usage": usage}).encode()
    ended = EVENT.replace(b"null", b'"stop"') % b"Ghent"
    body = ended + b"data: " + last + b"\n\n" + b"data: " + last + b"\n\ndata: [DONE]\n\n"
    with listening(lambda h: send(h, body, kind="text/event-stream")) as url:
        model = asking(url)
        model.streaming = model.stream_usage = True
        called, faults = asked(model, hours)
    assert (called.reply.text, faults) == ("Ghent", [])
    assert (called.usage, called.miscounted) == (Usage(calls=1), True)


@pytest.mark.parametrize("count", [*BAD_COUNTS, "12", True, float("inf")], ids=repr)
def test_counts_of_other_packages_are_judged_alike(count: Any, hours: Hours) -> None:
    """Whatever they hand on."""
    other = AIMessage("Ghent")
    other.usage_metadata = {"input_tokens": count, "output_tokens": 1, "total_tokens": 1}
    called, _ = asked(Saying.model_construct(reply=other, cache=None), hours)
    assert (called.usage, called.miscounted) == (Usage(calls=1), True)


def test_a_count_that_is_none_is_said_once(hours: Hours) -> None:
    """However many replies have one."""
    record = Recorder()
    usage = {"prompt_tokens": -5, "completion_tokens": 1, "total_tokens": -4}
    with listening(lambda h: send(h, completion({"content": "Ghent"}, usage=usage))) as url:
        model = asking(url)
        for _ in range(3):
            take_turn(model, [HumanMessage("?")], record, CallPolicy(clock=hours.clock))
    (warning,) = record.events
    assert isinstance(warning, WarningEvent)
    assert (warning.about, "unknown" in warning.text) == ("tokens", True)
    assert record.usage == Usage(calls=3)


# --- what attempts cost ---


@both_ways
@pytest.mark.parametrize(
    ("trouble", "lost"),
    [
        (Trouble.HALF_BODY, 2),
        (Trouble.INVALID_JSON, 2),
        (Trouble.NO_CHOICES, 2),
        (Trouble.DROPPED, 2),
        (Trouble.RATE_LIMIT, 0),
        (Trouble.SERVER_ERROR, 0),
    ],
)
def test_an_attempt_whose_reply_was_lost_has_cost_something(
    trouble: Trouble, lost: int, streaming: bool, hours: Hours
) -> None:
    """To the budget as to what is said to be spent; what was refused has cost nothing."""
    budget, record = Budget(tokens=1_000_000, prices=Prices(1.0, 1.0)), Recorder()
    prompt = "Decide. " * 500
    policy = CallPolicy(Retry(retries=3), budget=budget, clock=hours.clock)
    with ModelServer(lambda _: "Ghent", lambda _, before: trouble if before < 2 else None) as at:
        model = asking(at.url)
        model.streaming = model.stream_usage = streaming
        turn = take_turn(model, [HumanMessage(prompt)], record, policy)
    assert record.usage + record.lost == budget.spent
    assert record.usage == turn.usage
    assert record.lost == Usage(lost * (len(prompt) // 4 + 1), 0, lost)
    assert sum(isinstance(event, FaultEvent) for event in record.events) == 2


def test_a_budget_ends_attempts_that_cost_and_give_nothing(hours: Hours) -> None:
    """A server that sends half of every reply does not spend more than there is."""
    from dqa.core.errors import BudgetSpentError

    budget = Budget(tokens=3_000)
    policy = CallPolicy(Retry(retries=1_000, total=1e9), budget=budget, clock=hours.clock)
    record = Recorder()
    with ModelServer(lambda _: "Ghent", lambda _, __: Trouble.HALF_BODY) as at:
        with pytest.raises(BudgetSpentError):
            take_turn(asking(at.url), [HumanMessage("Decide. " * 500)], record, policy)
        assert len(at.requests) == 3
    assert record.lost == budget.spent


def test_what_never_was_under_way_costs_nothing(hours: Hours) -> None:
    """Nobody listens there."""
    budget = Budget(tokens=10)
    policy = CallPolicy(Retry(retries=2), budget=budget, clock=hours.clock)
    with listening(lambda h: send(h, b"")) as url:
        pass
    with pytest.raises(ModelUnavailableError, match="connection refused"):
        call_model(asking(url), [HumanMessage("x" * 900)], policy=policy)
    assert budget.spent == Usage()
