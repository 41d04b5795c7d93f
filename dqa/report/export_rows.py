"""A run as rows: one a decision, and what they are as JSON lines, CSV and Parquet.

Tables have the columns of `ExportedDecision`, in this order, in every run. What may be a text or a
number, such as a choice, is a text in a table; in JSON lines it stays what it is.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, Union, get_args, get_origin

from pydantic import Field

from dqa.core.question import Candidate
from dqa.core.text import well_formed
from dqa.evaluation.playing.records import PlayedGame
from dqa.evaluation.results import Result

if TYPE_CHECKING:
    import pyarrow as pa

    from dqa.evaluation.shortcuts import ShortcutChoices
    from dqa.models.budget import Prices

RowFormat: TypeAlias = Literal["jsonl", "csv", "parquet"]
"""What rows may be written as."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet takes for a formula."""


class ExportedDecision(Result):
    """A decision as a row: its result, and what the table of a run is worked out from besides.

    Attributes
    ----------
    judged
        Whether it says anything about the decider: what a server, a budget or a bug ended, and a
        question without a known answer, is in no share.
    seconds
        How long it took; None where nothing was kept.
    cost
        What its tokens cost, where the run has prices.
    candidates
        How many could be chosen; None where the question lists none, or nobody counted them.
    shortcuts
        What the heuristics of the scenario answer to the question, by their names.
    """

    judged: bool
    seconds: float | None = Field(ge=0, default=None)
    cost: float | None = Field(ge=0, default=None)
    candidates: int | None = Field(ge=1, default=None)
    shortcuts: dict[str, Candidate | None] = Field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the row's object: every row has every column, whether or not a game was played."""
        line = super().to_json()
        return {name: line.get(name) for name in type(self).model_fields}

    @classmethod
    def of_result(
        cls,
        result: Result,
        seconds: float | None,
        prices: Prices | None,
        chosen: ShortcutChoices | None,
    ) -> Self:
        """Put together what is known of one decision."""
        return cls(
            **{name: getattr(result, name) for name in Result.model_fields},
            judged=result.outcome.judged,
            seconds=seconds,
            cost=None if prices is None else prices.cost(result.usage),
            candidates=None if chosen is None else chosen.candidates,
            shortcuts={} if chosen is None else chosen.choices,
        )


def encode_rows(
    rows: Iterable[ExportedDecision], as_format: RowFormat, *, for_spreadsheets: bool = False
) -> bytes:
    """Return rows as a file of theirs.

    Parameters
    ----------
    rows
        In the order of the file.
    as_format
        Of CSV, null is an empty cell and an empty text is ``""``; lists and objects are JSON.
    for_spreadsheets
        Whether texts of a CSV that a spreadsheet would run as a formula begin with an apostrophe.
        They are no longer exactly what was said.
    """
    if as_format == "jsonl":
        return b"".join(map(_json_line, rows))
    lists = as_format == "parquet"
    table = _table([row.to_json() for row in rows], lists=lists, defused=for_spreadsheets)
    written = io.BytesIO()
    if as_format == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, written)
    else:
        from pyarrow import csv

        csv.write_csv(table, written)
    return written.getvalue()


def _json_line(row: ExportedDecision) -> bytes:
    return json_bytes({name: finite(value) for name, value in row.to_json().items()}) + b"\n"


def finite(value: object) -> object:
    """Return a value as JSON has it: an infinite share is null, for there is no other word."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_bytes(value: object) -> bytes:
    """Return a value as JSON in UTF-8, with a replacement for halves of characters."""
    return well_formed(json.dumps(value, ensure_ascii=False, allow_nan=False)).encode()


def _table(lines: Sequence[Mapping[str, Any]], *, lists: bool, defused: bool) -> pa.Table:
    import pyarrow as pa

    columns = {
        name: _column(field.annotation, lists=lists)
        for name, field in ExportedDecision.model_fields.items()
    }
    cells = [
        [_cell(line.get(name), plain) for line in lines] for name, (_, plain) in columns.items()
    ]
    if defused:
        cells = [[_defused(cell) for cell in column] for column in cells]
    schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()])
    return pa.Table.from_arrays(
        [pa.array(column, kind) for column, kind in zip(cells, schema.types, strict=True)],
        schema=schema,
    )


def _cell(value: object, plain: Callable[[Any], object]) -> object:
    if value is None:
        return None
    cell = plain(value)
    if isinstance(cell, list):
        return [well_formed(text) for text in cell]
    return well_formed(cell) if isinstance(cell, str) else cell


def _defused(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _column(annotation: Any, *, lists: bool) -> tuple[pa.DataType, Callable[[Any], object]]:  # noqa: ANN401
    """Return the type of a field's column, and what makes a cell of its value."""
    import pyarrow as pa

    parts = {part for part in _parts(annotation) if part is not NoneType}
    if parts == {bool}:
        return pa.bool_(), bool
    if parts == {int}:
        return pa.int64(), int
    if parts <= {int, float}:
        return pa.float64(), float
    if parts == {tuple}:
        return (pa.list_(pa.string()), _texts) if lists else (pa.string(), _as_json)
    if parts == {dict}:
        return pa.string(), _as_json
    return pa.string(), _whole_as_json if parts == {PlayedGame} else str


def _parts(annotation: Any) -> Iterable[Any]:  # noqa: ANN401  (any annotation)
    """Yield the classes that a value of a field may have."""
    if get_origin(annotation) in {Union, UnionType}:
        for part in get_args(annotation):
            yield from _parts(part)
    elif get_origin(annotation) is Literal:
        yield from {type(value) for value in get_args(annotation)}
    else:
        found = get_origin(annotation) or annotation
        yield str if isinstance(found, type) and issubclass(found, Enum) else found


def _texts(values: Iterable[object]) -> list[str]:
    return [str(value) for value in values]


def _whole_as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _as_json(value: object) -> str:
    """Return a list or an object as JSON, whose candidates are the texts of their columns."""
    if isinstance(value, Mapping):
        known = {name: None if one is None else str(one) for name, one in value.items()}
        return json.dumps(known, ensure_ascii=False)
    return json.dumps(_texts(value), ensure_ascii=False)  # type: ignore[arg-type]
