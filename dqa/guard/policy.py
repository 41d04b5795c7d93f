"""What a user adds to the guard's own lists, and what of a database may be read at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.files import parse_json
from dqa.core.paths import read_text_file
from dqa.core.run_stores import MEMORY_LABELS, is_store_table
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo
from dqa.guard.hidden import Mask, Protection, masks_of, row_filters_of
from dqa.guard.scope import SchemaScope

ANY_SCHEMA = "*"
"""In a policy's `schemas`: every schema may be read, and the catalogue."""


@dataclass(frozen=True)
class Policy:
    """What may be called and read beyond, or short of, what the guard allows by itself.

    A policy belongs to one database. Names of functions, procedures, schemas, tables and columns
    are compared without regard to case; those of graphs are
    kept as they are written.

    Attributes
    ----------
    functions
        Functions, beside the guard's own, that are known to only read, also in FROM: ``"f"`` or
        ``"schema.f"``, called by exactly that name.
    procedures
        Procedures of a graph that may be called: ``"apoc.meta.schema"``.
    schemas
        The schemas (or databases of a server) whose tables may be read: of an opened database
        those beside its own, by itself the only ones, where None means all. ``"*"`` is every
        schema with the catalogue. A table written without a schema is in one of them.
    tables
        The only tables and views that may be read, ``"table"`` or ``"schema.table"``; None means
        all. A view is a table of its own: what it shows, it shows. Of an opened database, one with
        its schema may be outside of `schemas`.
    columns
        ``"table.column"``: of a table named here only the columns named here may be read; None
        means all.
    denied_columns
        ``"column"`` or ``"table.column"``: may not be read in any way.
    labels
        The only node labels (or node tables) that may be read; None means all.
    relationship_types
        The only relationship types that may be read; None means all.
    properties
        ``"Label.property"``, or the same with a relationship type: of what is named here only the
        properties named here may be read; None means all.
    denied_properties
        ``"property"`` or ``"Label.property"``: may not be read in any way.
    masks
        ``"table.column"``, and the value that is shown instead of each of its own: None, a text, a
        number or a truth value.
    row_filters
        A table and the condition under which its rows may be read, in the database's own SQL and
        over columns of the table alone; or a label and such a condition over properties.
    unmasked
        Views that read what has masks or a row filter, and tables of other schemas
        (``"schema.table"``), that may be read as they are.
    schema
        The tables and columns there are: with it `*` and columns without their table's name are
        resolved; without it they are refused where columns are limited.
    schema_scope
        Which schemas are the database's own, where statements can name others; set when it is
        opened.
    protection
        What the database was found to have that masks and row filters must know of; set by whoever
        opens it.
    inside
        The label that every node of a graph has to have that may be read; set by whoever opens it.
    database
        The name of the database, which a statement may USE; set by whoever opens it.
    holds_store
        Whether a store of runs or a memory lies there, which may only be read where `tables` or
        `labels` name what is; set by whoever opens it.

    Raises
    ------
    UsageError
        A list is a string, or holds a name that has not the form above; a mask is no such value, or
        a row filter no text.
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
    protection: Protection | None = field(default=None, repr=False)
    inside: str | None = field(default=None, repr=False)
    database: str | None = field(default=None, repr=False)
    holds_store: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        for name in _LISTS:
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _names(name, given))
        object.__setattr__(self, "masks", masks_of(self.masks))
        object.__setattr__(self, "row_filters", row_filters_of(self.row_filters))
        for name in ("columns", "properties"):
            for entry in getattr(self, name) or ():
                if "." not in entry:
                    raise UsageError(f"The policy's {name} has '{entry}': write 'owner.{entry}'.")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: a policy is a part of the key under which verdicts are kept."""
        return hash(tuple(getattr(self, item.name) for item in fields(self)))

    @cached_property
    def restricts(self) -> bool:
        """Whether a policy hides tables, columns, values or rows."""
        limits_tables = self.tables is not None or self.holds_store
        limits_tables |= self.schema_scope is None and self._limits_schemas
        return limits_tables or self.restricts_columns or self.hides

    @cached_property
    def _limits_schemas(self) -> bool:
        return self.schemas is not None and ANY_SCHEMA not in self.schemas

    @cached_property
    def scope(self) -> SchemaScope | None:
        """The schema scope, unless every schema may be read."""
        return None if ANY_SCHEMA in (self.schemas or ()) else self.schema_scope

    @cached_property
    def needs_schema(self) -> bool:
        """Whether the tables and columns of the database have to be known."""
        finds_others = self.scope is not None and self.scope.finds_others
        return self.restricts or finds_others

    @cached_property
    def hides(self) -> bool:
        """Whether there are values that are masked, or rows that may not be read."""
        return bool(self.masks) or bool(self.row_filters)

    @cached_property
    def restricts_columns(self) -> bool:
        """Whether there are columns that may not be read."""
        return bool(self.columns) or bool(self.denied_columns)

    @property
    def quote(self) -> str:
        """The character that quotes a name in the database."""
        return self.schema.quote if self.schema is not None else '"'

    @cached_property
    def memory_labels(self) -> frozenset[str]:
        """The labels of a memory that lies there, where no label is named that may be read."""
        return MEMORY_LABELS if self.holds_store and self.labels is None else frozenset()

    @cached_property
    def limits_graph(self) -> bool:
        """Whether there are labels, relationship types or properties that may not be read."""
        return (
            self.labels is not None
            or bool(self.memory_labels)
            or self.relationship_types is not None
            or bool(self.properties)
            or bool(self.denied_properties)
        )

    @cached_property
    def names_anything(self) -> bool:
        """Whether it names a table, a column or another part of a schema."""
        return any(getattr(self, name) for name in _PARTS)

    def check(self, schemas: Iterable[DatabaseSchema], *, fold: bool = False) -> None:
        """Refuse names that no schema has: what is misspelt protects nothing.

        Parameters
        ----------
        schemas
            Of every database that the policy is for, whole. Lists for a kind of database that is
            not among them may name anything. A table that is named with its schema may be
            elsewhere in the database, so it is not looked for.
        fold
            Whether the names of graphs are compared without regard to case.

        Raises
        ------
        UsageError
            A list has a name that is in no schema; with the closest that is.
        """
        known = _known_names(tuple(schemas))
        for part in _PARTS:
            if part in _OF_BOTH:
                is_graph = not known["tables"]
            elif not known["tables" if part in _OF_TABLES else "labels"]:
                continue  # a list for the other kind of database
            else:
                is_graph = part in _AS_WRITTEN
            form = str if is_graph and not fold else str.casefold
            there = {form(name) for name in known[part]}
            for name in sorted(self._looked_for(part)):
                if form(name) not in there:
                    raise UsageError(_unknown(part, name, known[part]))

    def _looked_for(self, part: str) -> Iterator[str]:
        """Yield a list's names, but for tables that are named with their schema and their parts."""
        elsewhere = {name.rpartition(".")[2] for name in self.tables or () if "." in name}
        for name in getattr(self, part) or ():
            owner = name.rpartition(".")[0]
            if owner not in elsewhere and not (part in _WITH_SCHEMA and owner):
                yield name

    def only(
        self,
        names: Iterable[str],
        schema: DatabaseSchema,
        *,
        default_schema: str | None = None,
        fold: bool = False,
    ) -> Policy:
        """Return the policy under which, of what this one allows, what is named alone may be read.

        Parameters
        ----------
        names
            Tables and views; of a graph labels, and relationship types: where none of these is
            named, all that join the labels.
        schema
            What this policy allows.
        default_schema
            The schema that these tables are in: one of the same name elsewhere is not meant. None
            where that is not known, and then they may not be written with any.
        fold
            Whether the names of graphs are compared without regard to case.

        Raises
        ------
        UsageError
            A name is not in the schema, or a relationship type joins no labels that are named.
        """
        wanted = list(names)
        tables = {table.name.casefold(): table.name for table in schema.tables}
        form = str.casefold if fold else str
        labels = {form(node.label): node.label for node in schema.nodes}
        types = {form(edge.label): edge.label for edge in schema.edges}
        for name in wanted:
            if name.casefold() not in tables and form(name) not in labels | types:
                kind = "table" if tables else "label or relationship type"
                raise UnknownNameError(kind, name, [*tables.values(), *labels, *types])
        if tables:
            here = frozenset({default_schema.casefold()} if default_schema else ())
            limited = self._limits_schemas and self.schemas is not None
            return replace(
                self,
                tables=frozenset(wanted),
                schemas=here & (self.schemas or frozenset()) if limited else here,
            )
        kept = {labels[form(name)] for name in wanted if form(name) in labels}
        joining = {edge.label for edge in schema.edges if {edge.source, edge.target} <= kept}
        chosen = {types[form(name)] for name in wanted if form(name) in types}
        for name in sorted(chosen - joining):
            raise UsageError(f"'{name}' joins no labels that are named: name those it joins, too.")
        return replace(
            self,
            labels=frozenset(kept),
            relationship_types=frozenset(chosen or joining)
            if (chosen or joining) != set(types.values())
            else self.relationship_types,
        )

    def allows_table(self, name: str, schema: str = "") -> bool:
        """Whether a table may be read, by its name and the schema it was written with, if any.

        Whether the schema is within the schema scope is not checked here.
        """
        name, schema = name.casefold(), schema.casefold()
        is_limited = self.schema_scope is None and self._limits_schemas and schema
        if is_limited and schema not in (self.schemas or ()):
            return False
        if self.tables is None:
            return not (self.holds_store and is_store_table(name))
        own = None if self.schema_scope is None else self.schema_scope.folded
        if schema:
            is_meant = own is None or schema in own
            return f"{schema}.{name}" in self.tables or (is_meant and name in self.tables)
        if own is not None:
            return name in self.tables or any(f"{each}.{name}" in self.tables for each in own)
        return name in self.tables or any(t.endswith(f".{name}") for t in self.tables)

    def allows_column(self, table: str, column: str) -> bool:
        """Whether a column of a table (by its name without the schema) may be read."""
        table, column = table.casefold(), column.casefold()
        if column in self.denied_columns or f"{table}.{column}" in self.denied_columns:
            return False
        return table not in self._limited_tables or f"{table}.{column}" in (self.columns or ())

    def shows_table(self, name: str) -> bool:
        """Whether a table or view of the database's own may be read."""
        telling = self.protection.telling if self.protection is not None else frozenset()
        is_telling = name.casefold() in telling - self.unmasked
        return self.allows_table(name) and not is_telling

    def restricts_columns_of(self, table: str) -> bool:
        """Whether some of a table may not, or perhaps may not, be read."""
        name = table.casefold()
        is_masked = any(mask.rpartition(".")[0] == name for mask in self._folded_masks)
        return (
            bool(self.filter_of(table))
            or is_masked
            or name in self._limited_tables
            or any("." not in d or d.rpartition(".")[0] == name for d in self.denied_columns)
        )

    def mask_of(self, table: str, column: str) -> tuple[Mask] | None:
        """Return the mask of a column in a tuple, since it may be None."""
        return self._folded_masks.get(f"{table}.{column}".casefold())

    def filter_of(self, table: str) -> str:
        """Return the condition of a table's visible rows; nothing for all rows."""
        return self._folded_filters.get(table.casefold(), "")

    @cached_property
    def _folded_masks(self) -> Mapping[str, tuple[Mask]]:
        return {name.casefold(): (mask,) for name, mask in self.masks.items()}

    @cached_property
    def _folded_filters(self) -> Mapping[str, str]:
        return {name.casefold(): condition for name, condition in self.row_filters.items()}

    def columns_of(self, table: str) -> tuple[str, ...] | None:
        """Return the columns of a table in lower case, or None where the schema is not known."""
        return self._known_columns.get(table.casefold())

    @cached_property
    def _limited_tables(self) -> frozenset[str]:
        return frozenset(entry.rpartition(".")[0] for entry in self.columns or ())

    @cached_property
    def _known_columns(self) -> Mapping[str, tuple[str, ...]]:
        tables = self.schema.tables if self.schema is not None else ()
        return {t.name.casefold(): tuple(f.name.casefold() for f in t.columns) for t in tables}

    @classmethod
    def read(cls, path: Path, schema: DatabaseSchema | None = None) -> Policy:
        """Read a policy from a JSON file: an object of the lists above, each optional.

        Raises
        ------
        UsageError
            The file cannot be read, is no such object, or has a list of another name.
        """
        try:
            given = parse_json(read_text_file(path, "--policy names a JSON file.", pipes=False))
        except ValueError as error:
            raise UsageError(f"The policy {path} is no JSON: {error}.") from error
        if not isinstance(given, dict):
            raise UsageError(f"The policy {path} must be a JSON object of lists of names.")
        known = (*_LISTS, *_OF_BOTH)
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise UsageError(
                f"The policy {path} has '{unknown[0]}', and may have {', '.join(known)}."
            )
        return cls(**given, schema=schema)


_OF_BOTH = ("masks", "row_filters")
"""What has a value for each name."""
_SET_BY_OPENER = frozenset(
    {"schema", "schema_scope", "protection", "inside", "database", "holds_store"}
)
_LISTS = tuple(
    item.name for item in fields(Policy) if item.name not in _SET_BY_OPENER.union(_OF_BOTH)
)
_AS_WRITTEN = frozenset({"labels", "relationship_types", "properties", "denied_properties"})


def _names(what: str, given: Iterable[object]) -> frozenset[str]:
    names = [] if isinstance(given, str) else [n for n in given if isinstance(n, str) and n]
    if isinstance(given, str) or len(names) != len(list(given)):
        raise UsageError(f"The policy's {what} must be a list of names, not {given!r}.")
    return frozenset(names if what in _AS_WRITTEN else (name.casefold() for name in names))


_OF_TABLES = ("tables", "columns", "denied_columns", "unmasked")
_WITH_SCHEMA = frozenset({"tables", "unmasked"})
_PARTS = (
    *(*_OF_TABLES, "labels", "relationship_types", "properties", "denied_properties"),
    *_OF_BOTH,
)
"""The lists of what a schema has."""


def _known_names(schemas: Sequence[DatabaseSchema]) -> Mapping[str, Sequence[str]]:
    """Return what each list of a policy may name, owners before what they own."""
    tables = [table for schema in schemas for table in schema.tables]
    nodes = [node for schema in schemas for node in schema.nodes]
    edges = [edge for schema in schemas for edge in schema.edges]
    columns = [f"{table.name}.{column.name}" for table in tables for column in table.columns]
    owners: list[NodeInfo | EdgeInfo] = [*nodes, *edges]
    properties = [f"{owner.label}.{field.name}" for owner in owners for field in owner.properties]
    return {
        "tables": [table.name for table in tables],
        "columns": columns,
        "denied_columns": [*columns, *_alone(columns)],
        "labels": [node.label for node in nodes],
        "relationship_types": [edge.label for edge in edges],
        "properties": properties,
        "denied_properties": [*properties, *_alone(properties)],
        "unmasked": [table.name for table in tables],
        "masks": columns,
        "row_filters": [table.name for table in tables],
    }


_KINDS = {
    "properties": "property",
    "denied_properties": "property",
    "unmasked": "table or view",
    "masks": "column",
    "row_filters": "table",
}
"""What a list names, where it is not called by it."""


def _alone(owned: Iterable[str]) -> list[str]:
    """Return the names without their owners."""
    return [name.partition(".")[2] for name in owned]


def _unknown(part: str, name: str, known: Sequence[str]) -> str:
    kind = _KINDS.get(part, part.removeprefix("denied_")[:-1])
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return (
        f"The policy's {part} has '{name}', and there is no such {kind.replace('_', ' ')}: what is "
        f"misspelt protects nothing.{hint}"
    )


DEFAULT = Policy()
"""Everything that only reads, of every table."""
