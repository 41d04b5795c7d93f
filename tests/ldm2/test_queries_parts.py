"""Records of statements, statements of fewer rows, single decisions, and the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dqa
from dqa.cli.main import app
from dqa.core.errors import UsageError
from dqa.core.events import BudgetEvent, ReviewEvent
from dqa.evaluation.traces import AskedRecord, Trace
from dqa_ldm2.queries.trajectories import trajectories_of

USUAL = "SELECT id FROM t WHERE name = 'a' ORDER BY x LIMIT 1"


def asked(tmp_path: Path, *reviews: str, rank: int | None = None) -> Path:
    """Write a single decision, as ``dqa ask --trace`` does."""
    alternatives = [] if rank is None else [{"candidate": "a", "outcome": 1.0, "rank": rank}]
    record = AskedRecord.model_validate(
        {"text": "Which?", "rules": "", "scenario": "custom", "alternatives": alternatives}
    )
    evidence = {"statement": USUAL, "observation": '["id"]\n["a"]\n(1 row)', "row_count": 1}
    failed = {"statement": "SELECT", "observation": "Error: no", "error": "StatementError"}
    trace = Trace.model_validate(
        {
            "question": "custom/1",
            "database": "shop.db",
            "kind": "relational",
            "decider": "planrag",
            "model": "somebody",
            "ending": "answered",
            "answer": "a",
            "choice": "a",
            "error": None,
            "outage": None,
            "steps": 2,
            "seconds": 0.1,
            "usage": {"input_tokens": 0, "output_tokens": 0, "calls": 0},
            "plans": [],
            "evidence": [failed, evidence],
            "asked": record,
            "events": [
                ReviewEvent.model_validate({"about": "decision", "text": "a", "action": one})
                for one in reviews
            ],
        }
    )
    file = tmp_path / "asked.json"
    file.write_text(json.dumps(trace.to_json()), "utf-8")
    return file


@pytest.mark.parametrize(
    ("reviews", "rank", "reward"),
    [(("refuse", "approve"), None, 1.0), ((), 1, 1.0), ((), 2, None), ((), None, None)],
)
def test_a_single_decision_is_right_by_its_outcome_or_who_approved_it(
    tmp_path: Path, reviews: tuple[str, ...], rank: int | None, reward: float | None
) -> None:
    """Others are left out, unless all are kept; what failed is no step."""
    run = dqa.read_run(asked(tmp_path, *reviews, rank=rank))
    found = trajectories_of(run)
    assert [one.reward for one in found.trajectories] == ([] if reward is None else [reward])
    everything = trajectories_of(run, keep_all=True)
    assert len(everything.trajectories[0].steps) == 2
    assert everything.failed == 1


@pytest.mark.slow
def test_three_commands_make_a_memory_of_runs(tmp_path: Path) -> None:
    """A run is remembered, refined, and decides; built again, nothing is new."""
    run = CliRunner()
    memory, past = str(tmp_path / "memory.db"), str(tmp_path / "past")
    generated = ["--generate", "4", "--scenarios", "building", "--seed", "5"]
    scripted = ["--model", "scripted:analyst"]
    evaluated = ["eval", *generated, *scripted, "--databases", "sqlite"]
    assert not run.invoke(app, [*evaluated, "--deciders", "iterrag", "--out", past]).exit_code
    build = ["memory", "build", "--run", past, "--memory", memory]
    first = run.invoke(app, [*build, "--json"])
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout)["trajectories"] > 0
    assert "there already" in run.invoke(app, build).stdout
    refine = ["memory", "refine", "--generate", "1", "--scenarios", "building", "--depth", "3"]
    refined = run.invoke(app, [*refine, "--memory", memory])
    assert refined.exit_code == 0, refined.output
    now = str(tmp_path / "now")
    decided = ["--deciders", "ldm2-queries", "--set", f"ldm2.memory={memory}", "--out", now]
    done = run.invoke(app, [*evaluated, *decided, "--max-statements", "1"])
    assert done.exit_code == 0, done.output
    traces = dqa.read_run(now).traces
    assert all(len(trace.evidence) <= 1 for trace in traces)
    closed = [trace for trace in traces if any(isinstance(e, BudgetEvent) for e in trace.events)]
    assert closed
    assert all(trace.ended_by for trace in closed)
    for wrong in (["build", "--memory", memory], ["build", "--world", "x", "--memory", memory]):
        refused = run.invoke(app, ["memory", *wrong])
        assert isinstance(refused.exception, UsageError)
