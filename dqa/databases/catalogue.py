"""Build the schema of any SQL database from the rows of its catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dqa.core.schema import DatabaseSchema, Field, TableInfo, quoted
from dqa.core.text import counted
from dqa.databases.namespaces import REFERENCES, ROW_COLUMN, TAG_TABLE

_MOST_LABELS, _MOST_NAMES = 30, 10
"""The maximum number of an enumeration's labels to list, and of relations."""
BROKEN = "views of missing tables"
VIEW = "view"

CatalogueColumn: TypeAlias = tuple[str, str, str, str, str | None]
"""A schema, a table or view, a column, its displayed type, and its comment."""
CatalogueReference: TypeAlias = tuple[str, str, str, str, str, str | int]
"""The schema, table and column of a foreign key, then those that it references. The referenced
column is a name or a position in the primary key."""
_Relation: TypeAlias = tuple[str, str]
"""The schema and the name of a table or view."""


@dataclass
class Catalogue:
    """The readable tables and views (relations) of some schemas.

    Attributes
    ----------
    columns
        The columns, in the order of each relation.
    keys
        The schema, table and name of each primary key column, in order.
    references
        The columns of foreign keys, in order.
    comments
        The schema, name and comment of each relation.
    omitted
        Maps each reason for omitting relations to the relations.
    available
        The other schemas that contain readable relations.
    hint
        How to choose a schema; ``{}`` stands for its name.
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
        """Return the schema. If several tables have the same name, it contains only the first one.

        Parameters
        ----------
        schemas
            The schemas, in the order in which the engine looks for a table.
        quote, folds_case
            See `DatabaseSchema`.
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
            where = f" in schema {', '.join(schemas)}" if any(schemas) else ""
            notes.append(f"No table that you can read{where}{self._others()}")
        return DatabaseSchema(
            tuple(tables.values()), quote=quote, folds_case=folds_case, notes=tuple(notes)
        )

    def _tables(self) -> dict[_Relation, TableInfo]:
        """Return all relations with their readable keys and references."""
        fields: dict[_Relation, list[Field]] = {}
        known: set[tuple[str, str, str]] = set()
        links: dict[_Relation, dict[tuple[str, str, str], None]] = {}
        keys: dict[_Relation, list[str]] = {}
        for schema, table, name, kind, comment in self.columns:
            shown = fields.setdefault((schema, table), [])
            if comment and comment.startswith(REFERENCES):
                other, _, column = comment.removeprefix(REFERENCES).partition(".")
                links.setdefault((schema, table), {})[name, other, column] = None
                comment = ""  # noqa: PLW2901
            if name != ROW_COLUMN:
                shown.append(Field(name, kind, (), comment or ""))
                known.add((schema, table, name.casefold()))
        for schema, table, name in self.keys:
            keys.setdefault((schema, table), []).append(name)
        spelled = {(schema, table.casefold()): table for schema, table in fields}
        for schema, table, name, other_schema, other, target in self.references:
            where = (other_schema, other)
            if where not in fields:
                where = (other_schema, spelled.get((other_schema, other.casefold()), other))
            if isinstance(target, int):
                target = "".join(keys.get(where, [])[target : target + 1])  # noqa: PLW2901
            ends = {(schema, table, name.casefold()), (*where, target.casefold())}
            if ends <= known:
                links.setdefault((schema, table), {})[name, where[1], target] = None
        comments = {(schema, table): comment for schema, table, comment in self.comments}
        for where, key in keys.items():
            if not known.issuperset((*where, name.casefold()) for name in key):
                key.clear()
        return {
            where: TableInfo(
                where[1],
                tuple(columns),
                tuple(keys.get(where, ())),
                tuple(links.get(where, ())),
                comments.get(where) or "",
            )
            for where, columns in fields.items()
        }

    def _others(self) -> str:
        if not self.available:
            return ""
        hint = self.hint.format(self.available[0])
        return f". Other schemas have tables: {_listed(self.available)}. {hint}"


@dataclass(frozen=True, slots=True)
class CatalogueQueries:
    """The queries that read the catalogue of an engine.

    Each parameter of a query has the same value.

    Attributes
    ----------
    relations
        Returns the schema, name and comment of each relation. A fourth value is `VIEW`, empty, or
        the reason for omitting the relation.
    columns
        Returns `CatalogueColumn` rows; with `spell`, several values may describe the type.
    keys, references
        Return the rows of `Catalogue`.
    available
        Returns the schemas that contain relations.
    spell
        Returns the type of a column from the values between its name and its comment.
    """

    relations: str
    columns: str
    keys: str
    references: str
    available: str
    spell: Callable[..., str] = str

    def read(
        self,
        cursor: Any,  # noqa: ANN401
        parameter: object,
        can_read: Callable[[str, str], bool] = lambda *_: True,
    ) -> Catalogue:
        """Read the catalogue with a few queries for all relations.

        Parameters
        ----------
        cursor
            The cursor of any driver.
        parameter
            The schema or schemas.
        can_read
            Returns whether a view can be read.
        """

        def ask(query: str) -> list[Any]:
            return rows_of(cursor, query, *[parameter] * (query.count("%s") + query.count("?")))

        relations, columns = ask(self.relations), ask(self.columns)
        with_columns = {(schema, name) for schema, name, *_ in columns}
        left_out: dict[_Relation, str] = {}
        for schema, name, _, kind in relations:
            works = kind != VIEW or ((schema, name) in with_columns and can_read(schema, name))
            if reason := BROKEN if not works else kind.removeprefix(VIEW):
                left_out[schema, name] = reason
        shown = [
            (schema, table, name, self.spell(*kind), comment)
            for schema, table, name, *kind, comment in columns
            if (schema, table) not in left_out
        ]
        return Catalogue(
            columns=shown,
            keys=ask(self.keys),
            references=ask(self.references),
            comments=[(schema, name, comment) for schema, name, comment, _ in relations],
            omitted={
                reason: sorted(name for (_, name), why in left_out.items() if why == reason)
                for reason in sorted(set(left_out.values()))
            },
            available=[] if shown else [name for (name,) in ask(self.available)],
        )


def enumeration(name: str, labels: Sequence[str]) -> str:
    """Return the displayed type of a named enumeration, with its labels."""
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
