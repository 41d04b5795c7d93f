"""Find a number for each action in the rows of a query. Scripted replies use these numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def figures_of(actions: Sequence[str], rows: str, number: int = 0) -> Mapping[str, float]:
    """Return a number for each action, read from the rows and scaled to the range from 0 to 1.

    Parameters
    ----------
    actions
        The actions.
    rows
        One row per line, as a JSON array. For each action, the first row in which a number follows
        the action is used.
    number
        The position of the number to use, among the numbers that follow the action in its row: 0
        for the first, -1 for the last.
    """
    figures = dict.fromkeys(actions, 0.0)
    seen: set[str] = set()
    for row in _rows(rows):
        cells = [str(cell) for cell in row]
        for action in {cell for cell in cells if cell in figures} - seen:
            after = row[cells.index(action) + 1 :]
            numbers = [cell for cell in after if isinstance(cell, int | float)]
            if numbers:
                figures[action] = float(numbers[number])
                seen.add(action)
    low, high = min(figures.values(), default=0.0), max(figures.values(), default=0.0)
    width = high - low
    return {one: (figure - low) / width if width else 0.5 for one, figure in figures.items()}


def draw_figures(request: Mapping[str, Any], actions: Sequence[str]) -> Mapping[str, float]:
    """Draw a number from 0 to 1 for each action. The prompt and the seed determine the draw."""
    digests = {
        one: hashlib.sha256(f"{request['seed']}\n{one}\n{request['prompt']}".encode()).digest()
        for one in actions
    }
    return {one: int.from_bytes(found[:6], "big") / 2**48 for one, found in digests.items()}


def _rows(text: str) -> Iterator[list[object]]:
    """Yield each line of a text as a JSON array, or as an empty list if it is not a JSON array."""
    for line in text.split("\n"):
        row = line.lstrip("> ")  # removes Markdown's sign of a quotation
        try:
            yield json.loads(row) if row.startswith("[") else []
        except ValueError:
            continue  # a limit cut this row
