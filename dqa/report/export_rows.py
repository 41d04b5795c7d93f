"""Export of a run as JSON lines, CSV or Parquet, with one row for each decision.

CSV and Parquet always have the columns of `ExportedDecision` in the same order. If a column has
both texts and numbers, such as the choice, all its values become texts. JSON lines preserve the
types.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import Field

from dqa.core.question import Candidate
from dqa.core.text import well_formed
from dqa.evaluation.results import Result
from dqa.report.plain import plain

if TYPE_CHECKING:
    import pyarrow as pa


RowFormat: TypeAlias = Literal["jsonl", "csv", "parquet"]
"""File formats of rows."""


class ExportedDecision(Result):
    """A decision as a row of the export: its result and further data.

    Attributes
    ----------
    judged
        Whether the decision counts for the accuracy. A decision does not count if a server error,
        a budget or a bug ended it, or if the question has no known answer.
    seconds
        Duration of the decision; None if unknown.
    cost
        Cost of the tokens; None if the run has no prices.
    candidates
        Number of candidates. None if the question lists no candidates, or if they were not counted.
    shortcuts
        Answers of the scenario's heuristics to the same question, by the names of the heuristics.
    """

    judged: bool
    seconds: float | None = Field(ge=0, default=None)
    cost: float | None = Field(ge=0, default=None)
    candidates: int | None = Field(ge=1, default=None)
    shortcuts: dict[str, Candidate | None] = Field(default_factory=dict)


def encode_rows(rows: Iterable[ExportedDecision], as_format: RowFormat) -> bytes:
    """Return the content of a file with rows.

    Parameters
    ----------
    rows
        The rows, in the order of the file.
    as_format
        The file format. In CSV, null is an empty cell, an empty text is ``""``, and lists and
        objects are JSON.
    """
    if as_format == "jsonl":
        return b"".join(json_bytes(row) + b"\n" for row in rows)
    lists = as_format == "parquet"
    table = _table([row.to_json() for row in rows], lists=lists)
    written = io.BytesIO()
    if as_format == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, written)
    else:
        from pyarrow import csv

        csv.write_csv(table, written)
    return written.getvalue()


def json_bytes(value: object) -> bytes:
    """Return a value as JSON in UTF-8; lone surrogates are replaced."""
    return well_formed(json.dumps(plain(value), ensure_ascii=False, allow_nan=False)).encode()


def _table(lines: Sequence[Mapping[str, Any]], *, lists: bool) -> pa.Table:
    import pyarrow as pa

    numbers = {"boolean": pa.bool_(), "integer": pa.int64(), "number": pa.float64()}
    columns = {}
    for name, described in ExportedDecision.json_schema()["properties"].items():
        kind = _kind(described)
        cells = [line[name] for line in lines]
        if kind not in numbers:
            cells = [_text(cell, kind, lists=lists) for cell in cells]
        texts = pa.list_(pa.string()) if kind == "array" and lists else pa.string()
        columns[name] = pa.array(cells, numbers.get(kind, texts))
    return pa.table(columns)


def _kind(described: Mapping[str, Any]) -> str:
    """Return the JSON type of a column: "string" if the values have several types."""
    kinds = {part.get("type", "string") for part in described.get("anyOf", [described])} - {"null"}
    return kinds.pop() if len(kinds) == 1 else "string"


def _text(value: Any, kind: str, *, lists: bool) -> object:  # noqa: ANN401  (any field's value)
    if kind == "array":
        value = [well_formed(str(one)) for one in value]
        if lists:
            return value
    elif kind == "object":  # candidates are written as texts, as in the column of choices
        exact = (float, NoneType)
        value = {name: one if isinstance(one, exact) else str(one) for name, one in value.items()}
    if isinstance(value, list | Mapping):
        value = json.dumps(value, ensure_ascii=False)
    return None if value is None else well_formed(str(value))
