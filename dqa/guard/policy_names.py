"""Require that the names in a policy exist: a misspelt name protects nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dqa.core.errors import UsageError
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo
from dqa.guard.hints import closest
from dqa.guard.policy import OF_GRAPH, Policy

_KINDS = {
    "tables": "table",
    "columns": "column",
    "denied_columns": "column",
    "unmasked": "table or view",
    "labels": "label",
    "relationship_types": "relationship type",
    "properties": "property",
    "denied_properties": "property",
    "masks": "column",
    "row_filters": "table",
}
"""The lists of names of a schema's parts, and what each one names."""


def names_anything(policy: Policy) -> bool:
    """Whether a policy names a table, a column or another part of a schema."""
    return any(getattr(policy, part) for part in _KINDS)


def require_known(policy: Policy, schemas: Sequence[DatabaseSchema], *, fold: bool = False) -> None:
    """Refuse names that no schema has.

    Parameters
    ----------
    policy
        The policy. Its lists for a kind of database that is not among the schemas may name
        anything. A table that is named with its schema may be elsewhere in the database, so it is
        not looked for.
    schemas
        Of every database that the policy is for, whole.
    fold
        Whether the names of graphs are compared without regard to case.

    Raises
    ------
    UsageError
        A list has a name that is in no schema; with the closest that is.
    """
    known = _known_names(schemas)
    for part, kind in _KINDS.items():
        of_graph = part in OF_GRAPH
        if not known["labels" if of_graph else "tables"]:
            continue  # a list for the other kind of database
        form = str if of_graph and not fold else str.casefold
        there = {form(name) for name in known[part]}
        for name in sorted(_looked_for(policy, part)):
            if form(name) not in there:
                hint = closest(name, known[part], whole=True)
                raise UsageError(f"The policy's {part} has '{name}': no such {kind}.{hint}")


def _looked_for(policy: Policy, part: str) -> Iterator[str]:
    """Yield a list's names, but for tables that are named with their schema and their parts."""
    elsewhere = {name.rpartition(".")[2] for name in policy.tables or () if "." in name}
    for name in getattr(policy, part) or ():
        owner = name.rpartition(".")[0]
        if owner not in elsewhere and not (part in {"tables", "unmasked"} and owner):
            yield name


def _known_names(schemas: Sequence[DatabaseSchema]) -> Mapping[str, Sequence[str]]:
    """Return the names that each list of a policy may have."""
    tables = [table for schema in schemas for table in schema.tables]
    nodes = [node for schema in schemas for node in schema.nodes]
    edges = [edge for schema in schemas for edge in schema.edges]
    columns = [f"{table.name}.{column.name}" for table in tables for column in table.columns]
    owners: list[NodeInfo | EdgeInfo] = [*nodes, *edges]
    properties = [f"{owner.label}.{f.name}" for owner in owners for f in owner.properties]
    names = [table.name for table in tables]
    return {
        "tables": names,
        "columns": columns,
        "denied_columns": [*columns, *(name.partition(".")[2] for name in columns)],
        "labels": [node.label for node in nodes],
        "relationship_types": [edge.label for edge in edges],
        "properties": properties,
        "denied_properties": [*properties, *(name.partition(".")[2] for name in properties)],
        "unmasked": names,
        "masks": columns,
        "row_filters": names,
    }
