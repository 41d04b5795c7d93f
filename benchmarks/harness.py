"""What the harness costs: beside a decision, and where 64 decisions wait for a model at once.

Run ``python -m benchmarks.harness`` (``--questions``, ``--runs``, ``--steps``, ``--rounds``,
``--processes``).

First, many questions are decided by a decider that does nothing: what is left is planning, judging
(simulations and all), writing result and trace, and handing them on; it may be 1 ms a question.
Loading the worlds is measured apart; what a scenario's heuristics choose is decided, too, and not
counted. Then 64 agents of 10 steps, each with a statement, are asked of a model in the process that
decides which takes 50 ms a reply: the ideal is what one of them would take that waits for nothing
but its model. They are decided by the threads of one process, and by as many processes as there are
processors, or ``--processes``, who share the threads out.

What is measured begins when everything is read and built, and ends when the last decision is kept.
A first round, which is not counted, warms up: packages are imported in it, and processes begun,
which stay, as they do in a run that many decisions follow. They keep the one database open, too,
which one process loads again every round, in some milliseconds. Each is told on the clock and by
the processor's time of this process, since other work on the machine takes from the first alone.
Exit code 1 where a bound is missed on the clock, by one process and by several.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from langchain_core.language_models import BaseChatModel

import dqa
from benchmarks.concurrency import LATENCY
from benchmarks.slow_model import Slow
from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.question import Question
from dqa.evaluation.engines.base import GivenObjects, open_engine
from dqa.evaluation.folders import RunRecord, now, versions
from dqa.evaluation.options import DEFAULT_CALLS, RunOptions
from dqa.evaluation.run import evaluate as decide_all
from dqa.evaluation.score import Judge
from dqa.evaluation.store import FolderStore
from dqa.loaders.sources import GivenQuestions

MOST_MILLISECONDS = 1.0
"""What the harness may add to a question."""
LEAST_SHARE = 0.85
"""Of the ideal, for agents that wait for their model at once."""


class Nothing(Decider):
    """Takes the first candidate, and no time."""

    name = "nothing"

    def decide(self, question: Question, database: Database) -> Decision:
        """Choose without looking."""
        del database
        assert question.candidates
        return Decision(Ending.ANSWERED, choice=question.candidates[0])


class Taken(NamedTuple):
    """What something took: seconds on the clock, and of the processor in this process."""

    wall: float
    cpu: float


def taken(work: Callable[[], object], rounds: int) -> Taken:
    """Return the medians of some rounds, without a first one that warms up."""
    found = []
    for _ in range(rounds + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        found.append(Taken(time.perf_counter() - wall, time.process_time() - cpu))
    return Taken(*map(statistics.median, zip(*found[1:], strict=True)))


def beside_deciding(count: int, rounds: int) -> Taken:
    """Return what a question costs beyond deciding and loading, in milliseconds."""
    questions = dqa.generate(("locating",), count, 0, per_database=20)
    worlds = len({question.situation for question in questions.questions})

    def load() -> None:
        for situation in questions.situations.values():
            plugins.backend("sqlite").load(situation, isolation="none").close()

    decided = decisions(questions, Nothing(), 1, rounds)
    loaded = taken(load, rounds)
    print(
        f"{count} questions about {worlds} worlds: {decided.wall:.2f} s, "
        f"{loaded.wall:.2f} of them loading"
    )
    each = (1000.0 * (one - other) / count for one, other in zip(decided, loaded, strict=True))
    return Taken(*each)


def at_once(runs: int, steps: int, rounds: int, processes: int) -> Taken:
    """Return what a number of agents take that wait for their model at once."""
    questions = dqa.generate(("locating",), runs, 0, per_database=runs)
    return decisions(questions, "iterrag", runs, rounds, Slow(steps=steps), processes)


def decisions(  # noqa: PLR0913, PLR0917  (each is a question of its own to the caller)
    questions: dqa.QuestionSet,
    decider: str | Decider,
    workers: int,
    rounds: int,
    model: BaseChatModel | None = None,
    processes: int = 1,
) -> Taken:
    """Return what it takes to make, judge and keep all decisions, once all is read and built."""
    options = RunOptions(workers=workers, processes=processes, isolation="none")
    name = decider if isinstance(decider, str) else decider.name
    chats = {} if model is None else {model.get_name(): model}
    spec = dqa.RunSpec(
        questions=GivenQuestions(name=questions.name, content_hash=questions.content_hash),
        deciders=name,
        databases="sqlite",
        model=next(iter(chats), "scripted:analyst"),
    )
    given = {} if isinstance(decider, str) else {name: decider}
    with (
        open_engine(options) as engine,
        spec.build(questions=questions, deciders=given, chats=chats, options=options) as built,
    ):
        elsewhere = engine.deciding(built, GivenObjects(given, chats), DEFAULT_CALLS, options)
        record = RunRecord(
            spec=built.spec,
            content_hash=questions.content_hash,
            planned=len(questions.questions),
            began=now(),
            options=options,
            calls=DEFAULT_CALLS,
            versions=versions(),
        )

        def decide() -> None:
            with TemporaryDirectory() as folder:
                store = FolderStore(Path(folder, "run"), record)
                judge = Judge(questions, built.spec.rule_set)
                made = decide_all(built.setup, judge, store, options, decide=elsewhere)
                assert len(made) == len(questions.questions)
                assert all(one.outcome.judged for one in made), made[0]

        return taken(decide, rounds)


def main() -> int:
    """Measure and print both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    cost = beside_deciding(options.questions, options.rounds)
    print(
        f"the harness adds {cost.wall:.2f} ms a question on the clock, {cost.cpu:.2f} ms of the "
        f"processor; at most {MOST_MILLISECONDS}"
    )
    shares = []
    for processes in dict.fromkeys((1, options.processes)):
        waiting = at_once(options.runs, options.steps, options.rounds, processes)
        shares.append(tell(options.runs, options.steps, waiting, processes))
    return int(max(shares) < LEAST_SHARE or cost.wall > MOST_MILLISECONDS)


def tell(runs: int, steps: int, waiting: Taken, processes: int) -> float:
    """Print how near to the ideal agents came, and return it as a share."""
    ideal = steps * LATENCY
    share = ideal / waiting.wall
    print(
        f"{runs} runs of {steps} steps, {processes} process{'es' * (processes > 1)}: "
        f"{waiting.wall:.2f} s on the clock, {waiting.cpu:.2f} s of the processor in this one, "
        f"ideal {ideal:.2f} s: {100 * share:.0f} %, at least {100 * LEAST_SHARE:.0f}"
    )
    return share


if __name__ == "__main__":
    sys.exit(main())
