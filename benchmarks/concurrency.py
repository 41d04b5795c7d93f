"""What 64 decisions at once cost, against bare ``ChatOpenAI`` on the same local server.

Run ``python -m benchmarks.concurrency`` (``--runs``, ``--calls``, ``--rounds``). A server in a
process of its own answers every request after 50 ms. Ours is the whole path of `dqa.evaluate`:
databases, agents, guard, statements, retries, a budget, judging, results and traces in a folder.
The other side is a thread for each run that sends the conversation of one such decision through one
``ChatOpenAI``. Exit code 1 where ours takes more than half as long again.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

import dqa
from benchmarks.agents import LATENCY, serving
from benchmarks.measuring import in_turn
from benchmarks.needs import require
from dqa.core.events import PromptEvent, ReplyEvent, ToolEvent

NEEDS = ("models",)
MOST = 1.5
"""How many times as long as the bare client ours may take."""


def decide(questions: dqa.QuestionSet, url: str) -> dqa.Trace:
    """Decide all questions at once; return one of the traces."""
    with TemporaryDirectory() as folder:
        run = dqa.evaluate(
            questions,
            "iterrag",
            databases=("sqlite",),
            model=dqa.ModelSpec(name="openai:test", base_url=url),
            options=dqa.RunOptions(workers=len(questions.questions)),
            calls=dqa.CallOptions(budget_tokens=1_000_000_000, max_concurrency=1_000),
            out=Path(folder, "run"),
        )
        assert len({result.steps for result in run.results}) == 1
        with Path(folder, "run", "traces.jsonl").open(encoding="utf-8") as lines:
            return dqa.Trace.from_json(json.loads(next(lines)))


def conversation_of(trace: dqa.Trace) -> list[list[BaseMessage]]:
    """Return what a decision sends, call by call."""
    kinds = {"system": SystemMessage, "human": HumanMessage}
    messages: list[BaseMessage] = []
    sent = []
    for event in trace.events:
        if isinstance(event, PromptEvent):
            messages += [kinds[kind](text) for kind, text in event.messages]
        elif isinstance(event, ReplyEvent):
            sent.append(list(messages))
            messages.append(AIMessage(event.text))
        elif isinstance(event, ToolEvent):
            messages.append(HumanMessage(f"Observation: {event.observation}"))
    return sent


def ask_plainly(runs: int, sent: list[list[BaseMessage]], url: str) -> None:
    """Send the same conversation in as many threads, and do nothing with the replies."""
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="test", base_url=url, api_key="none", temperature=0, max_retries=0)  # type: ignore[arg-type]

    def run(_: int) -> None:
        for messages in sent:
            assert model.invoke(messages, stop=["\nObservation:"]).text

    with ThreadPoolExecutor(runs) as pool:
        list(pool.map(run, range(runs)))


def main() -> int:
    """Measure and print both sides, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=64, help="decisions at once")
    parser.add_argument("--calls", type=int, default=10, help="model calls of each")
    parser.add_argument("--rounds", type=int, default=5, help="times that each side runs")
    given = parser.parse_args()
    require(*NEEDS)
    questions = dqa.generate(("locating",), given.runs, 0, per_database=given.runs)
    with serving(given.calls) as url:
        sent = conversation_of(decide(questions.select(limit=1), url))
        assert len(sent) == given.calls, len(sent)
        sides = {
            "ChatOpenAI": lambda: ask_plainly(given.runs, sent, url),
            "dqa.evaluate": lambda: decide(questions, url),
        }
        found = in_turn(sides, given.rounds)
    print(f"{given.runs} runs at once of {given.calls} calls of {LATENCY * 1000:.0f} ms")
    for name, spent in found.items():
        print(f"{name:<14} {spent.wall:6.2f} s on the clock, {spent.cpu:6.2f} s of the processor")
    theirs, ours = found.values()
    ratio = ours.wall / theirs.wall
    print(f"{'ratio':<14} {ratio:6.2f} (at most {MOST}), {ours.cpu / theirs.cpu:6.2f}")
    return int(ratio > MOST)


if __name__ == "__main__":
    sys.exit(main())
