"""The protocol `react`: labelled text (after ReAct; PlanRAG, appendix A.6).

A reply is a list of labelled sections::

    Plan: ...            Re-plan: ...
    Current step: ...    Thought: ...
    Action: query_database
    Action Input: SELECT ...
    Final Answer: ...

Rules for reading a reply:

- A label starts a line. It may be in upper or lower case, and have Markdown emphasis.
- The thoughts of a reasoning model before its reply (``<think>``) are ignored.
- A reply is cut before an ``Observation:`` that the model invents.
- An action such as "Self thinking" is a thought, because it does not name a tool.
- After ``Re-plan:`` comes a new plan, a word such as ``keep``, or a letter ``Y`` or ``N`` before
  the line ``Plan:``.
- Inside a statement, only ``Observation`` and ``Final Answer`` are labels, because other labels may
  be names of columns or keys. A semicolon or an empty line ends the statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from dqa.core.errors import UnparsableReplyError
from dqa.deciders.base import ProtocolName
from dqa.models.calling import ChatRunnable
from dqa.models.conversation import EMPTY_REPLY, correction
from dqa.models.replies import split_thinking
from dqa_planrag.reply import THOUGHT_NOTED, Reply, ToolRequest, is_thinking, named, step_in
from dqa_planrag.toolbox import Toolbox
from dqa_planrag.verdicts import planning_in

_LABEL = re.compile(
    r"^[ \t>*_#]*(?P<label>plan|re-?plan|current step|thought|action input|action|final answer"
    r"|observation)"
    r"[ \t]*(?:[*_]+[ \t]*)?:[ \t]*[*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS_A_STATEMENT = ("observation", "final answer")
_STATEMENT_NAMES = ("statement", "query", "sql", "cypher", "decision", "input")
_FENCE = re.compile(
    r"```(?:[a-z]++[ \t]*+\n|[ \t]*+\n?)?(?P<inside>.*?)```", re.DOTALL | re.IGNORECASE
)
_CALL = re.compile(
    r"(?P<tool>self[ -]thinking|\w+)[ \t]*\((?P<input>.*)\)\Z", re.DOTALL | re.IGNORECASE
)


_NOTHING = {"", "none", "n/a", "na", "-", "no action", "no further action", "nothing"}
"""Names that models write as the Action of a reply that takes no action."""
_DECIDING = {"final answer", "decide", "answer", "finish"}
"""Names that models write as the Action of a reply that decides."""


class ReAct:
    """The protocol in which replies are labelled text.

    Attributes
    ----------
    name
        The name of the protocol in `Settings.protocol`.
    stop
        Sequences that end a reply.
    plan_first
        The message to a model that acts before it has a plan.
    answer_now
        The message to a model that queries a second time although only one query is allowed.
    after_plan, after_thought
        Messages that ask the model to continue after a reply that only plans or only thinks.
    """

    name: ProtocolName = "react"
    stop: tuple[str, ...] = ("\nObservation:",)
    plan_first = (
        "The first reply must begin with the plan. Write the line 'Plan:' with a numbered list, "
        "then the Action."
    )
    answer_now = (
        "The database has been read once and cannot be read again. Write the line 'Final Answer: "
        "<the decision>'."
    )
    after_plan = "The plan is noted. Continue with the Action."
    after_thought = f"Observation: {THOUGHT_NOTED}"

    def offering(
        self, model: BaseChatModel, tools: Sequence[str], toolbox: Toolbox
    ) -> ChatRunnable:
        """Return the model unchanged: the prompt lists the tools."""
        del tools, toolbox
        return model

    def calls(self, message: AIMessage, reply: Reply | None) -> list[dict[str, Any]]:
        """Return the actions of a readable reply, for the trace."""
        del message
        read = () if reply is None else reply.requests
        return [{"tool": request.tool, "input": request.arguments} for request in read]

    def read(
        self, message: AIMessage, step: int, offered: Sequence[str], toolbox: Toolbox
    ) -> Reply:
        """Read a reply; see `parse_reply`."""
        del step, offered
        return parse_reply(message.text, tuple(toolbox.tools))

    def history(self, message: AIMessage, reply: Reply | None) -> list[BaseMessage]:
        """Return the part of a reply that stays in the conversation."""
        del reply
        return [AIMessage(spoken(message.text) or EMPTY_REPLY)]

    def observed(
        self, results: Sequence[tuple[ToolRequest, str]], closing: str
    ) -> list[BaseMessage]:
        """Return the results of actions as observations, followed by the closing prompt."""
        shown = "\n".join(f"Observation: {text}" for _, text in results)
        return [HumanMessage(f"{shown}\n\n{closing}" if closing else shown)]

    def refused(self, reply: Reply, problem: str) -> list[BaseMessage]:
        """Return the message about an invalid decision."""
        del reply
        return [correction(problem)]

    def objected(self, reply: Reply, message: str) -> list[BaseMessage]:
        """Return a person's message about a decision."""
        del reply
        return [HumanMessage(message)]


def spoken(text: str) -> str:
    """Return a reply without leading ``<think>`` thoughts and without an invented observation."""
    _, text = split_thinking(text)
    for mark in _LABEL.finditer(text):
        if mark["label"].lower() == "observation":
            return text[: mark.start()].strip()
    return text.strip()


def parse_reply(text: str, tools: Collection[str] = ()) -> Reply:
    """Read a reply.

    If a reply has an action and an answer, the action runs and the answer is dropped, because the
    answer was written before the result of the action was known. A reply may also consist of only a
    plan, a verdict on the plan, or a thought.

    Parameters
    ----------
    text
        The text of the reply.
    tools
        The names of the tools. An action with such a name is never read as a thought.

    Raises
    ------
    UnparsableReplyError
        The reply has no action, answer, plan or verdict. Or the action lacks a name or an input. Or
        the answer is empty. The message says how to correct the reply.
    """
    sections = _sections(spoken(text))
    common = replace(
        planning_in(sections),
        thought=sections.get("thought", ""),
        current_step=step_in(f"Current step: {sections.get('current step', '')}"),
    )
    action = _bare(sections.get("action", ""))
    if action in _DECIDING:
        text = sections.get("action input", "")
        return _answering(common, sections.get("final answer") or _unwrapped(text))
    acts = "action" in sections or "action input" in sections
    if acts and not (action in _NOTHING and "final answer" in sections):
        return _thinking(common, sections, tools) or _acting(common, sections)
    if "final answer" in sections:
        return _answering(common, sections["final answer"])
    if common.plan is not None or "replan" in sections:
        return common
    raise UnparsableReplyError(
        "The reply has neither an Action nor a Final Answer. Write either the lines 'Action: "
        "query_database' and 'Action Input: <one statement>', or the line 'Final Answer: <the "
        "decision>', each label at the start of a line."
    )


def _bare(action: str) -> str:
    """Return an action in lower case, without surrounding markup."""
    return action.strip(" `*\"'.()[]").lower()


def _sections(text: str) -> dict[str, str]:
    """Map each label (lower case, "replan" without hyphen) to the text of its first section.

    A plan after a verdict has the label "new plan". The texts of several thoughts are joined.
    """
    marks: list[re.Match[str]] = []
    for mark in _LABEL.finditer(text):
        inside_statement = bool(marks) and marks[-1]["label"].lower() == "action input"
        over = mark["label"].lower() in _ENDS_A_STATEMENT or _ends_above(text, mark.start())
        if not inside_statement or over:
            marks.append(mark)
    sections: dict[str, str] = {}
    thoughts: list[str] = []
    for number, mark in enumerate(marks):
        label = mark["label"].lower().replace("-", "")
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        body = text[mark.end() : end].strip()
        if label == "thought" and body:
            thoughts.append(body)
        if label == "plan" and "replan" in sections:
            label = "new plan"
        sections.setdefault(label, body)
    return sections | ({"thought": "\n".join(thoughts)} if thoughts else {})


def _ends_above(text: str, position: int) -> bool:
    """Return whether the line above the label at `position` is empty or ends with a semicolon.

    An empty line or a semicolon ends a statement. Only the line above is read: a search through all
    earlier lines would take quadratic time if every line has a label.
    """
    begin = text.rfind("\n", 0, max(position - 1, 0)) + 1
    above = text[begin : max(position - 1, 0)].rstrip(" \t")
    return above.endswith(";") or (begin > 0 and not above)


def _thinking(common: Reply, sections: Mapping[str, str], tools: Collection[str]) -> Reply | None:
    """Return a reply that only thinks, or that thinks and decides; None for any other reply.

    A reply thinks if its action is, for example, "Self thinking" or "none". A decision in the same
    reply is valid, because no tool has to run before it.
    """
    tool, text = _action_of(sections)
    # If the action is only markup, its name is missing. Then the model is asked for the name.
    idle = bool(_bare(tool)) and _bare(tool) in _NOTHING and _bare(text) in _NOTHING
    if tool.strip(" `*\"'.") in tools or not (idle or is_thinking(tool)):
        return None
    text_ = named(tool)[1] if _bare(text) in _NOTHING else _unwrapped(text)
    thoughts = [common.thought, "" if idle else text_]
    thought = "\n".join(filter(None, thoughts))
    if not thought:
        return None
    if "final answer" in sections:
        return _answering(replace(common, thought=thought), sections["final answer"])
    return replace(common, thought=thought, only_thinks=True)


def _acting(common: Reply, sections: Mapping[str, str]) -> Reply:
    """Return a reply that acts. Raise `UnparsableReplyError` if it has no action or no input."""
    tool, text = _action_of(sections)
    tool = tool.strip(" `*\"'.")
    statement = _unwrapped(text)
    if not tool:
        raise UnparsableReplyError(
            "The reply has an Action Input but no Action. Write 'Action: query_database' on the "
            "line before it."
        )
    if not statement:
        raise UnparsableReplyError(
            f"The reply has the Action '{tool}' but no Action Input. Write 'Action Input: <one "
            "statement>' on the line after the Action."
        )
    return replace(common, requests=(ToolRequest(tool, statement),))


def _action_of(sections: Mapping[str, str]) -> tuple[str, str]:
    """Return an action and its input.

    The action and its input may be written as ``tool(input)``. The input may also be a fenced block
    on the line after the action.
    """
    action = sections.get("action", "")
    if "action input" in sections:
        return action, sections["action input"]
    called = _CALL.fullmatch(action.strip("`").strip())
    if called is not None:
        return called["tool"], _unquoted(called["input"].strip())
    tool, _, rest = action.partition("\n")
    return tool, rest


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _answering(common: Reply, answer: str) -> Reply:
    """Return a reply that decides. Raise `UnparsableReplyError` if the decision is empty."""
    if not answer:
        raise UnparsableReplyError(
            "The Final Answer is empty. Write the decision on the same line as the label."
        )
    return replace(common, answer=answer)


def _unwrapped(statement: str) -> str:
    """Return a statement without a fence, quotes or JSON around it."""
    statement = statement.strip()
    fenced = _FENCE.search(statement)
    if fenced is not None:
        return fenced["inside"].strip()
    if len(statement) > 1 and statement[0] == statement[-1] in {'"', "'"}:
        # A statement never begins with a quote, so remove the quotes around it if they are a pair.
        inside = statement[1:-1]
        return statement if statement[0] in inside else inside.strip()
    if len(statement) > 1 and statement[0] == statement[-1] == "`" and "`" not in statement[1:-1]:
        return statement[1:-1].strip()
    if statement.startswith("{"):
        try:
            arguments = json.loads(statement)
        except (ValueError, RecursionError):
            return statement
        return _argument(arguments) or statement
    return statement


def _argument(arguments: object) -> str:
    """Return the statement in a JSON object; empty if there is none.

    The statement is in a field with a usual name such as ``query``, or in the only field.
    """
    if not isinstance(arguments, dict):
        return ""
    named = [arguments[name] for name in _STATEMENT_NAMES if name in arguments]
    values = named or (list(arguments.values()) if len(arguments) == 1 else [])
    return values[0].strip() if values and isinstance(values[0], str) else ""
