"""`dqa show` shows a run as a person reads it, wherever it is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dqa.report.passages import Passage
from tests.cli.conftest import Command, Ran

HOSTILE = (
    "\x1b[31m\x1b]0;owned\x07 \x9b2J [bold red]x[/] :smile: \u202egnp.exe \r \ud800 " + "y" * 5_000
)


@pytest.fixture(scope="module")
def run_folder(
    generated: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """Return the folder of a run of three deciders on both kinds of database."""
    from typer.testing import CliRunner

    from dqa.cli.main import app

    out = tmp_path_factory.mktemp("traced") / "run"
    deciders = ("--deciders", "planrag,planrag-sim,random")
    result = CliRunner().invoke(
        app, ["eval", "--generated", str(generated), *deciders, "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    return out


def one(dqa: Command, folder: Path, *more: str, question: str = "locating/1") -> Ran:
    """Show PlanRAG's run on SQLite."""
    return dqa("show", folder, question, "--database", "sqlite", "--decider", "planrag", *more)


def shown(capsys: pytest.CaptureFixture[str], *passages: Passage, full: bool = False) -> str:
    """Return what passages look like."""
    from dqa.report.trace_text import echo_passages

    echo_passages(passages, full=full)
    return capsys.readouterr().out


@pytest.mark.parametrize("database", ["sqlite", "ladybug"])
@pytest.mark.parametrize("question", ["locating/1", "building/1"])
def test_a_scripted_run_reads_from_question_to_verdict(
    dqa: Command, run_folder: Path, database: str, question: str
) -> None:
    """Everything that happened, in order, on both kinds of database."""
    named = ("--decider", "planrag", "--database", database)
    ran = dqa("show", run_folder, question, *named)
    assert ran.code == 0, ran.err
    titles = [line for line in ran.out.splitlines() if line and not line.startswith(" ")]
    assert titles[0] == f"{question} | {database} | planrag"
    assert titles[1:4] == ["Question", "Business rules", "Database"]
    assert titles[4:7] == ["Step 1: thought", "Step 1: plan", "Step 1: statement"]
    assert titles[-3:] == ["Answer", "Spent", "Verdict"]
    assert "A scripted program, not a language model." in ran.out
    assert "SELECT" in ran.out or "MATCH" in ran.out
    assert re.search(r"-> \d+ rows?\n", ran.out)
    unit = "profit" if question.startswith("locating") else "price"
    assert re.search(rf"Best decision: \w+, with a {unit} of [\d.]+ \((high|low)er is", ran.out)
    assert "Doing nothing leads to" in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_hostile_text_is_spelt_out_wherever_it_stands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, full: bool
) -> None:
    """No escape, no markup, no turned text; and no line of 5,000 unless asked for."""
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
    h = HOSTILE
    text = shown(
        capsys,
        Passage("heading", h, text=h),
        Passage("prompt", h, text=h, detail=True),
        Passage("plan", h, 1, items=(("kept", h), ("new", h)), notes=(h,)),
        Passage("reply", h, 1, text=h),
        Passage("called", h, 1, statement=h, translated=h, status=h, columns=(h,), rows=((h,),)),
        Passage("called", h, 1, tone="bad", statement=h, status=h, text=h),
        Passage("called", h, columns=(h,), rows=(([h],),)),
        Passage("answer", h, text=h, notes=(h,)),
        Passage("verdict", h, tone="good", text=h),
        full=full,
    )
    if terminal:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert not set(text) & set("\x1b\x07\x9b\r\u202e\ud800")
    assert r"\x1b" in text
    assert "[bold red]" in text.replace("\n", "")
    assert ":smile:" in text.replace("\n", "")
    assert ("y" * 4_000 in text.replace("\n", "").replace(" ", "")) is full or terminal
