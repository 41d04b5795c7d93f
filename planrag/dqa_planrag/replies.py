"""Reading a reply in the agents' text format (after ReAct; PlanRAG, appendix A.6).

A reply is a list of labelled sections::

    Plan: ...            Re-plan: ...            Thought: ...
    Action: query_database
    Action Input: SELECT ...
    Final Answer: ...

Labels stand at the start of a line, in any case, with or without Markdown emphasis. What a
reasoning model thinks aloud before it replies (``<think>``) is no part of the reply. A reply that
goes on to invent its own ``Observation:`` is cut there: nothing after it rests on data. Inside a
statement only ``Observation`` and ``Final Answer`` are labels, since the others are fine names for
a column or a map's key.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from dqa.errors import UnparsableReplyError

__all__ = ["STOP", "Reply", "parse_reply", "spoken"]

STOP = ("\nObservation:",)
"""Stop sequences for models that honour them."""

_LABEL = re.compile(
    r"^[ \t>*_#]*(?P<label>plan|re-?plan|thought|action input|action|final answer|observation)"
    r"[ \t]*[*_]*[ \t]*:[ \t]*[*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS_A_STATEMENT = ("observation", "final answer")
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_STRAY_THINKING = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_KEPT = re.compile(
    r"""[\W_]*(?:keep|kept|no|none|n/a|not\ (?:needed|necessary|required)|unchanged
    |no\ (?:change|changes|re-?plan(?:ning)?)(?:\ (?:is|are)\ needed|\ needed)?
    |(?:keep\ )?(?:the\ )?(?:current\ )?plan(?:\ (?:still\ )?(?:serves|holds|stands|works))?
    |keep\ (?:it|going))[\W_]*""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBERED = re.compile(r"^[ \t>*_#-]*(?:step[ \t]*)?\d+[ \t]*[.):]", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(
    r"```(?:[a-z]+[ \t]*\n|[ \t]*\n?)?(?P<inside>.*?)```", re.DOTALL | re.IGNORECASE
)
_CALL = re.compile(r"(?P<tool>\w+)[ \t]*\((?P<input>.*)\)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """What one reply says.

    Attributes
    ----------
    plan
        The plan it opens with, or None.
    replan
        The new plan that replaces the current one, or None where that is kept.
    thought
        Its reasoning, empty where there is none.
    tool, statement
        The tool it wants and that tool's input, or None where it does not act.
    answer
        Its decision, or None where it has not decided.
    """

    plan: str | None = None
    replan: str | None = None
    thought: str = ""
    tool: str | None = None
    statement: str | None = None
    answer: str | None = None


def spoken(text: str) -> str:
    """Return the part of a reply that counts: after its thinking, up to its own observation."""
    text = _STRAY_THINKING.sub("", _THINKING.sub("", text))
    for mark in _LABEL.finditer(text):
        if mark["label"].lower() == "observation":
            return text[: mark.start()].strip()
    return text.strip()


def parse_reply(text: str) -> Reply:
    """Read a reply.

    An action goes before an answer in the same reply: the answer was written before the action's
    result was known, so the action runs and the answer is dropped.

    Raises
    ------
    UnparsableReplyError
        The reply neither acts nor answers, or leaves one of the two empty; the message tells the
        model what to write.
    """
    sections = _sections(spoken(text))
    common = Reply(
        plan=sections.get("plan") or None,
        replan=_replan(sections.get("replan", "")),
        thought=sections.get("thought", ""),
    )
    if "action" in sections or "action input" in sections:
        return _acting(common, sections)
    if "final answer" in sections:
        return _answering(common, sections["final answer"])
    raise UnparsableReplyError(
        "The reply has neither an Action nor a Final Answer. Write either the lines 'Action: "
        "query_database' and 'Action Input: <one statement>', or the line 'Final Answer: <the "
        "decision>', each label at the start of a line."
    )


def _sections(text: str) -> dict[str, str]:
    """Map each label (lower case, "replan" without hyphen) to its first section's text."""
    marks: list[re.Match[str]] = []
    for mark in _LABEL.finditer(text):
        inside_statement = bool(marks) and marks[-1]["label"].lower() == "action input"
        if not inside_statement or mark["label"].lower() in _ENDS_A_STATEMENT:
            marks.append(mark)
    sections: dict[str, str] = {}
    for number, mark in enumerate(marks):
        label = mark["label"].lower().replace("-", "")
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        body = text[mark.end() : end].strip()
        if label == "thought" and sections.get("thought"):
            sections[label] = f"{sections[label]}\n{body}"
        else:
            sections.setdefault(label, body)
    return sections


def _replan(verdict: str) -> str | None:
    """Return the new plan that a verdict brings, or None where it keeps the current one.

    Raises
    ------
    UnparsableReplyError
        It neither says that the plan is kept nor lists the steps of another.
    """
    if not verdict or _KEPT.fullmatch(verdict):
        return None
    if _NUMBERED.search(verdict):
        return verdict
    raise UnparsableReplyError(
        "The Re-plan neither keeps the plan nor brings a new one. Write either the one word "
        "'keep', or the whole new plan as a numbered list."
    )


def _acting(common: Reply, sections: dict[str, str]) -> Reply:
    tool, given = sections.get("action", ""), sections.get("action input")
    if given is None:
        tool, given = _called(tool)
    tool = tool.strip(" `*\"'.")
    statement = _bare(given)
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
    return Reply(common.plan, common.replan, common.thought, tool=tool, statement=statement)


def _called(action: str) -> tuple[str, str]:
    """Split an action that holds its own input: ``tool(input)``, or a fence on the next line."""
    called = _CALL.fullmatch(action.strip("`").strip())
    if called is not None:
        return called["tool"], called["input"].strip("\"'")
    tool, _, rest = action.partition("\n")
    return tool, rest


def _answering(common: Reply, answer: str) -> Reply:
    if not answer:
        raise UnparsableReplyError(
            "The Final Answer is empty. Write the decision on the same line as the label."
        )
    return Reply(common.plan, common.replan, common.thought, answer=answer)


def _bare(statement: str) -> str:
    """Return a statement without the fence, quotes or JSON that it came in."""
    statement = statement.strip()
    fenced = _FENCE.search(statement)
    if fenced is not None and statement.startswith("```"):
        return fenced["inside"].strip()
    if len(statement) > 1 and statement[0] == statement[-1] == "`" and "`" not in statement[1:-1]:
        return statement[1:-1].strip()
    if statement.startswith("{"):
        try:
            arguments = json.loads(statement)
        except ValueError:
            return statement
        values = list(arguments.values()) if isinstance(arguments, dict) else []
        if len(values) == 1 and isinstance(values[0], str):
            return values[0].strip()
    return statement
