"""What a method brings so that scripted models can hold its conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from langchain_core.messages import AIMessage, BaseMessage

from dqa.models.scripted.steps import ScriptTurn


@runtime_checkable
class Responder(Protocol):
    """Replies for scripted models in one method's conversations. Stateless.

    It is found by the entry point ``dqa.scripted``, and lies in the method's own package, which
    alone knows its prompts.
    """

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a conversation is one of this method's."""
        ...

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], script: str, seed: int
    ) -> AIMessage:
        """Return what a script says next.

        Parameters
        ----------
        messages
            The conversation so far.
        tools
            Names of the tools that may be called.
        script
            Name of the script, such as ``analyst``.
        seed
            Of whatever the script leaves to chance.

        Raises
        ------
        UsageError
            The script cannot go on with this conversation.
        """
        ...


@runtime_checkable
class Wording(Protocol):
    """A `Responder` whose method asks with statements, and decides: it can word what others say."""

    def opening(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], plan: str | None
    ) -> AIMessage | None:
        """Return a plan, or its judgement, where a reply has to be that alone; else None.

        Parameters
        ----------
        messages, tools
            The conversation so far, and what may be called.
        plan
            The plan as a numbered list; None for the plainest.
        """
        ...

    def word(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], turn: ScriptTurn
    ) -> AIMessage:
        """Return a turn that somebody else decided, in the words that a conversation asks for."""
        ...
