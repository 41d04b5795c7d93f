"""Calling models whose server misbehaves, over real HTTP on loopback."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from dqa.decision import Usage
from dqa.errors import (
    BudgetSpentError,
    DqaError,
    ModelUnavailableError,
    UnparsableReplyError,
    UsageError,
)
from dqa.models.budget import Budget
from dqa.models.calling import Called, call_model, usage_of
from dqa.models.cleaning import without_halves
from dqa.models.faults import Fault, FaultKind
from dqa.models.limits import Limiter
from dqa.models.openai_chat import OpenAIChat
from dqa.models.policy import CallPolicy, Retry
from dqa.models.registry import Connection, chat_model
from dqa.models.scripted import scripted_model
from dqa.models.testing import MADE_UP, ModelServer, Trouble
from tests.models.conftest import Hours

KEY = "sk-test-1234567890abcdef"
TEXT = "Thought: all is known\nFinal Answer: " + "a name that is long enough to be cut " * 4
STOP = ("\nObservation:",)
KINDS = {
    Trouble.RATE_LIMIT: FaultKind.RATE_LIMIT,
    Trouble.RATE_LIMIT_SECONDS: FaultKind.RATE_LIMIT,
    Trouble.RATE_LIMIT_DATE: FaultKind.RATE_LIMIT,
    Trouble.SERVER_ERROR: FaultKind.SERVER,
    Trouble.DROPPED: FaultKind.CONNECTION,
    Trouble.HALF_BODY: FaultKind.CONNECTION,
    Trouble.STALL: FaultKind.TIMEOUT,
    Trouble.INVALID_JSON: FaultKind.MALFORMED,
    Trouble.WRONG_TYPE: FaultKind.MALFORMED,
    Trouble.NO_CHOICES: FaultKind.MALFORMED,
}
both_ways = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])


def server(
    trouble: Trouble | None = None, times: int = 1, program: Callable[..., Any] = lambda _: TEXT
) -> ModelServer:
    """A server that has one trouble with the first requests."""
    return ModelServer(program, lambda _, before: trouble if before < times else None)


def model_at(served: ModelServer, *, streaming: bool = False) -> OpenAIChat:
    """A model that gives up on a silent server quickly."""
    return OpenAIChat(
        model="test",
        base_url=served.url,
        api_key=KEY,  # type: ignore[arg-type]
        temperature=0,
        timeout=0.5,
        max_retries=0,
        streaming=streaming,
        stream_usage=streaming,
    )


def call(
    served: ModelServer, policy: CallPolicy, *, streaming: bool = False
) -> tuple[Called, list[Fault]]:
    """Ask for one reply and keep what went wrong."""
    faults: list[Fault] = []
    model = model_at(served, streaming=streaming)
    return call_model(model, [HumanMessage("Decide.")], STOP, policy, faults.append), faults


def test_every_trouble_that_loses_a_reply_is_tried_here() -> None:
    """Whoever teaches the server a new one adds it."""
    assert set(KINDS) == {trouble for trouble in Trouble if trouble.loses_reply}


@both_ways
@pytest.mark.parametrize("trouble", list(KINDS))
def test_a_lost_reply_is_asked_for_again_and_the_fault_is_named(
    trouble: Trouble, streaming: bool, hours: Hours
) -> None:
    """Once the server has recovered the reply is what it would have been."""
    with server(trouble, times=2) as served:
        called, faults = call(served, CallPolicy(clock=hours.clock), streaming=streaming)
    assert called.reply.text == TEXT
    assert called.usage.output_tokens > 0
    assert called.incomplete is None
    assert [fault.attempt for fault in faults] == [1, 2]
    assert [fault.wait for fault in faults] == hours.slept
    # The end of a stream is marked, that of a body is counted: half of either is noticed.
    streamed_half = streaming and trouble is Trouble.HALF_BODY
    expected = FaultKind.MALFORMED if streamed_half else KINDS[trouble]
    assert {fault.kind for fault in faults} == {expected}


@both_ways
def test_a_server_in_order_is_asked_once(streaming: bool, hours: Hours) -> None:
    """No fault, no wait, one request, tokens as counted."""
    with server() as served:
        called, faults = call(served, CallPolicy(clock=hours.clock), streaming=streaming)
        assert len(served.requests) == 1
        assert served.requests[0]["stop"] == list(STOP)
    assert (called.reply.text, faults, hours.slept) == (TEXT, [], [])
    assert called.usage.calls == 1


def test_the_packages_own_retries_are_off(hours: Hours) -> None:
    """One request an attempt: ours alone decide, so the trace tells all of them."""
    with server(Trouble.SERVER_ERROR, times=99) as served:
        policy = CallPolicy(Retry(retries=3), clock=hours.clock)
        with pytest.raises(ModelUnavailableError, match="failed 4 times"):
            call_model(
                chat_model("openai:m", Connection(served.url)), [HumanMessage("x")], (), policy
            )
        assert len(served.requests) == 4


@pytest.mark.parametrize("trouble", [Trouble.RATE_LIMIT_SECONDS, Trouble.RATE_LIMIT_DATE])
def test_the_wish_to_wait_is_honoured(trouble: Trouble, hours: Hours) -> None:
    """In seconds or as a date; far beyond what a first pause would be."""
    import time

    hours.now = time.time()  # the server's dates are real
    with server(trouble) as served:
        served.retry_after = 30.0
        _, (fault,) = call(served, CallPolicy(clock=hours.clock))
    assert fault.wait is not None
    assert 28.0 <= fault.wait <= 31.0


def test_a_storm_of_rate_limits_ends_after_the_bounded_time(hours: Hours) -> None:
    """However many attempts are left, and the error names the last fault."""
    retry = Retry(retries=10_000, longest=60.0, total=300.0)
    with server(Trouble.RATE_LIMIT_SECONDS, times=10_000) as served:
        served.retry_after = 3_600.0
        with pytest.raises(ModelUnavailableError, match="RateLimitError"):
            call(served, CallPolicy(retry, clock=hours.clock))
    assert sum(hours.slept) <= 300.0
    assert len(hours.slept) == 4


@pytest.mark.parametrize(
    ("trouble", "words", "streaming"),
    [
        (Trouble.LENGTH, "cut off", False),
        (Trouble.LENGTH, "cut off", True),
        (Trouble.CONTENT_FILTER, "withheld", False),
        (Trouble.CONTENT_FILTER, "withheld", True),
        (Trouble.REFUSAL, "refusal", False),  # LangChain leaves refusals out of streams
    ],
)
def test_a_reply_that_is_not_whole_cannot_be_taken_for_one(
    trouble: Trouble, words: str, streaming: bool, hours: Hours
) -> None:
    """Half an answer may name the wrong candidate: the model is told and asked again."""
    with server(trouble) as served:
        called, _ = call(served, CallPolicy(clock=hours.clock), streaming=streaming)
    assert words in (called.incomplete or "")
    with pytest.raises(UnparsableReplyError, match=words):
        called.check()


@both_ways
def test_what_follows_a_stop_sequence_is_cut_and_named(streaming: bool, hours: Hours) -> None:
    """A server that ignores stop sequences lets its model invent observations."""
    with server(Trouble.AFTER_STOP) as served:
        called, (fault,) = call(served, CallPolicy(clock=hours.clock), streaming=streaming)
    assert called.reply.text == TEXT
    assert (fault.kind, fault.wait) == (FaultKind.AFTER_STOP, None)


REFUSED = {Trouble.STOP_UNSUPPORTED: "stop", Trouble.TEMPERATURE_UNSUPPORTED: "temperature"}


@both_ways
@pytest.mark.parametrize("trouble", list(REFUSED))
def test_a_model_that_refuses_a_setting_is_asked_without_it(
    trouble: Trouble, streaming: bool, hours: Hours
) -> None:
    """At once, with no attempt counted, named in the trace, and only the first time."""
    served, faults = server(trouble, times=99, program=lambda _: TEXT + MADE_UP), list[Fault]()
    with served:
        model = model_at(served, streaming=streaming)
        policy = CallPolicy(Retry(retries=0), clock=hours.clock)
        replies = [
            call_model(model, [HumanMessage(text)], STOP, policy, faults.append).reply.text
            for text in ("Decide.", "Decide again.")
        ]
        asked_with = [REFUSED[trouble] in request for request in served.requests]
    assert replies == [TEXT, TEXT], "what follows a stop sequence is cut off here"
    assert asked_with == [True, False, False]
    assert hours.slept == []
    unsupported, *others = faults
    assert (unsupported.kind, unsupported.attempt) == (FaultKind.UNSUPPORTED, 1)
    assert (REFUSED[trouble] in unsupported.message, unsupported.wait) == (True, 0.0)
    assert {fault.kind for fault in others} == {FaultKind.AFTER_STOP}


def test_a_model_may_refuse_several_settings_to_several_threads() -> None:
    """Reasoning models take neither; each thread that was refused asks again."""

    def plan(request: dict[str, Any], _: int) -> Trouble | None:
        return next((trouble for trouble, name in REFUSED.items() if name in request), None)

    with ModelServer(lambda _: TEXT, plan) as served:
        model = model_at(served)

        def ask(number: int) -> str:
            asked = [HumanMessage(f"Decide {number}.")]
            return call_model(model, asked, STOP, CallPolicy(Retry(retries=0))).reply.text

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(ask, range(40))) == {TEXT}
        assert not set(REFUSED.values()) & served.requests[-1].keys()
        assert served.troubles.total() <= 2 * 8


class Stubborn(OpenAIChat):
    """A model that sends a setting although it was told not to."""

    def leave_out(self, setting: str) -> None:
        """Do nothing."""


def test_a_setting_that_is_refused_again_is_a_rejected_request() -> None:
    """Two requests, and no endless loop."""
    with server(Trouble.STOP_UNSUPPORTED, times=99) as served:
        model = Stubborn(
            model="test",
            base_url=served.url,
            api_key=KEY,  # type: ignore[arg-type]
            max_retries=0,
        )
        with pytest.raises(ModelUnavailableError, match="rejects the request"):
            call_model(model, [HumanMessage("Decide.")], STOP)
        assert len(served.requests) == 2


def test_a_stop_sequence_is_found_in_a_reply_of_several_blocks() -> None:
    """As the Responses API gives them, which knows no stop sequences at all."""
    blocks: list[str | dict[str, Any]] = [
        {"type": "reasoning", "summary": []},
        {"type": "text", "text": "Action: look"},
        {"type": "text", "text": "\nObservation: made up"},
    ]
    model, faults = Saying(reply=AIMessage(blocks)), list[Fault]()
    called = call_model(model, [HumanMessage("Decide.")], STOP, on_fault=faults.append)
    assert called.reply.content == "Action: look"
    assert [fault.kind for fault in faults] == [FaultKind.AFTER_STOP]
    about = {"incomplete_details": {"reason": "max_output_tokens"}}
    cut = Saying(reply=AIMessage("half", response_metadata=about))
    assert call_model(cut, [HumanMessage("Decide.")]).incomplete is not None


class Saying(BaseChatModel):
    """Always says the same."""

    reply: AIMessage

    @property
    def _llm_type(self) -> str:
        return "saying"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.reply)])


def test_an_empty_reply_and_a_made_up_tool_are_the_agents_to_judge(hours: Hours) -> None:
    """They are replies: what the model said, not what its provider broke."""
    with server(Trouble.EMPTY) as served:
        called, faults = call(served, CallPolicy(clock=hours.clock))
    assert (called.reply.text, called.incomplete, faults) == ("", None, [])
    with server(Trouble.UNKNOWN_TOOL) as served:
        called, faults = call(served, CallPolicy(clock=hours.clock))
    assert [made["name"] for made in called.reply.tool_calls] == ["browse_the_web"]
    assert (called.incomplete, faults) == (None, [])


@pytest.mark.parametrize(
    ("trouble", "kind", "words"),
    [
        (Trouble.BAD_KEY, UsageError, "refuses the key"),
        (Trouble.UNKNOWN_MODEL, UsageError, "--model"),
        (Trouble.NO_QUOTA, UsageError, "quota"),
        (Trouble.BAD_REQUEST, ModelUnavailableError, "rejects the request"),
    ],
)
def test_what_cannot_pass_is_told_at_once_without_the_key(
    trouble: Trouble, kind: type[DqaError], words: str, hours: Hours
) -> None:
    """One request, one line that says what to mend."""
    with server(trouble) as served:
        with pytest.raises(kind, match=words) as told:
            call(served, CallPolicy(clock=hours.clock))
        assert len(served.requests) == 1
    assert hours.slept == []
    assert KEY not in str(told.value)


def test_a_server_that_is_not_there_is_a_fault_like_others(hours: Hours) -> None:
    """Refused connections are retried and end as infrastructure."""
    with server() as served:
        model = model_at(served)
    with pytest.raises(ModelUnavailableError, match="failed 3 times"):
        call_model(model, [HumanMessage("x")], (), CallPolicy(Retry(2), clock=hours.clock))


def test_tools_are_called_over_the_same_path(hours: Hours) -> None:
    """A model with tools bound to it is called and retried like one without."""

    @tool
    def look(where: str) -> str:
        """Look somewhere."""
        return where

    made = {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"where":1}'}}
    with server(Trouble.HALF_BODY, program=lambda _: {"tool_calls": [made]}) as served:
        bound = model_at(served).bind_tools([look])
        called = call_model(bound, [HumanMessage("x")], (), CallPolicy(clock=hours.clock))
        assert served.requests[0]["tools"][0]["function"]["name"] == "look"
    assert called.reply.tool_calls[0]["args"] == {"where": 1}
    assert len(hours.slept) == 1


def test_what_a_script_raises_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its traceback and is neither retried nor taken for an outage."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("dqa.models.scripted.model.read_conversation", broken)
    with pytest.raises(ZeroDivisionError):
        call_model(scripted_model("analyst"), [HumanMessage("x")])


def test_rates_count_every_attempt_and_the_tokens_that_came_back(hours: Hours) -> None:
    """A retry is a request too, and a reply's true tokens delay the next call."""
    limiter = Limiter(requests_per_minute=1, clock=hours.clock)
    with server(Trouble.SERVER_ERROR) as served:
        call(served, CallPolicy(Retry(first=1.0), limiter, clock=hours.clock))
    assert sum(hours.slept) == pytest.approx(60.0)
    limiter, before = Limiter(tokens_per_minute=60, clock=hours.clock), hours.now
    with server() as served:
        called, _ = call(served, CallPolicy(limiter=limiter, clock=hours.clock))
        call(served, CallPolicy(limiter=limiter, clock=hours.clock))
    used = called.usage.input_tokens + called.usage.output_tokens
    assert hours.now - before == pytest.approx(used)


def test_a_spent_budget_refuses_the_next_call() -> None:
    """Nothing is asked once it is spent."""
    budget = Budget(tokens=1)
    with server() as served:
        call(served, CallPolicy(budget=budget))
        with pytest.raises(BudgetSpentError):
            call(served, CallPolicy(budget=budget))
        assert len(served.requests) == 1


def test_a_server_that_counts_nothing_does_not_make_a_budget_endless() -> None:
    """Tokens are estimated for the budget, and results still say that none were counted."""
    budget = Budget(tokens=10)
    with server() as served:
        served.counts_tokens = False
        called, _ = call(served, CallPolicy(budget=budget))
    assert called.usage == Usage(calls=1)
    with pytest.raises(BudgetSpentError):
        budget.check()


def test_tokens_are_those_that_the_provider_counted() -> None:
    """And none where it counts none, with or without LangChain's note that a cache was free."""
    counted = AIMessage(
        "", usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    )
    assert usage_of(counted) == Usage(3, 2, 1)
    assert usage_of(AIMessage("")) == Usage(0, 0, 1)
    free = AIMessage("").model_copy(update={"usage_metadata": {"total_cost": 0}})
    assert usage_of(free) == Usage(0, 0, 1)


@both_ways
def test_half_a_character_is_replaced_before_anything_stores_it(streaming: bool) -> None:
    """JSON can spell half a surrogate pair; no file and no later request can hold one."""
    with server(program=lambda _: "Final Answer: x\ud83d") as served:
        called, _ = call(served, CallPolicy(), streaming=streaming)
    assert called.reply.text == "Final Answer: x\ufffd"
    called.reply.text.encode()


def test_half_a_character_in_a_call_is_replaced_too() -> None:
    """Arguments of tools are text like any other."""
    reply = AIMessage("", tool_calls=[{"name": "q", "args": {"a": ["\udc00"]}, "id": "1"}])
    clean = without_halves(reply)
    assert clean.tool_calls[0]["args"] == {"a": ["\ufffd"]}
    assert without_halves(clean) is clean


@both_ways
@pytest.mark.parametrize("arguments", ['["SELECT 1"]', "5", "true", '"SELECT 1"', "null"])
def test_arguments_that_are_no_object_are_the_models_mistake(
    arguments: str, streaming: bool
) -> None:
    """The reply is there, with a call that cannot be read: nothing failed at the server."""
    called_tool = {
        "content": None,
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "query_database", "arguments": arguments},
            }
        ],
    }
    with server(program=lambda _: called_tool) as served:
        called, faults = call(served, CallPolicy(), streaming=streaming)
    assert not faults
    (broken,) = called.reply.invalid_tool_calls
    assert broken["name"] == "query_database"
    assert not called.reply.tool_calls


@pytest.mark.parametrize(("arguments", "read"), [(None, {}), ({"a": 1}, {"a": 1})])
def test_arguments_that_are_no_text_are_read_all_the_same(
    arguments: Any, read: dict[str, int]
) -> None:
    """Some servers send the object itself, or nothing where a tool takes none."""
    called_tool = {
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "look", "arguments": arguments}}
        ],
    }
    with server(program=lambda _: called_tool) as served:
        called, faults = call(served, CallPolicy())
    assert not faults
    assert [made["args"] for made in called.reply.tool_calls] == [read]


def test_a_stop_sequence_in_what_a_model_thinks_ends_nothing() -> None:
    """The reply goes on after the thinking."""
    said = "<think>maybe\nObservation: x\n</think>\nFinal Answer: ghent"
    with server(program=lambda _: said) as served:
        called, faults = call(served, CallPolicy())
    assert called.reply.text == said
    assert not faults
