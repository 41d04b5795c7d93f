"""A chat model is asked without LangChain's callbacks only where nobody would be told."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tracers.context import collect_runs

from dqa.models.unwatched import invoke_model, is_watched, unwatched

ASKED = [HumanMessage("Where?")]


class Echo(BaseChatModel):
    """Says what it was called with, and counts."""

    calls: list[dict[str, Any]] = []  # noqa: RUF012  (pydantic copies it)

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.calls.append({"stop": stop, **kwargs})
        said = AIMessage(f"{messages[-1].text} {stop} {sorted(kwargs.items())}")
        generation = ChatGeneration(message=said, generation_info={"finish_reason": "stop"})
        return ChatResult(generations=[generation], llm_output={"model_name": "echo-1"})


class Own(Echo):
    """A model whose `invoke` is its own."""

    def invoke(
        self,
        input: LanguageModelInput,  # noqa: A002  (the base class's name)
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """Say that it was invoked."""
        return AIMessage("invoked")


class Heard(BaseCallbackHandler):
    """Counts the calls of chat models that it is told of."""

    def __init__(self) -> None:
        self.count = 0

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Count one."""
        self.count += 1


def without_id(reply: AIMessage) -> AIMessage:
    """The reply without the id that LangChain makes up for every call."""
    assert str(reply.id).startswith("lc_run-")
    return reply.model_copy(update={"id": None})


@pytest.mark.parametrize("stop", [None, ["\n"]])
def test_the_reply_is_that_of_invoke(stop: list[str] | None) -> None:
    """Text, settings that are bound, stop sequences and what the provider says besides."""
    bound = Echo().bind(tools=["a"], stop=["bound"]).bind(seed=1, tools=["b"])
    for model in (Echo(), bound):
        expected = model.invoke(ASKED, stop=stop)
        assert without_id(invoke_model(model, ASKED, stop)) == without_id(expected)
        assert expected.response_metadata["model_name"] == "echo-1"
        assert expected.response_metadata["finish_reason"] == "stop"


def test_whoever_listens_is_told() -> None:
    """Callbacks of the model, of a chain around the call, and of the process."""
    heard = Heard()
    assert not is_watched()
    with unwatched():
        invoke_model(Echo(callbacks=[heard]), ASKED)
        assert heard.count == 1
        chain = RunnableLambda[object, AIMessage](lambda _: invoke_model(Echo(), ASKED))
        chain.invoke(None, {"callbacks": [heard]})
        assert heard.count == 2
    invoke_model(Echo().with_config(callbacks=[heard]), ASKED)
    assert heard.count == 3
    with collect_runs() as seen:
        assert is_watched()
        invoke_model(Echo(), ASKED)
    assert [run.run_type for run in seen.traced_runs] == ["llm"]


def test_a_cache_answers_and_a_class_with_its_own_invoke_is_invoked() -> None:
    """What LangChain does beside telling is done."""
    cached = Echo(cache=InMemoryCache())
    first, second = (invoke_model(cached, ASKED) for _ in range(2))
    assert first.text == second.text
    assert len(cached.calls) == 1
    assert invoke_model(Own(), ASKED).text == "invoked"


def test_content_in_blocks_is_converted_as_usual() -> None:
    """LangChain turns older blocks into its own before a model sees them."""
    block = {"type": "image", "source_type": "url", "url": "https://example.org/a.png"}
    seen: list[Any] = []

    class Sees(Echo):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            seen.append(messages[-1].content)
            return super()._generate([HumanMessage("x")], *args, **kwargs)

    asked = [HumanMessage([block])]
    Sees().invoke(asked)
    invoke_model(Sees(), asked)
    assert seen[0] == seen[1] != [block]
