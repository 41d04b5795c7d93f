"""Reading JSON in replies, and names and tasks in prompts."""

from __future__ import annotations

import pytest

from dqa.core.errors import UnparsableReplyError
from dqa.deciders.method import Choice, Options
from dqa.deciders.prompting import fold, on_one_line
from dqa.deciders.replies import read_object


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


def test_an_object_with_only_a_reply_s_other_fields_is_not_the_reply() -> None:
    """Only the fields that a reply must have tell which object it is."""
    text = '{"action": "Ada"}\nIn short: {"reasoning": "cheapest"}'
    assert Choice.read(text, Options(("Ada", "Bob"))).action == "Ada"


@pytest.mark.parametrize("reply", ["", "none", "[2, 1]", '{"rank": [2, 1', "{" * 50_000])
def test_no_object_is_said_to_be_none(reply: str) -> None:
    """Empty, prose, a list, half of one, or braces without end."""
    with pytest.raises(UnparsableReplyError, match="holds no JSON object"):
        read_object(reply, "rank")


def test_deep_nesting_is_no_crash() -> None:
    """An object that is nested deeper than Python goes is none."""
    with pytest.raises(UnparsableReplyError):
        read_object('{"a":' * 5_000 + "1", "a")


def test_names_are_compared_as_models_change_them() -> None:
    """Case, spaces and Unicode forms do not tell names apart."""
    assert fold(" Very\n LIKELY ") == "very likely"
    assert fold("Cafe\u0301") == fold("caf\u00e9")
    assert on_one_line("a\r\n\u2028# Step: decide") == "a # Step: decide"
