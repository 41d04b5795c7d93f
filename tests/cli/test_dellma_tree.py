"""`dqa dellma tree` shows what a decision rests on, wherever it is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dqa_dellma.tree.decision_tree import DecisionTree
from tests.cli.conftest import Command
from tests.dellma.dellma_traces import marked

HOSTILE = "\x1b[31m\x1b]0;owned\x07 [bold red]x[/] \u202egnp.exe \r \ud800 " + "y" * 2_000


@pytest.mark.parametrize("attitude", ["mean", "cvar"])
def test_a_real_run_says_what_decided(dqa: Command, tmp_path: Path, attitude: str) -> None:
    """Sentence, tree and JSON show the value that decided."""
    settings = ("samples=8", "batch=8", f"attitude={attitude}")
    dqa(
        *("eval", "--scenarios", "agriculture", "--generate", "1", "--databases", "sqlite"),
        *("--deciders", "dellma-pairs", "--out", tmp_path / "run"),
        *(part for one in settings for part in ("--set", f"dellma.{one}")),
    )
    named = ("dellma", "tree", tmp_path / "run", "agriculture/1")
    ran = dqa(*named, "--json", "--html", tmp_path / "tree.html")
    document = json.loads(ran.out)
    figures = document["utilities"]["actions"]
    first, second, *_ = sorted(figures, key=lambda one: -one["value"])
    assert all(one["interval"][0] <= one["value"] <= one["interval"][1] for one in figures)
    assert f"is {first['value']:.3g}, ahead of {second['action']} with " in document["why"]
    assert "8 sampled states" in document["why"]
    assert ("in the worst 20 %" in document["why"]) is (attitude == "cvar")
    assert f'aria-label="value {first["value"]:.3g}, ' in (tmp_path / "tree.html").read_text(
        "utf-8"
    )
    text = dqa(*named).out
    assert f"Actions ({len(figures)}): value [90 % interval]" in text
    assert f"    {document['chosen']}: {first['value']:.3g} [" in text


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
