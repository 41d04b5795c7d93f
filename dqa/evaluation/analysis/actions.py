"""What a step of a plan does, and what it is about: look something up, or work something out."""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import pairwise

from dqa.core.plans import PlanStep

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Letters of scripts that put no space between words."""
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[^\W_])+")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_CLAUSE = re.compile(r"[,;:.]|\b(?:and|then|to)\b", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Action(StrEnum):
    """What a step of a plan does with data."""

    LOOK_UP = "look-up"
    CALCULATE = "calculation"


_LOOK_UP = _words("""
    access ask browse check collect consult discover display examine explore extract fetch find
    gather get identify inspect list load locate look lookup obtain pull query read request retrieve
    scan search see select show view
    """)
_CALCULATE = _words("""
    add aggregate apply calculate compute count deduce derive divide estimate evaluate
    forecast infer multiply predict project quantify recalculate simulate solve subtract sum
    """)
_EITHER = _words("determine establish find get identify obtain see")
"""Verbs of look-ups and of calculations alike: of these where a step says how it calculates."""
_WAYS = _words("""
    arithmetic average calculation difference equation formula mean percentage product quotient
    ratio sum
    """)
_OUT = _words("work")
"""Verbs that calculate with an "out" behind them."""
_EMPTY = _words("""
    a again all also an and any are as at be by corresponding each every finally first for from
    given if in into is it its next now of on or our respective result resulting that the their
    them then there these they this those to up using we what where which will with
    """)


def content_of(step: PlanStep) -> frozenset[str]:
    """Return the words that say what a step is about; all words where nothing else is left.

    They are in small letters, without endings of plural and possession. Of a script without spaces
    every two neighbouring letters are a word.
    """
    text = _POSSESSIVE.sub("", step.text.casefold())
    words = frozenset(part for word in _WORD.findall(text) for part in _parts(word))
    return words - _EMPTY - _LOOK_UP - _CALCULATE or words


def actions_in(step: PlanStep) -> frozenset[Action]:
    """Return what a step does: by the words that begin its clauses, else by its first verb.

    The words are English; a step in another language, or one that only chooses, does neither.
    """
    clauses = [_WORD.findall(part.casefold()) for part in _CLAUSE.split(step.text)]
    found = frozenset(
        action for words in clauses if (action := _action(words, 0, step)) is not None
    )
    if found:
        return found
    anywhere = (_action(words, i, step) for words in clauses for i in range(len(words)))
    first = next((action for action in anywhere if action is not None), None)
    return frozenset() if first is None else frozenset({first})


def _parts(word: str) -> tuple[str, ...]:
    if len(word) > 1 and re.match(f"[{_UNSPACED}]", word):
        return tuple(map("".join, pairwise(word)))
    if len(word) > 4 and word.endswith("ies"):
        return (f"{word[:-3]}y",)
    plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
    return (word[:-1] if plural else word,)


def _action(words: list[str], i: int, step: PlanStep) -> Action | None:
    """Return what the word at a place of a clause does."""
    word = words[i] if i < len(words) else ""
    if word in _OUT and "out" in words[i + 1 :]:
        return Action.CALCULATE
    if word in _EITHER and not _WAYS.isdisjoint(_WORD.findall(step.text.casefold())):
        return Action.CALCULATE
    if word in _LOOK_UP:
        return Action.LOOK_UP
    return Action.CALCULATE if word in _CALCULATE else None
