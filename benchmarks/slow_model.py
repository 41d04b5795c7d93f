"""A model that takes its time, in a module of its own: other processes import it, too."""

from __future__ import annotations

import time
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from benchmarks.concurrency import LATENCY, said


class Slow(BaseChatModel):
    """Takes its time over each reply: a statement each time, and at last a decision."""

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
        reply = said(str(messages[1].content), str(messages[-1].content), number, self.steps)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply))])
