"""Define and validate the attributes of a policy, and read them from a file."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

from dqa.core.database import Kind
from dqa.core.errors import ParseError, UsageError
from dqa.core.files import read_json
from dqa.core.schema import DatabaseSchema
from dqa.guard.scope import SchemaScope

Mask: TypeAlias = str | int | float | bool | None
"""A value that replaces the real value in results."""
ANY_SCHEMA = "*"
"""An entry of a policy's `schemas` that allows every schema and the catalogue."""
_UNSAFE = re.compile(r"[\\\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that databases read in different ways within strings."""


@dataclass(frozen=True)
class PolicyFields:
    """The attributes of a policy.

    A policy belongs to one database. Names of functions, procedures, schemas, tables and columns
    are compared without regard to case. The names in a graph are compared exactly.

    Attributes
    ----------
    functions
        Additional functions that may be called, also in FROM: ``"f"`` or ``"schema.f"``. These
        functions must only read data. A statement must write the schema of a function if the policy
        does, and only then.
    procedures
        Additional procedures of a graph that may be called: ``"apoc.meta.schema"``.
    schemas
        Schemas (or databases of a server) whose tables may be read, in addition to the schemas of
        the opened database. If no database is open, these are the only readable schemas, and None
        allows all schemas. ``"*"`` allows every schema and the catalogue. A table without a schema
        prefix is not checked against this attribute.
    tables
        The only tables and views that may be read, ``"table"`` or ``"schema.table"``; None means
        all. A view needs its own entry. For an opened database, an entry with a schema may name a
        table outside of `schemas`.
    columns
        ``"table.column"``. If a table has an entry, only its listed columns may be read; None
        means all.
    denied_columns
        ``"column"`` or ``"table.column"``: columns that may not be read.
    labels
        The only node labels (or node tables) that may be read; None means all.
    relationship_types
        The only relationship types that may be read; None means all.
    properties
        ``"Label.property"`` or ``"TYPE.property"``. If a label or relationship type has an entry,
        only its listed properties may be read; None means all.
    denied_properties
        ``"property"`` or ``"Label.property"``: properties that may not be read.
    masks
        Maps ``"table.column"`` to the value that replaces each value of the column: None, a text,
        a number or a truth value.
    row_filters
        Maps a table to the condition of its readable rows. The condition is in the SQL of the
        database and uses only columns of that table.
    unmasked
        Views of restricted tables, and tables of other schemas (``"schema.table"``), that may be
        read without restrictions.
    schema
        The tables and columns of the database. It is required if the policy hides a part of a
        table.
    schema_scope
        The schemas of the database; None if there are no other schemas.
    revealing_views
        The views, in lower case, that would show hidden data.
    inside
        The label that every readable node of a graph must have.
    database
        The name of the database; a statement may begin with USE and this name.
    callables
        The names of PostgreSQL's functions and types, in lower case, that ``x.name`` could call.
        The value of each name is true if x can be a row. None if unknown. See
        `dqa.guard.tables.read_callables`.
    source
        The file of the policy, for records.

    The opened database sets the six attributes from `schema` to `callables`.

    Raises
    ------
    UsageError
        An attribute has the wrong type, a name has the wrong form, or a mask or a row filter is
        invalid.
    """

    functions: frozenset[str] = frozenset()
    procedures: frozenset[str] = frozenset()
    schemas: frozenset[str] | None = None
    tables: frozenset[str] | None = None
    columns: frozenset[str] | None = None
    denied_columns: frozenset[str] = frozenset()
    labels: frozenset[str] | None = None
    relationship_types: frozenset[str] | None = None
    properties: frozenset[str] | None = None
    denied_properties: frozenset[str] = frozenset()
    masks: Mapping[str, Mask] = field(default_factory=dict)
    row_filters: Mapping[str, str] = field(default_factory=dict)
    unmasked: frozenset[str] = frozenset()
    schema: DatabaseSchema | None = field(default=None, repr=False)
    schema_scope: SchemaScope | None = field(default=None, repr=False)
    revealing_views: frozenset[str] = field(default=frozenset(), repr=False)
    inside: str | None = field(default=None, repr=False)
    database: str | None = field(default=None, repr=False)
    callables: Mapping[str, bool] | None = field(default=None, repr=False)
    source: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in (*_LISTS, *_MAPPINGS):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _by_names(name, getattr(self, name)))
        for name, mask in dict[str, object](self.masks).items():
            is_infinite = isinstance(mask, float) and not math.isfinite(mask)
            is_unsafe = isinstance(mask, str) and _UNSAFE.search(mask)
            is_plain = isinstance(mask, str | int | float | None)
            if not is_plain or is_infinite or is_unsafe:
                raise UsageError(
                    f"The policy's mask of {name} must be null, a number, a truth value, or a text "
                    f"without backslashes and control characters, not {mask!r}."
                )
        for name, condition in dict[str, object](self.row_filters).items():
            if not isinstance(condition, str) or not condition.strip():
                raise UsageError(f"The row filter of {name} must be a condition as text.")

    def __hash__(self) -> int:
        return hash((self.tables, self.columns, self.denied_columns, self.labels))

    def require_kind(self, kind: Kind) -> None:
        """Refuse attributes that do not apply to a kind of database: they would hide nothing.

        Raises
        ------
        UsageError
            The policy has attributes for tables, and the database is a graph, or vice versa.
        """
        if names := self._set_in(OF_TABLES if kind == "graph" else OF_GRAPH):
            own = "labels and denied_properties" if kind == "graph" else "tables and denied_columns"
            raise UsageError(
                f"The policy's {', '.join(names)} cannot apply to a {kind} database: use {own}."
            )

    def part_for(self, kind: Kind) -> Self:
        """Return the part of a policy for tables and graphs that applies to one kind of database.

        Masks and row filters remain. A policy without attributes for this kind does not change, so
        the database refuses it.
        """
        own, others = (OF_GRAPH, OF_TABLES) if kind == "graph" else (OF_TABLES, OF_GRAPH)
        if not self._set_in(own):
            return self
        return replace(self, **{n: getattr(type(self)(), n) for n in others.difference(_MAPPINGS)})

    def _set_in(self, names: frozenset[str]) -> list[str]:
        unset = type(self)()
        return sorted(name for name in names if getattr(self, name) != getattr(unset, name))

    @classmethod
    def read(cls, path: Path, schema: DatabaseSchema | None = None) -> Self:
        """Read a policy from a JSON file: an object whose keys are attributes of `Policy`.

        Raises
        ------
        UsageError
            The file cannot be read, is not a JSON object, or has an unknown key.
        """
        try:
            document = read_json(path)
        except ParseError as error:
            raise UsageError(f"The policy {error}.") from error
        if not isinstance(document, dict):
            raise UsageError(
                f'The policy {path} must be a JSON object, such as {{"tables": ["orders"]}}.'
            )
        known = (*_LISTS, *_MAPPINGS)
        unknown = sorted(set(document) - set(known))
        if unknown:
            raise UsageError(
                f"The policy {path} has the unknown key '{unknown[0]}'. Use: {', '.join(known)}."
            )
        return cls(**document, schema=schema, source=str(path))


_LISTS = tuple(f.name for f in fields(PolicyFields) if f.repr and "frozenset" in str(f.type))
_MAPPINGS = ("masks", "row_filters")
_OWNED = frozenset({"columns", "properties", "masks"})
"""Attributes whose entries name a table, a label or a type before the dot."""
OF_GRAPH = frozenset({"labels", "relationship_types", "properties", "denied_properties"})
OF_TABLES = frozenset({"schemas", "tables", "columns", "denied_columns", "unmasked", *_MAPPINGS})


def _by_names(what: str, value: Any) -> Any:  # noqa: ANN401  (unchecked input of any type)
    """Validate a list or a mapping of names, and return it with names in lower case.

    The names in a graph keep their case.
    """
    is_mapping = what in _MAPPINGS
    is_form = isinstance(value, Collection) and isinstance(value, Mapping) is is_mapping
    if not is_form or isinstance(value, str) or not all(isinstance(n, str) and n for n in value):
        form = "an object with names as keys" if is_mapping else "a list of names"
        raise UsageError(f"The policy's {what} must be {form}, not {value!r}.")
    for name in value if what in _OWNED else ():
        if "." not in name.strip("."):
            owner = "label" if what in OF_GRAPH else "table"
            raise UsageError(
                f"The policy's {what} contains '{name}' without a {owner}: write '{owner}.{name}'."
            )
    fold = str if what in OF_GRAPH else str.casefold
    return {fold(n): value[n] for n in value} if is_mapping else frozenset(map(fold, value))
