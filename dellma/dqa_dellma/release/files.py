"""Reading the release's files: what cannot be read at all is an error with its place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dqa.core.errors import ParseError


def read_text(file: Path) -> str:
    """Return a file's text; `ParseError` where it is missing or no UTF-8."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ParseError(
            file, None, f"the DeLLMa release has this file, but here: {error.strerror}"
        ) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParseError(file, line, f"this is no UTF-8 text: {error.reason}") from error


def read_json(file: Path) -> dict[str, Any]:
    """Return the JSON object that a file holds; `ParseError` where it holds none."""
    try:
        value = json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise ParseError(file, error.lineno, f"this is no JSON: {error.msg}") from error
    if not isinstance(value, dict):
        raise ParseError(file, 1, "expected a JSON object")
    return value


def read_rows(file: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str] | None]]:
    """Yield the line and the values under `columns` of each row of a CSV file.

    None stands for the values of a row that has not as many as the header. Lines without a value
    are passed over.

    Raises
    ------
    ParseError
        The file cannot be read, or its header lacks one of `columns`.
    """
    reader = csv.reader(io.StringIO(read_text(file), newline=""))
    try:
        header = [name.strip() for name in next(reader, [])]
        missing = [name for name in columns if name not in header]
        if missing:
            raise ParseError(
                file, 1, f"the header has no column {', '.join(missing)}: it is {header}"
            )
        places = [header.index(name) for name in columns]
        for row in reader:
            if row:
                whole = len(row) == len(header)
                yield reader.line_num, [row[place] for place in places] if whole else None
    except csv.Error as error:
        raise ParseError(file, reader.line_num, f"this is no CSV: {error}") from error
