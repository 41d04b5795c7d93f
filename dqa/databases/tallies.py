"""Counts the cells of a result that is too long to be shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import blake2b
from math import fsum, isfinite
from typing import TypeAlias

from dqa.core.display import Value, dump_row
from dqa.core.summaries import ColumnSummary, Summary

_SHORT = 60
"""Characters of the longest text that is named as a frequent value."""
_OFTEN = 3
"""Most frequent values that are named."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d.*)?", re.DOTALL)

_Key: TypeAlias = float | str | bytes


class Tally:
    """Counts the cells of a result's columns; long cells are stored as digests.

    Parameters
    ----------
    names
        The columns.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._nulls = [0] * len(names)
        self._counts: list[Counter[_Key]] = [Counter() for _ in names]
        self._rows = 0

    def add(self, row: Sequence[Value]) -> None:
        """Count the cells of a row."""
        self._rows += 1
        for place, cell in enumerate(row):
            if cell is None:
                self._nulls[place] += 1
            else:
                self._counts[place][_key_of(cell)] += 1

    def summary(self, most: int, *, whole: bool) -> Summary:
        """Return the summary of the rows.

        Parameters
        ----------
        most
            Most bytes of its text; columns without room are only counted.
        whole
            Whether these were all rows of the result.
        """
        columns = [
            _summed(*column) for column in zip(self._names, self._nulls, self._counts, strict=True)
        ]
        summary = Summary(self._rows, whole, tuple(columns))
        while summary.columns and len(summary.to_text().encode()) > most:
            summary = Summary(self._rows, whole, summary.columns[:-1], summary.others + 1)
        return summary


def _key_of(cell: Value) -> _Key:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        return cell
    if isinstance(cell, str) and len(cell) <= _SHORT:
        return cell
    text = cell if isinstance(cell, str) else dump_row([cell])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _summed(name: str, nulls: int, counts: Mapping[_Key, int]) -> ColumnSummary:
    numbers = {k: n for k, n in counts.items() if isinstance(k, int | float) and _has_mean(k)}
    if numbers and len(numbers) == len(counts):
        cells = sum(numbers.values())
        mean = fsum(float(value) / cells * count for value, count in numbers.items())
        return ColumnSummary(name, len(counts), nulls, min(numbers), max(numbers), mean)
    texts = {key: count for key, count in counts.items() if isinstance(key, str)}
    days = _days(texts) if texts and len(texts) == len(counts) else None
    if days is not None:
        cells = sum(texts.values())
        mean_day = date.fromordinal(round(sum(days[t] * n for t, n in texts.items()) / cells))
        first, last = min(texts), max(texts)
        return ColumnSummary(name, len(counts), nulls, first, last, mean_day.isoformat())
    often = sorted(texts, key=lambda text: (-texts[text], text))[:_OFTEN]
    frequent = tuple((text, texts[text]) for text in often if texts[text] > 1)
    return ColumnSummary(name, len(counts), nulls, often=frequent)


def _has_mean(number: float) -> bool:
    """Whether a number fits a float."""
    try:
        return isfinite(number)
    except OverflowError:
        return False


def _days(texts: Mapping[str, int]) -> dict[str, int] | None:
    """Return the day number of each text; None if a text is not a day."""
    found: dict[str, int] = {}
    for text in texts:
        if _DAY.fullmatch(text) is None:
            return None
        try:
            found[text] = date.fromisoformat(text[:10]).toordinal()
        except ValueError:
            return None
    return found
