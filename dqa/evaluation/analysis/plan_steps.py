"""Plans as lists of steps, and what a step does: look something up, or work something out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Action", "PlanStep", "actions_in", "steps_of"]

_MARKER = re.compile(
    r"""^(?P<indent>[ ]*)
    (?:\#{1,6}[ ]+)?(?:[*_]{2})?
    (?:
      (?:第[ ]?)?(?:[(\[]|[^\W\d_]{1,20}[ ]?)?  # (1), Step 1:
      (?P<number>\d{1,3}(?:\.\d{1,3})*)
      (?:[ ]?[.):\]\u3001\uff1a\uff0e\uff09](?=\D|$) | 步[:\uff1a]? | [ ][-\u2013\u2014](?=[ ])
        | (?<=\.\d)(?=[ ]))
    | (?P<letter>\(?[a-z][.)]) (?=[ ])
    | (?P<bullet>[-*+•‣◦\u2013\u2014]) (?=[ ])
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_INLINE = re.compile(r"(?:^|(?<=\s))\(?(\d{1,3})[.)]\s+")
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|(?<=[\u3002\uff1b\uff01\uff1f])\s*")
_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(r"[,;:.]|\b(?:and|then|to)\b", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Action(StrEnum):
    """What a step of a plan does with data."""

    LOOK_UP = "look-up"
    CALCULATE = "calculation"


_LOOK_UP = _words("""
    access check collect examine extract fetch find gather get identify inspect list locate look
    lookup obtain query read retrieve search select
    """)
_CALCULATE = _words("""
    add aggregate apply calculate compute derive divide estimate evaluate multiply predict project
    quantify recalculate simulate subtract sum
    """)
_EMPTY = _words("""
    a again all also an and any are as at be by each every first for from if in into is it its next
    of on or our that the their them then there these they this those to up using we what where
    which will with
    """)


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
    def words(self) -> frozenset[str]:
        """All words in small letters, without plural endings."""
        return frozenset(_stem(word) for word in _WORD.findall(self.text.casefold()))

    @property
    def content(self) -> frozenset[str]:
        """The words that say what it is about; all words where nothing else is left."""
        words = self.words
        return words - _EMPTY - _LOOK_UP - _CALCULATE or words


def steps_of(plan: str) -> tuple[PlanStep, ...]:
    """Return a plan's steps in order.

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
    marks = [_MARKER.match(line) for line in lines]
    if sum(mark is not None for mark in marks) < 2:
        return _unmarked([line for line in lines if line.strip()])
    numbered = any(mark and mark["number"] for mark in marks)
    indent = _indent_of([mark for mark in marks if mark], numbered=numbered)
    steps: list[list[str]] = []
    parents: list[int | None] = []
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
    return tuple(
        PlanStep(_one_line(" ".join(step)), parent)
        for step, parent in zip(steps, parents, strict=True)
    )


def actions_in(step: PlanStep) -> frozenset[Action]:
    """Return what a step does: by the words that begin its clauses, else by its first verb.

    The words are English; a step in another language, or one that only chooses, does neither.
    """
    clauses = [_WORD.findall(part.casefold()) for part in _CLAUSE.split(step.text)]
    openings = [_action(word) for words in clauses for word in words[:1]]
    found = frozenset(action for action in openings if action is not None)
    if found:
        return found
    anywhere = (_action(word) for words in clauses for word in words)
    first = next((action for action in anywhere if action is not None), None)
    return frozenset() if first is None else frozenset({first})


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
        parts = _SENTENCE.split(_MARKER.sub("", lines[0]))
    return tuple(PlanStep(_one_line(part)) for part in parts if part.strip())


def _one_line(text: str) -> str:
    return " ".join(text.replace("**", "").split())


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _action(word: str) -> Action | None:
    if word in _LOOK_UP:
        return Action.LOOK_UP
    return Action.CALCULATE if word in _CALCULATE else None
