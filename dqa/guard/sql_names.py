"""Refuse names after a dot that a database could run as functions, sequences or packages.

PostgreSQL reads ``x.f`` as f(x) if x has no column f.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce
from itertools import chain
from typing import TypeAlias

from sqlglot import exp

from dqa.guard.check import Refusal
from dqa.guard.hints import closest
from dqa.guard.lists import lists
from dqa.guard.parsing import Parsed, function_name
from dqa.guard.policy import Policy

_Sources: TypeAlias = Mapping[tuple[int, str], Collection[str] | None]
"""The possible columns of each source: the `id` of its SELECT and its name lead to the columns.

None allows any column.
"""
_FUNCTION_SOURCES = (exp.Table, exp.TableFromRows, exp.Lateral, exp.Unnest)
_QUERY_SOURCES = (exp.Subquery, exp.CTE, exp.Values, exp.Pivot)
_SYSTEM_COLUMNS = frozenset({"ctid", "tableoid", "cmin", "cmax", "xmin", "xmax"})
"""The system columns of every PostgreSQL table."""


def require_columns(parsed: Parsed, policy: Policy) -> None:
    """Refuse ``x.f`` if it could be a call of f(x), or if x could be a sequence or package."""
    known, dialect = policy.column_words, parsed.dialect
    # System columns reveal the number of transactions and objects of the whole server.
    is_hiding = policy.restricts and dialect == "postgres"
    hidden = _SYSTEM_COLUMNS - known if is_hiding else frozenset[str]()
    system = frozenset[str]() if policy.restricts else _SYSTEM_COLUMNS
    words = {"*", *lists(dialect)["columns of functions"], *known, *system}
    of_values = words if policy.schema is not None else ()
    sources = _sources(parsed, policy, words)
    in_from = {name for _, name in sources}
    if dialect == "ansi":  # a column may be a structure
        in_from |= known
    # A wrong name of a database before a column of such a join stops a MariaDB server.
    joins = [node for node in parsed.nodes if isinstance(node, exp.Join)]
    is_shared = any(node.method or node.args.get("using") for node in joins)
    is_shared &= dialect == "mariadb"
    for node in parsed.nodes:
        columns: Collection[str] | None = None
        part = node
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
            part = node.expression
            columns = None if _is_type(node) else of_values
        elif isinstance(node, exp.Column) and not _is_collation(node):
            if node.name.casefold() in hidden:
                raise Refusal(
                    f"the system column {node.name} is hidden by the policy; if it is a "
                    "column of your own, give it another name"
                )
            if node.db and is_shared:
                raise Refusal(f"write {node.table}.{node.name} without the name of a database")
            if node.table.casefold() not in in_from:
                raise Refusal(
                    f"{node.table}.{node.name} names {node.table}, which is not in FROM; "
                    "correct the name, or add it to FROM"
                )
            columns = _columns_at(node, sources)
        if columns is not None and part.name.casefold() not in columns:
            hint = closest(part.name, known.intersection(columns), schema=policy.schema)
            raise Refusal(
                f"{node.text('table')}.{part.name} is not a known column of a table in this "
                f"query, so the database might run it as a function.{hint}"
            )


def _sources(parsed: Parsed, policy: Policy, words: Collection[str]) -> _Sources:
    """Return the sources in FROM with their possible columns, in lower case.

    `words` are columns of known tables.
    """
    known, own = lists(parsed.dialect), set(words)
    for node in parsed.nodes:
        if isinstance(node, exp.Alias | exp.ColumnDef):
            own.add(node.alias_or_name.casefold())
        elif isinstance(node, exp.TableAlias):
            own.update(column.name.casefold() for column in node.columns)
    is_strict = parsed.dialect == "postgres" and policy.schema is not None
    columns = own if is_strict else None
    sources: dict[tuple[int, str], Collection[str] | None] = {(0, ""): None}
    sources |= {(0, name): columns for name in parsed.joins}
    for node in parsed.nodes:
        select, found, names = id(node.find_ancestor(exp.Select)), columns, list[str]()
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            if id(node) in parsed.tables:
                # A column of another table may be a function of this table's rows.
                is_known = is_strict and node.name.casefold() in policy.visible_tables
                found = _columns_of_table(node, policy) if is_known else None
            names = [node.alias_or_name, node.name]
        elif isinstance(node, _QUERY_SOURCES) or isinstance(node.this, exp.Subquery):
            names = [node.alias]
        elif isinstance(node, _FUNCTION_SOURCES):
            name = function_name(node).casefold()
            names = [node.alias or name]
            found = {"*", name, *known["columns of functions"]}
            found |= _columns_of(node, is_exact=parsed.dialect == "postgres")
            found = None if parsed.dialect == "ansi" else found  # perhaps a structure
        for one in {name.casefold() for name in names}:
            sources[select, one] = _common(sources.get((select, one)), found)
    return sources


def _columns_of_table(node: exp.Table, policy: Policy) -> set[str]:
    """Return the visible columns of a table and its alias, and the system columns."""
    name = node.name.casefold()
    tables = policy.schema.tables if policy.schema is not None else ()
    own = (table.columns for table in tables if table.name.casefold() == name)
    names = (column.name for column in chain.from_iterable(own))
    found = {one.casefold() for one in names if policy.allows_column(name, one)}
    return {"*", *_SYSTEM_COLUMNS, *found, *map(str.casefold, node.alias_column_names)}


def _columns_at(column: exp.Column, sources: _Sources) -> Collection[str] | None:
    """Return the possible columns of the source that a column names.

    Sources of this name in several enclosing queries count together: which one the database finds
    depends on quotes, LATERAL, WITH and aliases of joins.
    """
    name = column.table.casefold()
    if not name:
        return None
    keys, node = {(0, name)}, column.find_ancestor(exp.Select)
    while node is not None:
        keys.add((id(node), name))
        node = node.find_ancestor(exp.Select)
    if keys.isdisjoint(sources):
        keys = {key for key in sources if key[1] == name}
    return reduce(_common, (sources.get(key) for key in keys), None)


def _common(one: Collection[str] | None, other: Collection[str] | None) -> Collection[str] | None:
    return one if other is None else other if one is None else {*one} & {*other}


def _columns_of(function: exp.Expr, *, is_exact: bool) -> set[str]:
    """Return the columns that a function in FROM or its alias names, in lower case.

    With `is_exact`, names are left out that PostgreSQL does not find in lower case, such as "A".
    """
    alias, source = function.args.get("alias"), function.this
    named = [*alias.columns] if isinstance(alias, exp.TableAlias) else []
    if not named:
        named = [alias and alias.this]
        if isinstance(source, exp.JSONTable):
            named += source.args["schema"].find_all(exp.JSONColumnDef)
        named += (source.args.get("columns") or []) if isinstance(source, exp.XMLTable) else []
    found = set[str]()
    for one in (*named, function.args.get("offset")):  # the column of WITH ORDINALITY
        name = one.this if isinstance(one, exp.ColumnDef | exp.JSONColumnDef) else one
        if isinstance(name, exp.Identifier):
            text = name.name if name.args.get("quoted") else name.name.lower()
            found |= {name.name.casefold()} if not is_exact else {text} & {name.name.casefold()}
    return found


def _is_type(node: exp.Expr) -> bool:
    while isinstance(node.parent, exp.Dot):
        node = node.parent
    return isinstance(node.parent, exp.DataType) or node.arg_key == "to"


def _is_collation(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Collate) and node.arg_key == "expression"
