"""`dqa eval` runs end to end, says who answered, and survives being stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import Question
from dqa.deciders.baselines import Baseline
from tests.programs import run_python
from tests.stored import record_of

SLOW = """
import os, sys
from dqa import Decider, DeciderFactory, Decision, Ending

class Slow(Decider):
    name = "slow"

    def decide(self, question, database):
        if "STUCK" in os.environ and question.id not in ("1", "2"):
            print("stuck", flush=True)
            sys.stdin.readline()  # until somebody writes a line, or is gone
        return Decision(Ending.ANSWERED, answer=str(question.candidates[0]), steps=1)

SLOW = DeciderFactory(
    "slow", "the first candidate, taking its time", lambda *_: Slow(), needs_model=False
)
"""


@pytest.fixture
def with_plugin(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which somebody's own decider is installed."""
    site = tmp_path / "site"
    info = site / "slow-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dqa.deciders]\nslow = slow_decider:SLOW\n")
    (site / "slow_decider.py").write_text(SLOW)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def test_the_table_names_every_decider_and_the_program_that_answered(
    dqa: Callable[..., Any], generated: Path, tmp_path: Path
) -> None:
    """The end of a run: accuracies, and that no language model was asked."""
    ran = dqa("eval", "--generated", generated, "--out", tmp_path / "run")
    assert ran.code == 0
    for decider in ("singlerag", "iterrag", "planrag", "planrag-no-replan"):
        assert decider in ran.out
    assert ran.out.startswith("Accuracy in %")
    assert "RDB (sqlite)" in ran.out
    assert "GDB (ladybug)" in ran.out
    assert "scripted:analyst. A scripted program, not a language model." in ran.out
    assert "\x1b" not in ran.out + ran.err
    assert len((tmp_path / "run/results.jsonl").read_text("utf-8").splitlines()) == 4 * 2 * 4
    run = record_of(tmp_path / "run")
    assert run["spec"]["model"] == {
        "name": "scripted:analyst",
        "base_url": None,
        "label": None,
    }
    assert run["versions"]["dqa"]


def test_json_is_one_object_with_a_row_for_every_cell(
    dqa: Callable[..., Any], generated: Path
) -> None:
    """Every outcome is counted, and the counts add up to the questions."""
    arguments = ("--deciders", "planrag,iterrag", "--databases", "sqlite", "--json")
    document = json.loads(dqa("eval", "--generated", generated, *arguments).out)
    rows = document["results"]
    assert [(r["scenario"], r["decider"]) for r in rows] == [
        ("locating", "planrag"),
        ("locating", "iterrag"),
        ("building", "planrag"),
        ("building", "iterrag"),
    ]
    counted = ("correct", "wrong", "no_candidate", "ambiguous", "step_limit", "unparsable")
    for row in rows:
        assert row["model"] == "scripted:analyst"
        assert sum(row[name] for name in counted) + row["infrastructure"] == row["questions"] == 2
        assert row["accuracy"] == row["correct"] / 2
        assert 0.0 <= row["low"] <= row["accuracy"] <= row["high"] <= 1.0


@contextmanager
def stuck_run(
    environment: dict[str, str], out: Path, handler: str
) -> Iterator[subprocess.Popen[str]]:
    """Start a run whose third decision waits for a line.

    Whatever the tests inherited for SIGINT, as under nohup, the run has this handler.
    """
    script = f"import signal as s, dqa.cli.main as m; s.signal(s.SIGINT, s.{handler}); m.run()"
    command = [
        *(sys.executable, "-c", script),
        *("eval", "--generate", "5", "--deciders", "slow", "--databases", "sqlite"),
        *("--workers", "1", "--out", str(out)),
    ]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(
        command, env={**environment, "STUCK": "1"}, text=True, **pipes
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "stuck\n", process.communicate()
            yield process
        finally:
            process.kill()


def test_an_interrupted_run_keeps_what_was_decided(
    with_plugin: dict[str, str], tmp_path: Path
) -> None:
    """Ctrl-C ends it with 130 even while a decider hangs, and --resume finishes it."""
    out = tmp_path / "run"
    with stuck_run(with_plugin, out, "default_int_handler") as stuck:
        stuck.send_signal(signal.SIGINT)
        assert stuck.wait(60) == 130
        assert stuck.stderr is not None
        (line,) = stuck.stderr.read().splitlines()
    assert line.startswith("Interrupted: 2 of 10 decisions were made")
    assert line.endswith(f"'dqa eval --resume {out}' resumes the run.")
    done = run_python(
        "-m", "dqa", "eval", "--resume", str(out), "--json", env=with_plugin, check=True
    )
    rows = json.loads(done.stdout)["results"]
    assert [row["questions"] for row in rows] == [5, 5]
    assert {row["model"] for row in rows} == {"none"}


@pytest.fixture
def bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the decider `random` have a bug."""
    decide = Baseline.decide

    def crash(self: Baseline, question: Question, database: Database) -> Decision:
        if self.name == "random":
            raise ZeroDivisionError("a bug of the decider")
        return decide(self, question, database)

    monkeypatch.setattr(Baseline, "decide", crash)


@pytest.mark.usefixtures("bug")
def test_a_bug_of_a_decider_ends_its_decisions_alone(
    dqa: Callable[..., Any], generated: Path, tmp_path: Path
) -> None:
    """The others are made; the end says what crashed, and where its traceback is."""
    out = tmp_path / "run"
    named = ("eval", "--generated", generated, "--deciders", "first,random")
    ran = dqa(*named, "--databases", "sqlite", "--out", out)
    assert ran.code == 1
    assert "4 runs that crashed (a bug, not judged)" in ran.out
    crashed, report, last = ran.err.splitlines()
    assert re.fullmatch(
        r"crashed: random at \w+/\d on sqlite and 3 more decisions: "
        "ZeroDivisionError: a bug of the decider",
        crashed,
    )
    assert "4 of 8 decisions could not be judged: 4 because of a bug" in last
    command = re.search(r"'dqa (trace \S+ \S+ --decider random --database sqlite)'", report)
    assert command is not None
    assert 'raise ZeroDivisionError("a bug of the decider")' in dqa(*command[1].split()).out
    fast = dqa(*named, "--databases", "sqlite", "--fail-fast")
    assert (fast.code, fast.out) == (1, "")
    assert "a decision crashed" in fast.err


@pytest.mark.usefixtures("bug")
def test_a_bug_is_one_line_of_ask_too(dqa: Callable[..., Any], shop: Path, tmp_path: Path) -> None:
    """With its traceback in the trace."""
    trace = tmp_path / "trace.json"
    asked = ("ask", "--database", shop, "--question", "?", "--candidate", "x")
    ran = dqa(*asked, "--decider", "random", "--trace", trace)
    assert ran.code == 1
    assert "Ended: crashed" in ran.out
    (line,) = ran.err.splitlines()
    assert "random crashed, which is a bug: ZeroDivisionError: a bug of the decider" in line
    assert "Traceback" in json.loads(trace.read_text("utf-8"))["trace"][0]["traceback"]


def test_a_policy_and_an_audit_are_options_too(
    dqa: Callable[..., Any], generated: Path, tmp_path: Path
) -> None:
    """Of a run and of one question; a wrong policy is one line before anything is read."""
    policy, audit = tmp_path / "policy.json", tmp_path / "audit.jsonl"
    policy.write_text('{"denied_columns": ["total_power"]}', "utf-8")
    base = ("eval", "--generated", generated, "--databases", "sqlite", "--scenarios", "locating")
    watched = ("--policy", policy, "--audit", audit, "--out", tmp_path / "run")
    assert dqa(*base, "--deciders", "planrag", *watched).code in {0, 1}
    entries = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    denied = [entry for entry in entries if "total_power" in entry["statement"]]
    assert denied
    assert not any(entry["rows"] for entry in denied)
    assert any(entry["rows"] for entry in entries)
    spec = record_of(tmp_path / "run")["spec"]
    assert spec["policy"] == {"denied_columns": ["total_power"]}
    other = tmp_path / "other.json"
    other.write_text('{"denied_columns": ["ingoing"]}', "utf-8")
    resumed = dqa("eval", "--resume", tmp_path / "run", "--policy", other)
    assert "policy.denied_columns was" in resumed.err
    policy.write_text('{"columnz": []}', "utf-8")
    ran = dqa("ask", "--database", "none.db", "--question", "?", "--policy", policy)
    assert (ran.code, "none.db" in ran.err or "columnz" in ran.err) == (2, True)
    wrong = dqa(*base, "--policy", policy)
    assert (wrong.code, wrong.out) == (2, "")
    assert "columnz" in wrong.err
