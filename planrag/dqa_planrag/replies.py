"""Reading a reply in the agents' text format (after ReAct; PlanRAG, appendix A.6).

A reply is a list of labelled sections::

    Plan: ...            Re-plan: ...            Thought: ...
    Action: query_database
    Action Input: SELECT ...
    Final Answer: ...

Labels stand at the start of a line, in any case, with or without Markdown emphasis. A reply that
goes on to invent its own ``Observation:`` is cut there: nothing after it rests on data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dqa.errors import UnparsableReplyError

__all__ = ["STOP", "Reply", "parse_reply", "spoken"]

STOP = ("\nObservation:",)
"""Stop sequences for models that honour them."""

_KEEP = re.compile(r"\W*(?:keep|no|none|n/a|not needed|unchanged)\b", re.IGNORECASE)
_LABEL = re.compile(
    r"^[ \t>*_#]*(?P<label>plan|re-?plan|thought|action input|action|final answer|observation)"
    r"[ \t]*[*_]*[ \t]*:[ \t]*[*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"\A```[\w+-]*[ \t]*\n(?P<inside>.*?)\n?```\Z", re.DOTALL)


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
    """Return the part of a reply that the model may say: up to an ``Observation:`` of its own."""
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
    plan, replan = sections.get("plan"), sections.get("replan")
    if replan is not None and (not replan or _KEEP.match(replan)):
        replan = None
    common = Reply(plan=plan or None, replan=replan, thought=sections.get("thought", ""))
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
    marks = list(_LABEL.finditer(text))
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


def _acting(common: Reply, sections: dict[str, str]) -> Reply:
    tool = sections.get("action", "").strip(" `*\"'.")
    statement = _unfenced(sections.get("action input", ""))
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


def _answering(common: Reply, answer: str) -> Reply:
    if not answer:
        raise UnparsableReplyError(
            "The Final Answer is empty. Write the decision on the same line as the label."
        )
    return Reply(common.plan, common.replan, common.thought, answer=answer)


def _unfenced(statement: str) -> str:
    fenced = _FENCE.match(statement)
    if fenced:
        return fenced["inside"].strip()
    if len(statement) > 1 and statement[0] == statement[-1] == "`" and "`" not in statement[1:-1]:
        return statement[1:-1].strip()
    return statement
