"""A clock that tests turn themselves, and a model on a cassette."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from dqa.models.cassette import Cassette, RecordedModel
from dqa.models.policy import Clock
from dqa.models.registry import Connection, chat_model

NAME = "openai:test"
"""The name of the recorded model."""


class Hours:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        with self._lock:
            self.now += seconds
            self.slept.append(seconds)

    @property
    def clock(self) -> Clock:
        """The clock that shows this time."""
        return Clock(lambda: self.now, self.sleep)


@pytest.fixture
def hours() -> Hours:
    """Time in the test's own hands."""
    return Hours()


class Speaking(BaseChatModel):
    """Replies with the result of a function of the last message, or raises it if it is an error.

    It stores its requests. Each reply costs ten tokens.
    """

    say: Callable[[str], Any]
    asked: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "speaking"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.asked.append(list(messages))
        said = self.say(messages[-1].text)
        if isinstance(said, Exception):
            raise said
        usage = {"input_tokens": 10, "output_tokens": 0, "total_tokens": 10}
        message = AIMessage(said) if isinstance(said, str) else said
        reply = message.model_copy(update={"usage_metadata": usage})
        return ChatResult(generations=[ChatGeneration(message=reply)])


def saying(*replies: Any) -> Speaking:
    """Return a model with these replies in order."""
    left = iter(replies)
    return Speaking(say=lambda _: next(left))


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    """Where the cassette is going to be."""
    return tmp_path / "tape.jsonl"


def recording(tape: Path, inner: BaseChatModel, *, resume: bool = False) -> BaseChatModel:
    """Return a model that is recorded."""
    cassette = Cassette.record(tape, [NAME], resume=resume)
    own = {"temperature": 0}
    return RecordedModel(model=NAME, cassette=cassette, inner=inner, parameters=own)


def playing(tape: Path) -> BaseChatModel:
    """Return the same model from its cassette alone."""
    return chat_model(NAME, Connection(cassette=Cassette.replay(tape, [NAME])))
