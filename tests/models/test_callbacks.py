"""LangChain's callbacks and caches serve the calls of models as everywhere else."""

from __future__ import annotations

from typing import Any

from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.context import collect_runs

from dqa.core.recorder import Recorder
from dqa.models.calling import call_model

ASKED = [HumanMessage("Where?")]


class Echo(BaseChatModel):
    """Says what it was called with, and counts."""

    calls: list[dict[str, Any]] = []  # noqa: RUF012  (pydantic copies it)

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, *_: Any, **kwargs: Any
    ) -> ChatResult:
        self.calls.append({"stop": stop, **kwargs})
        said = AIMessage(f"{messages[-1].text} {stop} {sorted(kwargs)}")
        return ChatResult(generations=[ChatGeneration(message=said)])


class Heard(BaseCallbackHandler):
    """Counts the calls of chat models that LangChain reports."""

    def __init__(self) -> None:
        self.count = 0

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Count one."""
        self.count += 1


def test_callbacks_are_told_of_every_call() -> None:
    """Those of the model, of a chain around the call, and of the process."""
    heard = Heard()
    call_model(Echo(callbacks=[heard]), ASKED, Recorder())
    chain = RunnableLambda[object, object](lambda _: call_model(Echo(), ASKED, Recorder()))
    chain.invoke(None, {"callbacks": [heard]})
    call_model(Echo().with_config(callbacks=[heard]), ASKED, Recorder())
    assert heard.count == 3
    with collect_runs() as seen:
        call_model(Echo(), ASKED, Recorder())
    assert [run.run_type for run in seen.traced_runs] == ["llm"]


def test_a_cache_answers_and_bound_settings_are_passed() -> None:
    """The reply is that of `invoke`."""
    cached = Echo(cache=InMemoryCache())
    first, second = (call_model(cached, ASKED, Recorder()).reply.text for _ in range(2))
    assert first == second
    assert len(cached.calls) == 1
    bound = Echo().bind(tools=["a"], seed=1)
    assert (
        call_model(bound, ASKED, Recorder(), stop=["\n"]).reply.text
        == bound.invoke(ASKED, stop=["\n"]).text
    )
