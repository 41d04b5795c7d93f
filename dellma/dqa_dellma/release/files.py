"""Reading the release's files: what cannot be read at all is an error with its place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dqa.core.errors import ParseError
from dqa.core.files import parse_json, read_bytes


def read_text(file: Path, folder: Path) -> str:
    """Return the text of a release's file; `ParseError` where it is missing or no UTF-8."""
    try:
        content = read_bytes(file, home=folder)
    except OSError as error:
        raise ParseError(
            file, None, f"the DeLLMa release has this file, but here: {error.strerror}"
        ) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParseError(file, line, f"this is no UTF-8 text: {error.reason}") from error


def read_json(file: Path, folder: Path) -> dict[str, Any]:
    """Return the JSON object that a release's file holds; `ParseError` where it holds none."""
    text = read_text(file, folder)
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        raise ParseError(file, error.lineno, f"this is no JSON: {error.msg}") from error
    except ValueError as error:
        raise ParseError(file, None, f"this cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise ParseError(file, 1, "expected a JSON object")
    return value


def read_rows(
    file: Path, folder: Path, columns: Sequence[str]
) -> Iterator[tuple[int, list[str] | None]]:
    """Yield the line and the values under `columns` of each row of a release's CSV file.

    None stands for the values of a row that has not as many as the header. Lines without a value
    are passed over.

    Raises
    ------
    ParseError
        The file cannot be read, or its header lacks one of `columns`.
    """
    reader = csv.reader(io.StringIO(read_text(file, folder), newline=""))
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
