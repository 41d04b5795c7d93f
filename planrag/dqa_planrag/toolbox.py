"""What an agent acts with: some of the tools of `dqa.deciders.tools`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.tools import BaseTool

from dqa.core.errors import UnparsableReplyError
from dqa.core.evidence import Evidence
from dqa.core.question import AnswerForm
from dqa.deciders.tools import arguments_from_text, checked_arguments, use_tool
from dqa_planrag.reply import ToolRequest


class Toolbox:
    """The tools of one run.

    Attributes
    ----------
    tools
        By name, in the order in which models read of them.
    answer_form
        What the decision has to be, which is given like an argument of a tool.
    """

    def __init__(self, tools: Iterable[BaseTool], answer_form: AnswerForm = "candidate") -> None:
        self.answer_form = answer_form
        self.tools: Mapping[str, BaseTool] = {tool.name: tool for tool in tools}

    @property
    def names(self) -> tuple[str, ...]:
        """What the tools are called."""
        return tuple(self.tools)

    def checked(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call's arguments as its tool takes them; see `checked_arguments`."""
        return checked_arguments(self._tool(name), arguments)

    def use(self, request: ToolRequest) -> Evidence:
        """Carry a request out.

        Raises
        ------
        UnparsableReplyError
            There is no such tool, or it takes other arguments; the message tells the model.
        InfrastructureError
            The database, or another server, failed.
        """
        tool, given = self._tool(request.tool), request.given
        arguments = arguments_from_text(tool, given) if isinstance(given, str) else given
        return use_tool(tool, checked_arguments(tool, arguments))

    def _tool(self, name: str) -> BaseTool:
        if name not in self.tools:
            raise UnparsableReplyError(
                f"There is no tool '{name}'. The tools are: {', '.join(self.names)}."
            )
        return self.tools[name]
