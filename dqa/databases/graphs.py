"""Checks that the writers of graphs share."""

from __future__ import annotations

from dqa.core.errors import DataError
from dqa.core.situation import Schema


def require_graph(schema: Schema) -> None:
    """Raise `DataError` unless every table of a schema reads as nodes or as relationships."""
    mapped = {node.table for node in schema.nodes} | {edge.table for edge in schema.edges}
    left_out = sorted({table.name for table in schema.tables} - mapped)
    if left_out:
        raise DataError(
            f"Tables {left_out} of scenario '{schema.scenario}' are neither nodes nor edges of "
            "its graph: map them in its scenario.toml ([[nodes]], [[edges]]), or take relational "
            "databases alone, such as --databases sqlite."
        )
