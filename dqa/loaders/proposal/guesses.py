"""Guess the goal, the measure and the columns that name rows. Find guesses in files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from dqa.core.fitting import words_in
from dqa.core.situation import ColumnType

GUESS = "guess"
"""The first word of a comment that marks a guessed line."""
_MARKED = re.compile(rf"(?:#|--|//|<!--) {GUESS}\b")
_LAST = 99
_MOST = 8


@cache
def _words() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))


def guess_lines(lines: Sequence[str]) -> list[int]:
    """Return the line numbers, from 1, of the lines that are marked as guesses."""
    return [number for number, text in enumerate(lines, start=1) if _MARKED.search(text)]


def goal_of(question: str, measure: str) -> str:
    """Guess ``maximise`` or ``minimise`` from the words of the question or of the measure."""
    words = re.findall(r"\w+", question.casefold()) if question else words_in(measure)
    less = _words()["less" if question else "costs"]
    return "maximise" if set(words).isdisjoint(less) else "minimise"


def is_personal(name: str) -> bool:
    """Return whether the name of a column suggests personal data."""
    words = set(words_in(name))
    is_name = "name" in words and not words.isdisjoint(_words()["personal_names"])
    return is_name or not words.isdisjoint(_words()["personal"])


def measure_rank(name: str) -> int:
    """Return the rank of a column as the measure of a decision; a lower rank is better."""
    words, measures = words_in(name), _words()["measures"]
    if "unit" in words and {"cost", "price"} & set(words):
        return _LAST  # a sum of unit prices means nothing
    return min((measures.index(word) for word in words if word in measures), default=_LAST)


def name_columns(
    table: str, columns: Sequence[tuple[str, ColumnType]], key: Sequence[str]
) -> list[str]:
    """Return columns that may contain names of a table's rows, the likeliest first."""
    own, names, no_names = set(words_in(table)), _words()["names"], set(_words()["no_names"])

    def rank(item: tuple[str, ColumnType]) -> tuple[int, int]:
        words = words_in(item[0])
        position = next((names.index(word) for word in words if word in names), len(names))
        is_other = bool(set(words) - own - set(names))
        return position + is_other, 0 if item[1] == "text" else 1

    wanted = [
        (name, kind)
        for name, kind in columns
        if (kind == "text" and no_names.isdisjoint(words_in(name)))
        or (list(key) == [name] and kind in ("text", "integer"))
    ]
    return [name for name, _ in sorted(wanted, key=rank)][:_MOST]
