"""Asking a model, saying what was wrong with its reply, and asking again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from dqa.core.errors import (
    BudgetSpentError,
    ModelUnavailableError,
    UnparsableReplyError,
)
from dqa.core.recorder import Recorder
from dqa.models.budget import Budget
from dqa.models.conversation import Conversation, take_turn
from dqa.models.limits import Clock
from dqa.models.policy import CallPolicy, Retry
from dqa.models.replies import split_thinking


class Says(BaseChatModel):
    """Gives its replies in turn, raises those that are errors, and remembers what it was shown."""

    replies: list[Any]
    shown: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "says"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.shown.append(list(messages))
        said = self.replies[len(self.shown) - 1]
        if isinstance(said, Exception):
            raise said
        message = AIMessage(said) if isinstance(said, str) else said
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        return ChatResult(
            generations=[
                ChatGeneration(message=message.model_copy(update={"usage_metadata": usage}))
            ]
        )


def number(said: str) -> int:
    """Read a number."""
    if not said.isdecimal():
        raise UnparsableReplyError("Write a number.")
    return int(said)


def test_an_unreadable_reply_is_asked_again_with_what_was_wrong() -> None:
    """Every reply is counted, and the record holds what was asked, said and wrong."""
    model = Says(replies=["<think>hm</think> ten", "", "10"])
    talk = Conversation(model)
    assert talk.ask("How many?", number, "counting") == 10
    record = talk.recorder
    assert [event.kind for event in record.events] == [
        *("prompt", "reply", "parse_failure", "reply", "parse_failure", "reply")
    ]
    assert [event.step for event in record.events] == [0, 1, 1, 2, 2, 3]
    assert record.events[0].data["purpose"] == "counting"
    assert (record.events[1].data["text"], record.events[1].data["thought"]) == (
        "ten",
        "<think>hm</think>",
    )
    assert (record.steps, record.usage.calls, record.usage.input_tokens) == (3, 3, 30)
    assert [message.text for message in model.shown[2]] == [
        "How many?",
        "ten",
        "The reply could not be used. Write a number.",
        "(empty reply)",
        "The reply could not be used. Write a number.",
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "ten",
        AIMessage("10", response_metadata={"finish_reason": "length"}),
        AIMessage("10", additional_kwargs={"refusal": "No."}),
    ],
)
def test_it_ends_after_a_bounded_number_of_replies(bad: object) -> None:
    """Replies that were cut off or withheld count as unreadable even where they read well."""
    talk = Conversation(Says(replies=[bad] * 3), max_failures=2)
    with pytest.raises(UnparsableReplyError, match="2 replies in a row could not be used"):
        talk.ask("How many?", number)
    assert talk.recorder.steps == 2


def gone(sleep: Callable[[float], object] = id) -> CallPolicy:
    """A policy of one retry that waits for nothing."""
    return CallPolicy(Retry(1), clock=Clock(sleep=sleep))


def test_a_turn_records_faults_and_tokens_and_leaves_the_reply_to_its_reader() -> None:
    """A fault belongs to the reply that it delayed."""
    record = Recorder()
    record.steps = 4
    turn = take_turn(
        Says(replies=[ConnectionError("reset"), "<think>x"]), [HumanMessage("a")], record, gone()
    )
    assert (turn.text, turn.thought, turn.reply.text) == ("", "<think>x", "<think>x")
    assert [(event.kind, event.step) for event in record.events] == [("fault", 5)]
    assert (record.steps, record.usage.calls, record.lost.calls) == (4, 1, 1)


def test_what_ends_a_decision_is_raised_with_the_record_so_far() -> None:
    """Outages and budgets are nobody's wrong reply."""
    talk = Conversation(
        Says(replies=["ten", ConnectionError("a"), ConnectionError("b")]), 3, gone()
    )
    with pytest.raises(ModelUnavailableError):
        talk.ask("How many?", number)
    assert [event.kind for event in talk.recorder.events][-2:] == ["fault", "fault"]
    budget = CallPolicy(budget=Budget(tokens=12))
    talk = Conversation(Says(replies=["ten", "10"]), 3, budget)
    with pytest.raises(BudgetSpentError):
        talk.ask("How many?", number)
    assert talk.recorder.usage.output_tokens == 2


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("plain", None, "plain"),
        (" <think>a</think> b ", "<think>a</think>", "b"),
        ("a <Thinking>b</Thinking> c", "<Thinking>b</Thinking>", "a  c"),
        ("a</think>b", "a</think>", "b"),
        ("<think>a</think>b</think>c", "b</think>\n<think>a</think>", "c"),
        ("<think>never ends", "<think>never ends", ""),
        ("", None, ""),
    ],
)
def test_a_thought_is_told_from_what_is_said(text: str, thought: str | None, said: str) -> None:
    """Also where its beginning or its end is missing."""
    assert split_thinking(text) == (thought, said)
