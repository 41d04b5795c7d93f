"""Results and traces as rows of a store, and back, to the letter."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from dqa.core.files import LINE_BYTES, parse_json
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Result
from dqa.evaluation.stores.tables import RESULTS

_OURS: Final = frozenset({"run_id", "task", "position", "worker_id", "seconds", "more"})
"""Columns that are not fields of a result."""

_FIELDS: Final = tuple(c.name for c in RESULTS.columns if c.name not in _OURS)
_LISTS: Final = frozenset({"ties", "tags"})
_CANDIDATES: Final = frozenset({"choice", "official"})
_COMPRESSION: Final = 1
"""Of zlib: higher levels take several times as long and save a tenth."""


def task_of(key: DecisionKey) -> str:
    """Return what names a decision within its run: the hash of who asks what.

    The first epoch stands in none, so what was decided before there were epochs keeps its name.
    """
    return hashlib.sha256(json.dumps(key.requester).encode("ascii")).hexdigest()


def row_of(line: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Return the row of a result, from its line of JSON.

    What a column would change stands in ``more`` as it is: a number that was chosen, a text with
    characters that a server's texts cannot hold, a field of a newer version.
    """
    row: dict[str, Any] = dict.fromkeys(_FIELDS)
    more: dict[str, Any] = {}
    for name, value in line.items():
        if name not in row:
            if name != "version":
                more[name] = value
            continue
        if name in _LISTS:
            row[name] = json.dumps(value)  # in ASCII, which holds any text
            continue
        if name in _CANDIDATES and isinstance(value, int):
            row[name], more[name] = str(value), value
        elif isinstance(value, float) and not isfinite(value):
            more[name] = value
        elif isinstance(value, str) and (plain := _plain(value)) != value:
            row[name], more[name] = plain, value
        else:
            row[name] = value
    return row | {"seconds": seconds, "more": json.dumps(more) if more else None}


def result_of(row: Mapping[str, Any]) -> Result:
    """Return the result that a row holds."""
    line = {name: row[name] for name in _FIELDS if name in Result.model_fields}
    for name in _LISTS:
        line[name] = json.loads(line[name])
    if row["more"] is not None:
        line |= json.loads(row["more"])
    return Result.from_json(line)


def pack(line: str) -> bytes:
    """Return a line of JSON as it is kept."""
    return zlib.compress(line.encode(), _COMPRESSION)


def unpack(body: bytes) -> Any:  # noqa: ANN401  (any JSON value)
    """Return what `pack` was given; `ValueError` where it is damaged or too large."""
    unpacking = zlib.decompressobj()
    try:
        line = unpacking.decompress(body, LINE_BYTES)
    except zlib.error as error:
        raise ValueError(f"it cannot be unpacked ({error})") from error
    if not unpacking.eof:
        raise ValueError("it is cut off, or larger than any line may be")
    return parse_json(line)


def _plain(text: str) -> str:
    """Return a text that every server can keep."""
    if "\x00" not in text and text.isascii():
        return text
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
