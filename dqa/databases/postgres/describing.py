"""The schema of a PostgreSQL database from its catalogue, as the role sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from psycopg import Connection

from dqa.core.schema import DatabaseSchema
from dqa.databases.catalogue import Catalogue, enumeration, rows_of

# A partition belongs to its parent. A materialized view without data cannot be read.
_RELATIONS = """
SELECT c.oid, n.nspname, c.relname, d.description, c.relispopulated,
    has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_description d
    ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname = ANY(%s) AND NOT c.relispartition
    AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
"""
_COLUMNS = """
SELECT a.attrelid, a.attnum, a.attname, CASE t.typcategory WHEN 'A' THEN t.typelem
    ELSE t.oid END, format_type(a.atttypid, a.atttypmod), d.description
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_description d
    ON d.objoid = a.attrelid AND d.objsubid = a.attnum AND d.classoid = 'pg_class'::regclass
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped
    AND (a.attrelid <> ALL(%s) OR has_column_privilege(a.attrelid, a.attnum, 'SELECT'))
ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
SELECT conrelid, conkey FROM pg_constraint WHERE contype = 'p' AND conrelid = ANY(%s)
"""
# A foreign key of or to a partition is one of its parent.
_LINKS = """
SELECT coalesce(pg_partition_root(conrelid)::oid, conrelid), a.attname,
    coalesce(pg_partition_root(confrelid)::oid, confrelid), b.attname
FROM pg_constraint CROSS JOIN LATERAL unnest(conkey, confkey) WITH ORDINALITY pair (one, two, place)
JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = one
JOIN pg_attribute b ON b.attrelid = confrelid AND b.attnum = two
WHERE contype = 'f' AND conparentid = 0 AND connamespace IN (
    SELECT oid FROM pg_namespace WHERE nspname = ANY(%s))
ORDER BY conname, place
"""
_TYPES = """
SELECT t.oid, t.typtype, format_type(t.typbasetype, t.typtypmod),
    (SELECT array_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e
        WHERE e.enumtypid = t.oid),
    (SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod), ', '
        ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = ANY(%s)
    AND t.typtype IN ('e', 'd', 'c') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
"""
_AVAILABLE = """
SELECT DISTINCT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^pg_'
    AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
    AND has_table_privilege(c.oid, 'SELECT') ORDER BY n.nspname
"""
_SHORT = ((re.compile(r"\bCHARACTER VARYING\b"), "VARCHAR"), (re.compile(r"\bCHARACTER\b"), "CHAR"))


_Type: TypeAlias = tuple[str, str, Sequence[str] | None, str | None]
"""A type that a user has defined: its kind, base type, labels and fields."""


def describe(driver: Connection[Any], schemas: Sequence[str]) -> DatabaseSchema:
    """Read the tables and views of some schemas by a few statements for all tables."""
    shown = list(schemas)
    with driver.cursor() as cursor:
        found = rows_of(cursor, _RELATIONS, shown)
        relations: dict[int, tuple[str, str]] = {
            oid: (schema, name) for oid, schema, name, _, has_data, _ in found if has_data
        }
        in_part = [oid for oid, *_, is_readable in found if not is_readable]
        columns = rows_of(cursor, _COLUMNS, list(relations), in_part)
        types: dict[int, _Type] = {
            oid: (*rest,)
            for oid, *rest in rows_of(cursor, _TYPES, list({row[3] for row in columns}))
        }
        keys = rows_of(cursor, _KEYS, list(relations))
        links = rows_of(cursor, _LINKS, shown)
        available = [] if relations else [name for (name,) in rows_of(cursor, _AVAILABLE)]
    kinds = {(kind, element) for _, _, _, element, kind, _ in columns}
    names = {(oid, number): name for oid, number, name, *_ in columns}
    spelled = {both: _spelled(both[0], types.get(both[1])) for both in kinds}
    catalogue = Catalogue(
        columns=[
            (*relations[oid], name, spelled[kind, element], comment)
            for oid, _, name, element, kind, comment in columns
        ],
        keys=[
            (*relations[oid], names.get((oid, number), ""))  # a column that cannot be read
            for oid, numbers in keys
            for number in numbers
        ],
        references=[
            (*relations[oid], name, *relations[other], other_name)
            for oid, name, other, other_name in links
            if oid in relations and other in relations
        ],
        comments=[row[1:4] for row in found],
        omitted={
            "materialized views without data: REFRESH MATERIALIZED VIEW fills them": [
                name for _, _, name, _, has_data, _ in found if not has_data
            ]
        },
        available=available,
    )
    return catalogue.to_schema(schemas, folds_case=True)


def _spelled(kind: str, defined: _Type | None) -> str:
    """Return a type in capitals; for a defined one its name and its parts."""
    if defined is None:
        return _capital(kind) if kind == kind.lower() and '"' not in kind else kind
    category, base, labels, fields = defined
    if category == "e":
        return enumeration(kind, labels or ())
    if category == "d":
        array = "[]" if kind.endswith("[]") else ""
        return f"{_capital(base)}{array} (domain {kind.removesuffix('[]')})"
    return f"{kind} ROW({fields})"


def _capital(kind: str) -> str:
    kind = kind.upper().replace(",", ", ")
    for long, short in _SHORT:
        kind = long.sub(short, kind)
    return kind
