"""The chat model that a script drives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.models.scripted.responder import Responder


class ProgramModel(BaseChatModel):
    """A chat model that is a program: what it raises is a bug, or meant, and is not tried again."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> ChatResult:
        del stop, run_manager  # a script ends its replies where they have to end
        tools = [tool["function"]["name"] for tool in kwargs.get("tools", ())]
        reply = self._reply(messages, tools)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    @abstractmethod
    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        """Return the next reply; `tools` are the names of those that may be called."""

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools to call; it calls whatever its script needs of them."""
        del tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)


class ScriptedModel(ProgramModel):
    """A chat model whose replies a script decides from the conversation alone.

    Attributes
    ----------
    script
        Name of the script: one of `dqa.plugins.script_names`.
    seed
        Seed of whatever the script leaves to chance.
    """

    script: str
    seed: int = 0

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"script": self.script, "seed": self.seed}

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        return responder_for(messages).reply(messages, tools, self.script, self.seed)


def responder_for(messages: Sequence[BaseMessage]) -> Responder:
    """Return what knows the method of a conversation; `UsageError` where nothing does."""
    for responder in plugins.responders():
        if responder.answers(messages):
            return responder
    raise UsageError(
        "A scripted model only follows the conversations of the methods that bring answers "
        f"for it ({', '.join(plugins.names('scripted')) or 'none'} do); use a language model "
        "for others."
    )


def scripted_model(name: str, seed: int = 0) -> ScriptedModel:
    """Return the scripted model called `name`; `UnknownNameError` where there is none."""
    if name not in plugins.script_names():
        raise UnknownNameError("scripted model", name, plugins.script_names())
    return ScriptedModel(script=name, seed=seed)
