"""The steps of a plan as a model wrote it: one reading for agents, traces and measures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

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
_INLINE = re.compile(
    r"""(?:^|(?<=[\s,;\[\uff0c\uff1b\u3002]))[*_]{0,3}
    (?:step[ ]?(?P<step>\d{1,3})[*_]{0,3}(?:[ ]?[:.)]|[ ][-\u2013\u2014](?=[ ]))
      | \u7b2c(?P<nth>\d{1,3})\u6b65[:\uff1a]?
      | \(?(?P<number>\d{1,3})(?:[.)](?=\s)|[\u3001\uff0e\uff09]))
    [*_]{0,3}\s*+""",
    re.VERBOSE | re.IGNORECASE,
)
"""A number that begins a step in the middle of a line, where the numbers run 1, 2, 3."""
_SENTENCE = re.compile(
    r"""(?<=[.;!?])\s+ | (?<=[\u3002\uff1b\uff01\uff1f])\s* | (?<!\s)\s*+(?:[-=]>|\u2192)\s*""",
    re.VERBOSE,
)
_THEN = re.compile(
    r"""(?<=,)\s+(?=(?:and\s+)?(?:then|finally|dann|puis|luego)\b) | (?<=\w)\s+(?=and\s+then\b)
    | (?<=\uff0c)\s*(?=\u7136\u540e|\u6700\u540e|\u63a5\u7740)""",
    re.VERBOSE | re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|when|unless|once|where|wenn|si)\b|\u5982\u679c", re.IGNORECASE)
"""What makes the "then" behind it a consequence and no next step."""


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


def list_in(text: str) -> str | None:
    """Return a text from the first step of a numbered list on; None where it has no such list.

    It tells a plan from a remark about one: lines that begin with a number, or numbers that run
    1, 2, 3 within a line.
    """
    line, inline = STEP_NUMBER.search(text), _inline_marks(text)
    # Where the first step stands behind other words, only the second begins a line.
    begins = [mark.start() for mark in (line, *inline[:1]) if mark is not None]
    if not begins:
        return None
    begin = min(begins)
    return text[begin - text[:begin].endswith("[") :]


def read_plan(plan: str) -> PlanText:
    """Return a plan's steps, and what stands beside them.

    Numbers (``1.``, ``2)``, ``(3)``, ``Step 4:``, ``1.2``), letters and bullets begin a step. In a
    numbered plan, bullets, letters, dotted and further indented numbers are sub-steps. Other lines
    go on with their step, or, behind a blank line, belong to no step. Numbers that run 1, 2, 3 in
    the middle of a line begin steps as well: ``1) ... 2) ...``, ``[Step 1: ..., Step 2: ...]``. A
    list in JSON is its entries. Where nothing is marked, each line is a step, and on a single line
    each sentence, and what follows a ``, then`` in it.

    Parameters
    ----------
    plan
        As a model wrote it.
    """
    listed = _listed(plan.strip())
    if listed is not None:
        return PlanText(_as_steps(listed))
    lines = [line.rstrip().expandtabs(4) for line in _unbracketed(plan).split("\n")]
    marks = [_mark(line) for line in lines]
    if not _is_whole([mark for mark in marks if mark]):
        running = _running(lines)
        if running is not None:
            return running
    if not _is_list(lines, marks):
        return PlanText(_unmarked([line for line in lines if line.strip()]))
    return _marked(lines, marks)


def _marked(lines: list[str], marks: list[re.Match[str] | None]) -> PlanText:
    """Return the plan whose steps begin where lines are marked."""
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


def _listed(plan: str) -> list[str] | None:
    """Return the entries of a plan that is a JSON list of texts."""
    if not plan.startswith("["):
        return None
    try:
        entries = json.loads(plan)
    except (ValueError, RecursionError):
        return None
    texts = [entry for entry in entries if isinstance(entry, str)]
    return texts if texts and len(texts) == len(entries) else None


def _unbracketed(plan: str) -> str:
    """Return a plan without the one pair of square brackets around all of it."""
    bare = plan.strip()
    if not (bare.startswith("[") and bare.endswith("]")):
        return plan
    depth = 0
    for letter in bare[:-1]:
        depth += (letter == "[") - (letter == "]")
        if not depth:
            return plan
    return re.sub(r",[ \t]*$", "", bare[1:-1], flags=re.MULTILINE)


def _is_whole(marks: list[re.Match[str]]) -> bool:
    """Whether the marks at the start of lines leave no number out that a line might hold."""
    numbers = [mark["number"] for mark in marks]
    if len(marks) < 2 or not all(number and number.isdecimal() for number in numbers):
        return len(marks) > 1
    return all(int(b) - int(a) < 2 for a, b in pairwise(numbers))


def _running(lines: list[str]) -> PlanText | None:
    """Return the plan whose numbers run on within a paragraph; None where there is none."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", "\n".join(lines))]
    for place, paragraph in enumerate(paragraphs):
        before, steps = _inline(paragraph)
        if steps:
            around = (*paragraphs[:place], before, *paragraphs[place + 1 :])
            return PlanText(_as_steps(steps), tuple(filter(None, around)))
    return None


def _inline_marks(text: str) -> list[re.Match[str]]:
    """Return the numbers in a text that run 1, 2, 3; none where they do not."""
    marks = list(_INLINE.finditer(text))
    numbers = [int(mark["step"] or mark["nth"] or mark["number"]) for mark in marks]
    run = list(range(1, len(marks) + 1))
    return marks if len(marks) > 1 and numbers == run else []


def _inline(text: str) -> tuple[str, list[str]]:
    """Return what stands before numbers that run 1, 2, 3, and the texts behind each of them."""
    marks = _inline_marks(text)
    if not marks:
        return text, []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    parts = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
    before = text[: marks[0].start()].strip(" [")
    return before, [part.rstrip(" ,;]" if "[" not in part else " ,;") for part in parts]


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
        return _as_steps(lines)
    mark = _mark(lines[0])
    sentences = _SENTENCE.split(lines[0][mark.end() :] if mark else lines[0])
    return _as_steps(part for sentence in sentences for part in _clauses(sentence))


def _clauses(sentence: str) -> list[str]:
    """Return what a sentence lists one after the other."""
    parts: list[str] = []
    for part in _THEN.split(sentence):
        if parts and _CONDITION.search(parts[-1]):
            parts[-1] += f" {part}"
        else:
            parts.append(part)
    return parts


def _as_steps(texts: Iterable[str]) -> tuple[PlanStep, ...]:
    return tuple(PlanStep(_one_line(text)) for text in texts if text.strip())


def _one_line(text: str) -> str:
    return " ".join(text.replace("**", "").split())
