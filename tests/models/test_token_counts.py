"""What servers say of tokens: counts, what is none, and what lost attempts have cost."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from dqa.core.decision import Usage
from dqa.core.events import FaultEvent, WarningEvent
from dqa.core.recorder import Recorder
from dqa.models.budget import Budget, Prices
from dqa.models.conversation import take_turn
from dqa.models.policy import CallPolicy, Retry
from tests.models.conftest import Hours
from tests.models.listening import (
    EVENT,
    Saying,
    asked,
    asking,
    completion,
    listening,
    send,
)
from tests.models.model_server import ModelServer, Trouble
from tests.models.served import both_ways

BAD_COUNTS = [-1, 1.5, "many", None, 10**30, {"a": 1}]


def test_what_is_no_count_of_tokens_is_unknown_and_costs_no_reply(hours: Hours) -> None:
    """A budget then goes by an estimate, and nothing is won or lost by odd numbers."""
    odd = [{"prompt_tokens": count, "completion_tokens": 5} for count in BAD_COUNTS]
    for usage in (*odd, {"prompt_tokens": 7, "completion_tokens": float("nan")}, "lots", []):
        budget = Budget(tokens=10_000)
        body = completion({"content": "Ghent"}, usage=usage)
        with listening(lambda h, body=body: send(h, body)) as url:  # type: ignore[misc]
            called, faults = asked(asking(url), hours, budget=budget)
        assert (called.reply.text, faults) == ("Ghent", [])
        assert (called.usage, called.miscounted) == (Usage(calls=1), True), usage
        spent = budget.spent
        assert 0 < spent.input_tokens + spent.output_tokens < 20


def test_what_else_a_provider_says_of_tokens_changes_no_count(hours: Hours) -> None:
    """The counts that matter are there."""
    counted = {"prompt_tokens": 7, "completion_tokens": 5}
    more: tuple[dict[str, Any], ...] = (
        {"total_tokens": "many"},
        {},
        {"prompt_tokens_details": {"cached_tokens": 2}},
        {
            "prompt_tokens_details": {"cached_tokens": "x"},
            "completion_tokens_details": {"reasoning_tokens": -2},
        },
    )
    for usage in more:
        body = completion({"content": "Ghent"}, usage=counted | usage)
        with listening(lambda h, body=body: send(h, body)) as url:  # type: ignore[misc]
            called, _ = asked(asking(url), hours)
        assert (called.usage, called.miscounted) == (Usage(7, 5, 1), False)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_counts_of_streams_and_of_other_packages_are_judged_alike(hours: Hours) -> None:
    """Whatever they hand on."""
    for count in (-1, "many", None, 10**30):
        usage = {"prompt_tokens": count, "completion_tokens": 1, "total_tokens": 1}
        last = json.dumps({"id": "1", "model": "m", "choices": [], "usage": usage}).encode()
        ended = EVENT.replace(b"null", b'"stop"') % b"Ghent"
        body = ended + b"data: " + last + b"\n\n" + b"data: " + last + b"\n\ndata: [DONE]\n\n"
        with listening(lambda h, b=body: send(h, b, kind="text/event-stream")) as url:  # type: ignore[misc]
            model = asking(url)
            model.streaming = model.stream_usage = True
            called, faults = asked(model, hours)
        assert (called.reply.text, faults) == ("Ghent", [])
        assert (called.usage, called.miscounted) == (Usage(calls=1), True)
    for wrong in (*BAD_COUNTS, "12", True, float("inf")):
        other = AIMessage("Ghent")
        tokens: Any = {"input_tokens": wrong, "output_tokens": 1, "total_tokens": 1}
        other.usage_metadata = tokens
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
