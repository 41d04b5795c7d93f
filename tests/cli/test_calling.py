"""Recording, replaying, limiting and bounding what the commands ask of models."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.models.model_server import ModelServer, Request, Trouble

SMALL = ("--databases", "sqlite", "--deciders", "iterrag,singlerag", "--workers", "3")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has a key here."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def look_and_decide(request: Request) -> str:
    """Reply as a model that runs one statement and decides."""
    if "Observation: " in str(request["messages"][-1]["content"]):
        return "Thought: I decide.\nFinal Answer: 1"
    return "Plan:\n1. Look.\nThought: I look.\nAction: query_database\nAction Input: SELECT 1"


def outcomes(folder: Path) -> Counter[str]:
    """How many decisions ended how."""
    lines = (folder / "results.jsonl").read_text("utf-8").splitlines()
    return Counter(json.loads(line)["outcome"] for line in lines)


@pytest.mark.parametrize("model", ["scripted:analyst", "openai:analyst"])
def test_a_recorded_evaluation_replays_byte_for_byte(
    dqa: Command, generated: Path, tmp_path: Path, model: str
) -> None:
    """Without the server, without a key; the tokens are those that were counted then."""
    tape, common = tmp_path / "tape.jsonl", ("--generated", generated, *SMALL, "--model", model)
    with ModelServer(look_and_decide) as server:
        address = ("--base-url", server.url) if model.startswith("openai") else ()
        made = dqa("eval", *common, *address, "--record", tape, "--out", tmp_path / "made")
    assert made.code == 0, made.err
    for name in ("once", "twice"):
        played = dqa("eval", *common, "--replay", tape, "--out", tmp_path / name)
        assert played.code == 0, played.err
        for file in ("results.jsonl",):
            assert (tmp_path / name / file).read_bytes() == (tmp_path / "made" / file).read_bytes()
    assert played.out == made.out.replace(str(tmp_path / "made"), str(tmp_path / "twice"))


def test_a_spent_budget_stops_the_run_and_a_higher_one_goes_on(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """Nothing is scored wrong for it, the rest is not asked, and the whole is as if in one go."""
    common = ("eval", "--generated", generated, *SMALL, "--model", "openai:analyst")
    out, whole = tmp_path / "out", tmp_path / "whole"
    prices = ("--price-input", "2", "--price-output", "10")
    with ModelServer(look_and_decide) as server:
        address = ("--base-url", server.url)
        dqa(*common, *address, "--out", whole)
        asked = len(server.requests)
        stopped = dqa(*common, *address, "--out", out, "--budget-tokens", "9000")
        assert len(server.requests) - asked < asked
        assert stopped.code == 1
        assert "The budget of 9000 tokens is spent" in stopped.err.replace(",", "")
        assert "of 8 decisions could not be judged" in stopped.err
        assert f"'dqa eval --resume {out}' with a higher budget resumes the run" in stopped.err
        assert "ended by the run's spent budget (not judged)" in stopped.out
        assert 1 <= outcomes(out)["budget"] <= 3
        assert outcomes(out).total() < 8
        again = dqa("eval", "--resume", out, "--budget-tokens", "9001")
        assert again.code == 1  # what was spent before counts
        done = dqa("eval", "--resume", out, "--budget-cost", "10", *prices)
    assert done.code == 0, done.err
    assert (out / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()
    assert "; cost 0." in done.out


def test_a_wrong_key_ends_the_run_at_once(dqa: Command, generated: Path) -> None:
    """One line with advice and without the key, and no question counts as wrong."""
    with ModelServer(look_and_decide, lambda *_: Trouble.BAD_KEY) as server:
        common = ("eval", "--generated", generated, *SMALL, "--model", "openai:analyst")
        ran = dqa(*common, "--base-url", server.url)
        assert len(server.requests) <= 3
    assert (ran.code, ran.out) == (2, "")
    assert "rejects the key" in ran.err
