"""The steps of a plan as a model wrote it: one reading for agents, traces and measures."""

from __future__ import annotations

import re
from dataclasses import dataclass

STEP_NUMBER = re.compile(
    r"""^(?P<indent>[ \t]*+)
    (?:[>*_#-][>*_#\- \t]*+)?  # a quotation, a heading, emphasis or a bullet around it
    (?:step[ \t]*+)?(?P<number>\d{1,3})[*_]*+[ \t]*+[.):](?!\d)[*_]*+[ \t]*+""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A number that begins a step without any doubt: what tells a plan from a remark about one."""
_MARKER = re.compile(
    r"""^(?P<indent>[ ]*+)
    (?:\#{1,6}[ ]+)?(?:[*_]{2})?
    (?:
      (?:第[ ]?)?(?:[(\[]|[^\W\d_]{1,20}[ ]?)?  # (1), Schritt 1:
      (?P<number>\d{1,3}(?:\.\d{1,3})*)
      (?:[*_]*[ ]?[.):\]\u3001\uff1a\uff0e\uff09](?=\D|$) | 步[:\uff1a]? | [ ][-\u2013\u2014](?=[ ])
        | (?<=\.\d)(?=[ ]))
    | (?P<letter>\(?[a-z][.)]) (?=[ ])
    | (?P<bullet>[-*+•‣◦\u2013\u2014]) (?=[ ])
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""Whatever else begins a step where there is a plan for sure."""
_INLINE = re.compile(r"(?:^|(?<=\s))\(?(\d{1,3})[.)]\s+")
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|(?<=[\u3002\uff1b\uff01\uff1f])\s*")


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan.

    Attributes
    ----------
    text
        Without its number, on one line.
    parent
        Index of the step that it is a sub-step of; None at the top.
    """

    text: str
    parent: int | None = None

    @property
    def bare(self) -> str:
        """What it says without capitals and punctuation: equal in two plans that share the step."""
        letters = (c if c.isalnum() else " " for c in self.text.casefold())
        return " ".join("".join(letters).split())


@dataclass(frozen=True, slots=True)
class PlanText:
    """A plan's steps in order, and the lines beside them that belong to none."""

    steps: tuple[PlanStep, ...]
    beside: tuple[str, ...] = ()


def steps_of(plan: str) -> tuple[PlanStep, ...]:
    """Return a plan's steps in order; see `read_plan`."""
    return read_plan(plan).steps


def read_plan(plan: str) -> PlanText:
    """Return a plan's steps, and what stands beside them.

    Numbers (``1.``, ``2)``, ``(3)``, ``Step 4:``, ``1.2``), letters and bullets begin a step. In a
    numbered plan, bullets, letters, dotted and further indented numbers are sub-steps. Other lines
    go on with their step, or, behind a blank line, belong to no step. Where nothing is marked, each
    line is a step, and each sentence of a single line.

    Parameters
    ----------
    plan
        As a model wrote it.
    """
    lines = [line.rstrip().expandtabs(4) for line in plan.split("\n")]
    marks = [_mark(line) for line in lines]
    if not _is_list(lines, marks):
        return PlanText(_unmarked([line for line in lines if line.strip()]))
    numbered = any(mark and mark["number"] for mark in marks)
    indent = _indent_of([mark for mark in marks if mark], numbered=numbered)
    steps: list[list[str]] = []
    parents: list[int | None] = []
    beside: list[str] = []
    top, open_step = None, False
    for line, mark in zip(lines, marks, strict=True):
        if mark is not None:
            nested = top is not None and _is_nested(mark, indent, numbered=numbered)
            parents.append(top if nested else None)
            top = top if nested else len(steps)
            steps.append([line[mark.end() :]])
            open_step = True
        elif not line.strip():
            open_step = False
        elif steps and (open_step or line.startswith(" ")):
            steps[-1].append(line)
        else:
            beside.append(line.strip())
    texts = (_one_line(" ".join(step)) for step in steps)
    return PlanText(tuple(map(PlanStep, texts, parents)), tuple(beside))


def _mark(line: str) -> re.Match[str] | None:
    return STEP_NUMBER.match(line) or _MARKER.match(line)


def _is_list(lines: list[str], marks: list[re.Match[str] | None]) -> bool:
    """Whether marks begin the steps: one alone does where it is a 1, with lines around it."""
    found = [mark for mark in marks if mark is not None]
    several_lines = sum(bool(line.strip()) for line in lines) > 1
    return len(found) > 1 or any(several_lines and _is_first(mark) for mark in found)


def _is_first(mark: re.Match[str]) -> bool:
    number: str | None = mark["number"]
    return number is not None and number.isdecimal() and int(number) == 1


def _indent_of(marks: list[re.Match[str]], *, numbered: bool) -> int:
    """Return how far the steps at the top are indented."""
    tops = [mark for mark in marks if mark["number"]] if numbered else marks
    first, *others = tops
    if numbered and others and others[0]["number"] == str(int(first["number"][-1]) + 1):
        # Behind other words, only the first number may stand at the margin.
        return max(len(first["indent"]), len(others[0]["indent"]))
    return len(first["indent"])


def _is_nested(mark: re.Match[str], indent: int, *, numbered: bool) -> bool:
    deeper = len(mark["indent"]) >= indent + 2
    if not numbered:
        return deeper
    return deeper or mark["number"] is None or "." in mark["number"]


def _unmarked(lines: list[str]) -> tuple[PlanStep, ...]:
    if len(lines) != 1:
        return tuple(PlanStep(_one_line(line)) for line in lines)
    marks = list(_INLINE.finditer(lines[0]))
    if len(marks) > 1 and [int(mark[1]) for mark in marks] == list(range(1, len(marks) + 1)):
        ends = [*(mark.start() for mark in marks[1:]), len(lines[0])]
        parts = [lines[0][m.end() : end] for m, end in zip(marks, ends, strict=True)]
    else:
        mark = _mark(lines[0])
        parts = _SENTENCE.split(lines[0][mark.end() :] if mark else lines[0])
    return tuple(PlanStep(_one_line(part)) for part in parts if part.strip())


def _one_line(text: str) -> str:
    return " ".join(text.replace("**", "").split())
