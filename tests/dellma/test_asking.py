"""Asking for JSON: what is read, what is asked again, and what the trace keeps of it."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from dqa.core.errors import ModelUnavailableError, RequestTooLongError, UnparsableReplyError
from dqa.models.faults import Fault, FaultKind
from dqa_dellma.asking import read_object
from dqa_dellma.prompting import fold, on_one_line, prompt
from tests.dellma.talking import PROBLEM, asker, noted, said_to


@pytest.mark.parametrize(
    "reply",
    [
        '{"rank": [2, 1]}',
        '```json\n{"rank": [2, 1]}\n```',
        'Surely {as you wish}: {"rank": [2, 1]} - and that is that.',
        '{"rank": [1, 2]} is a draft; in the end it is {"rank": [2, 1]}. So {"sure": true}.',
        '{"note": {"rank": [1, 2]}} {"rank": [2, 1], "explanation": "{"}',
    ],
)
def test_an_object_is_found_whatever_stands_around_it(reply: str) -> None:
    """In fences and in prose; of several, the last that has what was asked for."""
    assert read_object(reply, "rank")["rank"] == [2, 1]


@pytest.mark.parametrize("reply", ["", "none", "[2, 1]", '{"rank": [2, 1', "{" * 50_000])
def test_no_object_is_said_to_be_none(reply: str) -> None:
    """Empty, prose, a list, half of one, or braces without end."""
    with pytest.raises(UnparsableReplyError, match="holds no JSON object"):
        read_object(reply, "rank")


def test_deep_nesting_is_no_crash() -> None:
    """An object that is nested deeper than Python goes is none."""
    with pytest.raises(UnparsableReplyError):
        read_object('{"a":' * 5_000 + "1", "a")


def test_a_bad_reply_is_asked_again_with_what_was_wrong() -> None:
    """Every reply is counted, and the trace tells the problem."""
    found = asker("no", '{"a": 1}')
    assert found.ask("test", "Say it.", lambda text: read_object(text, "a"))["a"] == 1
    assert (found.steps, found.usage.calls, found.usage.input_tokens) == (2, 2, 20)
    assert "The reply could not be read. The reply holds no JSON object." in said_to(found)[1]
    assert [event.kind for event in found.events] == ["prompt", "reply", "parse_failure", "reply"]


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "I cannot help with that.",
        AIMessage('{"a": 1}', response_metadata={"finish_reason": "length"}),
        AIMessage('{"a": 1}', response_metadata={"finish_reason": "content_filter"}),
        AIMessage("", additional_kwargs={"refusal": "No."}),
    ],
)
def test_it_ends_after_as_many_bad_replies_as_settings_allow(bad: object) -> None:
    """Empty replies, refusals and cut ones are bad even where they read well."""
    found = asker(bad)
    with pytest.raises(UnparsableReplyError, match="3 replies in a row"):
        found.ask("test", "Say it.", lambda text: read_object(text, "a"))
    assert found.steps == len(noted(found.events, "parse_failure")) == 3


def test_beginning_anew_forgets_findings_and_keeps_what_was_paid_for() -> None:
    """A tree counts every ranking that a trace tells; replies and their tokens were there."""
    found = asker('{"a": 1}')
    found.ask("test", "Say it.", lambda text: read_object(text, "a"))
    for kind in ("factors", "pairs", "ranking"):
        found.note(kind)
    found.begin_anew(Fault(FaultKind.TOO_LONG, "RequestTooLongError", "Less.", 1, 0.0))
    assert [event.kind for event in found.events] == ["prompt", "reply", "fault"]
    assert noted(found.events, "fault")[0]["message"] == "Less."
    assert (found.steps, found.usage.calls) == (1, 1)


@pytest.mark.parametrize("words", [FaultKind.TOO_LONG.to_error("no"), "The model failed: no"])
def test_a_failure_that_is_played_is_told_by_its_words(words: object) -> None:
    """A cassette knows of one class only."""
    found = asker(ModelUnavailableError(str(words)))
    with pytest.raises(ModelUnavailableError, match="no") as failed:
        found.ask("test", "Say it.", lambda text: text)
    assert isinstance(failed.value, RequestTooLongError) is not isinstance(words, str)


def test_what_a_model_thinks_aloud_is_kept_apart() -> None:
    """A thought is no answer, and the trace has it."""
    found = asker('<think>{"a": 1}?</think>\n{"a": 2}')
    assert found.ask("test", "Say it.", lambda text: read_object(text, "a"))["a"] == 2
    (reply,) = noted(found.events, "reply")
    assert (reply["text"], reply["thought"]) == ('{"a": 2}', '<think>{"a": 1}?</think>')


def test_names_are_compared_as_models_change_them() -> None:
    """Case, spaces and Unicode forms do not tell names apart."""
    assert fold(" Very\n LIKELY ") == "very likely"
    assert fold("Cafe\u0301") == fold("caf\u00e9")
    assert on_one_line("a\r\n\u2028# Step: decide") == "a # Step: decide"


def test_the_task_names_goal_actions_and_context() -> None:
    """Actions are numbered from 1 in their order."""
    text = prompt("task", problem=PROBLEM)
    assert "Action 1. apple\nAction 2. pear\n" in text
    assert text.index("Earn much.") < text.index("apple") < text.index("Pears sell well.")
