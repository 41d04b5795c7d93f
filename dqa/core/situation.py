"""Situations: the immutable tables of a decision question.

A situation contains tables and a mapping of their rows to a labelled property graph (LPG). One
situation can therefore be written as a relational database or as a graph database (PlanRAG, section
3: "D is either an LPG or a relational database").
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from dqa.core.errors import DataError
from dqa.core.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

StoredType: TypeAlias = Literal["text", "float", "integer", "boolean"]
"""The types of columns in memory, and of their copies in a database."""
ColumnType: TypeAlias = Literal[
    "text",
    "float",
    "integer",
    "boolean",
    "decimal",
    "date",
    "timestamp",
    "time",
    "interval",
    "uuid",
    "json",
    "array",
]
"""The types of a database's columns."""
Cell: TypeAlias = str | float | int | bool | None

_DTYPES: Mapping[StoredType, str] = {
    "text": "object",
    "float": "float64",
    "integer": "int64",
    "boolean": "bool",
}
"""The names of NumPy's types. NumPy is imported only when a table is created."""

_Item = TypeVar("_Item")


def _find(items: Mapping[str, _Item], name: str, problem: str) -> _Item:
    try:
        return items[name]
    except KeyError:
        raise DataError(f"{problem} '{name}'.") from None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name, its type and its meaning."""

    name: str
    type: ColumnType
    description: str = ""

    @property
    def stored(self) -> StoredType:
        """The type in memory: decimals are floats; dates and other special types are text."""
        if self.type in ("text", "float", "integer", "boolean"):
            return self.type
        return "float" if self.type == "decimal" else "text"


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The columns of a table, in order, and the columns of its primary key."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    description: str = ""

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """Return the column called `name`; raise `DataError` if it does not exist."""
        columns = {column.name: column for column in self.columns}
        return _find(columns, name, f"Table '{self.name}' has no column")


@dataclass(frozen=True, slots=True)
class NodeSchema:
    """A mapping of the rows of a table to nodes, one node per row.

    Attributes
    ----------
    label
        The label of the nodes.
    table
        The table whose rows are the nodes.
    key
        The property that identifies a node.
    properties
        ``(property, column)`` pairs, in order.
    """

    label: str
    table: str
    key: str
    properties: tuple[tuple[str, str], ...]

    @property
    def key_column(self) -> str:
        """The column of the key property."""
        return dict(self.properties)[self.key]


@dataclass(frozen=True, slots=True)
class EdgeSchema:
    """A mapping of the rows of a table to directed edges, one edge per row.

    Attributes
    ----------
    label
        The type of the relationships.
    table
        The table whose rows are the edges.
    source, target
        The two ends of an edge: ``(node label, column with the key of that node)``.
    properties
        ``(property, column)`` pairs, in order.
    """

    label: str
    table: str
    source: tuple[str, str]
    target: tuple[str, str]
    properties: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a scenario's data, as tables and as a labelled property graph."""

    scenario: str
    tables: tuple[TableSchema, ...]
    nodes: tuple[NodeSchema, ...] = ()
    edges: tuple[EdgeSchema, ...] = ()

    def table(self, name: str) -> TableSchema:
        """Return the table called `name`; raise `DataError` if it does not exist."""
        tables = {table.name: table for table in self.tables}
        return _find(tables, name, f"Scenario '{self.scenario}' has no table")

    def node(self, label: str) -> NodeSchema:
        """Return the node schema of `label`; raise `DataError` if it does not exist."""
        nodes = {node.label: node for node in self.nodes}
        return _find(nodes, label, f"Scenario '{self.scenario}' has no node label")


def _read_only(values: Any, column: Column, table: str) -> NDArray[Any]:  # noqa: ANN401
    import numpy as np

    try:
        array = np.array(values, dtype=_DTYPES[column.stored])
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"Column '{column.name}' of table '{table}' has a value that is not {column.type}: "
            f"{error}."
        ) from error
    if array.ndim != 1:
        raise DataError(f"Column '{column.name}' of table '{table}' is not one-dimensional.")
    array.flags.writeable = False
    return array


class Table:
    """An immutable table, stored by column.

    Parameters
    ----------
    schema
        The columns and the key.
    columns
        One sequence of float64, int64, bool or Python strings per column. All sequences have the
        same length n. A missing float is NaN. Values of other types cannot be missing.

    Attributes
    ----------
    columns
        The columns by name, each a read-only array of shape (n,).

    Raises
    ------
    DataError
        Columns are missing, unknown, of unequal length or of the wrong type.
    """

    __slots__ = ("columns", "schema")

    def __init__(
        self, schema: TableSchema, columns: Mapping[str, Sequence[Any] | NDArray[Any]]
    ) -> None:
        expected, names = set(schema.column_names), set(columns)
        if expected != names:
            missing, unknown = sorted(expected - names), sorted(names - expected)
            raise DataError(
                f"Table '{schema.name}' lacks the columns {missing}, and has the unknown columns "
                f"{unknown}."
            )
        arrays = {c.name: _read_only(columns[c.name], c, schema.name) for c in schema.columns}
        lengths = {name: len(array) for name, array in arrays.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"Table '{schema.name}' has columns of unequal length: {lengths}.")
        self.schema = schema
        self.columns: Mapping[str, NDArray[Any]] = MappingProxyType(arrays)

    @classmethod
    def from_rows(cls, schema: TableSchema, rows: Iterable[Sequence[Cell]]) -> Table:
        """Build a table from rows, with values in the order of the schema's columns."""
        listed, width = list(rows), len(schema.columns)
        for number, row in enumerate(listed):
            if len(row) != width:
                count = counted(len(row), "value")
                raise DataError(
                    f"Row {number} of table '{schema.name}' has {count}, but the table has "
                    f"{width} columns."
                )
        by_column = zip(*listed, strict=True) if listed else [()] * width
        return cls(schema, dict(zip(schema.column_names, by_column, strict=True)))

    def __getitem__(self, column: str) -> NDArray[Any]:
        return _find(self.columns, column, f"Table '{self.schema.name}' has no column")

    def __len__(self) -> int:
        return len(self.columns[self.schema.columns[0].name])

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Return the rows as tuples of Python values, in table order."""
        return zip(*(array.tolist() for array in self.columns.values()), strict=True)

    def replace(self, **columns: Sequence[Any] | NDArray[Any]) -> Table:
        """Return the table with some columns replaced."""
        return Table(self.schema, {**self.columns, **columns})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        import numpy as np

        return self.schema == other.schema and all(
            np.array_equal(array, other[name], equal_nan=array.dtype.kind == "f")
            for name, array in self.columns.items()
        )

    __hash__ = None  # type: ignore[assignment]  # hash the situation's content instead

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.schema, dict(self.columns))

    def __repr__(self) -> str:
        return f"Table({self.schema.name!r}, {len(self)} rows)"


@dataclass(frozen=True, eq=False)
class Situation:
    """The content of a database: immutable tables, and their mapping to a graph.

    Attributes
    ----------
    schema
        The tables and the graph mapping, which all situations of a scenario share.
    name
        The name for readers, e.g. ``"USA1836"``. It is not part of the content.
    tables
        The tables of the schema, by name.

    Notes
    -----
    Two situations are equal if all rows are equal, in the same order. The published ground truth
    depends on the order of rows.
    """

    schema: Schema
    name: str
    tables: Mapping[str, Table] = field(repr=False)

    def __post_init__(self) -> None:
        expected, names = [t.name for t in self.schema.tables], set(self.tables)
        if set(expected) != names:
            raise DataError(
                f"Situation '{self.name}' has the tables {sorted(names)}, but scenario "
                f"'{self.schema.scenario}' needs {sorted(expected)}."
            )
        ordered = {name: self.tables[name] for name in expected}
        object.__setattr__(self, "tables", MappingProxyType(ordered))

    def __getitem__(self, table: str) -> Table:
        return _find(self.tables, table, f"Situation '{self.name}' has no table")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Situation):
            return NotImplemented
        return self.schema == other.schema and self.tables == other.tables

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __reduce__(self) -> tuple[Any, ...]:
        known = {name: self.__dict__[name] for name in ("content_hash",) if name in self.__dict__}
        return Situation, (self.schema, self.name, dict(self.tables)), known

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) over the schema and every value, in order."""
        import numpy as np

        digest = hashlib.sha256(repr(self.schema).encode())
        for table in self.tables.values():
            for array in table.columns.values():
                if array.dtype == object:
                    texts = [str(value).encode() for value in array.tolist()]
                    digest.update(np.array([len(text) for text in texts], dtype="<i8").tobytes())
                    digest.update(b"".join(texts))
                else:
                    digest.update(np.int64(len(array)).tobytes())
                    # -0.0 and 0.0 are equal, so their hashes must be equal. The same is true of all
                    # NaNs.
                    is_float = array.dtype.kind == "f"
                    plain = np.where(np.isnan(array), np.nan, array + 0.0) if is_float else array
                    digest.update(np.ascontiguousarray(plain).tobytes())
        return digest.hexdigest()

    def replace(self, **tables: Table) -> Situation:
        """Return the situation with some tables replaced."""
        return Situation(self.schema, self.name, {**self.tables, **tables})

    @property
    def row_count(self) -> int:
        """The number of rows of all tables."""
        return sum(len(table) for table in self.tables.values())
