"""The tools of an agent, a selection from `dqa.deciders.tools`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.tools import BaseTool

from dqa.core.errors import UnparsableReplyError
from dqa.core.evidence import Evidence
from dqa.core.question import AnswerForm
from dqa.deciders.tools import arguments_from_text, checked_arguments, schema_of, use_tool
from dqa_planrag.reply import ToolRequest


class Toolbox:
    """The tools for one decision.

    Attributes
    ----------
    tools
        The tools by name, in the order of the prompt.
    answer_form
        The form of the decision.
    """

    def __init__(self, tools: Iterable[BaseTool], answer_form: AnswerForm = "candidate") -> None:
        self.answer_form = answer_form
        self.tools: Mapping[str, BaseTool] = {tool.name: tool for tool in tools}

    def checked(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call's arguments, converted to the tool's types; see `checked_arguments`."""
        return checked_arguments(name, schema_of(self._tool(name)), arguments)

    def use(self, request: ToolRequest) -> Evidence:
        """Call a tool.

        Raises
        ------
        UnparsableReplyError
            The tool does not exist, or the arguments are invalid. The message is for the model.
        InfrastructureError
            A database or another server failed.
        """
        tool, arguments = self._tool(request.tool), request.arguments
        if isinstance(arguments, str):
            arguments = arguments_from_text(tool, arguments)
        return use_tool(tool, self.checked(tool.name, arguments))

    def _tool(self, name: str) -> BaseTool:
        if name not in self.tools:
            raise UnparsableReplyError(
                f"There is no tool '{name}'. The tools are: {', '.join(self.tools)}."
            )
        return self.tools[name]
