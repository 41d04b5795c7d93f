"""`dqa dellma tree` shows what a decision rests on, wherever it is shown."""

from __future__ import annotations

import re

import pytest

from dqa_dellma.tree.decision_tree import DecisionTree
from tests.dellma.dellma_traces import marked

HOSTILE = "\x1b[31m\x1b]0;owned\x07 [bold red]x[/] \u202egnp.exe \r \ud800 " + "y" * 2_000


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the text of a tree with hostile names."""
    from dqa_dellma.tree.text import echo_tree

    h = HOSTILE
    echo_tree(DecisionTree.of(marked(h, question=h, decider=h)))
    return capsys.readouterr().out


@pytest.mark.parametrize("terminal", [False, True])
def test_text_of_others_acts_on_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    """Controls are spelt out, markup stays text, and long names are cut."""
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
    text = shown(capsys)
    if terminal:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert not set(text) & set("\x1b\x07\r\u202e\ud800")
    assert r"\x1b" in text
    assert "[bold red]" in text.replace("\n", "")
    if not terminal:
        assert "y" * 2_000 not in text
