"""Keeps a namespace's label out of what a statement on a situation can see and name."""

from __future__ import annotations

import re
from collections.abc import Callable

from dqa.guard import DEFAULT, Policy
from dqa.guard.cypher import quote_name, quote_text, scoped
from dqa.guard.cypher.lexer import tokens

_VARIABLE = "dqa_label"


def confined(statement: str, label: str, policy: Policy = DEFAULT) -> str:
    """Return a statement that `policy` allows as it runs on a situation.

    Every node pattern asks for the namespace's label, and ``labels(n)`` is without it.

    Raises
    ------
    RefusedStatementError
        The statement calls what would tell of the whole database.
    """
    kept = scoped(statement, label, policy)
    _, texts, starts, ends, closing = tokens(kept, "neo4j")
    edits: list[tuple[int, str]] = []
    for at, text in enumerate(texts):
        bracket = at + 1
        if text.lower() == "labels" and bracket in closing and texts[bracket] == "(":
            edits.append((starts[at], f"[{_VARIABLE} IN "))
            edits.append((ends[closing[bracket]], _without(label)))
    parts: list[str] = []
    done = 0
    for position, text in sorted(edits):
        parts += kept[done:position], text
        done = position
    return "".join((*parts, kept[done:]))


def namer(label: str) -> Callable[[str], str]:
    """Return what gives a column the name it would have had: its expression as it was written."""
    pattern = re.compile(
        f"[:&]{re.escape(quote_name(label))}|{re.escape(f'[{_VARIABLE} IN ')}"
        f"|{re.escape(_without(label))}"
    )
    return lambda name: pattern.sub("", name)


def _without(label: str) -> str:
    return f" WHERE {_VARIABLE} <> {quote_text(label)}]"
