"""Keeps a place's label out of what a statement on a situation can see and name."""

from __future__ import annotations

import re
from collections.abc import Callable

from dqa.guard.cypher import scoped
from dqa.guard.cypher.lexer import tokens

__all__ = ["confined", "namer"]

_VARIABLE = "dqa_label"


def confined(statement: str, place: str) -> str:
    """Return an allowed statement as it runs on a situation.

    Every node pattern asks for the place's label, and ``labels(n)`` is without it.

    Raises
    ------
    RefusedStatementError
        The statement calls what would tell of the whole database.
    """
    kept = scoped(statement, place)
    _, texts, starts, ends, closing = tokens(kept, "neo4j")
    edits: list[tuple[int, str]] = []
    for at, text in enumerate(texts):
        bracket = at + 1
        if text.lower() == "labels" and bracket in closing and texts[bracket] == "(":
            edits.append((starts[at], f"[{_VARIABLE} IN "))
            edits.append((ends[closing[bracket]], _without(place)))
    parts: list[str] = []
    done = 0
    for position, text in sorted(edits):
        parts += kept[done:position], text
        done = position
    return "".join((*parts, kept[done:]))


def namer(place: str) -> Callable[[str], str]:
    """Return what gives a column the name it would have had: its expression as it was written."""
    pattern = re.compile(
        f"[:&]{re.escape(_ticked(place))}|{re.escape(f'[{_VARIABLE} IN ')}"
        f"|{re.escape(_without(place))}"
    )
    return lambda name: pattern.sub("", name)


def _without(place: str) -> str:
    return f" WHERE {_VARIABLE} <> '{place}']"


def _ticked(place: str) -> str:
    return f"`{place}`"
