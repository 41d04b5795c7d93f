"""BIRD's and Spider's folders through the commands, and agents that answer with statements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dqa as api
from dqa.core.errors import StatementTimeoutError
from dqa.deciders.base import ProtocolName
from dqa.evaluation import execution
from dqa.testing.models import PreparedReplies, Reply, Request, answer, query
from tests.cli.conftest import Command
from tests.text_to_sql import QUESTIONS, bird_entries, gold_of, write_bird

AGENTS = ("singlerag", "iterrag", "planrag", "planrag-no-replan")


@pytest.fixture
def bird(tmp_path: Path) -> Path:
    """The set in BIRD's form."""
    return write_bird(tmp_path / "bird")


def _copyist(request: Request) -> Reply:
    """Look once, then hand in the statement that stands in the key to the question's words."""
    gold = gold_of(request.text)
    return answer(gold) if '["' in request.last else query(gold)


def test_the_commands_serve_such_a_folder(dqa: Command, bird: Path, tmp_path: Path) -> None:
    """`eval`, `show`, `results`, `trace` and `runs`, by the folder alone."""
    run = tmp_path / "run"
    ran = dqa("eval", "--release", bird, "--deciders", "oracle", "--out", run)
    assert ran.code == 0, ran.err
    assert "100.0 (12/12) [75.8, 100.0]" in ran.out
    assert "Tag moderate: oracle 100.0 (4/4) [51.0, 100.0]." in ran.out
    assert "BIRD's rule" in ran.out
    shown = dqa("data", "question", "harbour/3", "--release", bird).out
    assert QUESTIONS[3].gold in shown
    assert QUESTIONS[3].hints in shown
    assert dqa("show", run).out.startswith(ran.out.splitlines()[0])
    assert (
        f"Chose {QUESTIONS[9].gold}; the right answer is "
        in dqa("show", run, "--scenario", "choir").out
    )
    traced = dqa("show", run, "choir/9").out
    assert "Right: " in traced
    assert "12 of 12 judged" in dqa("runs", tmp_path).out
    figures = json.loads(dqa("show", run, "--json").out)
    (total,) = figures["totals"]
    assert total == {
        "decider": "oracle",
        "judged": 12,
        "correct": 12,
        "low": pytest.approx(0.7575, abs=1e-4),
        "high": 1.0,
        "official_metrics": {"EX": 1.0, "Soft-F1": 1.0},
    }
    assert "Official metrics of oracle: EX 100.0, Soft-F1 100.0." in ran.out


@pytest.mark.parametrize("protocol", ["react", "tools"])
def test_agents_answer_with_statements(bird: Path, tmp_path: Path, protocol: ProtocolName) -> None:
    """Every agent that retrieves, in both protocols, with a program in the model's place."""
    run = api.evaluate(
        api.read_release(bird, limit=2),
        AGENTS,
        model=PreparedReplies(_copyist),
        protocol=protocol,
        out=tmp_path / "run",
    )
    assert {(r.decider, r.outcome) for r in run.results} == {(name, "correct") for name in AGENTS}
    assert all(r.statements == 1 and r.match == "set" for r in run.results)
    assert "scripted:replies" in run.report()


def test_gold_that_cannot_run_is_told_and_not_scored(dqa: Command, tmp_path: Path) -> None:
    """It is the data's fault: neither right nor wrong."""
    entries = bird_entries()
    entries[7]["SQL"] = "SELECT twon FROM concert"
    folder = write_bird(tmp_path / "bird", entries)
    run = tmp_path / "run"
    given = ("--scenarios", "choir", "--deciders", "oracle", "--out", run)
    ran = dqa("eval", "--release", folder, *given)
    assert ran.code == 0, ran.err
    assert "100.0 (5/5)" in ran.out
    assert "1 decision on questions without a known answer (not judged)" in ran.out
    listed = dqa("show", run, "--outcome", "unlabelled").out
    assert "The gold statement of 'choir/7' (dev.json, entry 8) cannot run" in listed
    assert "Not judged: The gold statement" in dqa("show", run, "choir/7").out


def test_a_statement_that_takes_too_long_for_scoring_is_wrong(
    bird: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the result says why."""
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    )
    monkeypatch.setattr(execution, "SCORING", api.Limits(seconds=0.2))
    asked = api.read_release(bird, scenarios=("choir",), limit=1)
    model = PreparedReplies([answer(endless)])
    run = api.evaluate(asked, "iterrag", model=model, limits=api.Limits(seconds=0.2))
    (result,) = run.results
    assert result.outcome == "wrong"
    assert result.error is not None
    assert result.error.startswith("The chosen statement cannot run: ")
    assert StatementTimeoutError.__name__ not in result.error


def test_no_prompt_contains_a_gold_statement(bird: Path) -> None:
    """A method that reads the gold statement would always be right."""
    seen: list[str] = []

    def watching(request: Request) -> Reply:
        seen.append("\n".join(message.text for message in request.messages))
        return answer("SELECT 1")

    api.evaluate(api.read_release(bird), "planrag", model=PreparedReplies(watching))
    assert len(seen) == len(QUESTIONS)
    assert not [one.gold for one in QUESTIONS if any(one.gold in text for text in seen)]
