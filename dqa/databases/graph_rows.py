"""Convert a situation into the nodes and relationships of a graph database.

The nodes of a graph have no order. The rows are therefore sorted, and their original positions are
stored outside of the graph, where statements cannot read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dqa.core.errors import DataError
from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Situation, StoredType

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Row = TypeVar("_Row", bound=Sequence[Cell])
_TYPE = np.dtype("<u4")


@dataclass(frozen=True, slots=True)
class GraphRows:
    """The nodes of a label, or the relationships of a type.

    Attributes
    ----------
    part
        The definition of the label or type.
    properties
        The names and types of the properties.
    columns
        For each property, its values and its type. For relationships, the first two pairs are the
        keys of the source nodes and of the target nodes.
    """

    part: NodeSchema | EdgeSchema
    properties: Sequence[tuple[str, StoredType]]
    columns: Sequence[tuple[NDArray[Any], StoredType]]

    def __len__(self) -> int:
        return len(self.columns[0][0])


def graph_rows(situation: Situation) -> list[GraphRows]:
    """Return the nodes and then the relationships of a situation.

    Raises
    ------
    DataError
        A table defines neither nodes nor relationships, a key occurs twice, or a relationship
        refers to a missing node.
    """
    require_graph(situation)
    parts: list[NodeSchema | EdgeSchema] = [*situation.schema.nodes, *situation.schema.edges]
    return [_rows(situation, part) for part in parts]


def _rows(situation: Situation, part: NodeSchema | EdgeSchema) -> GraphRows:
    table, kinds = situation[part.table], situation.schema.table(part.table)
    ends = [part.source[1], part.target[1]] if isinstance(part, EdgeSchema) else []
    names = [*ends, *(column for _, column in part.properties)]
    return GraphRows(
        part,
        [(name, kinds.column(column).stored) for name, column in part.properties],
        [(table[column], kinds.column(column).stored) for column in names],
    )


def require_graph(situation: Situation) -> None:
    """Raise `DataError` if a situation is not a graph.

    In a graph, every table defines nodes or relationships, keys are unique, and every relationship
    connects existing nodes.
    """
    schema = situation.schema
    mapped = {node.table for node in schema.nodes} | {edge.table for edge in schema.edges}
    left_out = sorted({table.name for table in schema.tables} - mapped)
    if left_out:
        raise DataError(
            f"The tables {left_out} of scenario '{schema.scenario}' are not mapped to nodes or "
            "edges: add them to its scenario.toml ([[nodes]], [[edges]]), or use only relational "
            "databases, such as --databases sqlite."
        )
    keys = {}
    for node in schema.nodes:
        values = situation[node.table][node.key_column].tolist()
        keys[node.label] = set(values)
        if len(keys[node.label]) < len(values):
            twice = next(key for key in values if values.count(key) > 1)
            raise no_graph(
                situation, f"two rows of table '{node.table}' have the same key {twice!r}"
            )
    for edge in schema.edges:
        for label, column in (edge.source, edge.target):
            missing = set(situation[edge.table][column].tolist()) - keys[label]
            if missing:
                first = min(missing, key=str)
                problem = (
                    f"a row of table '{edge.table}' refers to the {label} {first!r}, which does "
                    "not exist"
                )
                raise no_graph(situation, problem)


def no_graph(situation: Situation, problem: str) -> DataError:
    """Return the error for a situation that cannot be written as a graph."""
    return DataError(f"Situation '{situation.name}' cannot be written as a graph: {problem}.")


def pack_order(rows: Sequence[Sequence[Cell]]) -> bytes:
    """Return the order of rows as bytes: the original positions of the sorted rows."""
    return np.array(_sorted(rows), dtype=_TYPE).tobytes()


def restore_order(rows: Sequence[_Row], order: bytes) -> list[_Row]:
    """Return sorted rows in their original order, which `pack_order` has stored.

    Raises
    ------
    ValueError
        The number of rows differs from the stored order.
    """
    positions = np.frombuffer(order, dtype=_TYPE).tolist()
    if len(positions) != len(rows):
        raise ValueError(f"expected {len(positions)} rows and found {len(rows)}")
    result = list(rows)
    for position, at in zip(positions, _sorted(rows), strict=True):
        result[position] = rows[at]
    return result


def _sorted(rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the positions of the rows in sorted order; missing values come last."""
    keys = [[(cell is None, cell) for cell in row] for row in rows]
    return sorted(range(len(rows)), key=keys.__getitem__)
