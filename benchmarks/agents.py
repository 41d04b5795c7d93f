"""A model that takes its time and says what agents understand, in a process or behind a server."""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

LATENCY = 0.05
"""Seconds that the model takes for each reply."""
STATEMENT = "SELECT trade_node, local_value FROM trade_node WHERE local_value > 1 LIMIT 5 OFFSET"
_HOME = re.compile(r'Your home is the trade node "(\w+)"')
_NODE = re.compile(r'^\["(\w+)", *[-\d]', re.MULTILINE)


def reply_to(question: str, last: str, number: int, steps: int) -> str:
    """Return the reply of a number: a statement, and in the last step a decision.

    Parameters
    ----------
    question, last
        The message with the question, and the last message.
    number, steps
        Which reply it is, and of how many.
    """
    if number < steps:
        return f"Thought: look\nAction: query_database\nAction Input: {STATEMENT} {number}"
    home = _HOME.search(question)
    nodes = _NODE.findall(last)
    chosen = next(node for node in nodes if home is None or node != home[1])
    return f"Thought: done\nFinal Answer: {chosen}"


class Slow(BaseChatModel):
    """Replies after `LATENCY` seconds."""

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
        reply = reply_to(str(messages[1].content), str(messages[-1].content), number, self.steps)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply))])


def _serve(steps: int, url: Connection) -> None:
    from tests.models.model_server import ModelServer

    def program(request: dict[str, Any]) -> str:
        time.sleep(LATENCY)
        said = request["messages"]
        number = sum(one["role"] == "assistant" for one in said) + 1
        return reply_to(said[1]["content"], said[-1]["content"], number, steps)

    with ModelServer(program) as server:
        url.send(server.url)
        url.recv()


@contextmanager
def serving(steps: int) -> Iterator[str]:
    """Serve the slow model from a process of its own, which shares no interpreter lock."""
    mine, other = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(steps, other), daemon=True
    )
    process.start()
    try:
        yield mine.recv()
    finally:
        process.terminate()
