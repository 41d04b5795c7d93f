"""Read the right answers of text-to-SQL sets: result tables and statements."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from dqa.core.errors import ParseError
from dqa.core.files import json_lines, read_text
from dqa.core.truth import GoldTable, Truth

SPIDER2_GOLD = "evaluation_suite/gold"
"""The folder with the right answers of Spider 2 lite."""


_BRACES = re.compile(r"\{([^{}]*)\}")


class Spider2Gold:
    """Reads the right answers of Spider 2 lite: result tables, or a statement if there are none."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._gold = folder, folder / SPIDER2_GOLD
        file = self._gold / "spider2lite_eval.jsonl"
        self._options: dict[str, dict[str, Any]] = {}
        for number, entry in json_lines(file, home=folder) if file.is_file() else ():
            if not isinstance(entry, dict) or not isinstance(entry.get("instance_id"), str):
                raise ParseError(file, None, f"entry {number} needs a text in instance_id")
            self._options[entry["instance_id"]] = entry

    def truth(self, name: str) -> Truth:
        """Return the right answers to the question with the id `name`."""
        options = self._options.get(name, {})
        pattern = re.compile(rf"{re.escape(name)}(?:_[a-z])?")
        files = sorted((self._gold / "exec_result").glob(f"{name}*.csv"))
        files = [file for file in files if pattern.fullmatch(file.stem)]
        columns = options.get("condition_cols") or []
        by_table = columns if columns and isinstance(columns[0], list) else [columns] * len(files)
        tables = tuple(
            GoldTable(
                rows=_gold_rows(read_text(file, home=self._folder)),
                columns=tuple(wanted),
                ordered=not options.get("ignore_order", False),
            )
            for file, wanted in zip(files, by_table, strict=False)
        )
        if tables:
            return Truth(match="columns", source=files[0].name, tables=tables)
        statement = self._gold / "sql" / f"{name}.sql"
        if not statement.is_file():
            return Truth()
        answer = plain_statement(read_text(statement, home=self._folder))
        return Truth((answer,), match="columns", source=statement.name)


def _gold_rows(text: str) -> tuple[tuple[str | float | int | None, ...], ...]:
    rows = list(csv.reader(StringIO(text, newline="")))
    return tuple(tuple(map(_cell, row)) for row in rows[1:] if row)


def _cell(text: str) -> str | float | int | None:
    """Return a cell of a CSV file, as a number if possible; None if it is empty."""
    if not text:
        return None
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def plain_statement(text: str) -> str:
    """Return a statement without the semicolon at its end."""
    return text.strip().rstrip("; \t\n")


def alternatives(text: str) -> list[str]:
    """Return all statements that a gold answer in Defog's notation allows.

    Statements are separated by ``;``. ``SELECT {a, b}`` allows every choice of columns from this
    list. ``GROUP BY {}`` stands for the chosen columns.
    """
    return [one for part in text.split(";") if part.strip() for one in _expanded(part.strip())]


def _expanded(statement: str) -> Iterator[str]:
    found = next((one for one in _BRACES.finditer(statement) if one[1].strip()), None)
    if found is None:
        yield statement
        return
    columns = [column.strip() for column in found[1].split(",")]
    sizes = range(1, len(columns) + 1)
    for chosen in chain.from_iterable(combinations(columns, size) for size in sizes):
        listed = ", ".join(chosen)
        rest = statement[found.end() :].replace("GROUP BY {}", f"GROUP BY {listed}", 1)
        yield from _expanded(f"{statement[: found.start()]}{listed}{rest}")
