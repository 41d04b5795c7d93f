"""Kill a run of ``dqa eval`` again and again, go on with it, and hold it against one that was not.

::

    python benchmarks/killed_runs.py --questions 301 --kills 20 --processes 1
    python benchmarks/killed_runs.py --questions 301 --kills 20 --processes 2 --store postgresql://...

At random moments (``--seed``) one of the processes that write the run is killed (``kill -9``), and
the same command is started again. In the end the store has to hold every decision once, each with
its trace, and the same content hash as the uninterrupted run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import dqa
from dqa.core.errors import DqaError
from dqa.evaluation.stores.places import StorePlace, place_of
from dqa.evaluation.stores.reading import open_reader
from dqa.evaluation.stores.runs import count_results

DECIDERS = ("singlerag", "iterrag", "planrag", "planrag-no-replan")


def command(questions: int, store: str, arguments: argparse.Namespace) -> list[str]:
    """Return the command of a run."""
    return [
        *(sys.executable, "-m", "dqa", "eval", "--generate", str(questions)),
        *("--scenarios", arguments.scenarios, "--databases", arguments.databases),
        *("--deciders", arguments.deciders, "--out", store),
    ]


def start(how: list[str]) -> subprocess.Popen[str]:
    """Start a process that makes the run."""
    return subprocess.Popen(  # noqa: S603  (our own command)
        how, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def made(place: StorePlace) -> int:
    """Return how many decisions a store holds of a run, before it is there none."""
    try:
        return count_results(place)
    except DqaError:
        return 0


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for a process to end well."""
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode}: {said}")


def main() -> None:
    """Make an uninterrupted run and a killed one, and print what is measured of both."""
    arguments = parse()
    drawn = random.Random(arguments.seed)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder:
        whole, store = f"{folder}/whole.db#run", arguments.store or f"{folder}/killed.db#run"
        began = time.perf_counter()
        finish(start(command(arguments.questions, whole, arguments)))
        seconds = time.perf_counter() - began
        uninterrupted = dqa.read_run(whole)
        total = len(uninterrupted.results)
        place = place_of(store)
        assert isinstance(place, StorePlace)
        how = command(arguments.questions, store, arguments)
        moments = sorted(drawn.randrange(total) for _ in range(arguments.kills))
        began = time.perf_counter()
        processes = [start(how) for _ in range(arguments.processes)]
        killed = []
        for moment in moments:
            while made(place) < moment and any(one.poll() is None for one in processes):
                time.sleep(0.01)
            time.sleep(drawn.uniform(0.0, arguments.wait))
            number = drawn.randrange(len(processes))
            if processes[number].poll() is None:
                os.kill(processes[number].pid, signal.SIGKILL)
                killed.append(made(place))
            processes[number].communicate()
            processes[number] = start(how)
        for process in processes:
            finish(process)
        took = time.perf_counter() - began
        run = dqa.read_run(store)
        traces = [trace.key for trace in run.each_trace()]
        told = {
            "decisions": total,
            "processes": arguments.processes,
            "kills": len(killed),
            "made when killed": killed,
            "uninterrupted seconds": round(seconds, 1),
            "killed seconds": round(took, 1),
            "content hash": run.content_hash,
            "same content": run.content_hash == uninterrupted.content_hash,
            "traces": len(traces),
            "each decision has one trace": traces == [result.key for result in run.results],
            "lost calls": open_reader(place).abandoned().calls,
        }
        print(json.dumps(told, indent=2))
        if not (told["same content"] and told["each decision has one trace"]):
            raise SystemExit("the killed run is another one")


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=301)
    parser.add_argument("--scenarios", default="locating")
    parser.add_argument("--databases", default="sqlite,ladybug")
    parser.add_argument("--deciders", default=",".join(DECIDERS))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--wait", type=float, default=0.1, help="most seconds before a kill")
    parser.add_argument("--store", help="where the killed run is kept: URL#NAME; else a file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
