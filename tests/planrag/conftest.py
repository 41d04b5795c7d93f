"""A small world in a real database, and a chat model that says what a test wants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from dqa import plugins
from dqa.databases.base import Database
from dqa.loaders.generator import generate
from dqa.question import QuestionSet


class Replies(BaseChatModel):
    """Says the given replies one after the other and remembers what it was shown."""

    replies: list[str]
    shown: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "replies"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.shown.append(list(messages))
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        message = AIMessage(self.replies[len(self.shown) - 1], usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


@pytest.fixture(scope="session")
def questions() -> QuestionSet:
    """Two generated questions of each scenario."""
    return generate(count=2, seed=7)


@pytest.fixture(scope="session", params=["sqlite", "ladybug"])
def database(request: pytest.FixtureRequest, questions: QuestionSet) -> Iterator[Database]:
    """The world of the first Locating question, in each embedded database."""
    question = questions.find("locating/1")
    loaded = plugins.backend(request.param).load(questions.situation_of(question))
    yield loaded
    loaded.close()
