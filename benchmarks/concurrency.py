"""What 64 decisions at once cost here and in bare ``ChatOpenAI``, against the same local server.

Run ``python -m benchmarks.concurrency`` (``--runs``, ``--calls``, ``--rounds``). A server in a
process of its own, so that it shares no interpreter lock, answers every request after 50 ms. Ours
is the whole path of `dqa.evaluate` but for reading the questions: databases, agents in LangGraph,
guard, statements, retries, a budget, judging, results and traces in a folder. Theirs is a thread a
run that sends the conversations of one of these decisions through one ``ChatOpenAI``, and does
nothing with the replies. Both take turns in one run, and the medians are compared: exit code 1
where ours takes more than half as long again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import re
import statistics
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

from dqa import evaluate
from dqa.core.events import PromptEvent, ReplyEvent, RetrievalEvent
from dqa.core.question_set import QuestionSet
from dqa.evaluation.folders import TRACES
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.spec import ModelSpec
from dqa.evaluation.traces import Trace
from dqa.loaders.generator import generate

LATENCY = 0.05
"""Seconds that the server takes over each reply."""
MOST = 1.5
"""How many times as long as the bare client ours may take."""
STATEMENT = "SELECT trade_node, local_value FROM trade_node WHERE local_value > 1 LIMIT 5 OFFSET"
_HOME = re.compile(r'Your home is the trade node "(\w+)"')
_NODE = re.compile(r'^\["(\w+)", *[-\d]', re.MULTILINE)
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class Taken(NamedTuple):
    """What a round took: seconds on the clock, and of the processor in this process."""

    wall: float
    cpu: float


# --- the server -----------------------------------------------------------------------------


def said(question: str, seen: str, number: int, calls: int) -> str:
    """Return what the model says the nth time: a statement, and at last a decision.

    Parameters
    ----------
    question, seen
        The message with the question, and the last one.
    number, calls
        Which reply it is, and of how many.
    """
    if number < calls:
        return f"Thought: look\nAction: query_database\nAction Input: {STATEMENT} {number}"
    home = _HOME.search(question)
    nodes = _NODE.findall(seen)
    chosen = next(node for node in nodes if home is None or node != home[1])
    return f"Thought: done\nFinal Answer: {chosen}"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, calls: int) -> None:
    """Answer the requests of one connection until it is closed."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            found = _LENGTH.search(head)
            if found is None:  # whether anybody listens is asked before the first call
                writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                continue
            body = json.loads(await reader.readexactly(int(found[1])))
            await asyncio.sleep(LATENCY)
            given = [one["content"] for one in body["messages"]]
            number = sum(one["role"] == "assistant" for one in body["messages"]) + 1
            reply_text = said(given[1], given[-1], number, calls)
            message = {"role": "assistant", "content": reply_text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}
            reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "test"}
            text = json.dumps({**reply, "choices": [choice], "usage": usage}).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                b"content-length: %d\r\n\r\n%s" % (len(text), text)
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def serve(calls: int, told: Connection) -> None:
    """Serve on a free port of loopback, which is told, until the process is ended."""

    async def listen() -> None:
        server = await asyncio.start_server(
            lambda reader, writer: answer(reader, writer, calls), "127.0.0.1", 0, backlog=512
        )
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(listen())


# --- both sides -----------------------------------------------------------------------------


def decide(questions: QuestionSet, url: str) -> str:
    """Decide all questions at once, through everything that `dqa.evaluate` does; a trace."""
    with TemporaryDirectory() as folder:
        run = evaluate(
            questions,
            "iterrag",
            databases=("sqlite",),
            model=ModelSpec(name="openai:test", base_url=url),
            options=RunOptions(workers=len(questions.questions)),
            calls=CallOptions(budget_tokens=1_000_000_000, max_concurrency=1_000),
            out=Path(folder, "run"),
        )
        wrong = [result for result in run.results if result.steps != run.results[0].steps]
        assert not wrong, wrong[0]
        with Path(folder, "run", TRACES).open(encoding="utf-8") as lines:
            return next(lines)


def conversations(questions: QuestionSet, url: str) -> list[list[BaseMessage]]:
    """Return what one of these decisions sends, call by call."""
    events = Trace.from_json(json.loads(decide(questions.select(limit=1), url))).events
    kinds = {"system": SystemMessage, "human": HumanMessage}
    prompt = next(event for event in events if isinstance(event, PromptEvent))
    messages: list[BaseMessage] = [kinds[kind](text) for kind, text in prompt.messages]
    sent = []
    for event in events:
        if isinstance(event, ReplyEvent):
            sent.append(list(messages))
            messages.append(AIMessage(event.text))
        elif isinstance(event, RetrievalEvent):
            messages.append(HumanMessage(f"Observation: {event.observation}"))
    return sent


def ask_plainly(runs: int, sent: list[list[BaseMessage]], url: str) -> None:
    """Send the same conversations in as many threads, and do nothing with the replies."""
    model = ChatOpenAI(model="test", base_url=url, api_key="none", temperature=0, max_retries=0)  # type: ignore[arg-type]

    def run(_: int) -> None:
        for messages in sent:
            assert model.invoke(messages, stop=["\nObservation:"]).text

    with ThreadPoolExecutor(runs) as pool:
        list(pool.map(run, range(runs)))


def taken(work: Callable[[], object]) -> Taken:
    """Return what a round takes."""
    wall, cpu = perf_counter(), process_time()
    work()
    return Taken(perf_counter() - wall, process_time() - cpu)


def main() -> int:
    """Measure and print both sides, and their ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=64, help="decisions at once")
    parser.add_argument("--calls", type=int, default=10, help="model calls of each")
    parser.add_argument("--rounds", type=int, default=5, help="times that each side runs")
    options = parser.parse_args()
    told, tells = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(options.calls, tells), daemon=True
    )
    server.start()
    url = f"http://127.0.0.1:{told.recv()}/v1"
    questions = generate(("locating",), options.runs, 0, per_database=options.runs)
    sent = conversations(questions, url)
    assert len(sent) == options.calls, len(sent)
    sides = {
        "ChatOpenAI": lambda: ask_plainly(options.runs, sent, url),
        "dqa.evaluate": lambda: decide(questions, url),
    }
    rounds: dict[str, list[Taken]] = {name: [] for name in sides}
    for _ in range(options.rounds + 1):
        for name, side in sides.items():
            rounds[name].append(taken(side))
    server.terminate()
    print(f"{options.runs} runs at once of {options.calls} calls of {LATENCY * 1000:.0f} ms")
    medians = {
        name: Taken(*map(statistics.median, zip(*found[1:], strict=True)))
        for name, found in rounds.items()
    }
    for name, median in medians.items():
        print(f"{name:<14} {median.wall:6.2f} s on the clock, {median.cpu:6.2f} s CPU")
    ours, theirs = medians["dqa.evaluate"], medians["ChatOpenAI"]
    wall, cpu = ours.wall / theirs.wall, ours.cpu / theirs.cpu
    print(f"{'ratio':<14} {wall:6.2f}                 {cpu:6.2f}, at most {MOST}")
    return int(wall > MOST)


if __name__ == "__main__":
    sys.exit(main())
