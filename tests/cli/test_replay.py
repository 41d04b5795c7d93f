"""Evaluations and questions recorded, broken off and gone on with, and played again to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.model_server import ModelServer
from tests.models.scripts import Moody

Command = Callable[..., Any]
COMMON = (
    *("eval", "--generate", 2, "--scenarios", "agriculture", "--databases", "sqlite,duckdb"),
    *("--deciders", "zero-shot,self-consistency", "--model", "openai:test"),
)


TIMES = ("seconds", "provenance")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has a key here."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def left(folder: Path) -> tuple[bytes, dict[str, Any]]:
    """A run's results to the byte, and its traces without times; the last one of a decision."""
    traces = {}
    for line in (folder / "traces.jsonl").read_text("utf-8").splitlines():
        trace = json.loads(
            line, object_hook=lambda o: {k: o[k] for k in o if k not in {"seconds", "provenance"}}
        )
        traces[f"{trace['question']} {trace['database']} {trace['decider']}"] = trace
    return (folder / "results.jsonl").read_bytes(), traces


def test_the_same_question_on_two_databases_is_played_as_it_was_answered(
    dqa: Command, tmp_path: Path
) -> None:
    """The prompts are the same, the model never says the same, and sixteen threads ask at once."""
    tape, made = tmp_path / "tape.jsonl", tmp_path / "made"
    with ModelServer(Moody(0.3)) as server:
        kept = ("--base-url", server.url, "--record", tape, "--out", made)
        assert dqa(*COMMON, *kept, "--workers", 16).code == 0
        bodies = [json.dumps(body) for body in server.requests]
    assert len(set(bodies)) <= len(bodies) / 6
    for workers in (1, 16):
        out = tmp_path / str(workers)
        ran = dqa(*COMMON, "--replay", tape, "--workers", workers, "--out", out)
        assert ran.code == 0, ran.err
        assert left(out) == left(made)


def test_a_run_that_goes_on_takes_no_reply_from_what_is_finished(
    dqa: Command, tmp_path: Path
) -> None:
    """Stopped by its budget, and resumed, with one thread and then with eight."""
    tape, made, mood = tmp_path / "tape.jsonl", tmp_path / "made", Moody()
    with ModelServer(mood) as server:
        kept = ("--base-url", server.url, "--record", tape, "--out", made)
        ran = dqa(*COMMON, *kept, "--workers", 1, "--budget-tokens", 9_000)
        assert ran.code == 1
        assert 1 < mood.said < 24
        ran = dqa("eval", "--resume", made, "--workers", 8, "--budget-tokens", 9_000_000)
        assert ran.code == 0, ran.err
    assert mood.said == 24  # four of each decider, and five votes in each of the latter
    out = tmp_path / "played"
    ran = dqa(*COMMON, "--replay", tape, "--workers", 4, "--out", out)
    assert ran.code == 0, ran.err
    assert left(out) == left(made)


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
