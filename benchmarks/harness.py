"""The time that the harness adds to a decision, and the speed of 64 agents at the same time.

Run ``python -m benchmarks.harness`` (``--questions``, ``--runs``, ``--steps``, ``--rounds``,
``--processes``). First, a decider that does nothing decides many questions. This measures planning,
judging, and writing results and traces; the loading time is subtracted. Then 64 agents with 10
steps use a model that replies after 50 ms, in threads of one process and in several processes. The
ideal time is the time that one agent waits for its model. Reading the questions is not measured.
The exit code is 1 if a bound is not met.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import dqa
from benchmarks.measuring import Taken, in_turn
from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.question import Question
from dqa.evaluation.connecting import PassedObjects
from dqa.evaluation.executors import open_executor
from dqa.evaluation.location import RunLocation
from dqa.evaluation.options import DEFAULT_CALLS, RunOptions
from dqa.evaluation.prepare import prepare
from dqa.evaluation.record import RunRecord, now, versions
from dqa.evaluation.runner import run_tasks
from dqa.evaluation.store import RunStore
from dqa.loaders.sources import PassedQuestions

MOST_MILLISECONDS = 1.0
"""The maximum time that the harness may add to a question."""
LEAST_SHARE = 0.85
"""The minimum ratio of the ideal time to the measured time."""
LATENCY = 0.05
"""Seconds per reply."""
STATEMENT = "SELECT trade_node, local_value FROM trade_node WHERE local_value > 1 LIMIT 5 OFFSET"
_HOME = re.compile(r'Your home is the trade node "(\w+)"')
_NODE = re.compile(r'^\["(\w+)", *[-\d]', re.MULTILINE)


class Slow(BaseChatModel):
    """Replies with statements, and in the last step with a decision."""

    steps: int

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,  # noqa: ANN401
        **settings: Any,  # noqa: ANN401
    ) -> ChatResult:
        del stop, run_manager, settings
        time.sleep(LATENCY)
        number = sum(message.type == "ai" for message in messages) + 1
        reply = f"Thought: look\nAction: query_database\nAction Input: {STATEMENT} {number}"
        if number >= self.steps:
            home = _HOME.search(messages[1].text)
            nodes = _NODE.findall(messages[-1].text)
            chosen = next(node for node in nodes if home is None or node != home[1])
            reply = f"Thought: done\nFinal Answer: {chosen}"
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply))])


class Nothing(Decider):
    """Chooses the first candidate."""

    name = "nothing"

    def decide(self, question: Question, database: Database) -> Decision:
        """Return the first candidate."""
        del database
        assert question.candidates
        return Decision(Ending.ANSWERED, choice=question.candidates[0])


def added_to_a_question(count: int, rounds: int) -> Taken:
    """Return the milliseconds per question for everything except deciding and loading."""
    questions = dqa.generate(("locating",), count, 0, per_database=20)

    def load() -> None:
        for situation in questions.situations.values():
            plugins.backend("sqlite").load(situation, isolation="none").close()

    decided = decisions(questions, Nothing(), 1, rounds)
    loaded = in_turn({"load": load}, rounds)["load"]
    print(f"{count} questions: {decided.wall:.2f} s, {loaded.wall:.2f} s of them loading")
    return Taken(*(1e3 * (one - other) / count for one, other in zip(decided, loaded, strict=True)))


def decisions(  # noqa: PLR0913, PLR0917  (each is a question of its own to the caller)
    questions: dqa.QuestionSet,
    decider: str | Decider,
    workers: int,
    rounds: int,
    model: BaseChatModel | None = None,
    processes: int = 1,
) -> Taken:
    """Return the time for deciding, judging and writing all questions."""
    options = RunOptions(workers=workers, processes=processes, isolation="none")
    name = decider if isinstance(decider, str) else decider.name
    chats = {} if model is None else {model.get_name(): model}
    spec = dqa.RunSpec(
        questions=PassedQuestions(name=questions.name, content_hash=questions.content_hash),
        deciders=name,
        databases="sqlite",
        model=next(iter(chats), "scripted:analyst"),
    )
    given = PassedObjects({} if isinstance(decider, str) else {name: decider}, chats)
    setup = prepare(spec, questions=questions, given=given, options=options)
    record = RunRecord(
        spec=setup.spec,
        content_hash=questions.content_hash,
        planned=len(questions.questions),
        began=now(),
        options=options,
        calls=DEFAULT_CALLS,
        versions=versions(),
    )

    def decide() -> None:
        with (
            TemporaryDirectory() as folder,
            open_executor(setup, given, DEFAULT_CALLS, options) as executor,
        ):
            store = RunStore(RunLocation.of_folder(Path(folder, "run")), record)
            made = run_tasks(setup.tasks, executor, store, lambda _: None)
            store.close()
            assert len(made) == len(questions.questions)
            assert all(one.outcome.judged for one in made), made[0]

    return in_turn({"decide": decide}, rounds)["decide"]


def main() -> int:
    """Measure the added time and the speed, and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    added = added_to_a_question(given.questions, given.rounds)
    print(
        f"the harness adds {added.wall:.2f} ms to a question ({added.cpu:.2f} ms of processor "
        f"time); at most {MOST_MILLISECONDS} ms are allowed"
    )
    questions = dqa.generate(("locating",), given.runs, 0, per_database=given.runs)
    ideal, shares = given.steps * LATENCY, []
    for processes in dict.fromkeys((1, given.processes)):
        model = Slow(steps=given.steps)
        spent = decisions(questions, "iterrag", given.runs, given.rounds, model, processes)
        shares.append(ideal / spent.wall)
        print(
            f"{given.runs} runs of {given.steps} steps in {processes} process(es): "
            f"{spent.wall:.2f} s, ideal {ideal:.2f} s: {shares[-1]:.0%}, at least {LEAST_SHARE:.0%}"
        )
    return int(max(shares) < LEAST_SHARE or added.wall > MOST_MILLISECONDS)


if __name__ == "__main__":
    sys.exit(main())
