"""Labels: words that announce the answer ("final answer:"), or something beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dqa.deciders.matching import vocabulary as v
from dqa.deciders.matching.clauses import NAME, REACH, Clauses

__all__ = ["Label", "find_labels"]

_GAP = 8
"""Words between a label's own and the sign that ends it ("best place for the merchant is")."""

_BESIDE = v.ASIDE | v.ILL
_REFUSALS = v.REFUSING | v.REFUSED
_ANNOUNCING = v.LABEL_NOUNS | v.LABEL_ADJECTIVES
_OWN = _ANNOUNCING | v.ASIDE_OF_LABEL | v.NOUNS | _REFUSALS | {"up"}
_OWN_OR_SIGN = _OWN | v.QUOTES | {"-"}
_BESIDE_GAP = v.QUOTES | v.NOUNS
_LINE_START = v.QUOTES | {"#"}
_VALUE_START = v.QUOTES | {"\n", "#", ">"}
_LINE_SIGNS = frozenset({":", "=", "|", ">", "\n"})


@dataclass(frozen=True, slots=True)
class Label:
    """Words that announce the answer, or something beside it ("alternative:").

    Attributes
    ----------
    end
        The token after the label.
    until
        The token at which what it announces is over.
    aside
        Whether it announces something else than the answer.
    is_heading
        Whether it has a line of its own.
    """

    start: int
    end: int
    until: int
    aside: bool
    is_heading: bool = False


def find_labels(clauses: Clauses, sentence_ends: list[int]) -> list[Label]:
    """Return the labels in the order of the answer; each ends where the next one starts."""
    found: list[Label] = []
    position = 0
    while position < len(clauses.words):
        last, run = _own_words(clauses, position)
        kind = _kind(run)
        end = _end(clauses, position, last + 1, kind) if kind else None
        if end is not None:
            found.append(Label(position, end, len(clauses.words), kind != "answer"))
        position = max(position, last if end is None else end - 1) + 1
    line_ends = clauses.next_of(frozenset("\n"))
    closed = []
    for number, label in enumerate(found):
        sign = clauses.word(label.end - 1)
        ends = line_ends if sign in _LINE_SIGNS and not label.aside else sentence_ends
        begin = clauses.past(label.end, _VALUE_START)
        until = ends[begin] if begin < len(ends) else len(clauses.words)
        if number + 1 < len(found):
            until = min(until, found[number + 1].start)
        closed.append(replace(label, until=until, is_heading=sign == "\n"))
    return closed


def _own_words(clauses: Clauses, position: int) -> tuple[int, list[str]]:
    """Return where the run of a label's own words ends, and the run ("final answer")."""
    run: list[str] = []
    last = position - 1
    stop = position + _GAP
    while position < stop and (word := clauses.word(position)) in _OWN_OR_SIGN:
        if word in _OWN:
            run.append(word)
            last = position
        elif not run:
            break
        position += 1
    return last, run


def _kind(run: list[str]) -> str:
    """Return what a run of words announces: an answer, something aside, a refusal or nothing."""
    said = set(run)
    if said & _REFUSALS:
        return "refusal"
    if said & _BESIDE or (
        said & v.ASIDE_OF_LABEL and said & (_ANNOUNCING | {"option", "candidate"})
    ):
        return "aside"
    return "answer" if said & _ANNOUNCING else ""


def _end(clauses: Clauses, start: int, first: int, kind: str) -> int | None:
    """Return the token after a label whose own words end before `first`, if it is one."""
    gap: list[str] = []
    offered = False
    position = first
    stop = position + _GAP
    while position < stop and (word := clauses.word(position)):
        if _closes(clauses, start, position, gap, kind):
            return position + 1
        if word in v.OFFERING:
            # "The best of both between X and Y is": the names on offer are no answer yet.
            offered, stop = True, position + REACH
        is_over = clauses.breaks[position] and word not in "()"
        if word in v.SENTENCE_ENDS or (
            not offered and (is_over or word == NAME or word in v.MEASURES)
        ):
            return None
        if kind != "answer" and word not in _BESIDE_GAP:
            return None
        if word not in v.QUOTES:
            gap.append(word)
        position += 1
    return None


def _closes(clauses: Clauses, start: int, position: int, gap: list[str], kind: str) -> bool:
    """Whether a word or sign makes what stands before it a label."""
    word = clauses.word(position)
    if word in {":", "="}:
        return True
    if word == "|" or (word == ">" and clauses.word(start - 1) == "<"):
        return not gap
    if word == "\n":
        return not gap and clauses.word(clauses.back(start - 1, _LINE_START)) in {"\n", ""}
    if kind == "refusal":
        return False
    return (
        word in {"is", "are"}
        or (word == "be" and gap[-1:] == ["would"])
        or (word == "was" and kind == "aside")
    )
