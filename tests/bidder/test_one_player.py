"""BIDDER's deciders in a world of one player that is learnt by acting."""

from __future__ import annotations

import json

import pytest

import dqa
from dqa.core.errors import UsageError
from dqa.evaluation.options import RunOptions
from dqa.testing.models import PreparedReplies, Request
from tests.worlds.errand import register

HERE = RunOptions(isolation="none", workers=1)


@pytest.fixture(autouse=True)
def errand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the world of errands."""
    register(monkeypatch)


def test_methods_that_cannot_play_are_refused() -> None:
    """A method that looks ahead or needs a context is refused; the message gives the reason."""
    with pytest.raises(UsageError, match=r"'bidder' looks ahead.*'errand'.*direct, cot"):
        dqa.play("errand", "bidder", games=1)
    with pytest.raises(UsageError, match="DeLLMa cannot decide"):
        dqa.play("errand", "zero-shot", games=1)


def test_methods_that_do_not_look_ahead_play_without_a_script() -> None:
    """A scripted model chooses legal actions, without knowing their value."""
    for name in ("direct", "cot", "reflexion", "tree-of-thoughts"):
        run = dqa.play("errand", name, games=1, settings={"errand.moves": "2"}, options=HERE)
        assert run.games is not None
        assert (run.counts.played, run.games.players[0].fallbacks) == (1, 0), name


@pytest.mark.parametrize("name", ["direct", "cot", "tree-of-thoughts"])
def test_free_form_actions_are_carried_out(name: str) -> None:
    """Prompts describe the form, and a wrong reply gets it again."""
    prompts: list[str] = []

    def reply(request: Request) -> str:
        prompts.append(request.last)
        if '{"reasoning": "<short>", "best"' in request.last:
            return '{"best": 1}'
        if '{"thoughts":' in request.last:
            return json.dumps({"thoughts": [{"thought": "Buy it.", "action": "Buy[a mug]"}]})
        return '{"action": "Buy[a mug]"}' if request.number else '{"action": "look around"}'

    run = dqa.play("errand", name, games=1, model=PreparedReplies(reply), options=HERE)
    assert [r.value for r in run.results] == [0.5]
    assert run.games is not None
    assert run.games.players[0].actions == {"buy[a mug]": 1}
    assert 'Also legal: "buy[...]", with your own words' in prompts[0]
    if name != "tree-of-thoughts":
        assert '"buy[...]" with your own words instead of the dots' in prompts[1]
