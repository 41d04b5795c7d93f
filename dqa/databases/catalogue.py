"""Build the schema of any SQL database from its tables and views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dqa.core.schema import DatabaseSchema, Field, TableInfo, column_of, quoted
from dqa.core.text import counted
from dqa.databases.namespaces import REFERENCES, ROW_COLUMN, TAG_TABLE

_MOST_LABELS, _MOST_NAMES = 30, 10
"""The maximum number of labels to list for an enumeration, and of tables or schemas in a note."""
BROKEN = "views of missing tables"
VIEW = "view"
_HIDDEN = "a table of an earlier schema has the same name"


@dataclass(slots=True)
class Relation:
    """A table or view whose description is being read.

    Attributes
    ----------
    schema, name, comment
        The schema, the name and the comment.
    omitted
        The reason why the schema of the database omits the relation; empty if the schema includes
        it.
    fields
        The readable columns by name, in order.
    key
        The columns of the primary key, in order.
    links
        One tuple per column of a foreign key: the column, and the schema, the table and the column
        that it references. The last value may also be a position (from 0) in the primary key of the
        referenced table.
    """

    schema: str
    name: str
    comment: str | None = None
    omitted: str = ""
    fields: dict[str, Field] = field(default_factory=dict)
    key: list[str] = field(default_factory=list)
    links: list[tuple[str, str, str, str | int]] = field(default_factory=list)

    def add(self, name: str, kind: str, comment: str | None = None) -> None:
        """Add a column. If its comment describes a foreign key, also add the key to `links`."""
        if comment and comment.startswith(REFERENCES):
            other, _, target = comment.removeprefix(REFERENCES).partition(".")
            self.links.append((name, self.schema, other, target))
            comment = ""
        if name != ROW_COLUMN:
            self.fields[name] = column_of(name, kind, comment or "")

    def has(self, name: str) -> bool:
        """Return whether a column with this name, in upper or lower case, can be read."""
        return name in self.fields or name.casefold() in map(str.casefold, self.fields)


def schema_of(  # noqa: PLR0913
    relations: Iterable[Relation],
    schemas: Sequence[str],
    quote: str = '"',
    *,
    database: str = "",
    folds_case: bool = False,
    available: Callable[[], Sequence[str]] = list,
    hint: str = "Append ?schema={} to the location; join several with commas",
) -> DatabaseSchema:
    """Return the schema. If several tables have the same name, it contains only the first table.

    Parameters
    ----------
    relations
        The tables and views. Those without readable columns are ignored.
    schemas
        The names of the schemas, in the order in which the engine looks for a table.
    database
        The name of the database for notes.
    quote, folds_case
        See `DatabaseSchema`.
    available
        Returns the names of the schemas with tables. Called only if there is no readable table.
    hint
        A sentence for the user about how to choose a schema. ``{}`` is replaced by the name of a
        schema.
    """
    rank = {schema: number for number, schema in enumerate(schemas)}
    left_out: dict[str, list[str]] = {}
    found: dict[tuple[str, str], Relation] = {}
    counts: Counter[str] = Counter()
    for relation in relations:
        counts[relation.name.casefold()] += 1
        if relation.omitted:
            left_out.setdefault(relation.omitted, []).append(relation.name)
        elif relation.fields and relation.name != TAG_TABLE:
            found[relation.schema, relation.name] = relation
    folded = {(schema, name.casefold()): one for (schema, name), one in found.items()}
    tables: dict[str, TableInfo] = {}
    hidden: list[str] = []
    for one in sorted(found.values(), key=lambda one: (one.name, rank.get(one.schema, 0))):
        if one.name in tables:
            hidden.append(f"{one.schema}.{one.name}")
        else:
            links = dict.fromkeys(_links(one, found, folded))
            key = tuple(one.key) if all(map(one.has, one.key)) else ()
            columns = tuple(one.fields.values())
            tables[one.name] = TableInfo(one.name, columns, key, tuple(links), one.comment or "")
    reasons = [*sorted(left_out.items()), (_HIDDEN, hidden)]
    notes = [f"Left out: {_listed(sorted(names))} ({why})" for why, names in reasons if names]
    if not tables:
        where = f" in schema {', '.join(schemas)}" if any(schemas) else ""
        where += f" of database {database}" if database else ""
        notes.append(f"There is no table that you can read{where}")
        if others := available():
            notes[-1] += f". Other schemas have tables: {_listed(others)}. {hint.format(others[0])}"
    return DatabaseSchema(
        tuple(tables.values()),
        quote=quote,
        folds_case=folds_case,
        notes=tuple(notes),
        repeated_names=tuple(name for name, count in counts.items() if count > 1),
    )


def _links(
    relation: Relation,
    found: Mapping[tuple[str, str], Relation],
    folded: Mapping[tuple[str, str], Relation],
) -> Iterator[tuple[str, str, str]]:
    """Yield the foreign keys whose own column and referenced column can be read."""
    for column, schema, name, target in relation.links:
        other = found.get((schema, name)) or folded.get((schema, name.casefold()))
        if other is None:
            continue
        at = "".join(other.key[target : target + 1]) if isinstance(target, int) else target
        if relation.has(column) and other.has(at):
            yield column, other.name, at


def read_relations(
    ask: Callable[[str], list[Any]],
    queries: tuple[str, str, str, str],
    spell: Callable[[str], str] = str,
    can_read: Callable[[Relation], bool] = lambda _: True,
) -> Iterable[Relation]:
    """Read a catalogue with four queries.

    Parameters
    ----------
    ask
        Runs a query and returns its rows.
    queries
        Four queries. The first two values of each row are the schema and the relation. The
        remaining values of each query are:

        1. the comment of the relation, and its kind: `VIEW`, empty for a table, or the reason why
           the relation is omitted
        2. the name, the type and the comment of a column
        3. the name of a column of the primary key
        4. the values of an entry of `Relation.links`
    spell
        Returns the displayed type of a column.
    can_read
        Returns whether a view can be read.
    """
    found: dict[tuple[str, str], Relation] = {}
    views: list[Relation] = []
    relations, columns, keys, references = queries
    new = Relation("", "")  # for a table that was created between two queries
    for schema, name, comment, kind in ask(relations):
        relation = Relation(schema, name, comment, kind.removeprefix(VIEW))
        found[schema, name] = relation
        views.extend([relation] if kind == VIEW else [])
    for schema, table, name, kind, comment in ask(columns):
        found.get((schema, table), new).add(name, spell(kind), comment)
    for schema, table, name in ask(keys):
        found.get((schema, table), new).key.append(name)
    for schema, table, *link in ask(references):
        found.get((schema, table), new).links.append(tuple(link))
    for view in views:
        if not view.fields or not can_read(view):
            view.omitted = BROKEN
    return found.values()


def enumeration(name: str, labels: Sequence[str]) -> str:
    """Return the displayed type of an enumeration: its name and its labels."""
    shown = [quoted(label, "'") for label in labels[:_MOST_LABELS]]
    more = len(labels) - len(shown)
    return f"{name} ENUM({', '.join([*shown, *([f'... {more} more'] if more else [])])})"


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMES])} and {counted(len(names) - _MOST_NAMES, 'other')}"


def rows_of(cursor: Any, statement: str, *values: object) -> list[Any]:  # noqa: ANN401
    """Return all rows of a catalogue query on any driver's cursor.

    Parameters
    ----------
    cursor
        The cursor.
    statement
        The query.
    values
        The values of its parameters.
    """
    cursor.execute(statement, *([values] if values else []))
    return list(cursor.fetchall())


def flat(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the values of a single column."""
    return [value for (value,) in rows]


def asking(cursor: Any, parameter: object) -> Callable[[str], list[Any]]:  # noqa: ANN401
    """Return a function that runs a query with `parameter` as the value of every parameter."""

    def ask(query: str) -> list[Any]:
        return rows_of(cursor, query, *[parameter] * (query.count("%s") + query.count("?")))

    return ask
