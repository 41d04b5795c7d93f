"""Answers in a free form, in addition to the candidates."""

from __future__ import annotations

import pytest

from dqa.core.errors import InvalidAnswerError
from dqa.core.question import Candidate, Question
from dqa.deciders.answers import choice_of
from dqa.deciders.replies import read_action

BUTTONS: tuple[Candidate, ...] = ("click[back to search]", "click[buy now]")


def question(
    form: str = "search[...]", candidates: tuple[Candidate, ...] | None = BUTTONS
) -> Question:
    """A page of a shop."""
    return Question("shop", "1", "What next?", "", candidates=candidates, free_form=form)


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("search[red shoes]", "search[red shoes]"),
        ("Final Answer: search[red shoes]", "search[red shoes]"),
        ("`Search [Red Shoes, size 11 (women's)]`.", "search[Red Shoes, size 11 (women's)]"),
        ("I would search[red shoes] next.", "search[red shoes]"),
        ("search[not too small, under $30?]", "search[not too small, under $30?]"),
        ("search[buy now]", "search[buy now]"),
        ("click[buy now]", "click[buy now]"),
        ("click buy now", "click[buy now]"),
        ("Final Answer: Click[Buy Now]", "click[buy now]"),
        ("I choose click[buy now].", "click[buy now]"),
    ],
)
def test_words_of_ones_own_are_an_answer(answer: str, choice: str) -> None:
    """As they were written, in the form's own spelling; candidates are read as ever."""
    assert choice_of(answer, question(), BUTTONS) == choice
    assert read_action(answer, BUTTONS, "action", "search[...]") == choice


@pytest.mark.parametrize(
    "answer",
    [
        "search[]",
        "search[ ]",
        "search[a] or search[b]",
        "search[a], then click[buy now]",
        "do not search[a]",
        "research[a]",
        "look for red shoes",
    ],
)
def test_what_says_more_or_less_is_refused_and_told_of_the_form(answer: str) -> None:
    """The model hears what it may write."""
    with pytest.raises(InvalidAnswerError, match=r"search\[\.\.\.\]\" with your own words"):
        choice_of(answer, question(), BUTTONS)


def test_without_a_form_nothing_is_free() -> None:
    """And with nothing but a form, only the form is."""
    with pytest.raises(InvalidAnswerError) as refused:
        choice_of("search[red shoes]", question(form=""), BUTTONS)
    assert "with your own words" not in str(refused.value)
    assert choice_of("search[a]", question(candidates=()), ()) == "search[a]"
    with pytest.raises(InvalidAnswerError, match="names no candidate that can be chosen"):
        choice_of("buy now", question(candidates=()), ())
    assert choice_of("search[a]", question(candidates=None), None) is None
    assert choice_of("buy now", question(form="", candidates=()), ()) is None
