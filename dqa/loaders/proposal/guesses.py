"""What names suggest: units, keys, joins. Every guess is marked where it is written."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

from dqa.core.relevance import words_in
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
    """Return the numbers, from 1, of the lines that are marked as guesses."""
    return [number for number, text in enumerate(lines, start=1) if _MARKED.search(text)]


def unit_of(name: str) -> str:
    """Return the unit that a column's name suggests; "" for none."""
    units = {word: unit for unit, words in _words()["units"].items() for word in words}
    return next((units[word] for word in reversed(words_in(name)) if word in units), "")


def goal_of(question: str, measure: str) -> str:
    """Return ``maximise`` or ``minimise``, by the words of a question or of the measure."""
    words = re.findall(r"\w+", question.casefold()) if question else words_in(measure)
    less = _words()["less" if question else "costs"]
    return "maximise" if set(words).isdisjoint(less) else "minimise"


def measure_rank(name: str) -> int:
    """Return the rank of a column as the measure of a decision."""
    words, measures = words_in(name), _words()["measures"]
    if "unit" in words and {"cost", "price"} & set(words):
        return _LAST  # a sum of unit prices means nothing
    return min((measures.index(word) for word in words if word in measures), default=_LAST)


def name_columns(
    table: str, columns: Sequence[tuple[str, ColumnType]], key: Sequence[str]
) -> list[str]:
    """Return columns that may name a table's rows to people, the likeliest first."""
    own, names, no_names = set(words_in(table)), _words()["names"], set(_words()["no_names"])

    def rank(item: tuple[str, ColumnType]) -> tuple[int, int]:
        words = words_in(item[0])
        place = next((names.index(word) for word in words if word in names), len(names))
        is_other = bool(set(words) - own - set(names))
        return place + is_other, 0 if item[1] == "text" else 1

    wanted = [
        (name, kind)
        for name, kind in columns
        if (kind == "text" and no_names.isdisjoint(words_in(name)))
        or (list(key) == [name] and kind in ("text", "integer"))
    ]
    return [name for name, _ in sorted(wanted, key=rank)][:_MOST]


def key_columns(
    table: str, columns: Sequence[tuple[str, ColumnType]]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return columns that may be a key alone, and pairs that may be one together."""
    own, keys = words_in(table), _words()["keys"]

    def rank(name: str) -> tuple[int, int]:
        words = words_in(name)
        place = next((keys.index(word) for word in words if word in keys), len(keys))
        return place, 0 if len(words) == 1 or words[:-1] == own else 1

    fit = [name for name, kind in columns if kind in ("integer", "text", "uuid", "decimal")]
    # A measured value distinguishes rows only by chance.
    singles = [name for name in sorted(fit, key=rank) if not unit_of(name)][:_MOST]
    likely = [name for name in fit if rank(name)[0] < len(keys)][:4]
    return singles, list(combinations(likely, 2))


def joins_by_name(
    columns: Sequence[tuple[str, ColumnType]], keys: Mapping[str, tuple[str, ColumnType]]
) -> Iterator[tuple[str, str]]:
    """Yield columns with the table that each seems to refer to, at most one for each.

    Parameters
    ----------
    columns
        Of one table.
    keys
        The keys of the other tables, by table.
    """
    for column, kind in columns:
        words = words_in(column)
        for other, (key, key_kind) in keys.items():
            called, key_words = words_in(other), words_in(key)
            by_table = bool(key_words) and words in (called, (*called, *key_words[-1:]))
            by_key = words == key_words and len(key_words) > 1
            if kind == key_kind and (by_table or by_key):
                yield column, other
                break
