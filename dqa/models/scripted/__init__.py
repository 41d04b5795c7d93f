"""Scripted models, which are chat models whose replies come from a program.

Deciders use scripted models with the same loops, prompts, parsers, tools and databases as language
models. Scripted models need no key. The analyst, which follows the business rules with queries, is
a baseline. All results say that a model was scripted.

`dqa.models.scripted.steps` defines the steps of scripts. The folder of a scenario names its
scripts. Each method has a `Responder` for its conversations.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.models.conversation import StepPrompt
from dqa.models.scripted.steps import Answer, Step
from dqa.models.tool_model import ToolModel


@runtime_checkable
class Responder(Protocol):
    """Writes the replies of scripted models in the conversations of one method. It is stateless.

    The package of the method registers the responder as an entry point of ``dqa.scripted``.
    """

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Return whether a conversation belongs to this method."""

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], script: str, seed: int
    ) -> AIMessage:
        """Return the next reply of a script.

        Parameters
        ----------
        messages
            The conversation so far.
        tools
            Names of the tools that may be called.
        script
            Name of the script, such as ``analyst``.
        seed
            Seed of everything that the script draws at random.

        Raises
        ------
        UsageError
            The script cannot continue this conversation.
        """


@runtime_checkable
class Wording(Responder, Protocol):
    """A `Responder` that can write a statement or a decision in the reply format of its method."""

    def word(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], move: Step | Answer
    ) -> tuple[AIMessage, bool]:
        """Return the reply for a step or decision of a script, and whether the reply is complete.

        If the method requires a plan first, the reply contains only the plan, and is incomplete.
        """


class ProgramModel(ToolModel):
    """A chat model that is a program. Its errors are not retried."""

    cache: Any = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:  # noqa: ANN401  (the base class's signature)
        return {**super()._get_ls_params(stop, **kwargs), "ls_provider": "dqa.scripted"}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> ChatResult:
        del stop, run_manager  # scripts need no stop sequences
        tools = [tool["function"]["name"] for tool in kwargs.get("tools", ())]
        reply = self._reply(messages, tools)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    @abstractmethod
    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        """Return the next reply. The model may call the tools whose names are in `tools`."""


class ScriptedModel(ProgramModel):
    """A chat model whose replies come from a script.

    Attributes
    ----------
    script
        Name of the script: one of `dqa.plugins.script_names`.
    seed
        Seed of everything that the script draws at random.
    """

    script: str
    seed: int = 0

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        responder = find_responder(messages)
        if responder is None:
            known = ", ".join(plugins.names("scripted")) or "none"
            raise UsageError(
                f"Scripted models work only with methods that have scripted replies ({known}). Use "
                "a language model for other deciders."
            )
        return responder.reply(messages, tools, self.script, self.seed)


def find_responder(messages: Sequence[BaseMessage]) -> Responder | None:
    """Return the responder for a conversation; None if no responder fits."""
    return next((found for found in plugins.responders() if found.answers(messages)), None)


def scripted_model(name: str, seed: int = 0) -> ScriptedModel:
    """Return the scripted model called `name`; raise `UnknownNameError` if it is unknown."""
    if name not in plugins.script_names():
        raise UnknownNameError("scripted model", name, plugins.script_names())
    return ScriptedModel(script=name, seed=seed)


@dataclass(frozen=True, slots=True)
class ScriptedReplies:
    """The scripted replies to a method's prompts, registered by an entry point of ``dqa.scripted``.

    Parameters
    ----------
    package
        The method's package.
    replies
        A function for each purpose. It receives the values of the prompt, and returns a text or a
        JSON value. The values also contain the ``prompt`` itself, the name of the ``script``, such
        as ``analyst``, and the ``seed``.
    """

    package: str
    replies: Mapping[str, Callable[[Mapping[str, Any]], object]]

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Return whether a conversation belongs to a step of the method."""
        first = messages[0] if messages else None
        return isinstance(first, StepPrompt) and first.package == self.package

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], script: str, seed: int
    ) -> AIMessage:
        """Return the reply of a script to a step."""
        del tools
        step: Any = messages[0]
        reply = self.replies[step.purpose](
            {**step.values, "prompt": step.text, "script": script, "seed": seed}
        )
        return AIMessage(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False))
