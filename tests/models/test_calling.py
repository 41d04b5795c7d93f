"""One call of a model: retries, settings that a server refuses, limits, budgets and reasoning."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from email.utils import formatdate
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from dqa.core.decision import Usage
from dqa.core.errors import (
    BudgetSpentError,
    ModelUnavailableError,
    UnparsableReplyError,
    UsageError,
)
from dqa.core.events import FaultEvent
from dqa.core.journal import Journal, use_journal
from dqa.core.recorder import Recorder
from dqa.models.calling import call_model
from dqa.models.cassette import Cassette
from dqa.models.policy import Budget, CallPolicy, Limiter, Retry
from dqa.models.registry import Connection, chat_model, check_reachable
from dqa.models.replies import ModelReply
from tests.models.conftest import Hours
from tests.models.faulty import KEY, Answer, error, listening, ok, raw, send, streamed

ASKED = [HumanMessage("Where?")]
STOP = ("\nObservation:",)


def asked(
    url: str, hours: Hours, stop: Sequence[str] = (), **policy: Any
) -> tuple[ModelReply, list[FaultEvent]]:
    """Ask a new model at an address. Return its reply and the recorded faults."""
    recorder, calls = Recorder(), CallPolicy(**{"clock": hours.clock, **policy})
    model = chat_model("openai:m", Connection(url))
    return call_model(model, ASKED, recorder, calls, stop), faults_of(recorder)


def faults_of(recorder: Recorder) -> list[FaultEvent]:
    """Return the recorded faults."""
    return [event for event in recorder.events if isinstance(event, FaultEvent)]


class Saying(BaseChatModel):
    """A model of another package, which always says the same."""

    reply: Any

    @property
    def _llm_type(self) -> str:
        return "saying"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration.model_construct(message=self.reply)])


def saying(reply: AIMessage) -> BaseChatModel:
    """Make such a model, of any reply."""
    return Saying.model_construct(reply=reply, cache=None)


def test_a_reply_after_faults_is_the_servers_and_each_fault_is_reported(hours: Hours) -> None:
    """The attempts count from 1, and the pauses are those that were slept."""
    with listening(error(500), error(429), ok()) as served:
        called, faults = asked(served.url, hours)
    assert (called.reply.text, called.usage) == ("Ghent", Usage(7, 5, 1))
    assert [(fault.fault, fault.attempt) for fault in faults] == [("server", 1), ("rate_limit", 2)]
    assert [fault.wait for fault in faults] == hours.slept


@pytest.mark.parametrize("ahead", [0.0, 3_600.0, -86_400.0])
def test_a_retry_after_date_is_read_by_the_servers_own_clock(ahead: float, hours: Hours) -> None:
    """The clocks of the two need not agree."""
    now = time.time() + ahead
    headers = {"Retry_After": formatdate(now + 30, usegmt=True)}
    headers["Date"] = formatdate(now, usegmt=True)
    with listening(error(429, **headers), ok()) as served:
        _, (fault,) = asked(served.url, hours)
    assert fault.wait is not None
    assert 28.0 <= fault.wait <= 31.0


def test_a_storm_of_rate_limits_ends_after_a_bounded_time(hours: Hours) -> None:
    """However many attempts are left."""
    retry = Retry(retries=10_000, longest=60.0, total=300.0)
    with (
        listening(error(429, Retry_After="3600")) as served,
        pytest.raises(ModelUnavailableError, match="failed 5 times"),
    ):
        asked(served.url, hours, retry=retry)
    assert sum(hours.slept) <= 300.0


def test_a_server_that_is_away_is_named_with_what_to_fix(hours: Hours) -> None:
    """Nothing can have been charged."""
    with listening(ok()) as served:
        pass
    recorder = Recorder()
    calls = CallPolicy(Retry(2), clock=hours.clock)
    with pytest.raises(ModelUnavailableError, match=r"3 times.*no server can be reached"):
        call_model(chat_model("openai:m", Connection(served.url)), ASKED, recorder, calls)
    assert recorder.lost == Usage(calls=3)
    with pytest.raises(ModelUnavailableError, match=r"m cannot be reached.*--base-url"):
        check_reachable("m", chat_model("openai:m", Connection(served.url)))


def test_a_redirect_is_not_followed(hours: Hours, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key and the question stay; the message names the address to use."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with listening(ok()) as other:
        there = other.url
        with (
            listening(lambda h: send(h, b"", 307, Location=there)) as served,
            pytest.raises(UsageError) as told,
        ):
            asked(served.url, hours)
        assert not other.bodies
    assert there in str(told.value)
    assert "--base-url" in str(told.value)
    assert KEY not in str(told.value)


MADE_UP = "Action: look\nObservation: made up"
REFUSALS = {
    "stop": error(400, "Unsupported parameter: 'stop' is not supported with this model."),
    "temperature": error(400, "'temperature' does not support 0 with this model."),
}


def picky(*names: str) -> Answer:
    """A server that refuses settings, as long as a request has one of them."""

    def answer(handler: Any) -> None:
        refused = next((REFUSALS[name] for name in names if name in handler.asked), None)
        (refused or ok({"content": MADE_UP}))(handler)

    return answer


@pytest.mark.parametrize("name", ["stop", "temperature"])
def test_a_setting_that_a_model_refuses_is_left_out_at_once(name: str, hours: Hours) -> None:
    """No attempt is counted, the trace names it, and later requests do without it."""
    with listening(picky(name)) as served:
        model, recorder = chat_model("openai:m", Connection(served.url)), Recorder()
        calls = CallPolicy(Retry(0), clock=hours.clock)
        for _ in range(2):
            reply = call_model(model, ASKED, recorder, calls, STOP).reply
            assert reply.text == "Action: look", "what follows a stop sequence is cut here"
        assert [name in body for body in served.bodies] == [True, False, False]
    assert not hours.slept
    refused, *others = faults_of(recorder)
    assert (refused.fault, refused.wait, name in refused.message) == ("unsupported", 0, True)
    assert {fault.fault for fault in others} == {"after_stop"}


def test_a_setting_that_is_refused_again_is_a_rejected_request(hours: Hours) -> None:
    """Two requests, and no endless loop."""
    with listening(REFUSALS["stop"]) as served:
        with pytest.raises(ModelUnavailableError, match="rejects the request"):
            asked(served.url, hours, STOP)
        assert len(served.bodies) == 2


STREAMED = streamed(
    {"reasoning_content": "Let "}, {"reasoning_content": "me see"}, {"content": "Gh"},
    {"content": "ent"},
)  # fmt: skip


@pytest.mark.parametrize(
    "first",
    [
        error(400, "This model only support stream mode, please enable the stream parameter."),
        error(422, "stream must be set to true: non-streaming requests are not supported"),
        STREAMED,
    ],
    ids=["dashscope", "unprocessable", "streams anyway"],
)
def test_a_server_that_only_streams_is_asked_to_stream(first: Answer, hours: Hours) -> None:
    """From then on every request streams, with its tokens and its reasoning."""
    with listening(first, STREAMED) as served:
        model, recorder = chat_model("openai:m", Connection(served.url)), Recorder()
        calls = CallPolicy(Retry(0), clock=hours.clock)
        for _ in range(2):
            called = call_model(model, ASKED, recorder, calls)
            assert (called.reply.text, called.usage) == ("Ghent", Usage(7, 5, 1))
            assert called.reasoning == "Let me see"
        assert [bool(body.get("stream")) for body in served.bodies] == [False, True, True]
    assert [fault.fault for fault in faults_of(recorder)] == ["unsupported"]


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": "Let me see"},
        {"reasoning": "Let me see"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Let me see"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Let me see"}]},
                     {"type": "text", "text": "Ghent"}]},
    ],
)  # fmt: skip
def test_reasoning_is_stored_in_the_trace(message: dict[str, Any]) -> None:
    """Whatever the server calls it, with its tokens, next to the text."""
    details = {
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    usage = {"prompt_tokens": 7, "completion_tokens": 5, **details}
    with listening(ok(message, usage=usage)) as served:
        turn = call_model(chat_model("openai:m", Connection(served.url)), ASKED, Recorder())
    event = turn.event(1, turn.text, turn.thought)
    assert (event.text, event.reasoning) == ("Ghent", "Let me see")
    assert (event.cached_tokens, event.reasoning_tokens) == (4, 3)


def test_reasoning_blocks_of_other_packages_are_read_too() -> None:
    """As the Responses API and Anthropic give them; a stop sequence is found in the text."""
    blocks: list[str | dict[str, Any]] = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Let me see"}]},
        {"type": "text", "text": "Action: look"},
        {"type": "text", "text": "\nObservation: made up"},
    ]
    called = call_model(saying(AIMessage(blocks)), ASKED, Recorder(), stop=STOP)
    assert called.text == "Action: look"
    assert called.reasoning == "Let me see"
    thinking = "<think>maybe\nObservation: x\n</think>\nGhent"
    assert (
        call_model(saying(AIMessage(thinking)), ASKED, Recorder(), stop=STOP).reply.text == thinking
    )


@pytest.mark.parametrize(
    ("about", "is_whole"),
    [
        ({}, True),
        ({"stop_reason": "end_turn"}, True),
        ({"finish_reason": "STOP"}, True),
        ({"done_reason": "stop"}, True),
        ({"status": "completed"}, True),
        ({"finish_reason": "MAX_TOKENS"}, False),
        ({"incomplete_details": {"reason": "max_output_tokens"}, "status": "incomplete"}, False),
        ({"stop_reason": "refusal"}, False),
        ({"finish_reason": "SAFETY"}, False),
    ],
)
def test_finish_reasons_of_other_packages_are_known(about: dict[str, Any], is_whole: bool) -> None:
    """Good ones give an answer, and others a reply that is asked again."""
    called = call_model(saying(AIMessage("Ghent", response_metadata=about)), ASKED, Recorder())
    with nullcontext() if is_whole else pytest.raises(UnparsableReplyError):
        called.check()


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"content": "x", "response_metadata": {"finish_reason": "OTHER"}}, "reason 'other'"),
        ({"content": "x", "response_metadata": {"status": "failed"}}, "reason 'failed'"),
        ({"content": "x" * 1_000_000}, "larger than 1,000,000"),
    ],
)
def test_replies_of_other_packages_have_the_same_bounds(
    message: dict[str, Any], words: str, hours: Hours
) -> None:
    """They are faults, and asked again."""
    calls = CallPolicy(Retry(1), clock=hours.clock)
    with pytest.raises(ModelUnavailableError, match=f"2 times.*{words}"):
        call_model(saying(AIMessage.model_construct(**message)), ASKED, Recorder(), calls)


def test_a_reply_that_is_too_large_is_recorded_as_a_failure(tmp_path: Any, hours: Hours) -> None:
    """Without its text."""
    tape, calls = tmp_path / "tape.jsonl", CallPolicy(Retry(0), clock=hours.clock)
    with listening(ok({"content": "x" * 16_000_000})) as served:
        for opened in (Cassette.record, Cassette.replay):
            connection = Connection(served.url, cassette=opened(tape, ["openai:m"]))
            with pytest.raises(ModelUnavailableError, match="larger than 16,000,000"):
                call_model(chat_model("openai:m", connection), ASKED, Recorder(), calls)
    assert "xxxxx" not in tape.read_text()


def test_rates_count_every_attempt_and_the_tokens_that_came_back(hours: Hours) -> None:
    """A retry is a request too, and a reply's tokens delay the next call."""
    limiter = Limiter(requests_per_minute=1, clock=hours.clock)
    with listening(error(500), ok()) as served:
        asked(served.url, hours, limiter=limiter)
    assert sum(hours.slept) == pytest.approx(60.0)
    limiter, before = Limiter(tokens_per_minute=60, clock=hours.clock), hours.now
    with listening(ok()) as served:
        for _ in range(2):
            asked(served.url, hours, limiter=limiter)
    assert hours.now - before == pytest.approx(12.0)


@pytest.mark.parametrize("answer", [ok(), ok(usage=None), raw(b"{")])
def test_a_spent_budget_refuses_the_next_call(answer: Answer, hours: Hours) -> None:
    """By counted tokens, or by an estimate: also where a server counts nothing, or replies fail."""
    budget = Budget(tokens=12)
    policy: dict[str, Any] = {"retry": Retry(1_000, total=1e9), "budget": budget}
    with listening(answer) as served:
        with pytest.raises(BudgetSpentError):
            [asked(served.url, hours, **policy) for _ in range(20)]
        assert 1 <= len(served.bodies) <= 7
    assert budget.spent.input_tokens + budget.spent.output_tokens >= 12


def test_a_reply_from_before_a_pause_is_not_asked_for_again(hours: Hours) -> None:
    """Its faults and its tokens count as they did."""
    with listening(error(500), ok({"reasoning_content": "Hm"})) as served:
        journal, reports = Journal(), []
        for _ in range(2):
            recorder = Recorder()
            calls = CallPolicy(budget=Budget(), clock=hours.clock)
            with use_journal(journal):
                model = chat_model("openai:m", Connection(served.url))
                called = call_model(model, ASKED, recorder, calls)
            spent = calls.budget and calls.budget.spent
            faults = faults_of(recorder)
            reports.append((called.reply.text, called.usage, called.reasoning, faults, spent))
            journal = Journal(journal.lines)
        assert len(served.bodies) == 2
    assert reports[0] == reports[1]
    assert reports[0][4] == Usage(7, 5, 2)
