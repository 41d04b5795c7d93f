"""The protocol `react`: labelled text (after ReAct; PlanRAG, appendix A.6).

A reply is a list of labelled sections::

    Plan: ...            Re-plan: ...
    Current step: ...    Thought: ...
    Action: query_database
    Action Input: SELECT ...
    Final Answer: ...

Labels stand at the start of a line, in any case, with or without Markdown emphasis. What a
reasoning model thinks aloud before it replies (``<think>``) is no part of the reply. A reply that
goes on to invent its own ``Observation:`` is cut there: nothing after it rests on data. An action
that no tool carries out may be to think ("Self thinking"): its input is a thought. A verdict on the
plan is its word, or ``Y`` or ``N`` with the line ``Plan:`` below it. Inside a
statement only ``Observation`` and ``Final Answer`` are labels, since the others are fine names for
a column or a map's key, unless a semicolon or an empty line has ended the statement.
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
from dqa.core.plans import list_in
from dqa.deciders.base import ProtocolName
from dqa.models.calling import ChatRunnable
from dqa.models.conversation import EMPTY_REPLY, correction
from dqa.models.replies import split_thinking
from dqa_planrag.reply import THOUGHT_NOTED, Reply, ToolRequest, is_thinking, named, step_in
from dqa_planrag.toolbox import Toolbox
from dqa_planrag.verdicts import KEPT, planning_in

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
"""What models write for an action beside an answer."""
_DECIDING = {"final answer", "decide", "answer", "finish"}
"""What models call an action that is the decision itself."""


class ReAct:
    """Replies are labelled text; see `dqa_planrag.protocols.TalkProtocol`."""

    name: ProtocolName = "react"
    stop: tuple[str, ...] = ("\nObservation:",)
    plan_first = (
        "The first reply has to open with the plan. Write the line 'Plan:' with a numbered list, "
        "then go on with the Action."
    )
    verdict_first = "There is no plan yet. Write the line 'Plan:' with a numbered list."
    answer_now = (
        "The database has been read once and cannot be read again. Write the line 'Final Answer: "
        "<the decision>'."
    )

    def offering(
        self, model: BaseChatModel, tools: Sequence[str], toolbox: Toolbox
    ) -> ChatRunnable:
        """Return the model as it is: the prompt says what there is to call."""
        del tools, toolbox
        return model

    def spoken(self, message: AIMessage) -> str:
        """Return the text of a reply that counts."""
        return spoken(message.text)

    def calls(self, message: AIMessage, reply: Reply | None) -> list[dict[str, Any]]:
        """Return what was read; what could not be read stands in the text."""
        del message
        read = () if reply is None else reply.requests
        return [{"tool": request.tool, "input": request.given} for request in read]

    def read(
        self, message: AIMessage, step: int, offered: Sequence[str], toolbox: Toolbox
    ) -> Reply:
        """Read an agent's reply."""
        del step, offered
        return parse_reply(message.text, toolbox.names)

    def read_verdict(self, message: AIMessage, step: int) -> Reply:
        """Read the reply of a model that only plans."""
        del step
        return parse_verdict(message.text)

    def kept(self, message: AIMessage, reply: Reply | None) -> list[BaseMessage]:
        """Keep the text that counts."""
        del reply
        return [AIMessage(spoken(message.text) or EMPTY_REPLY)]

    def noted(self) -> list[BaseMessage]:
        """Let the model go on after a reply that was only a plan."""
        return [HumanMessage("The plan is noted. Go on with the Action.")]

    def thought_on(self) -> list[BaseMessage]:
        """Let the model go on after a step that asked for nothing."""
        return [HumanMessage(f"Observation: {THOUGHT_NOTED}")]

    def observed(
        self, results: Sequence[tuple[ToolRequest, str]], closing: str
    ) -> list[BaseMessage]:
        """Show what the action gave, under the label that the format promises."""
        shown = "\n".join(f"Observation: {text}" for _, text in results)
        return [HumanMessage(f"{shown}\n\n{closing}" if closing else shown)]

    def accepted(self, reply: Reply) -> list[BaseMessage]:
        """Add nothing: the conversation is over."""
        del reply
        return []

    def refused(self, reply: Reply, problem: str) -> list[BaseMessage]:
        """Ask again, with what is wrong with the decision."""
        del reply
        return [correction(problem)]

    def objected(self, reply: Reply, told: str) -> list[BaseMessage]:
        """Say it as it is: the reply itself was in order."""
        del reply
        return [HumanMessage(told)]


def spoken(text: str) -> str:
    """Return the part of a reply that counts: after its thinking, up to its own observation."""
    _, text = split_thinking(text)
    for mark in _LABEL.finditer(text):
        if mark["label"].lower() == "observation":
            return text[: mark.start()].strip()
    return text.strip()


def parse_reply(text: str, tools: Collection[str] = ()) -> Reply:
    """Read a reply.

    An action goes before an answer in the same reply: the answer was written before the action's
    result was known, so the action runs and the answer is dropped. A reply may also be a plan, or
    a verdict on one, and nothing else; or a step that only thinks.

    Parameters
    ----------
    text
        As the model wrote it.
    tools
        Names of the tools that there are: none of them is mere thinking.

    Raises
    ------
    UnparsableReplyError
        The reply neither acts nor answers, or leaves one of the two empty; the message tells the
        model what to write.
    """
    sections = _sections(spoken(text))
    common = replace(
        planning_in(sections),
        thought=sections.get("thought", ""),
        current_step=step_in(f"Current step: {sections.get('current step', '')}"),
    )
    action = _word(sections.get("action", ""))
    if action in _DECIDING:
        given = sections.get("action input", "")
        return _answering(common, sections.get("final answer") or _unwrapped(given))
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


def _word(action: str) -> str:
    """Return an action's name as the models' idioms for none are listed."""
    return action.strip(" `*\"'.()[]").lower()


def parse_verdict(text: str) -> Reply:
    """Read the reply of a model that only plans: a plan, or a verdict on the current one.

    Raises
    ------
    UnparsableReplyError
        It neither brings a plan nor keeps one; the message tells the model what to write.
    """
    text = spoken(text)
    sections = _sections(text)
    if "replan" in sections:
        return replace(planning_in(sections), thought=sections.get("thought", ""))
    plan = sections.get("plan") or (text if list_in(text) else "")
    if plan and not KEPT.fullmatch(plan):
        return Reply(plan=plan, thought=sections.get("thought", ""))
    if text and KEPT.fullmatch(plan or text):
        return Reply()
    raise UnparsableReplyError(
        "The reply has no plan. Write the line 'Plan:' with a numbered list; or, where there is a "
        "plan already, 'Re-plan:' with the word 'keep' or the whole new plan as a numbered list."
    )


def _sections(text: str) -> dict[str, str]:
    """Map each label (lower case, "replan" without hyphen) to its first section's text.

    A plan behind a verdict is called "new plan".
    """
    marks: list[re.Match[str]] = []
    for mark in _LABEL.finditer(text):
        inside_statement = bool(marks) and marks[-1]["label"].lower() == "action input"
        over = mark["label"].lower() in _ENDS_A_STATEMENT or _is_over(text, mark.start())
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


def _is_over(text: str, place: int) -> bool:
    """Whether the line above a label, which begins at `place`, ends a statement.

    An empty line and a semicolon do: the label could also be a column or a key. Only that line is
    looked at, since a reply may have as many labels as lines.
    """
    begin = text.rfind("\n", 0, max(place - 1, 0)) + 1
    above = text[begin : max(place - 1, 0)].rstrip(" \t")
    return above.endswith(";") or (begin > 0 and not above)


def _thinking(common: Reply, sections: Mapping[str, str], tools: Collection[str]) -> Reply | None:
    """Return a reply whose action is to think, or for which there is nothing to do yet.

    An answer behind it counts: there is no result that it should have waited for. None where the
    reply acts, or says nothing at all.
    """
    tool, given = sections.get("action", ""), sections.get("action input")
    if given is None:
        tool, given = _call_in(tool)
    # An action of nothing but markup is none at all; the model hears that it names no action.
    idle = bool(_word(tool)) and _word(tool) in _NOTHING and _word(given) in _NOTHING
    if tool.strip(" `*\"'.") in tools or not (idle or is_thinking(tool)):
        return None
    said = named(tool)[1] if _word(given) in _NOTHING else _unwrapped(given)
    thoughts = [common.thought, "" if idle else said]
    thought = "\n".join(filter(None, thoughts))
    if not thought:
        return None
    if "final answer" in sections:
        return _answering(replace(common, thought=thought), sections["final answer"])
    return replace(common, thought=thought, only_thinks=True)


def _acting(common: Reply, sections: dict[str, str]) -> Reply:
    tool, given = sections.get("action", ""), sections.get("action input")
    if given is None:
        tool, given = _call_in(tool)
    tool = tool.strip(" `*\"'.")
    statement = _unwrapped(given)
    if not tool:
        raise UnparsableReplyError(
            "The reply has an Action Input but names no Action. Write 'Action: query_database' on "
            "the line before it."
        )
    if not statement:
        raise UnparsableReplyError(
            f"The reply names the Action '{tool}' but gives it nothing to do. Write 'Action Input: "
            "<one statement>' on the line after it."
        )
    return replace(common, requests=(ToolRequest(tool, statement),))


def _call_in(action: str) -> tuple[str, str]:
    """Split an action that holds its own input: ``tool(input)``, or a fence on the next line."""
    called = _CALL.fullmatch(action.strip("`").strip())
    if called is not None:
        return called["tool"], _unquoted(called["input"].strip())
    tool, _, rest = action.partition("\n")
    return tool, rest


def _unquoted(text: str) -> str:
    """Return a text without the quotes around it; one that only ends in a literal keeps its own."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _answering(common: Reply, answer: str) -> Reply:
    if not answer:
        raise UnparsableReplyError(
            "The Final Answer is empty. Write the decision on the same line as the label."
        )
    return replace(common, answer=answer)


def _unwrapped(statement: str) -> str:
    """Return a statement without the fence, quotes or JSON that it came in."""
    statement = statement.strip()
    fenced = _FENCE.search(statement)
    if fenced is not None:
        return fenced["inside"].strip()
    if len(statement) > 1 and statement[0] == statement[-1] in {'"', "'"}:
        # No statement begins with a quote, so these two are around it, unless they are not a pair.
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
    """Return the statement among named arguments: under a usual name, or the only one there is."""
    if not isinstance(arguments, dict):
        return ""
    named = [arguments[name] for name in _STATEMENT_NAMES if name in arguments]
    values = named or (list(arguments.values()) if len(arguments) == 1 else [])
    return values[0].strip() if values and isinstance(values[0], str) else ""
