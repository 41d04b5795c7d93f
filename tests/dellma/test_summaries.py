"""Shortening texts: within their length, however many there are, and never by cutting."""

from __future__ import annotations

import json
from typing import Literal

import pytest

from dqa.deciders.method import Asking
from dqa.models.scripted import scripted_model
from dqa_dellma.context.summaries import Shortener
from tests.dellma.talking import conversation, said_to


def shortener(found: Asking) -> Shortener:
    """Shorten for a choice between two."""
    return Shortener("Earn much.", ("apple", "pear"), found)


@pytest.mark.parametrize("most", [100, 250, 1_000, 7_000])
@pytest.mark.parametrize("part", ["rows", "rules"])
@pytest.mark.parametrize(
    "texts",
    [
        [f'["a"]\n[{number}]\n(1 row)' for number in range(80)],
        ["x" * 60_000],
        ["a" + "\n" * 9_000 + "b" + " " * 9_000 + "c"],
        ['["a"]\n' + "\n".join(f'["{number}"]' for number in range(9_000))],
        ['["' + "name" * 800 + '"]\n' + "[1]\n" * 4_000],
    ],
)
def test_summaries_fit_together_however_long_the_texts_are(
    texts: list[str], part: Literal["rows", "rules"], most: int
) -> None:
    """By a model that writes as much as it may, in rounds where one does not suffice."""
    found = conversation(model=scripted_model("analyst"))
    short = shortener(found).shorten(part, texts, most)
    assert 0 < len(short) <= most
    assert all(line.startswith(">") for line in short.splitlines() if line)


def test_a_summary_that_marks_its_lines_too_long_is_asked_for_again() -> None:
    """What is counted is what prompts will hold."""
    lines = "\n" * 40
    found = conversation(json.dumps({"summary": f"a{lines}b"}), json.dumps({"summary": "a"}))
    assert shortener(found).shorten("rules", ["x" * 100], 50) == "> a\n\n> a"
    assert "Write a shorter one" in said_to(found)[1]


@pytest.mark.parametrize("part", ["rows", "rules"])
def test_what_is_blank_is_nothing_to_ask_about(part: Literal["rows", "rules"]) -> None:
    """However long it is."""
    found = conversation("never asked")
    assert shortener(found).shorten(part, ["\n \n" * 5_000], 500) == ""
    assert found.recorder.steps == 0
