"""Decide what a policy shows: functions, schemas, tables, columns, and parts of a graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.run_stores import is_store_table
from dqa.core.schema import DatabaseSchema, Field, NodeInfo, TableInfo, quoted
from dqa.guard.policy_fields import ANY_SCHEMA, OF_GRAPH, Mask, PolicyFields
from dqa.guard.scope import SchemaScope


def small(name: str) -> str:
    """Return a name with small ASCII letters: LadybugDB ignores only their case."""
    return name.encode().lower().decode()


class ShownTable(NamedTuple):
    """The part of a table that a policy shows.

    Attributes
    ----------
    name
        The name of the table.
    columns
        The visible columns.
    items
        The SELECT list of the visible columns, with masks in place of masked values.
    row_filter
        The SQL condition that visible rows fulfil; empty if all rows are visible.
    is_whole
        Whether the policy hides no column, value or row of the table.
    """

    name: str
    columns: Sequence[Field]
    items: str
    row_filter: str
    is_whole: bool


class Policy(PolicyFields):
    """Which functions may be called and which data may be read.

    `PolicyFields` describes the attributes, which are the parameters of this class.
    """

    @cached_property
    def restricts(self) -> bool:
        """Whether the policy hides tables, columns, values or rows."""
        limits_tables = self.tables is not None
        limits_tables |= self.schema_scope is None and self._limits_schemas
        return limits_tables or bool(self.restricted_names)

    @property
    def _limits_schemas(self) -> bool:
        return self.schemas is not None and ANY_SCHEMA not in self.schemas

    @cached_property
    def scope(self) -> SchemaScope | None:
        """The schema scope; None if every schema may be read."""
        return None if ANY_SCHEMA in (self.schemas or ()) else self.schema_scope

    @property
    def needs_schema(self) -> bool:
        """Whether the policy can be applied only if its attribute `schema` is set."""
        return self.restricts or (self.scope is not None and self.scope.finds_others)

    @cached_property
    def hides(self) -> bool:
        """Whether the policy masks values or hides rows."""
        return bool(self.masks) or bool(self.row_filters)

    @property
    def limits_graph(self) -> bool:
        """Whether the policy hides labels, relationship types or properties."""
        lists = self.labels is not None or self.relationship_types is not None
        return lists or bool(self.properties or self.denied_properties)

    # Visible parts of a graph

    @cached_property
    def in_small_letters(self) -> Policy:
        """The policy in lower case, for LadybugDB, limited to the labels that exist."""
        folded: dict[str, Any] = {
            name: frozenset(map(small, getattr(self, name)))
            for name in OF_GRAPH
            if getattr(self, name) is not None
        }
        if "labels" in folded and self.schema is not None:
            folded["labels"] &= {small(node.label) for node in self.schema.nodes}
            # LadybugDB ignores a label that a relationship cannot reach, so its pattern would match
            # nodes with hidden labels.
            reached = {
                small(edge.label)
                for edge in self.schema.edges
                if folded["labels"].issuperset((small(edge.source), small(edge.target)))
            }
            folded["relationship_types"] = reached & folded.get("relationship_types", reached)
        return replace(self, **folded)

    def spelled(self, names: Iterable[str]) -> list[str]:
        """Return labels or types as the schema spells them; without a schema, unchanged."""
        parts = self.schema.parts if self.schema is not None else ()
        exact = {part.name for part in parts}
        known = {small(name): name for name in exact}
        return sorted({name if name in exact else known.get(name, name) for name in names})

    def shows_label(self, name: str) -> bool:
        """Return whether nodes with a label may be read."""
        return self.labels is None or name in self.labels

    def shows_type(self, name: str) -> bool:
        """Return whether relationships of a type may be read."""
        return self.relationship_types is None or name in self.relationship_types

    def denying(self, name: str) -> frozenset[str]:
        """Return the labels and relationship types whose property `name` is hidden."""
        entries = (*(self.properties or ()), *self.denied_properties)
        owners = {entry.rpartition(".")[0] for entry in entries} - {""}
        return frozenset(owner for owner in owners if not self.shows_property(owner, name))

    def shows_property(self, owner: str, name: str) -> bool:
        """Return whether a property of a label or relationship type may be read."""
        return _shows(owner, name, self.properties, self.denied_properties)

    def shows_somewhere(self, name: str) -> bool:
        """Return whether a label or type of LadybugDB has a readable property of this name.

        The policy and the name are in small letters. Without a schema, the result is true.
        """
        if self.schema is None:
            return True
        return any(
            small(field.name) == name and self.shows_property(owner, name)
            for owner, part in ((small(part.name), part) for part in self.schema.parts)
            if (self.shows_label if isinstance(part, NodeInfo) else self.shows_type)(owner)
            for field in part.fields
        )

    # The database

    @cached_property
    def known_tables(self) -> Mapping[str, TableInfo]:
        """The tables of the database by their lower-case names."""
        tables = self.schema.tables if self.schema is not None else ()
        return {table.name.casefold(): table for table in reversed(tables)}

    @cached_property
    def shown_tables(self) -> Mapping[str, ShownTable]:
        """The visible part of every table, also of hidden tables, by lower-case name."""
        shown: dict[str, ShownTable] = {}
        quote = self.schema.quote if self.schema is not None else '"'
        for name, table in self.known_tables.items():
            columns = [c for c in table.columns if self.allows_column(name, c.name)]
            plain = [quoted(column.name, quote) for column in columns]
            masks = [f"{name}.{column.name.casefold()}" for column in columns]
            items = [
                _masked(item, self.masks[mask]) if mask in self.masks else item
                for item, mask in zip(plain, masks, strict=True)
            ]
            row_filter = self.row_filters.get(name, "").strip()
            # The columns of a broken view are unknown; some of them may be hidden.
            is_whole = not self.restricts_table(name) or bool(
                columns and items == plain and len(columns) == len(table.columns) and not row_filter
            )
            shown[name] = ShownTable(table.name, columns, ", ".join(items), row_filter, is_whole)
        return shown

    @cached_property
    def visible_tables(self) -> Mapping[str, ShownTable]:
        """The tables that may be read, by lower-case name."""
        return {name: one for name, one in self.shown_tables.items() if self.shows_table(name)}

    @cached_property
    def type_names(self) -> frozenset[str]:
        """The types of visible columns, and the names of unrestricted tables (row types)."""
        whole = (name for name in self.visible_tables if not self.restricts_table(name))
        kinds = (column.type.casefold() for column in self._visible_columns)
        return frozenset((*whole, *(name for kind in kinds for name in _type_names(kind))))

    @cached_property
    def column_names(self) -> frozenset[str]:
        """The names of visible columns."""
        return frozenset(column.name.casefold() for column in self._visible_columns)

    @cached_property
    def column_words(self) -> frozenset[str]:
        """The names of visible columns, and the words in their types, such as names of fields."""
        texts = (f"{column.name} {column.type}" for column in self._visible_columns)
        return self.column_names.union(re.findall(r"\w+", " ".join(texts).casefold()))

    @property
    def _visible_columns(self) -> list[Field]:
        return [column for shown in self.visible_tables.values() for column in shown.columns]

    # Visible tables and columns

    def allows_table(self, name: str, schema: str = "") -> bool:
        """Return whether a statement may read a table; `schema` is the schema prefix.

        Tables of run stores and memories may be read only if `tables` lists them. This method does
        not check whether the schema is in the schema scope.
        """
        name, schema = name.casefold(), schema.casefold()
        is_limited = self.schema_scope is None and self._limits_schemas and schema
        if is_limited and schema not in (self.schemas or ()):
            return False
        if self.tables is None:
            return not is_store_table(name)
        scope = self.schema_scope
        own = None if scope is None else {each.casefold() for each in scope.schemas}
        listed = (table.rpartition(".") for table in self.tables)
        owners = {owner for owner, _, last in listed if last == name}
        if schema:
            return schema in owners or ("" in owners and (own is None or schema in own))
        return "" in owners or bool(owners if own is None else owners & own)

    def owner_of(self, name: str) -> str:
        """Return the schema that must be written before a table; empty if none is necessary.

        Without its schema, the name may mean a hidden table of the schema that comes first.
        """
        scope, listed = self.schema_scope, self.tables or ()
        if scope is None or name in listed:
            return ""
        owners = {each for each in scope.schemas if f"{each}.{name}".casefold() in listed}
        return "" if owners & scope.first.schemas else min(owners, default="")

    def shows_table(self, name: str) -> bool:
        """Return whether a table or view in the schema scope may be read."""
        return self.allows_table(name) and not self.reveals(name)

    def reveals(self, name: str) -> bool:
        """Return whether a view would show hidden data."""
        return name.casefold() in self.revealing_views - self.unmasked

    def allows_column(self, table: str, column: str) -> bool:
        """Return whether a column may be read; `table` has no schema prefix."""
        return _shows(table.casefold(), column.casefold(), self.columns, self.denied_columns)

    def hidden_columns(self, table: str) -> set[str]:
        """Return the hidden and masked columns of a table, in lower case."""
        known = self.known_tables.get(table)
        names = {column.name.casefold() for column in known.columns} if known is not None else set()
        is_shown = self.allows_column
        return {n for n in names if f"{table}.{n}" in self.masks or not is_shown(table, n)}

    def restricts_table(self, table: str) -> bool:
        """Return whether a part of a table is hidden or could be hidden."""
        return bool(self.restricted_names & {"", table.casefold()})

    @cached_property
    def restricted_names(self) -> frozenset[str]:
        """The tables in masks, row filters and column rules. An empty name means all tables."""
        entries = (*self.masks, *(self.columns or ()), *self.denied_columns)
        return frozenset((*self.row_filters, *(entry.rpartition(".")[0] for entry in entries)))

    def only(
        self,
        names: Iterable[str],
        schema: DatabaseSchema,
        *,
        default_schema: str | None = None,
        fold: bool = False,
    ) -> Policy:
        """Return a policy that shows only the named tables, labels and relationship types.

        Parameters
        ----------
        names
            Tables and views; for a graph, labels and relationship types. If no relationship type is
            named, all types that connect two named labels are shown.
        schema
            The part of the database that this policy shows.
        default_schema
            The schema of these tables. With None, statements may not write a schema prefix.
        fold
            Whether the names in a graph are compared without regard to case.

        Raises
        ------
        UsageError
            A name is not in the schema, or `names` lacks the labels that a type connects.
        """
        form = str.casefold if fold or schema.tables else str
        known = {form(part.name) for part in schema.parts}
        wanted = {form(name): name for name in names}
        for name in wanted.keys() - known:
            kind = "table" if schema.tables else "label or relationship type"
            raise UnknownNameError(kind, wanted[name], [part.name for part in schema.parts])
        if schema.tables:
            here = frozenset({default_schema.casefold()} if default_schema else ())
            limits = self.schemas if self._limits_schemas else None
            schemas = here if limits is None else here & limits
            return replace(self, tables=frozenset(wanted), schemas=schemas)
        named = frozenset(node.label for node in schema.nodes if form(node.label) in wanted)
        chosen = {edge.label for edge in schema.edges if form(edge.label) in wanted}
        joining = {
            edge.label for edge in schema.edges if named.issuperset((edge.source, edge.target))
        }
        for name in sorted(chosen - joining):
            raise UsageError(
                f"The relationship type '{name}' connects labels that are not in the list: add "
                "the two labels that it connects."
            )
        shown = frozenset(chosen or joining)
        is_all = shown == {edge.label for edge in schema.edges}
        limited = self.relationship_types if is_all else shown
        return replace(self, labels=named, relationship_types=limited)


def _shows(owner: str, name: str, listed: frozenset[str] | None, denied: frozenset[str]) -> bool:
    """Return whether a column or property may be read.

    The name must not be denied. If `listed` contains other names of the same owner (a table, label
    or type), it must also contain this name.
    """
    full = f"{owner}.{name}"
    is_limited = any(entry.rpartition(".")[0] == owner for entry in listed or ())
    return not {name, full} & denied and (not is_limited or full in (listed or ()))


def _type_names(kind: str) -> Iterator[str]:
    """Yield the names in a column's type, as in ``mood ENUM('a')`` and ``TEXT (domain mail)``."""
    name, _, _ = kind.partition("(")
    yield name.removesuffix(" enum").removesuffix(" row").removesuffix("[]").strip(' "')
    if kind.endswith(")") and "(domain " in kind:
        yield kind.rpartition("(domain ")[2].removesuffix(")").strip('"')


def _masked(name: str, mask: Mask) -> str:
    """Return the SELECT item that shows a mask under the name of a column.

    The item has the type of the column, although no value of the column is read.
    """
    text = quoted(mask, "'") if isinstance(mask, str) else str(mask).upper()
    other = "" if mask is None else f" ELSE {text}"
    return f"CASE WHEN 1 = 0 THEN {name}{other} END AS {name}"


DEFAULT = Policy()
"""The default policy: every table may be read."""
