"""Calling models whose server misbehaves, over real HTTP on loopback."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage

from dqa import plugins
from dqa.core.decision import Usage
from dqa.core.errors import BudgetSpentError, DqaError, ModelUnavailableError, UsageError
from dqa.models.budget import Budget
from dqa.models.calling import call_model
from dqa.models.faults import FaultKind
from dqa.models.limits import Limiter
from dqa.models.policy import CallPolicy, Retry
from dqa.models.registry import Connection, chat_model
from dqa.models.scripted import scripted_model
from tests.models.conftest import Hours
from tests.models.model_server import Trouble
from tests.models.served import KEY, STOP, TEXT, both_ways, call, model_at, server

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


@both_ways
@pytest.mark.parametrize("trouble", [trouble for trouble in Trouble if trouble.loses_reply])
def test_a_lost_reply_is_asked_for_again_and_the_fault_is_named(
    trouble: Trouble, streaming: bool, hours: Hours
) -> None:
    """Once the server has recovered the reply is what it would have been."""
    # Only a server that says nothing is given up: others are waited for, however busy the machine.
    patience = 1.0 if trouble is Trouble.STALL else 60.0
    policy = CallPolicy(clock=hours.clock)
    with server(trouble, times=2) as served:
        called, faults = call(served, policy, streaming=streaming, patience=patience)
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


def test_what_a_script_raises_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its traceback and is neither retried nor taken for an outage."""

    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(plugins, "responders", broken)
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
