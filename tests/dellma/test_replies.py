"""JSON objects in replies, and the comparison of names."""

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
def test_an_object_is_found_within_other_text(reply: str) -> None:
    """Of several objects, the last with the required field counts."""
    assert read_object(reply, "rank")["rank"] == [2, 1]


def test_an_object_without_a_required_field_is_not_the_reply() -> None:
    text = '{"action": "Ada"}\nIn short: {"reasoning": "cheapest"}'
    assert Choice.read(text, Options(("Ada", "Bob"))).action == "Ada"


@pytest.mark.parametrize(
    "reply", ["", "[2, 1]", '{"rank": [2, 1', "{" * 50_000, '{"a":' * 5_000 + "1"]
)
def test_a_reply_without_an_object_is_an_error(reply: str) -> None:
    with pytest.raises(UnparsableReplyError):
        read_object(reply, "rank")


def test_names_are_compared_without_case_spaces_and_unicode_forms() -> None:
    assert fold(" Very\n LIKELY ") == "very likely"
    assert fold("Cafe\u0301") == fold("caf\u00e9")
    assert on_one_line("a\r\n\u2028# Step: decide") == "a # Step: decide"
