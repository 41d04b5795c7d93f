"""Read the steps of a model's plan, for agents, traces and measures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

STEP_NUMBER = re.compile(
    r"""^(?P<indent>[ \t]*+)
    (?:[>*_#-][>*_#\- \t]*+)?  # a quotation, a heading, emphasis or a bullet around it
    (?:step[ \t]*+)?(?P<number>\d{1,3})[*_]*+[ \t]*+[.):](?!\d)[*_]*+[ \t]*+""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A numbered line, which always begins a step."""
_MARKER = re.compile(
    r"""^(?P<indent>[ ]*+)
    (?:\#{1,6}[ ]+)?(?:[*_]{2})?
    (?:
      (?:[(\[]|[^\W\d_]{1,20}[ ]?)?  # (1), Schritt 1:
      (?P<number>\d{1,3}(?:\.\d{1,3})*)
      (?:[*_]*[ ]?[.):\]](?=\D|$) | [ ][-\u2013\u2014](?=[ ]) | (?<=\.\d)(?=[ ]))
    | (?P<letter>\(?[a-z][.)]) (?=[ ])
    | (?P<bullet>[-*+•‣◦\u2013\u2014]) (?=[ ])
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""Marks other than step numbers that can begin a step of a plan."""
_INLINE = re.compile(
    r"""(?:^|(?<=[\s,;\[]))[*_]{0,3}
    (?:step[ ]?(?P<step>\d{1,3})[*_]{0,3}(?:[ ]?[:.)]|[ ][-\u2013\u2014](?=[ ]))
      | \(?(?P<number>\d{1,3})[.)](?=\s))
    [*_]{0,3}\s*+""",
    re.VERBOSE | re.IGNORECASE,
)
"""A number that can begin a step within a line, if the numbers in the line are consecutive."""
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|\s*(?:[-=]>|\u2192)\s*")
_THEN = re.compile(
    r"(?<=,)\s+(?=(?:and\s+)?(?:then|finally)\b)|(?<=\w)\s+(?=and\s+then\b)", re.IGNORECASE
)
_CONDITION = re.compile(r"\b(?:if|when|unless|once|where)\b", re.IGNORECASE)
"""Words for conditions. In a sentence with such a word, "then" begins a consequence, not a step."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan.

    Attributes
    ----------
    text
        The text without its number, on one line.
    parent
        The index of the parent step; None for a top-level step.
    """

    text: str
    parent: int | None = None

    @property
    def bare(self) -> str:
        """The text in lower case without punctuation, for comparing the steps of plans."""
        letters = (c if c.isalnum() else " " for c in self.text.casefold())
        return " ".join("".join(letters).split())


@dataclass(frozen=True, slots=True)
class PlanText:
    """The steps of a plan in order, and the lines that belong to no step."""

    steps: tuple[PlanStep, ...]
    other_lines: tuple[str, ...] = ()


def steps_of(plan: str) -> tuple[PlanStep, ...]:
    """Return a plan's steps in order; see `read_plan`."""
    return read_plan(plan).steps


def list_in(text: str) -> str | None:
    """Return a text without the words before its numbered list; None for a text without a list.

    The items of a list are lines that begin with a number, or parts of a line that begin with
    consecutive numbers.
    """
    line, inline = STEP_NUMBER.search(text), _inline_marks(text)
    # Only the pattern for marks within a line finds a step that follows other words on its line.
    begins = [mark.start() for mark in (line, *inline[:1]) if mark is not None]
    if not begins:
        return None
    begin = min(begins)
    return text[begin - text[:begin].endswith("[") :]


def read_plan(plan: str) -> PlanText:
    """Return the steps of a plan, and the lines that belong to no step.

    Numbers (``1.``, ``2)``, ``(3)``, ``Step 4:``, ``1.2``), letters and bullets begin a step. In a
    numbered plan, bullets, letters, dotted numbers and numbers with more indentation begin
    sub-steps. Other lines continue the current step until a blank line. Lines after the blank line
    belong to no step. Consecutive numbers within a line begin steps too: ``1) ... 2) ...``,
    ``[Step 1: ..., Step 2: ...]``. In a plan without marks, each line is a step. In a single line
    without marks, each sentence and each clause after ``, then`` is a step.

    Parameters
    ----------
    plan
        The plan as the model wrote it.
    """
    lines = [line.rstrip().expandtabs(4) for line in plan.split("\n")]
    numbers = [_number(mark) for mark in map(_mark, lines) if mark]
    gaps = (b - a for a, b in pairwise(n for n in numbers if n is not None))
    if len(numbers) < 2 or (None not in numbers and any(gap > 1 for gap in gaps)):
        lines = _split_lines(lines)
    marks = list(map(_mark, lines))
    count, filled = len(marks) - marks.count(None), [line for line in lines if line.strip()]
    if count > 1 or (numbers == [1] and len(filled) > 1):
        return _marked(lines, marks)
    if len(filled) == 1:
        mark = _mark(filled[0])
        filled = [
            part
            for sentence in _SENTENCE.split(filled[0][mark.end() :] if mark else filled[0])
            for part in ([sentence] if _CONDITION.search(sentence) else _THEN.split(sentence))
        ]
    return PlanText(tuple(PlanStep(_one_line(line)) for line in filled if line.strip()))


def _marked(lines: list[str], marks: list[re.Match[str] | None]) -> PlanText:
    """Return a plan whose steps begin at marked lines."""
    numbered = any(mark and mark["number"] for mark in marks)
    tops = [mark for mark in marks if mark and (mark["number"] or not numbered)]
    # If words precede the first step on its line, its indentation is unknown.
    indent = min((len(mark["indent"]) for mark in tops[1:]), default=0)
    steps: list[list[str]] = []
    parents: list[int | None] = []
    outside: list[str] = []
    top, open_step = None, False
    for line, mark in zip(lines, marks, strict=True):
        if mark is not None:
            is_nested = len(mark["indent"]) >= indent + 2 or (numbered and _number(mark) is None)
            parents.append(top if is_nested else None)
            top = top if is_nested and top is not None else len(steps)
            steps.append([line[mark.end() :]])
            open_step = True
        elif not line.strip():
            open_step = False
        elif steps and (open_step or line.startswith(" ")):
            steps[-1].append(line)
        else:
            outside.append(line.strip())
    texts = (_one_line(" ".join(step)) for step in steps)
    return PlanText(tuple(map(PlanStep, texts, parents)), tuple(outside))


def _split_lines(lines: list[str]) -> list[str]:
    """Return the lines of a plan. In a paragraph, each step number (1., 2., ...) begins a line."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", "\n".join(lines))]
    for place, text in enumerate(paragraphs):
        if marks := _inline_marks(text):
            starts = [mark.end() for mark in marks]
            ends = [*(mark.start() for mark in marks[1:]), len(text)]
            parts = [text[start:end] for start, end in zip(starts, ends, strict=True)]
            steps = [part.rstrip(" ,;" if "[" in part else " ,;]") for part in parts]
            before = [*paragraphs[:place], text[: marks[0].start()].strip(" [")]
            numbered = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
            return [*before, *numbered, "", *paragraphs[place + 1 :]]
    return lines


def _mark(line: str) -> re.Match[str] | None:
    return STEP_NUMBER.match(line) or _MARKER.match(line)


def _number(mark: re.Match[str]) -> int | None:
    """Return the number in a mark; None if there is no number, or if the number is dotted."""
    number: str | None = mark["number"]
    return int(number) if number is not None and number.isdecimal() else None


def _inline_marks(text: str) -> list[re.Match[str]]:
    """Return the marks in a text if their numbers are consecutive; otherwise an empty list."""
    marks = list(_INLINE.finditer(text))
    numbers = [int(mark["step"] or mark["number"]) for mark in marks]
    run = list(range(1, len(marks) + 1))
    return marks if len(marks) > 1 and numbers == run else []


def _one_line(text: str) -> str:
    return " ".join(text.replace("**", "").split())
