"""How long ``dqa compare`` and ``dqa results`` take on a run of many decisions.

Run ``python -m benchmarks.comparing`` (``--decisions 10000``). The run is made up: four deciders on
two databases, questions about 50 situations. Each command is a process of its own, so its start
counts; the bound of 5 s of a processor for 10,000 decisions is `LIMIT`, and exit code 1 says it
was missed. The time on the clock, beside it, depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from dqa.evaluation.results import Outcome, Result

LIMIT = 5.0
DECIDERS = {"first": 0.1, "one": 0.6, "other": 0.65, "best": 0.9}
DATABASES = {"sqlite": "relational", "ladybug": "graph"}


def main() -> int:
    """Print seconds by command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=10_000)
    decisions = parser.parse_args().decisions
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run.mkdir()
        lines = [json.dumps(result.to_json()) + "\n" for result in made_up(decisions)]
        (run / "results.jsonl").write_text("".join(lines), "utf-8")
        (run / "traces.jsonl").touch()
        for command in ("compare", "results"):
            begun, used = perf_counter(), _processor()
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-m", "dqa", command, str(run)],
                check=True,
                capture_output=True,
                text=True,
            )
            seconds, clock = _processor() - used, perf_counter() - begun
            slow |= seconds > LIMIT
            print(
                f"dqa {command}: {decisions:,} decisions, {seconds:.2f} s ({clock:.2f} s by clock)"
            )
            assert "best" in done.stdout
    return int(slow)


def _processor() -> float:
    """Return the processor's seconds of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def made_up(decisions: int) -> Iterator[Result]:
    """Yield results in the order of a plan."""
    drawn = random.Random(16)  # noqa: S311
    for number in range(decisions):
        question, place = divmod(number, len(DECIDERS) * len(DATABASES))
        decider = list(DECIDERS)[place % len(DECIDERS)]
        database = list(DATABASES)[place // len(DECIDERS)]
        right = drawn.random() < DECIDERS[decider]
        yield Result.model_validate(
            {
                "question": f"locating/{question}",
                "scenario": "locating",
                "database": database,
                "kind": DATABASES[database],
                "decider": decider,
                "model": "none",
                "situation": f"{question % 50}",
                "outcome": Outcome.CORRECT if right else Outcome.WRONG,
                "answer": "somewhere",
                "choice": "a" if right else "b",
                "official": "a",
                "ties": ["a"],
                "regret": 0.0 if right else drawn.random(),
                "relative_regret": 0.0 if right else drawn.random(),
                "rank": 1 if right else 2,
                "value": 1.0,
                "best_value": 1.0,
                "baseline": 0.0,
                "goal": "maximise",
                "steps": 3,
                "statements": 3,
                "plans": 1,
                "error": None,
                "input_tokens": drawn.randrange(3000),
                "output_tokens": drawn.randrange(300),
                "calls": 3,
            }
        )


if __name__ == "__main__":
    sys.exit(main())
