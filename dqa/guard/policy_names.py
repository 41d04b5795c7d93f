"""Require that the names in a policy exist: a misspelt name protects nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dqa.core.errors import UsageError
from dqa.core.schema import DatabaseSchema, Part, TableInfo
from dqa.guard.hints import closest
from dqa.guard.policy import OF_GRAPH, Policy

_TABLES, _COLUMNS = ("tables", "unmasked", "row_filters"), ("columns", "denied_columns", "masks")
_KINDS = {
    **dict.fromkeys(_TABLES, "table or view"),
    **dict.fromkeys(_COLUMNS, "column"),
    "labels": "label",
    "relationship_types": "relationship type",
    **dict.fromkeys(("properties", "denied_properties"), "property"),
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
    elsewhere = {name.rpartition(".")[2] for name in policy.tables or () if "." in name}
    kinds = {isinstance(part, TableInfo) for schema in schemas for part in schema.parts}
    for part, kind in _KINDS.items():
        if (part not in OF_GRAPH) not in kinds:
            continue  # a list for the other kind of database
        form = str if part in OF_GRAPH and not fold else str.casefold
        known = [name for schema in schemas for name in _known_names(schema, part)]
        there = set(map(form, known))
        for name in sorted(getattr(policy, part) or ()):
            owner = name.rpartition(".")[0]
            is_elsewhere = owner in elsewhere or (part in {"tables", "unmasked"} and owner)
            if form(name) not in there and not is_elsewhere:
                hint = closest(name, known, whole=True)
                raise UsageError(f"The policy's {part} has '{name}': no such {kind}.{hint}")


def _known_names(schema: DatabaseSchema, part: str) -> Iterator[str]:
    """Yield the names that a list of a policy may have."""
    owners: dict[str, Sequence[Part]] = {
        "labels": schema.nodes,
        "relationship_types": schema.edges,
        **dict.fromkeys(("properties", "denied_properties"), (*schema.nodes, *schema.edges)),
    }
    is_whole = part in {*_TABLES, "labels", "relationship_types"}
    for owner in owners.get(part, schema.tables):
        if is_whole:
            yield owner.name
        for field in () if is_whole else owner.fields:
            yield f"{owner.name}.{field.name}"
            if part.startswith("denied"):
                yield field.name
