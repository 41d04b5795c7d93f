"""`dqa eval` runs end to end, says who answered, and survives being stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.question import Question
from dqa.deciders.baselines import Baseline
from tests.cli.conftest import Command
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
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """The end of a run: accuracies, and that no language model was asked."""
    ran = dqa("eval", "--generated", generated, "--limit", "1", "--out", tmp_path / "run")
    assert ran.code == 0
    for decider in ("singlerag", "iterrag", "planrag", "planrag-no-replan"):
        assert decider in ran.out
    assert ran.out.startswith("Accuracy in %")
    assert "RDB (sqlite)" in ran.out
    assert "GDB (ladybug)" in ran.out
    assert "scripted:analyst. A scripted program, not a language model." in ran.out
    assert "\x1b" not in ran.out + ran.err
    assert len((tmp_path / "run/results.jsonl").read_text("utf-8").splitlines()) == 2 * 2 * 4
    run = record_of(tmp_path / "run")
    assert run["spec"]["model"] == {"name": "scripted:analyst", "base_url": None}
    assert run["versions"]["dqa"]


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
        *("eval", "--generate", "3", "--scenarios", "locating", "--deciders", "slow"),
        *("--databases", "sqlite", "--workers", "1", "--out", str(out)),
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
    assert line.startswith("Interrupted: 2 of 3 decisions were made")
    assert line.endswith(f"are stored. 'dqa eval --resume {out}' resumes the run.")
    done = run_python(
        "-m", "dqa", "eval", "--resume", str(out), "--json", env=with_plugin, check=True
    )
    rows = json.loads(done.stdout)["results"]
    assert [row["questions"] for row in rows] == [3]
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
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """The others are made; the end says what crashed, and where its traceback is."""
    out = tmp_path / "run"
    named = ("eval", "--generated", generated, "--deciders", "first,random")
    ran = dqa(*named, "--databases", "sqlite", "--out", out)
    assert ran.code == 1
    assert "4 decisions ended by a bug (not judged)" in ran.out
    crashed, report, last = ran.err.splitlines()
    assert re.fullmatch(
        r"crashed: random at \w+/\d on sqlite and 3 more decisions: "
        "ZeroDivisionError: a bug of the decider",
        crashed,
    )
    assert "4 of 8 decisions could not be judged: 4 because of a bug" in last
    command = re.search(r"'dqa (show \S+ \S+ --decider random --database sqlite)'", report)
    assert command is not None
    assert 'raise ZeroDivisionError("a bug of the decider")' in dqa(*command[1].split()).out
    fast = dqa(*named, "--databases", "sqlite", "--fail-fast")
    assert (fast.code, fast.out) == (1, "")
    assert "a decision crashed" in fast.err
