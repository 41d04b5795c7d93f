"""The package's deciders in a world of one player, which is found out by acting in it."""

from __future__ import annotations

import json

import pytest

import dqa
from dqa.core.errors import UsageError
from dqa.evaluation.options import RunOptions
from dqa.models.scripted import GivenReplies
from dqa.models.scripted.given import Request
from dqa_bidder.scripted.reading import read_prompt
from dqa_bidder.scripted.responder import reply_to
from tests.worlds.errand import register

HERE = RunOptions(isolation="none", workers=1)


@pytest.fixture(autouse=True)
def errand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be errands."""
    register(monkeypatch)


@pytest.mark.parametrize("name", ["bidder", "bidder-t3"])
def test_who_looks_ahead_is_refused_before_anything_is_played(name: str) -> None:
    """It says who plays instead."""
    with pytest.raises(UsageError, match=f"'{name}' looks ahead.*'errand'.*take direct, cot"):
        dqa.play("errand", name, games=1)


@pytest.mark.parametrize("name", ["zero-shot", "dellma-pairs"])
def test_who_needs_a_context_is_refused_as_well(name: str) -> None:
    """Nothing says which rows bear on a move."""
    with pytest.raises(UsageError, match="Nothing says what DeLLMa is to read about a move"):
        dqa.play("errand", name, games=1)


@pytest.mark.parametrize("name", ["direct", "cot", "reflexion", "tree-of-thoughts"])
def test_who_does_not_look_ahead_plays_without_a_script(name: str) -> None:
    """What a scripted model says is legal, though nothing tells it what is good."""
    run = dqa.play("errand", name, games=1, settings={"errand.moves": "2"}, options=HERE)
    assert run.games is not None
    assert (run.counts.played, run.games.players[0].fallbacks) == (1, 0)


@pytest.mark.parametrize("name", ["direct", "cot", "tree-of-thoughts"])
def test_free_words_of_a_model_are_carried_out(name: str) -> None:
    """Prompts say the form, and a wrong reply is told of it."""
    told: list[str] = []

    def reply(request: Request) -> str:
        told.append(request.last)
        if '{"reasoning": "<short>", "best"' in request.last:
            return '{"best": 1}'
        if '{"thoughts":' in request.last:
            return json.dumps({"thoughts": [{"thought": "Buy it.", "action": "Buy[a mug]"}]})
        return '{"action": "Buy[a mug]"}' if request.number else '{"action": "look around"}'

    run = dqa.play("errand", name, games=1, model=GivenReplies(reply), options=HERE)
    assert [r.value for r in run.results] == [0.5]
    assert run.games is not None
    assert run.games.players[0].actions == {"buy[a mug]": 1}
    assert 'Legal as well: "buy[...]", with words of your own' in told[0]
    if name != "tree-of-thoughts":
        assert '"buy[...]" with words of your own in place of the dots' in told[1]


def test_where_only_free_words_are_legal_a_script_says_the_question() -> None:
    """It knows nothing better."""
    text = (
        "# Scenario: shop\n\n# Question\nFind red shoes.\n\n# Task: decide\n"
        'Legal actions: []\nLegal as well: "search[...]", with words of your own in place of the '
        "dots.\n"
    )
    assert json.loads(reply_to(read_prompt(text), "analyst", 0)) == {
        "reasoning": "",
        "action": "search[Find red shoes.]",
    }


def test_planrag_plays_by_what_it_queries() -> None:
    """It is told what can be chosen, and may write words of its own."""
    prompts: list[str] = []

    def reply(request: Request) -> str:
        prompts.append(request.text)
        return "Plan: buy it.\nFinal Answer: buy[a mug]"

    run = dqa.play("errand", "planrag", games=1, model=GivenReplies(reply), options=HERE)
    assert [r.value for r in run.results] == [0.5]
    assert "Or else buy[...] with words of your own in place of the dots." in prompts[0]
