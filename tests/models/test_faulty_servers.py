"""Every way in which a model server can fail: what it counts as, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage

from dqa.core.decision import Usage
from dqa.core.errors import (
    DqaError,
    ModelUnavailableError,
    RequestTooLongError,
    UnparsableReplyError,
    UsageError,
)
from dqa.core.events import FaultEvent
from dqa.core.recorder import Recorder
from dqa.models.calling import call_model
from dqa.models.policy import CallPolicy, Retry
from dqa.models.registry import Connection, chat_model
from dqa.models.replies import ModelReply
from tests.models import faulty
from tests.models.conftest import Hours
from tests.models.faulty import (
    CHUNKED,
    KEY,
    Answer,
    call,
    completion,
    error,
    events,
    ok,
    raw,
    send,
    streamed,
)

COUNTED = Usage(7, 5, 1)
UNKNOWN = Usage(calls=1, uncounted=1)
REFUSED = Usage(calls=1)
RETRIES = 2


@dataclass(frozen=True)
class Mode:
    """One way to fail.

    `fault` is the kind of an infrastructure error, asked again `RETRIES` times unless `error` is
    given, which ends at once, and only once after a timeout; `text` is that of an answer;
    `refusal` is part of why a reply must not be used. `cost` is that of one request.
    """

    name: str
    answer: Answer
    fault: str = ""
    error: type[DqaError] = ModelUnavailableError
    once: bool = False
    text: str | None = None
    refusal: str = ""
    cost: Usage = COUNTED
    streaming: bool = False
    timeout: float = 30.0

    @property
    def requests(self) -> int:
        """How often it is asked."""
        retries = 1 if self.fault == "timeout" else RETRIES
        return 1 + retries if self.fault and not self.once else 1


def lost(name: str, answer: Answer, fault: str = "malformed", **more: object) -> Mode:
    """A reply that did not arrive: the provider may have charged for it."""
    return Mode(name, answer, fault, **{"cost": UNKNOWN, **more})  # type: ignore[arg-type]


def busy(name: str, answer: Answer, fault: str = "server", **more: object) -> Mode:
    """A request that was refused, and may succeed later."""
    return Mode(name, answer, fault, **{"cost": REFUSED, **more})  # type: ignore[arg-type]


def ends(
    name: str, answer: Answer, fault: str, error: type[DqaError] = UsageError, **more: object
) -> Mode:
    """A request that can never succeed."""
    return Mode(name, answer, fault, error, once=True, cost=REFUSED, **more)  # type: ignore[arg-type]


def answers(name: str, answer: Answer, text: str = "Ghent", **more: object) -> Mode:
    """A reply that counts."""
    return Mode(name, answer, text=text, **more)  # type: ignore[arg-type]


def refuses(name: str, answer: Answer, words: str, **more: object) -> Mode:
    """A reply that is judged, and must not be used as an answer."""
    return Mode(name, answer, refusal=words, **more)  # type: ignore[arg-type]


PAGE = b"<html><body>Bad gateway</body></html>"
CUT = completion()[:60]
HUGE = completion({"content": "x" * 16_100_000})
NO_MESSAGE = b'{"choices": [{"index": 0, "finish_reason": "stop"}]}'
ONLY_THINKS = {"content": "", "reasoning_content": "Let me see"}
THINKS_IN_PARTS = {
    "content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see"}]},
        {"type": "text", "text": "Ghent"},
    ]
}

MODES = [
    # statuses that may pass
    busy("status 429", error(429, "Too many requests."), "rate_limit"),
    busy("status 429 with quota words and a pause", error(
        429, "You exceeded your current quota. Please retry in 7 s."), "rate_limit"),
    busy("status 500", error(500)),
    busy("status 502 with a page", lambda h: send(h, PAGE, 502, "text/html")),
    busy("status 529", error(529, "Overloaded")),
    busy("status 409", error(409)),
    lost("status 408", error(408), "timeout"),
    # statuses that cannot pass
    ends("status 401", error(401, f"Incorrect API key {KEY}."), "key"),
    ends("status 403", error(403), "key"),
    ends("status 404", error(404), "not_found"),
    ends("status 404 for the model", error(404, "The model does not exist."), "not_found"),
    ends("status 402", error(402, "Payment required"), "quota"),
    ends("status 429 without quota", error(429, "no", "insufficient_quota"), "quota"),
    *(ends(f"status {status} with a code of quota", error(status, "Try again in 20 s.", code),
           "quota")
      for status in (401, 429, 500, 503) for code in ("insufficient_quota", "billing_error")),
    ends("status 400 for the model", error(400, "no", "model_not_found"), "not_found"),
    ends("status 400 without credit", error(400, "Your credit balance is too low."), "quota"),
    ends("status 403 without balance", error(403, "Your balance is insufficient."), "quota"),
    ends("gateway without quota", error(403, "no", "insufficient_user_quota"), "quota"),
    ends("status 400", error(400, "Bad value."), "request", ModelUnavailableError),
    *(ends(f"status {status} too long", error(status, "no", "context_length_exceeded"), "too_long",
           RequestTooLongError) for status in (400, 404, 429)),
    ends("status 413", error(413), "too_long", RequestTooLongError),
    ends("redirect", lambda h: send(h, b"", 307, Location="http://127.0.0.1:9/v1"), "redirect"),
    # errors in place of a reply, with status 200
    busy("error in the body", raw(b'{"error": {"message": "Upstream error", "code": 502}}')),
    busy("error with an odd code", raw(b'{"error": {"message": [1], "code": {"a": 1}}}')),
    busy("error as a text", raw(b'{"error": "worker died"}')),
    busy("error in the choice", ok(reason=None, choice={"error": {"message": "x", "code": 502}})),
    busy("rate limit in the choice", ok(choice={"error": {"code": 429, "message": "slow"}}),
         "rate_limit"),
    ends("quota in the body", raw(b'{"error": {"code": 402, "message": "no"}}'), "quota"),
    Mode("finish reason error", ok({"content": ""}, "error"), "malformed"),
    Mode("finish reason abort", ok({}, "abort"), "malformed"),
    lost("no finish reason", ok({}, None)),
    # bodies that are not replies
    lost("empty body", raw(b"")),
    lost("page", raw(PAGE, kind="text/html")),
    lost("invalid JSON", raw(CUT)),
    lost("not an object", raw(b"[1, 2]")),
    lost("deep list", raw(b"[" * 200_000)),
    lost("no choices", ok(choices=None)),
    lost("empty choices", ok(choices=[])),
    lost("no message", raw(NO_MESSAGE)),
    lost("packed unasked", raw(b"x", Content_Encoding="br")),
    lost("huge body", raw(HUGE)),
    lost("huge body without end", faulty.drip(
        CHUNKED % b"application/json", b"fffff\r\n" + b" " * 0xFFFFF + b"\r\n", 0.0)),
    lost("half a body", raw(CUT, length=999), "connection"),
    # connections and time
    lost("hang-up", faulty.hang_up, "connection"),
    lost("reset", faulty.reset, "connection"),
    lost("stall", faulty.stall, "timeout", timeout=0.2),
    lost("dripping body", faulty.drip(CHUNKED % b"application/json", b"1\r\n \r\n"), "timeout",
         timeout=0.2),
    lost("dripping headers", faulty.drip(b"HTTP/1.1 200 OK\r\nX-A: ", b"a"), "timeout",
         timeout=0.2),
    lost("dripping stream", faulty.drip(
        CHUNKED % b"text/event-stream", b"3\r\n:\n\n\r\n"), "timeout", streaming=True, timeout=0.2),
    answers("slow server", faulty.slowly(ok())),
    # streams
    answers("stream", streamed({"content": "Gh"}, {"content": "ent"}), streaming=True),
    lost("stream without its end", streamed({"content": "Gh"}, reason=None), streaming=True),
    busy("error in a stream", raw(
        events({"content": "G"}, reason=None, done=False)
        + b'data: {"error": {"message": "Upstream", "code": 502}}\n\n',
        kind="text/event-stream"), streaming=True),
    refuses("content filter in a stream", raw(
        b'data: {"error": {"message": "no", "code": "content_filter"}}\n\n',
        kind="text/event-stream"), "refusal", streaming=True, cost=REFUSED),
    lost("bad event", raw(b"data: {\n\n", kind="text/event-stream"), streaming=True),
    Mode("stream that ends in an error", streamed({"content": "G"}, reason="error"), "malformed",
         streaming=True),
    # replies that must not be used
    refuses("cut off", ok(reason="length"), "cut off"),
    refuses("cut off within its reasoning", ok(ONLY_THINKS, "length"), "within its reasoning"),
    refuses("withheld", ok({"content": ""}, "content_filter"), "withheld"),
    refuses("refusal", ok({"content": None, "refusal": "I cannot."}), "I cannot."),
    refuses("content filter as status 400", error(400, "no", "content_filter"), "refusal",
            cost=REFUSED),
    refuses("content policy in words", error(
        400, "The response was filtered by Azure OpenAI's content management policy."), "refusal",
            cost=REFUSED),
    refuses("content policy of a proxy", error(400, "ContentPolicyViolationError: no"), "refusal",
            cost=REFUSED),
    refuses("moderation as status 403", error(403, "Your input was flagged by moderation."),
            "refusal", cost=REFUSED),
    refuses("only reasoning", ok(ONLY_THINKS), "Only reasoning arrived"),
    refuses("only a thought", ok({"content": "<think>Let me see</think>"}), "Only reasoning"),
    # answers
    answers("empty answer", ok({"content": ""}), ""),
    answers("content in parts", ok({"content": [{"type": "text", "text": "Ghent"}]})),
    answers("reasoning in parts", ok(THINKS_IN_PARTS)),
    answers("half a character", ok({"content": "x\ud83d"}), "x\ufffd"),
    answers("content type of a text", raw(completion(), kind="text/plain")),
    answers("finish reason of another server", ok(reason="eos_token")),
    answers("tool that does not exist", ok(call('{"a": 1}', "browse"), "tool_calls"), ""),
    answers("arguments that are not JSON", ok(call("{"), "tool_calls"), ""),
    answers("arguments that are a list", ok(call('["a"]'), "tool_calls"), ""),
    answers("no arguments", ok(call(None), "tool_calls"), ""),
    answers("arguments as an object", ok(call({"a": 1}), "tool_calls"), ""),
    # token counts
    answers("no usage", ok(usage=None), cost=UNKNOWN),
    answers("usage of zero", ok(usage={"prompt_tokens": 0, "completion_tokens": 0}), cost=UNKNOWN),
    answers("negative usage", ok(usage={**faulty.USAGE, "prompt_tokens": -1}), cost=UNKNOWN),
    answers("usage of the request only", ok(usage={"prompt_tokens": 7}), cost=UNKNOWN),
    answers("usage of both together", ok(usage={"total_tokens": 5}), cost=UNKNOWN),
    answers("usage in words", ok(usage={"prompt_tokens": "7", "completion_tokens": 5}),
            cost=UNKNOWN),
    answers("usage that is a text", ok(usage="lots"), cost=UNKNOWN),
    answers("endless usage", ok(usage={**faulty.USAGE, "prompt_tokens": 10**30}), cost=UNKNOWN),
    answers("odd details of usage", ok(
        usage={**faulty.USAGE, "prompt_tokens_details": {"cached_tokens": "x"}})),
    answers("cached and reasoning tokens", ok(usage={
        **faulty.USAGE,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }), cost=Usage(7, 5, 1, 4, 3)),
    answers("reasoning tokens counted apart", ok(usage={
        **faulty.USAGE, "total_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 8},
    }), cost=Usage(7, 13, 1, 0, 8)),
]  # fmt: skip


@pytest.fixture(scope="module")
def served() -> Iterator[faulty.Served]:
    """One server for all modes: most of a test's time would be a new one, and its client."""
    with faulty.listening() as server:
        yield server


@cache
def model_at(url: str, timeout: float, *, streaming: bool) -> BaseChatModel:
    """The model of the server."""
    model = chat_model("openai:m", Connection(url, timeout))
    model.streaming = model.stream_usage = streaming  # type: ignore[attr-defined]
    return model


@pytest.mark.parametrize("mode", MODES, ids=[mode.name for mode in MODES])
def test_every_fault_is_classified_and_every_request_is_counted(
    mode: Mode, served: faulty.Served, hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Infrastructure is retried and never an answer; refusals and odd replies are judged."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    recorder = Recorder()
    served.turn_to(mode.answer)
    model = model_at(served.url, mode.timeout, streaming=mode.streaming)
    policy = CallPolicy(Retry(RETRIES), clock=hours.clock, timeout=mode.timeout)
    try:
        ended: ModelReply | DqaError = call_model(model, [HumanMessage("Where?")], recorder, policy)
    except DqaError as error:
        ended = error
    asked = len(served.bodies)
    faults = [event.fault for event in recorder.events if isinstance(event, FaultEvent)]
    if mode.fault:
        assert type(ended) is mode.error
        assert faults == [mode.fault] * mode.requests
        assert KEY not in str(ended)
        assert "timeout" not in mode.fault or "TimeoutError" in str(ended) or "408" in str(ended)
    else:
        assert isinstance(ended, ModelReply)
        assert not faults
        if mode.refusal:
            with pytest.raises(UnparsableReplyError, match=mode.refusal):
                ended.check()
        else:
            ended.check()
            assert ended.text == mode.text
    assert asked == mode.requests
    assert recorder.usage + recorder.lost == sum([mode.cost] * asked, Usage())
    assert not mode.fault or recorder.usage == Usage()
