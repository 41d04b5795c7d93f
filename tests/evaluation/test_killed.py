"""A run that is killed, at whatever step and however often, ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from dqa.api.measuring import analyse
from dqa.api.reading import read_run
from dqa.core.errors import UsageError
from dqa.evaluation.folder_lines import read_results, usage_so_far
from dqa.evaluation.folders import ABANDONED, RESULTS, TRACES
from dqa.evaluation.store import FolderStore
from tests.evaluation.records import run_record
from tests.evaluation.test_store import folder as folder  # noqa: PLC0414  (a fixture)
from tests.evaluation.test_store import lines


@pytest.mark.slow
def test_a_run_that_is_killed_at_any_step_ends_as_one_that_is_not(tmp_path: Path) -> None:
    """Each decision once, with one trace; in between, what has no result is never counted."""
    made = subprocess.run(
        [sys.executable, "-m", "tests.evaluation.killing", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    left = json.loads(made.stdout)
    assert len(left["whole"]["traces"]) == 4
    assert len(left["killed"]) >= 30
    for killed in left["killed"]:
        assert killed["counted"], killed["step"]
        assert killed["results"] == left["whole"]["results"], killed["step"]
        assert killed["traces"] == left["whole"]["traces"], killed["step"]
        names = {"run.json", "results.jsonl", "traces.jsonl", "shortcuts.jsonl", "abandoned.jsonl"}
        assert set(killed["files"]) <= names, killed["step"]


def test_a_trace_without_its_result_counts_nowhere_and_is_replaced(folder: Path) -> None:
    """It goes where its tokens are counted; the decision is made again."""
    written = (folder / RESULTS).read_bytes().splitlines(keepends=True)
    (folder / RESULTS).write_bytes(b"".join(written[:-1]) + written[-1][:40])
    lost = json.loads(written[-1])["question"]
    used = usage_so_far(folder)
    (trace,) = (found for found in lines(folder / TRACES) if found["question"] == lost)
    run = read_run(folder)
    assert len(run.traces) == len(run.results) == 5
    for _ in range(2):
        FolderStore(folder, run_record(), resume=True).close()
        kept = {found["question"] for found in lines(folder / TRACES)}
        assert kept == {result.question for result in read_results(folder)}
        assert len(kept) == 5
        assert lines(folder / ABANDONED) == [trace]
        assert usage_so_far(folder) == used


def test_a_folder_that_an_earlier_version_left_has_its_traces_once_again(folder: Path) -> None:
    """Of a decision that stands there twice the later trace is the one that counts."""
    traces = (folder / TRACES).read_bytes().splitlines(keepends=True)
    first = traces[0].replace(b'"steps":2', b'"steps":7')
    assert first != traces[0]
    (folder / TRACES).write_bytes(b"".join([first, *traces]))
    FolderStore(folder, run_record(), resume=True).close()
    assert (folder / TRACES).read_bytes() == b"".join(traces)
    assert (folder / ABANDONED).read_bytes() == first


def test_two_processes_never_write_one_folder(folder: Path) -> None:
    """The second is told so, and changes nothing."""
    store = FolderStore(folder, run_record(), resume=True)
    before = (folder / TRACES).read_bytes()
    with pytest.raises(UsageError, match="Another process is writing"):
        FolderStore(folder, run_record(), resume=True)
    store.close()
    assert (folder / TRACES).read_bytes() == before
    FolderStore(folder, run_record(), resume=True).close()


def test_what_was_killed_before_it_began_is_no_run(tmp_path: Path) -> None:
    """A folder with half a record in it is as good as a new one."""
    (tmp_path / "run.json.new").write_text('{"version"')
    store = FolderStore(tmp_path, run_record())
    store.close()
    assert not (tmp_path / "run.json.new").exists()


@pytest.mark.slow
def test_twenty_kills_of_the_command_leave_what_an_uninterrupted_run_leaves(
    tmp_path: Path,
) -> None:
    """With SIGKILL, wherever it happens to be; `dqa analyse` measures the same."""
    questions = ("--generate", "12", "--seed", "3")
    asked = ("--deciders", "planrag,iterrag,first", "--databases", "sqlite,ladybug")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    dqa = [sys.executable, "-m", "dqa", "eval"]
    begin = [*dqa, *questions, *asked, "--workers", "2", "--out"]
    subprocess.run([*begin, str(whole)], capture_output=True, check=True)
    results = killed / "results.jsonl"
    kills = 0
    while kills < 20:
        begun = (killed / "run.json").exists()
        command = [*dqa, "--resume", str(killed)] if begun else [*begin, str(killed)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        before = results.stat().st_size if results.exists() else 0
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if results.exists() and results.stat().st_size > before:
                time.sleep(0.003 * kills)  # at another moment each time
                break
            time.sleep(0.001)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
    assert kills == 20
    subprocess.run([*dqa, "--resume", str(killed)], capture_output=True, check=True)
    assert results.read_bytes() == (whole / "results.jsonl").read_bytes()
    keys = Counter((t["question"], t["database"], t["decider"]) for t in lines(killed / TRACES))
    assert set(keys.values()) == {1}
    assert len(keys) == len(read_results(whole)) == 144
    assert analyse(killed).to_json() == analyse(whole).to_json()
