"""What a step of a plan does, and what it is about: look something up, or work something out."""

from __future__ import annotations

import re
from enum import StrEnum

from dqa.core.plans import PlanStep

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


def content_of(step: PlanStep) -> frozenset[str]:
    """Return the words that say what a step is about; all words where nothing else is left.

    They are in small letters, without plural endings.
    """
    words = frozenset(_stem(word) for word in _WORD.findall(step.text.casefold()))
    return words - _EMPTY - _LOOK_UP - _CALCULATE or words


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


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _action(word: str) -> Action | None:
    if word in _LOOK_UP:
        return Action.LOOK_UP
    return Action.CALCULATE if word in _CALCULATE else None
