"""Evaluations and questions recorded, broken off and gone on with, and played again to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.models.model_server import ModelServer
from tests.models.scripts import Moody


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has a key here."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_a_question_is_played_from_a_copy_of_its_database(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """Who asks is the question and the decider: a file may be elsewhere when it is played."""
    from dqa import plugins
    from dqa.loaders.generator.manifest import read_generated

    questions = read_generated(generated)
    question = questions.find("locating/1")
    file, tape = tmp_path / "q.db", tmp_path / "tape.jsonl"
    plugins.backend("sqlite").load(questions.situation_of(question), str(file)).close()
    asked = (
        *("--question", question.text, "--decider", "iterrag", "--model", "openai:test"),
        "--allow-no-evidence",
    )
    with ModelServer(Moody()) as server:
        made = dqa("ask", "--database", file, *asked, "--base-url", server.url, "--record", tape)
    assert made.code == 0, made.err
    (tmp_path / "elsewhere").mkdir()
    copy = file.rename(tmp_path / "elsewhere" / "q.db")
    played = dqa("ask", "--database", copy, *asked, "--replay", tape)
    assert (played.code, played.out) == (0, made.out), played.err
    other = dqa("ask", "--database", copy, *asked[:3], "singlerag", *asked[4:], "--replay", tape)
    assert other.code == 2
    assert "of (custom/1, singlerag) is recorded" in other.err
