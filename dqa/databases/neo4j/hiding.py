"""Keeps a namespace's label out of what a statement on a situation can see and name."""

from __future__ import annotations

import re
from collections.abc import Callable

from dqa.core.cypher import quote_name, quote_text

VARIABLE = "dqa_label"


def namer(label: str) -> Callable[[str], str]:
    """Return what gives a column the name it would have had: its expression as it was written."""
    pattern = re.compile(
        f"[:&]{re.escape(quote_name(label))}|{re.escape(f'[{VARIABLE} IN ')}"
        f"|{re.escape(without_label(label))}"
    )
    return lambda name: pattern.sub("", name)


def without_label(label: str) -> str:
    """Return what ends a list of labels that one is left out of."""
    return f" WHERE {VARIABLE} <> {quote_text(label)}]"
