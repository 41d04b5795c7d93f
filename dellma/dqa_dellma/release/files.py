"""Reading the release's files: what cannot be read at all is an error with its place."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dqa.core.errors import ParseError
from dqa.core.files import DATA_BYTES, read_json, read_text

_HINT = "The DeLLMa release has this file."


def read_object(file: Path, folder: Path) -> dict[str, Any]:
    """Return the JSON object of a file of the release; `DataError` where it is none."""
    value = read_json(file, home=folder, most=DATA_BYTES, hint=_HINT)
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
    reader = csv.reader(
        io.StringIO(read_text(file, home=folder, most=DATA_BYTES, hint=_HINT), newline="")
    )
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
