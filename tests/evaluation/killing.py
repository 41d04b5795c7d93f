"""Evaluations that are killed at one step after another, each in a process of its own.

``python -m tests.evaluation.killing FOLDER`` makes an uninterrupted run, and for every step at
which a run writes one that is killed there, killed once more while it goes on, and then finished.
It prints what is left of each, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Any

from dqa import plugins
from dqa.api.reading import read_run
from dqa.core.decider import Decider
from dqa.core.question_set import QuestionSet
from dqa.evaluation import store
from dqa.evaluation.analysis import read_cases
from dqa.evaluation.options import RunOptions
from dqa.evaluation.plan import Setup
from dqa.evaluation.run import evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.store import FolderStore
from dqa.loaders.generator import generate
from dqa_simulators.locating.generator import LocatingSize
from tests.evaluation.conftest import Rule
from tests.evaluation.records import run_record


class _Steps:
    """Counts the steps of writing, and kills this process at one of them."""

    def __init__(self, last: int | None) -> None:
        self._left = last

    def __call__(self) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def _watch(step: Callable[[], None]) -> None:
    """Let every write of the store be steps: a line's before it, in the middle, and after it."""
    replace, fsync = Path.replace, os.fsync

    def stepping_add(opened: FileIO, line: str) -> None:
        data = f"{line}\n".encode()
        half = len(data) // 2
        step()
        for part in (data[:half], data[half:]):
            opened.write(part)
            step()

    def stepping_replace(path: Path, target: Path) -> Path:
        step()
        replaced = replace(path, target)
        step()
        return replaced

    def stepping_sync(descriptor: int) -> None:
        step()
        fsync(descriptor)

    vars(store)["add_line"] = stepping_add
    Path.replace = stepping_replace  # type: ignore[assignment,method-assign]
    os.fsync = stepping_sync  # type: ignore[assignment]


def _forked(work: Callable[[], object]) -> bool:
    """Do something in a process of its own; False where that was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001  (the parent goes on in its place)
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    if os.waitstatus_to_exitcode(status):
        raise SystemExit("an evaluation failed")
    return True


def _run(questions: QuestionSet, folder: Path, last: int | None) -> bool:
    """Evaluate, or go on with it; False where the process was killed at step `last`."""

    def answer(question: Any, _: Any) -> str:
        if question.id == "2" and not (folder.parent / f"{folder.name} broke").exists():
            (folder.parent / f"{folder.name} broke").touch()
            raise ZeroDivisionError("once")
        return str(questions.truth_of(question).official)

    def work() -> None:
        _watch(_Steps(last))
        kept = FolderStore(folder, run_record(), resume=(folder / "run.json").exists())
        kept.keep_shortcuts(())
        deciders: dict[str, Decider] = {name: Rule(name, answer) for name in ("one", "two")}
        sqlite = {"sqlite": plugins.backend("sqlite")}
        setup = Setup(questions, sqlite, deciders, dict.fromkeys(deciders, "none"))
        evaluate(setup, Judge(questions, "paper"), kept, RunOptions(workers=1, isolation="none"))

    return _forked(work)


def _lines(path: Path) -> Sequence[str]:
    return path.read_text("utf-8").split("\n")[:-1] if path.exists() else []


def _traces(folder: Path) -> list[str]:
    """Every trace without its times, sorted."""

    def timeless(written: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in written.items() if name != "seconds"}

    lines = _lines(folder / "traces.jsonl")
    return sorted(json.dumps(json.loads(line, object_hook=timeless)) for line in lines)


def _decided(folder: Path) -> list[str]:
    lines = _lines(folder / "results.jsonl")
    return [line for line in lines if json.loads(line)["outcome"] != "crashed"]


def _counted(folder: Path) -> bool:
    """Whether a reader counts what has a result, and nothing else."""
    results = _lines(folder / "results.jsonl")
    if not results:
        return True
    traces, judged = read_run(folder).traces, read_cases(folder).judged
    return len(traces) == len(results) and len(judged) == len(_decided(folder))


def main(folder: Path) -> None:
    """Kill a run at every step, and print what is left of each."""
    size = LocatingSize(12, 20, 20, 60)
    questions = generate(("locating",), count=2, seed=7, sizes=(size,), per_database=2)
    (folder / "whole broke").touch()
    assert _run(questions, folder / "whole", None)
    left = []
    for step in count(1):
        run = folder / f"killed {step}"
        if _run(questions, run, step):
            break
        counted = _counted(run)
        _run(questions, run, 1 + 7 * step % 23)
        counted = counted and _counted(run)
        _run(questions, run, None)
        if len(_decided(run)) < 4:  # what crashed is asked again
            _run(questions, run, None)
        left.append(
            {
                "step": step,
                "counted": counted,
                "results": (run / "results.jsonl").read_text("utf-8"),
                "traces": _traces(run),
                "files": sorted(path.name for path in run.iterdir()),
            }
        )
    whole = folder / "whole"
    uninterrupted = {
        "results": (whole / "results.jsonl").read_text("utf-8"),
        "traces": _traces(whole),
    }
    sys.stdout.write(json.dumps({"whole": uninterrupted, "killed": left}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
