"""`dqa dellma tree` shows what a decision rests on, wherever it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dqa_dellma.tree.reading import read_tree
from tests.cli.conftest import Command
from tests.dellma.dellma_traces import (
    events,
    traced,
)

HOSTILE = "\x1b[31m\x1b]0;owned\x07 [bold red]x[/] \u202egnp.exe \r \ud800 " + "y" * 2_000


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of DeLLMa and of a baseline of its."""
    from typer.testing import CliRunner

    from dqa.cli.main import app

    out = tmp_path_factory.mktemp("trees") / "run"
    deciders = ("--deciders", "dellma-pairs,dellma-naive,self-consistency")
    settings = ("--set", "dellma.confidence=0.95", "--set", "dellma.samples=16")
    result = CliRunner().invoke(
        app,
        [
            *("eval", "--scenarios", "agriculture", "--generate", "1", "--databases", "sqlite"),
            *(*deciders, *settings, "--out", str(out)),
        ],
    )
    assert result.exit_code == 0, result.output
    return out


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
    values = [action["value"] for action in document["actions"]]
    assert values == sorted(values, reverse=True)
    assert all(low <= value <= high for value, (low, high) in intervals(document))
    assert document["runner_up"] == document["actions"][1]["action"]
    assert f"is {values[0]:.3g}, ahead of {document['runner_up']} with " in document["why"]
    assert "8 sampled states" in document["why"]
    assert ("in the worst 20 %" in document["why"]) is (attitude == "cvar")
    assert f'aria-label="value {values[0]:.3g}, ' in (tmp_path / "tree.html").read_text("utf-8")
    text = dqa(*named).out
    assert f"Actions ({len(values)}): value, which decided [90 %]" in text
    assert f"    {document['chosen']}: {values[0]:.3g} [" in text


def intervals(document: dict[str, Any]) -> Iterator[tuple[float, list[float]]]:
    """Yield the value and the interval of each action."""
    return ((action["value"], action["interval"]) for action in document["actions"])


def test_a_folder_without_a_question_becomes_pages(
    dqa: Command, run_folder: Path, tmp_path: Path
) -> None:
    """One a tree, and an index; a folder that holds something stays as it is."""
    out = tmp_path / "new" / "trees"
    ran = dqa("dellma", "tree", run_folder, "--html", out)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"The pages are in {out}: open {out / 'index.html'}.\n"
    pages = ["1-agriculture-1-sqlite-dellma-pairs.html", "2-agriculture-1-sqlite-dellma-naive.html"]
    assert sorted(file.name for file in out.iterdir()) == [*pages, "index.html"]
    index = (out / "index.html").read_text("utf-8")
    assert all(f'href="{page}"' in index for page in pages)
    assert "1 more run has no tree" in index
    again = dqa("dellma", "tree", run_folder, "--html", out)
    assert again.code == 2
    assert "is not empty" in again.err
    few = dqa("dellma", "tree", run_folder, "--decider", "dellma-naive", "--html", tmp_path / "few")
    assert few.code == 0
    assert len(list((tmp_path / "few").iterdir())) == 2


def shown(capsys: pytest.CaptureFixture[str], *, full: bool = False, hostile: bool = False) -> str:
    """Return what the hand-written tree looks like."""
    from dqa_dellma.tree.text import echo_tree

    h = HOSTILE
    trace = traced(events(fig=h, rain=h, wet=h), question=h, decider=h) if hostile else traced()
    echo_tree(read_tree(trace), full=full)
    return capsys.readouterr().out


def test_a_real_run_reads_from_the_decision_to_its_context(dqa: Command, run_folder: Path) -> None:
    """Decision and sentence, actions with states, beliefs, rankings, rounds, statements."""
    ran = dqa("dellma", "tree", run_folder, "agriculture/1", "--decider", "dellma-pairs")
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "agriculture/1 | sqlite | dellma-pairs"
    titles = [line.split()[0] for line in lines if re.match(r"  \S", line)]
    expected = [
        "Model:",
        "Question:",
        "Decision:",
        "Actions",
        "Beliefs",
        "Rankings",
        "Rounds",
        "Context:",
    ]
    assert [title for title in titles if title != "What"] == [*expected, "Utilities:"]
    assert "A scripted program, not a language model." in ran.out
    assert re.search(r"<- chosen\n      state \d+: utility [\d.e-]+, ranked \d+ of \d+", ran.out)
    assert " was chosen: its expected utility, the mean over 16 sampled states" in ran.out
    assert "SELECT" in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_text_of_others_acts_on_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, full: bool
) -> None:
    """Controls are spelt out, markup stays text, and long names are cut unless asked for."""
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
    text = shown(capsys, full=full, hostile=True)
    if terminal:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert not set(text) & set("\x1b\x07\r\u202e\ud800")
    assert r"\x1b" in text
    assert "[bold red]" in text.replace("\n", "")
    if not terminal:
        assert ("y" * 2_000 in text) is full
