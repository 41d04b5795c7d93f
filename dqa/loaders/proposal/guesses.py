"""What names suggest: units, keys, joins. Every guess is marked as one where it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from dqa.core.relevance import words_in
from dqa.core.situation import ColumnType

GUESS = "guess"
"""What a remark begins with that says that its line was guessed."""
_MARKED = re.compile(rf"(?:#|--|//|<!--) {GUESS}\b")

_UNITS: Mapping[str, str] = {
    "kg": "kilograms",
    "kilogram": "kilograms",
    "gram": "grams",
    "tonne": "tonnes",
    "lb": "pounds",
    "km": "kilometres",
    "mile": "miles",
    "metre": "metres",
    "meter": "metres",
    "cm": "centimetres",
    "mm": "millimetres",
    "litre": "litres",
    "liter": "litres",
    "day": "days",
    "hour": "hours",
    "minute": "minutes",
    "second": "seconds",
    "week": "weeks",
    "month": "months",
    "year": "years",
    "percent": "percent",
    "pct": "percent",
    "rate": "a share, or so much for each",
    "kwh": "kilowatt hours",
    "eur": "euros",
    "usd": "US dollars",
    "gbp": "pounds sterling",
    "weight": "a weight",
    "price": "an amount of money",
    "cost": "an amount of money",
    "amount": "an amount of money",
    "revenue": "an amount of money",
    "profit": "an amount of money",
    "salary": "an amount of money",
    "wage": "an amount of money",
    "fee": "an amount of money",
    "freight": "an amount of money",
    "budget": "an amount of money",
    "quantity": "units",
    "qty": "units",
    "stock": "units",
    "capacity": "units",
    "count": "units",
}
_MEASURES = (
    "profit",
    "revenue",
    "sale",
    "amount",
    "quantity",
    "qty",
    "total",
    "value",
    "count",
    "cost",
    "price",
)
"""Words of columns by which decisions are compared, the likeliest first."""
_LAST = 99
_NAMES = ("name", "title", "label", "code", "number", "reference")
_NO_NAMES = frozenset({"email", "mail", "phone", "address", "url", "comment", "note", "password"})
_KEYS = ("id", "key", "code", "no", "nr", "number", "name")
_MOST = 8
_LESS = frozenset({"least", "lowest", "fewest", "cheapest", "minimal", "minimum", "minimise"})


def guess_lines(lines: Sequence[str]) -> list[int]:
    """Return the numbers, from 1, of the lines whose remarks say that they were guessed."""
    return [number for number, text in enumerate(lines, start=1) if _MARKED.search(text)]


def unit_of(name: str) -> str:
    """Return what a column is measured in, by its name; empty where that says nothing."""
    return next((_UNITS[word] for word in reversed(words_in(name)) if word in _UNITS), "")


def goal_of(question: str, measure: str) -> str:
    """Return whether more or less is better, by the words of a question or of what counts."""
    if question:
        return "minimise" if _LESS & set(re.findall(r"\w+", question.casefold())) else "maximise"
    costs = {"cost", "price", "freight", "day", "hour", "weight", "loss", "fee"}
    return "minimise" if costs & set(words_in(measure)) else "maximise"


def measure_rank(name: str) -> int:
    """Return the place of a column among those by which decisions are compared."""
    words = words_in(name)
    if "unit" in words and {"cost", "price"} & set(words):
        return _LAST  # adding these up means nothing
    return min((_MEASURES.index(word) for word in words if word in _MEASURES), default=_LAST)


def name_columns(
    table: str, columns: Sequence[tuple[str, ColumnType]], key: Sequence[str]
) -> list[str]:
    """Return columns that may name a table's rows to people, the likeliest first."""
    own = set(words_in(table))

    def rank(item: tuple[str, ColumnType]) -> tuple[int, int]:
        words = words_in(item[0])
        place = next((_NAMES.index(word) for word in words if word in _NAMES), len(_NAMES))
        strange = 0 if not set(words) - own - set(_NAMES) else 1
        return place + strange, 0 if item[1] == "text" else 1

    wanted = [
        (name, kind)
        for name, kind in columns
        if (kind == "text" and not _NO_NAMES & set(words_in(name)))
        or (list(key) == [name] and kind in ("text", "integer"))
    ]
    return [name for name, _ in sorted(wanted, key=rank)][:_MOST]


def key_columns(
    table: str, columns: Sequence[tuple[str, ColumnType]]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the columns that may be a key by themselves, and pairs that may be one together."""
    own = words_in(table)

    def rank(name: str) -> tuple[int, int]:
        words = words_in(name)
        place = next((_KEYS.index(word) for word in words if word in _KEYS), len(_KEYS))
        return place, 0 if len(words) == 1 or words[:-1] == own else 1

    fit = [name for name, kind in columns if kind in ("integer", "text", "uuid", "decimal")]
    # What is measured tells rows apart by chance alone.
    singles = [name for name in sorted(fit, key=rank) if not unit_of(name)][:_MOST]
    likely = [name for name in fit if rank(name)[0] < len(_KEYS)][:4]
    return singles, list(combinations(likely, 2))


def joins_by_name(
    columns: Sequence[tuple[str, ColumnType]], keys: Mapping[str, tuple[str, ColumnType]]
) -> Iterator[tuple[str, str]]:
    """Yield columns with the table that each seems to refer to, at most one a column.

    Parameters
    ----------
    columns
        Of one table.
    keys
        Of the other tables, by name.
    """
    for column, kind in columns:
        words = words_in(column)
        for other, (key, key_kind) in keys.items():
            called = words_in(other)
            key_words = words_in(key)
            by_table = len(key_words) >= 1 and words in (called, (*called, *key_words[-1:]))
            by_key = words == key_words and len(key_words) > 1
            if kind == key_kind and (by_table or by_key):
                yield column, other
                break
