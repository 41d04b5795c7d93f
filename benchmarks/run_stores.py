"""What keeping a decision costs, how fast a large run is read, and how much room one needs.

::

    python benchmarks/run_stores.py --decisions 10000

Real decisions of a scripted agent are kept over and over under other names: in a folder, in a
store, and, for the ratio, nowhere.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dqa
from dqa.evaluation.folders import RunRecord, versions
from dqa.evaluation.store import FolderStore, RunStore
from dqa.evaluation.stores.opening import open_store
from dqa.evaluation.stores.places import place_of


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def fill(store: RunStore, run: dqa.Run, decisions: int) -> None:
    """Keep so many decisions, and close the store."""
    kept = list(zip(run.results, run.traces, strict=True))
    for number in range(decisions):
        result, trace = kept[number % len(kept)]
        name = f"{result.scenario}/{number}"
        store.add(
            result.model_copy(update={"question": name}),
            trace.model_copy(update={"question": name}),
        )
    store.close()


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=10_000)
    decisions = parser.parse_args().decisions
    run = dqa.evaluate(dqa.GeneratedQuestions(count=5), ["planrag"], databases="sqlite")
    with tempfile.TemporaryDirectory() as folder:
        made = dqa.evaluate(
            dqa.GeneratedQuestions(count=5), ["planrag"], databases="sqlite", out=f"{folder}/made"
        )
        assert run.spec is not None
        record = RunRecord(spec=run.spec, content_hash="0" * 64, versions=versions())
        store = open_store(place_of(f"{folder}/runs.db#run"), record)
        kept = {
            "nowhere": seconds(lambda: fill(RunStore(), made, decisions)),
            "folder": seconds(
                lambda: fill(FolderStore(Path(folder) / "kept", record), made, decisions)
            ),
            "store": seconds(lambda: fill(store, made, decisions)),
        }
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        place = f"{folder}/runs.db#run"
        deciding = sum(trace.seconds for trace in made.traces) / len(made.traces)
        told = {
            "decisions": decisions,
            "ms to keep one": {k: round(1000 * v / decisions, 3) for k, v in kept.items()},
            "of what deciding one takes": {
                k: round(v / decisions / deciding, 4) for k, v in kept.items()
            },
            "s to read all results": {
                "folder": round(seconds(lambda: dqa.read_run(f"{folder}/kept")), 2),
                "store": round(seconds(lambda: dqa.read_run(place)), 2),
            },
            "s to read the trace of one question": {
                "folder": round(_one(f"{folder}/kept", made, decisions), 3),
                "store": round(_one(place, made, decisions), 3),
            },
            "MB of the process at most": round(peak),
            "MB on disk": {
                "folder": round(
                    sum(p.stat().st_size for p in Path(folder, "kept").iterdir()) / 1e6
                ),
                "store": round(Path(folder, "runs.db").stat().st_size / 1e6),
            },
        }
        print(json.dumps(told, indent=2))


def _one(place: str, made: dqa.Run, decisions: int) -> float:
    run = dqa.read_run(place)
    number = decisions // 2
    question = f"{made.results[number % len(made.results)].scenario}/{number}"
    return seconds(lambda: run.select(question))


if __name__ == "__main__":
    main()
