"""Ask a model, state the problem of its reply, and ask again."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from dqa.core.errors import BudgetSpentError, ModelUnavailableError, UnparsableReplyError
from dqa.deciders.method import Asking
from dqa.deciders.replies import Reply
from dqa.models.policy import Budget, CallPolicy, Clock, Retry
from dqa.models.replies import split_thinking
from tests.models.conftest import saying

GONE = CallPolicy(Retry(1), clock=Clock(sleep=id))


class Number(Reply):
    """A number."""

    n: int


class Counting(Asking):
    """Asks for a number."""

    def render(self, name: str, **values: Any) -> str:
        return f"{name}?"


def test_an_unreadable_reply_is_asked_again_with_its_problem() -> None:
    """Every reply is counted; the record contains requests, replies and problems."""
    model = saying("<think>hm</think> ten", "", '{"n": 10}')
    asking = Counting("", model)
    assert asking.ask("count", Number).n == 10
    record = asking.recorder
    assert [(event.kind, event.step) for event in record.events] == [
        *(("prompt", 0), ("reply", 1), ("parse_failure", 1), ("reply", 2), ("parse_failure", 2)),
        *(("reply", 3), ("step", 3)),
    ]
    assert record.events[1].data["text"] == "ten"
    assert record.events[1].data["thought"] == "<think>hm</think>"
    assert (record.steps, record.usage.calls, record.usage.input_tokens) == (3, 3, 30)
    first, said, problem, empty, _ = (message.text for message in model.asked[2])
    assert (first, said, empty) == ("count?", "ten", "(empty reply)")
    assert problem.startswith("The reply could not be used. ")


@pytest.mark.parametrize(
    "bad",
    [
        "ten",
        AIMessage('{"n": 10}', response_metadata={"finish_reason": "length"}),
        AIMessage('{"n": 10}', additional_kwargs={"refusal": "No."}),
    ],
)
def test_it_ends_after_a_bounded_number_of_replies(bad: object) -> None:
    """Replies that were cut off or withheld are never used."""
    asking = Counting("", saying(*[bad] * 3), tries=2)
    with pytest.raises(UnparsableReplyError, match="2 replies in a row"):
        asking.ask("count", Number)
    assert asking.recorder.steps == 2


def test_outages_and_budgets_are_no_wrong_replies() -> None:
    """They are raised, with the record so far."""
    model = saying("ten", ConnectionError("a"), ConnectionError("b"))
    asking = Counting("", model, calls=GONE)
    with pytest.raises(ModelUnavailableError):
        asking.ask("count", Number)
    assert [event.kind for event in asking.recorder.events][-2:] == ["fault", "fault"]
    asking = Counting("", saying("ten"), calls=CallPolicy(budget=Budget(tokens=10)))
    with pytest.raises(BudgetSpentError):
        asking.ask("count", Number)


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("plain", None, "plain"),
        (" <think>a</think> b ", "<think>a</think>", "b"),
        ("a <Thinking>b</Thinking> c", "<Thinking>b</Thinking>", "a  c"),
        ("<think>a</think>b</think>c", "b</think>\n<think>a</think>", "c"),
        ("<think>never ends", "<think>never ends", ""),
    ],
)
def test_a_thought_is_separated_from_the_text(text: str, thought: str | None, said: str) -> None:
    """Also where its beginning or its end is missing."""
    assert split_thinking(text) == (thought, said)
