"""`dqa eval` runs end to end, says who answered, and survives being stopped."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dqa.cli import main
from dqa.evaluation.traces import Trace

SLOW = """
import os, sys
from dqa import Decider, DeciderFactory, Decision, Ending

class Slow(Decider):
    name = "slow"

    def decide(self, question, database):
        if "STUCK" in os.environ and question.id not in ("1", "2"):
            print("stuck", flush=True)
            sys.stdin.readline()  # until somebody writes a line, or is gone
        if "BROKEN" in os.environ:
            raise ZeroDivisionError("a bug of the plug-in")
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
    return {**os.environ, "PYTHONPATH": str(site)}


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
    run = json.loads((tmp_path / "run/run.json").read_text("utf-8"))
    assert run["spec"]["model"] == {
        "name": "scripted:analyst",
        "base_url": None,
        "label": None,
    }
    assert run["versions"]["dqa"]


def test_a_kept_run_ends_with_what_can_be_done_next(
    dqa: Callable[..., Any], generated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In commands that work as they stand, spelt as this one was started."""
    monkeypatch.setenv("DQA_COMMAND", "python3 start.py dqa")
    run = tmp_path / "a run"
    ran = dqa("eval", "--generated", generated, "--databases", "sqlite", "--out", run)
    first, *lines = ran.err.splitlines()
    assert first == "What next?"
    assert all(line.endswith(":") for line in lines[::2])
    told = [shlex.split(line) for line in lines[1::2]]
    assert {tuple(words[:3]) for words in told} == {("python3", "start.py", "dqa")}
    commands = {words[3]: words[4:] for words in told}
    assert list(commands) == ["results", "runs", "trace", "analyse", "eval", "ask"]
    for name in ("results", "runs", "trace", "analyse"):
        if name not in main._COMMANDS:
            continue
        shown = dqa(name, *commands[name])
        assert (shown.code, shown.err) == (0, ""), name
    # Without an answer of a model yet, how to ask one, into a folder that is not there.
    assert commands["eval"][-2:] == ["--out", f"{run}-model"]
    assert "--candidates" in commands["ask"]


def test_nothing_is_said_of_a_run_that_was_not_kept(
    dqa: Callable[..., Any], generated: Path, tmp_path: Path
) -> None:
    """Nor where a program reads what comes out."""
    base = ("eval", "--generated", generated, "--deciders", "first", "--databases", "sqlite")
    assert dqa(*base).err == ""
    assert dqa(*base, "--out", tmp_path / "run", "--json").err == ""


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


def test_the_limit_is_for_each_scenario(dqa: Callable[..., Any], generated: Path) -> None:
    """One question of each, not one in all."""
    arguments = ("--limit", 1, "--deciders", "planrag", "--databases", "sqlite", "--json")
    rows = json.loads(dqa("eval", "--generated", generated, *arguments).out)["results"]
    assert [row["questions"] for row in rows] == [1, 1]


def test_running_into_the_step_limit_is_its_own_outcome(
    dqa: Callable[..., Any], generated: Path
) -> None:
    """It is counted and said, and is no silent stop."""
    arguments = ("--max-steps", 1, "--deciders", "planrag", "--databases", "sqlite")
    ran = dqa("eval", "--generated", generated, *arguments)
    assert "4 runs that reached the step limit" in ran.out


def test_what_models_are_shown_of_values_can_be_set(
    dqa: Callable[..., Any], generated: Path, tmp_path: Path
) -> None:
    """Digits of numbers and samples of columns; full values stay in the trace either way."""
    base = ("eval", "--generated", generated, "--databases", "sqlite", "--deciders", "planrag-sim")
    shown = {}
    for name, options in {"usual": (), "set": ("--digits", 3, "--samples", 2)}.items():
        assert dqa(*base, *options, "--out", tmp_path / name).code == 0
        record = json.loads((tmp_path / name / "run.json").read_text("utf-8"))
        lines = (tmp_path / name / "traces.jsonl").read_text("utf-8").splitlines()
        traces = [Trace.from_json(json.loads(line)) for line in lines]
        (trace,) = (found for found in traces if found.question == "locating/1")
        shown[name] = (record["spec"]["display"], trace)
    (usual, first), (given, second) = shown["usual"], shown["set"]
    assert usual == {"digits": 6, "samples": 0, "fold": True, "schema_tokens": 10_000}
    assert given == {"digits": 3, "samples": 2, "fold": True, "schema_tokens": 10_000}
    prompts = [trace.events[0].data["messages"][-1][1] for trace in (first, second)]
    assert "e.g. [0, 1]" not in prompts[0]
    assert "e.g. [0, 1]" in prompts[1]
    assert first.evidence[-1].rows == second.evidence[-1].rows != ()
    assert len(second.evidence[-1].observation) < len(first.evidence[-1].observation)


def test_a_used_folder_is_refused_and_other_settings_are_named(
    dqa: Callable[..., Any], generated: Path, tmp_path: Path
) -> None:
    """Nothing is overwritten, and going on needs the same settings."""
    base = ("eval", "--generated", generated, "--databases", "sqlite", "--deciders", "planrag")
    first = dqa(*base, "--out", tmp_path / "run", "--json")
    assert first.code == 0
    assert "--resume" in dqa(*base, "--out", tmp_path / "run").err
    other = dqa("eval", "--resume", tmp_path / "run", "--max-steps", 3)
    assert other.code == 2
    assert "max_steps was 20 and is now 3" in other.err
    assert dqa(*base, "--resume", tmp_path / "run", "--json").out == first.out


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
    assert line.endswith(f"'dqa eval --resume {out}' goes on.")
    done = subprocess.run(
        [sys.executable, "-m", "dqa", "eval", "--resume", str(out), "--json"],
        env=with_plugin,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(done.stdout)["results"]
    assert [row["questions"] for row in rows] == [5, 5]
    assert {row["model"] for row in rows} == {"none"}


def test_a_run_that_ignores_interrupts_goes_on(with_plugin: dict[str, str], tmp_path: Path) -> None:
    """Under nohup or in the background of a script, Ctrl-C is for somebody else."""
    with stuck_run(with_plugin, tmp_path / "run", "SIG_IGN") as run:
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate()
    assert run.returncode == 0
    assert "Accuracy in %" in out
    assert (tmp_path / "run/results.jsonl").read_text("utf-8").count("\n") == 10


def test_a_bug_of_a_plug_in_ends_its_decisions_and_is_told_at_the_end(
    with_plugin: dict[str, str], tmp_path: Path
) -> None:
    """The others go on; the end tells what crashed, where its traceback is, and whom to ask."""
    out = tmp_path / "run"
    command = [sys.executable, "-m", "dqa", "eval", "--generate", "2", "--deciders", "first,slow"]
    command += ["--databases", "sqlite"]
    environment = {**with_plugin, "BROKEN": "1"}
    ran = subprocess.run(
        [*command, "--out", str(out)], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "4 runs that crashed (a bug, not judged)" in ran.stdout
    crashed, report, last = ran.stderr.splitlines()
    assert re.fullmatch(
        r"crashed: slow at \w+/\d on sqlite and 3 more decisions: "
        "ZeroDivisionError: a bug of the plug-in",
        crashed,
    )
    assert last == (
        "not judged: 4 of 8 decisions could not be judged: 4 because of a bug. What was decided is "
        f"kept; 'dqa eval --resume {out}' goes on."
    )
    told = re.search(r"'(dqa trace \S+ \S+ --decider slow --database sqlite)'", report)
    assert told is not None
    shown = subprocess.run(
        [sys.executable, "-m", *told[1].split()], capture_output=True, text=True, check=True
    )
    assert "A bug ended the run" in shown.stdout
    assert 'raise ZeroDivisionError("a bug of the plug-in")' in shown.stdout
    fast = subprocess.run(
        [*command, "--fail-fast"], env=environment, capture_output=True, text=True, check=False
    )
    assert (fast.returncode, fast.stdout) == (1, "")
    (line,) = fast.stderr.splitlines()
    assert "a decision crashed" in line
    assert "(--out), which keeps its traceback" in line


def test_a_bug_is_one_line_of_ask_too(with_plugin: dict[str, str], tmp_path: Path) -> None:
    """With its traceback in the trace, or instead of the line where that is asked for."""
    sqlite3.connect(tmp_path / "own.db").execute("CREATE TABLE t (a)").connection.close()
    command = [sys.executable, "-m", "dqa", "ask", "--database", str(tmp_path / "own.db")]
    command += ["--question", "?", "--candidates", "SELECT 'x'", "--decider", "slow"]

    def ran(*more: str) -> subprocess.CompletedProcess[str]:
        environment = {**with_plugin, "BROKEN": "1"}
        return subprocess.run(
            [*command, *more], env=environment, capture_output=True, text=True, check=False
        )

    trace = tmp_path / "trace.json"
    kept = ran("--trace", str(trace))
    assert kept.returncode == 1
    assert "Ended: crashed" in kept.stdout
    (line,) = kept.stderr.splitlines()
    assert "slow crashed, which is a bug: ZeroDivisionError: a bug of the plug-in" in line
    assert str(trace) in line
    assert "Traceback" in json.loads(trace.read_text("utf-8"))["trace"][0]["traceback"]
    assert "Traceback" not in kept.stderr
    debugged = ran("--debug")
    assert debugged.stderr.rstrip().endswith("ZeroDivisionError: a bug of the plug-in")
    assert debugged.stderr.startswith("Traceback")


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
    assert {entry["allowed"] for entry in entries} == {True, False}
    spec = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["spec"]
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
