"""Candidates from a file: one a line, a column of a CSV file, or a JSON list."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from dqa.core.errors import ParseError, UnknownNameError, UsageError
from dqa.core.files import parse_json_of, read_text
from dqa.core.question import Candidate

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_candidates(path: Path | str, column: str | None = None) -> tuple[Candidate, ...]:
    """Return the candidates of a file, each once, in its order.

    Parameters
    ----------
    path
        A ``.csv`` or ``.tsv`` file, whose first line names its columns; a ``.json`` file with a
        list of names and ids, or of objects; or a text file with one candidate a line.
    column
        The column, or the field of the objects; None for a table's first.

    Raises
    ------
    UsageError
        The file cannot be read, lists nothing, or has no such column.
    ParseError
        It is no such table or list.
    """
    file = Path(path)
    text = read_text(file, hint="It is to hold the candidates.")
    kind = file.suffix.lower()
    listed: Iterable[Candidate]
    if kind in _DELIMITERS:
        listed = _of_table(file, text, _DELIMITERS[kind], column)
    elif kind == ".json":
        listed = _of_json(file, text, column)
    elif column is not None:
        raise UsageError(f"Candidates: {file} has one a line, and no column '{column}'.")
    else:
        listed = text.splitlines()
    stripped = (one.strip() if isinstance(one, str) else one for one in listed)
    found = tuple(dict.fromkeys(one for one in stripped if one != ""))
    if not found:
        raise UsageError(f"Candidates: {file} lists none.")
    return found


def _of_table(file: Path, text: str, delimiter: str, column: str | None) -> list[Candidate]:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise ParseError(file, None, f"no CSV: {error}") from error
    header = [name.strip() for name in rows[0]] if rows else []
    if column is not None and column not in header:
        raise UnknownNameError(f"column in {file}", column, header)
    place = 0 if column is None else header.index(column)
    return [row[place] for row in rows[1:] if len(row) > place]


def _of_json(file: Path, text: str, column: str | None) -> list[Candidate]:
    listed = parse_json_of(file, text)
    if not isinstance(listed, list):
        raise ParseError(file, None, "expected a JSON list of candidates")
    found: list[Candidate] = []
    for number, one in enumerate(listed, start=1):
        value = one.get(column) if isinstance(one, dict) and column is not None else one
        if isinstance(value, bool) or not isinstance(value, str | int):
            wanted = "a name or an id" if column is None else f"an object with a '{column}'"
            raise ParseError(file, None, f"entry {number} of the list is not {wanted}")
        found.append(value)
    return found
