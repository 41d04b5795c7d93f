"""Answers name one candidate by a simple rule, or are refused; none is read as another one's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.errors import InvalidAnswerError
from dqa.core.question import Candidate, Question
from dqa.deciders.answers import choice_of, read_answer

HARBOURS = (
    "krakow", "wien", "pest", "kiev", "gulf_of_siam", "siam", "st_lawrence", "ganges_delta",
    "white_sea", "rio_grande",
)  # fmt: skip
NODES = ("Genoa", "Venice", "Kiev", "port", "port_west", "gulf_of_siam", "white_sea")
FEW_BUILDINGS = (1, 5, 12, 20, 1485, 1486)
BUILDINGS = (1, 2, 3, 5, 12, 13, 14, 20, 1485)
LISTS: dict[str, tuple[tuple[Candidate, ...], str]] = {
    "harbours": (HARBOURS, "trade node"),
    "nodes": (NODES, "trade node"),
    "few buildings": (FEW_BUILDINGS, "building id"),
    "buildings": (BUILDINGS, "building id"),
    "common words": (("best", "second", "not", "Will", "over", "Genoa"), "candidate"),
}
ODD = ("???", "v1.2", "Ærø", "日本", "a b\nc", "a.b", "12 a", "-5", "0.5", "the id")


def golden(name: str) -> list[tuple[str, tuple[Candidate, ...], str, Any]]:
    """Return the sentences of a file with candidates, their noun, and what each is meant to say."""
    path = Path(__file__).parent / "answers" / f"{name}.jsonl"
    found = []
    for line in path.read_text("utf-8").split("\n")[:-1]:
        entry = json.loads(line)
        listed = entry["candidates"]
        candidates, noun = LISTS[listed] if isinstance(listed, str) else (tuple(listed), "action")
        found.append((entry["answer"], candidates, noun, entry.get("choice", entry.get("meant"))))
    return found


def refusal(answer: str, candidates: Sequence[Candidate], noun: str = "node") -> InvalidAnswerError:
    """The error that an answer is refused with."""
    with pytest.raises(InvalidAnswerError) as refused:
        read_answer(answer, candidates, (noun,))
    return refused.value


def test_an_answer_with_exactly_one_name_names_it() -> None:
    """Case, accents, quotes, markup, separators, the noun, labels and remarks do not hide it."""
    cases = golden("read")
    assert len(cases) == 101
    wrong = {}
    for answer, candidates, noun, choice in cases:
        try:
            found: object = read_answer(answer, candidates, (noun,))
        except InvalidAnswerError as refused:
            found = refused
        if found != choice:
            wrong[answer] = found
    assert wrong == {}


@pytest.mark.parametrize(("name", "count"), [("given_up", 209), ("refused", 127)])
def test_what_names_no_one_candidate_is_refused_and_never_misread(name: str, count: int) -> None:
    """Sentences that mean a candidate, nothing, several, parts of names, and rejected names."""
    cases = golden(name)
    assert len(cases) == count
    wrong = {}
    for answer, candidates, noun, meant in cases:
        try:
            wrong[answer] = read_answer(answer, candidates, (noun,))
        except InvalidAnswerError as refused:
            if name == "given_up" and meant not in refused.named:
                wrong[answer] = str(refused.named)
    assert wrong == {}


def test_a_refusal_tells_which_candidates_were_mentioned() -> None:
    """So that scores can tell what names none from what leaves it open."""
    assert refusal("I cannot tell.", NODES).named == ()
    assert refusal("Venice or Genoa; no, Venice", NODES).named == ("Venice", "Genoa")
    assert refusal("It is not Genoa", NODES).named == ("Genoa",)


def test_names_that_differ_only_in_case_are_told_apart_by_their_spelling() -> None:
    """The spelling decides where folding cannot, and none decides where no spelling fits."""
    both = ("saint-denis", "Saint-Denis")
    assert read_answer("the answer is Saint-Denis", both) == "Saint-Denis"
    assert refusal("SAINT DENIS", both).named == both


def test_every_candidate_matches_its_own_spelling() -> None:
    """Whatever a candidate is called, its own name chooses it."""
    candidates = (*HARBOURS, *FEW_BUILDINGS, *ODD)
    assert [read_answer(f" {name} ", candidates) for name in candidates] == [*candidates]


def test_a_candidate_may_begin_like_the_noun() -> None:
    """What is passed over before a name is tried as a name first."""
    nodes = ("node 7", "7", "the trade", "trade")
    assert read_answer("Node 7", nodes, ("node",)) == "node 7"
    assert read_answer("the trade", nodes, ("trade node",)) == "the trade"
    assert read_answer("trade node: trade", ("trade",), ("trade node",)) == "trade"


@pytest.mark.parametrize(
    "answer",
    [
        "trade node " * 20_000 + "7, trade node 8",
        "{" * 50_000,
        "answer " * 20_000,
        "(answer" + " " * 50_000,
        "trade" + "-" * 50_000,
        "Genoa and Venice, " * 10_000,
    ],
)
def test_a_long_answer_is_read_in_one_pass(answer: str) -> None:
    """Names that share their first words, and endless signs, are no trap."""
    assert str(refusal(answer, (*NODES, *(f"trade node {n}" for n in range(1000)))))


def test_a_question_says_what_its_candidates_are_called() -> None:
    """The scenario defines the noun. Without known candidates, no answer is refused."""
    for name in plugins.names("scenario"):
        noun = plugins.scenario(name).listing.noun
        question = Question(name, "1", "", "")
        assert choice_of(f"{noun} west-1", question, ("west_1", "east_1")) == "west_1"
        with pytest.raises(InvalidAnswerError, match=f"names no {noun} that can be chosen"):
            choice_of("south", question, ("west_1", "east_1"))
    own = Question("custom", "1", "", "")
    assert choice_of("candidate 5", own, (5, 6)) == 5
    assert choice_of("anything at all", own, None) is None
