"""Which views would show what a policy hides: asked of each database's own catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_PAIRS: Mapping[str, str] = {
    # Views by what they depend on; a part of a table by the table that has it, and the reverse.
    "postgres": """
        SELECT v.relname, t.relname
          FROM pg_catalog.pg_depend AS d
          JOIN pg_catalog.pg_rewrite AS r
            ON r.oid = d.objid AND d.classid = 'pg_catalog.pg_rewrite'::regclass
          JOIN pg_catalog.pg_class AS v ON v.oid = r.ev_class
          JOIN pg_catalog.pg_class AS t
            ON t.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_class'::regclass
           AND t.oid <> v.oid
          JOIN pg_catalog.pg_namespace AS n ON n.oid = v.relnamespace
         WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
        UNION
        SELECT c.relname, p.relname
          FROM pg_catalog.pg_inherits AS i
          JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
          JOIN pg_catalog.pg_class AS p ON p.oid = i.inhparent
        UNION
        SELECT p.relname, c.relname
          FROM pg_catalog.pg_inherits AS i
          JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
          JOIN pg_catalog.pg_class AS p ON p.oid = i.inhparent
    """,
}
_DEFINITIONS: Mapping[str, str] = {
    # A full-text index is of a table that its definition names, or has tables of its own, whose
    # names begin with its name.
    "sqlite": """
        SELECT name, sql FROM sqlite_master
         WHERE type = 'view' OR (type = 'table' AND rootpage = 0)
        UNION ALL
        SELECT s.name, v.name FROM sqlite_master AS s JOIN sqlite_master AS v
            ON v.type = 'table' AND v.rootpage = 0
           AND lower(substr(s.name, 1, length(v.name) + 1)) = lower(v.name) || '_'
         WHERE s.type = 'table'
    """,
    "duckdb": """
        SELECT view_name, sql FROM duckdb_views() WHERE NOT internal
        UNION ALL
        SELECT function_name, macro_definition FROM duckdb_functions()
         WHERE NOT internal AND macro_definition IS NOT NULL
    """,
    "mysql": "SELECT table_name, view_definition FROM information_schema.views",
    "mariadb": "SELECT table_name, view_definition FROM information_schema.views",
}


def views_statement(dialect: str) -> str:
    """Return what a database is asked, itself and not through the guard, for its views.

    Rows are a view, and what it reads or the text that defines it.
    """
    return " ".join((_PAIRS.get(dialect) or _DEFINITIONS[dialect]).split())


def telling_views(
    rows: Iterable[tuple[object, object]], dialect: str, hiding: Iterable[str]
) -> frozenset[str]:
    """Return the views, in lower case, that read what hides something, directly or by others.

    A definition reads whatever it names as a word, so one too many is found rather than one too
    few; one that the role may not see could read anything.

    Parameters
    ----------
    rows, dialect
        What the database answered, and its dialect.
    hiding
        The tables that hide something, in lower case.
    """
    views = [(str(view).casefold(), held) for view, held in rows]
    found: set[str] = set()
    told = set(hiding)
    while told:
        name = told.pop()
        for view, held in views:
            if view not in found and _reads(held, name, dialect):
                found.add(view)
                told.add(view)
    return frozenset(found - set(hiding))


def _reads(held: object, name: str, dialect: str) -> bool:
    if dialect in _PAIRS:
        return str(held).casefold() == name
    if not held:
        return True
    definition = str(held).casefold()
    spellings = {name, *(name.replace(quote, 2 * quote) for quote in '"`]')}
    return any(
        re.search(rf"(?<!\w){re.escape(spelled)}(?!\w)", definition) for spelled in spellings
    )
