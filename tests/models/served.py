"""Asking a server on loopback that has one trouble with the first requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from dqa.models.calling import ModelReply, call_model
from dqa.models.faults import Fault
from dqa.models.openai_chat import OpenAIChat
from dqa.models.policy import CallPolicy
from tests.models.model_server import ModelServer, Trouble

KEY = "sk-test-1234567890abcdef"
TEXT = "Thought: all is known\nFinal Answer: " + "a name that is long enough to be cut " * 4
STOP = ("\nObservation:",)
both_ways = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])


def server(
    trouble: Trouble | None = None, times: int = 1, program: Callable[..., Any] = lambda _: TEXT
) -> ModelServer:
    """A server that has one trouble with the first requests."""
    return ModelServer(program, lambda _, before: trouble if before < times else None)


def model_at(served: ModelServer, *, streaming: bool = False, patience: float = 60.0) -> OpenAIChat:
    """A model that gives up on a silent server after so many seconds."""
    return OpenAIChat(
        model="test",
        base_url=served.url,
        api_key=KEY,  # type: ignore[arg-type]
        temperature=0,
        timeout=patience,
        max_retries=0,
        streaming=streaming,
        stream_usage=streaming,
    )


def call(
    served: ModelServer, policy: CallPolicy, *, streaming: bool = False, patience: float = 60.0
) -> tuple[ModelReply, list[Fault]]:
    """Ask for one reply and keep what went wrong."""
    faults: list[Fault] = []
    model = model_at(served, streaming=streaming, patience=patience)
    return call_model(model, [HumanMessage("Decide.")], STOP, policy, faults.append), faults
