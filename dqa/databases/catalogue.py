"""Builds the schema of a SQL database from the rows of its catalogue, for all engines alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dqa.core.schema import DatabaseSchema, Field, TableInfo, quoted
from dqa.core.text import counted
from dqa.databases.namespaces import REFERENCES, ROW_COLUMN, TAG_TABLE

_MOST_LABELS, _MOST_NAMES = 30, 10
"""Labels of an enumeration and names of relations that are listed."""

CatalogueColumn: TypeAlias = tuple[str, str, str, str, str | None]
"""Schema and name of a table or view, a column's name, its type as shown, and a comment."""
CatalogueReference: TypeAlias = tuple[str, str, str, str, str, str]
"""Schema, table and column of a foreign key, and those to which it refers."""


@dataclass
class Catalogue:
    """The readable relations of some schemas.

    Attributes
    ----------
    columns
        In the order of each relation.
    keys
        Schema, table and name of the columns of primary keys in order.
    references
        Columns of foreign keys in order.
    comments
        Of relations: schema, name and comment.
    omitted
        Relations that are left out, by the reason.
    available
        Other schemas that hold readable relations.
    hint
        How to choose a schema, with a place for its name.
    """

    columns: Iterable[CatalogueColumn] = ()
    keys: Iterable[tuple[str, str, str]] = ()
    references: Iterable[CatalogueReference] = ()
    comments: Iterable[tuple[str, str, str | None]] = ()
    omitted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    available: Sequence[str] = ()
    hint: str = "Append ?schema={} to the location; join several with commas"

    def to_schema(
        self, schemas: Sequence[str], quote: str = '"', *, folds_case: bool = False
    ) -> DatabaseSchema:
        """Return the schema; a table hides tables of the same name in later schemas.

        Parameters
        ----------
        schemas
            In the order in which the engine looks for a table.
        quote, folds_case
            As `DatabaseSchema` has them.
        """
        rank = {schema: number for number, schema in enumerate(schemas)}
        tables: dict[str, TableInfo] = {}
        hidden: list[str] = []
        found = self._tables()
        for schema, name in sorted(found, key=lambda one: (one[1], rank.get(one[0], 0))):
            if name in tables:
                hidden.append(f"{schema}.{name}")
            elif name != TAG_TABLE:
                tables[name] = found[schema, name]
        omitted = {**self.omitted, "a table of an earlier schema has the same name": hidden}
        notes = [f"Left out: {_listed(names)} ({why})" for why, names in omitted.items() if names]
        if not tables:
            notes.append(self._nothing(schemas))
        return DatabaseSchema(
            tuple(tables.values()), quote=quote, folds_case=folds_case, notes=tuple(notes)
        )

    def _tables(self) -> dict[tuple[str, str], TableInfo]:
        """Return all relations, with keys and references of readable columns."""
        fields: dict[tuple[str, str], list[Field]] = {}
        links: dict[tuple[str, str], dict[tuple[str, str, str], None]] = {}
        keys: dict[tuple[str, str], list[str]] = {}
        for schema, table, name, kind, comment in self.columns:
            shown = fields.setdefault((schema, table), [])
            if comment and comment.startswith(REFERENCES):
                other, _, column = comment.removeprefix(REFERENCES).partition(".")
                links.setdefault((schema, table), {})[name, other, column] = None
                comment = ""  # noqa: PLW2901
            if name != ROW_COLUMN:
                shown.append(Field(name, kind, (), comment or ""))

        def knows(schema: str, table: str, *names: str) -> bool:
            known = {field.name.casefold() for field in fields.get((schema, table), ())}
            return known.issuperset(map(str.casefold, names))

        for schema, table, name, other_schema, other, column in self.references:
            if knows(schema, table, name) and knows(other_schema, other, column):
                links.setdefault((schema, table), {})[name, other, column] = None
        for schema, table, name in self.keys:
            keys.setdefault((schema, table), []).append(name)
        comments = {(schema, table): comment for schema, table, comment in self.comments}
        return {
            (schema, table): TableInfo(
                table,
                tuple(columns),
                tuple(key) if knows(schema, table, *key) else (),
                tuple(links.get((schema, table), ())),
                comments.get((schema, table)) or "",
            )
            for (schema, table), columns in fields.items()
            for key in (keys.get((schema, table), []),)
        }

    def _nothing(self, schemas: Sequence[str]) -> str:
        where = f" in schema {', '.join(schemas)}" if any(schemas) else ""
        nothing = f"No table that you can read{where}"
        if not self.available:
            return nothing
        return (
            f"{nothing}. Other schemas have tables: {_listed(self.available)}. "
            f"{self.hint.format(self.available[0])}"
        )


def enumeration(name: str, labels: Sequence[str]) -> str:
    """Return the type of a named enumeration with its labels, as a column shows it."""
    shown = [quoted(label, "'") for label in labels[:_MOST_LABELS]]
    more = len(labels) - len(shown)
    return f"{name} ENUM({', '.join([*shown, *([f'... {more} more'] if more else [])])})"


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMES])} and {counted(len(names) - _MOST_NAMES, 'other')}"


def rows_of(cursor: Any, statement: str, *values: object) -> list[Any]:  # noqa: ANN401
    """Return all rows of a catalogue query on any driver's cursor."""
    cursor.execute(statement, *([values] if values else []))
    return list(cursor.fetchall())
