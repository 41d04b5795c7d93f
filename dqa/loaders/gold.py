"""Gold statements and gold tables of text-to-SQL sets."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, combinations
from pathlib import Path

from dqa.core.files import parse_json_of, read_text
from dqa.core.truth import GoldTable, Truth

_BRACES = re.compile(r"\{([^{}]*)\}")


class Spider2Gold:
    """Reads the truths of Spider 2 lite: result tables, or the statement without any."""

    def __init__(self, folder: Path, gold: str) -> None:
        self._folder, self._gold = folder, folder / gold
        file = self._gold / "spider2lite_eval.jsonl"
        lines = read_text(file, home=folder).splitlines() if file.is_file() else []
        entries = [parse_json_of(file, line, number) for number, line in enumerate(lines, start=1)]
        self._options = {entry["instance_id"]: entry for entry in entries}

    def truth(self, name: str) -> Truth:
        """Return the truth of a question by its id."""
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
    rows = list(csv.reader(text.splitlines(keepends=True)))
    return tuple(tuple(map(_cell, row)) for row in rows[1:] if row)


def _cell(text: str) -> str | float | int | None:
    """Return a cell of a CSV file as a number if it is one; None if it is empty."""
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
    """Return the statements that Defog's notation allows.

    Statements are separated by ``;``. ``SELECT {a, b}`` allows every choice of these columns, which
    ``GROUP BY {}`` repeats.
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
