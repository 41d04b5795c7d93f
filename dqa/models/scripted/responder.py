"""What a method brings so that scripted models can hold its conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from langchain_core.messages import AIMessage, BaseMessage

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.scenarios.base import Scenario

__all__ = ["Responder", "scripted_scenario"]


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


def scripted_scenario(names: set[str], script: str) -> Scenario:
    """Return the scenario that has a script for the database with these tables or labels.

    Raises
    ------
    UsageError
        No scenario with a script of that name has such tables.
    """
    known = [plugins.scenario(name) for name in plugins.names("scenario")]
    scripted = [scenario for scenario in known if script in scenario.scripts]
    for scenario in scripted:
        tables = {table.name for table in scenario.schema.tables}
        labels = {node.label for node in scenario.schema.nodes}
        if tables <= names or (labels and labels <= names):
            return scenario
    there_are = ", ".join(scenario.name for scenario in scripted)
    raise UsageError(
        f"scripted:{script} queries only databases of the scenarios {there_are}, and this one has "
        "other tables; name a language model with --model, e.g. openai:gpt-5, or take a decider "
        "whose model is given its rows."
    )
