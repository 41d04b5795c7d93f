"""Find the sources of a SQL statement: the names in FROM and WITH, with their columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from dqa.guard.lists import lists
from dqa.guard.parsing import Parsed, called, function_name, spelled
from dqa.guard.policy import Policy

SYSTEM_COLUMNS = frozenset({"ctid", "tableoid", "cmin", "cmax", "xmin", "xmax"})
"""The system columns of every PostgreSQL table."""
_FUNCTIONS = (exp.Table, exp.TableFromRows, exp.Lateral, exp.Unnest)
_QUERIES = (exp.Subquery, exp.CTE, exp.Values, exp.Pivot)
_WRAPPERS = (exp.Cast, exp.Filter, exp.Paren, exp.Window, exp.WithinGroup)
"""Parts of an expression that do not change the name of its column."""


class Source(NamedTuple):
    """A name in FROM or WITH, with its SELECT and its node. For the name of a join, both are None.

    `columns` contains the possible columns; None allows any column.
    """

    select: exp.Expr | None
    node: exp.Expr | None
    columns: Collection[str] | None


Sources: TypeAlias = Mapping[str, Sequence[Source]]
"""The sources by their names in lower case."""


def find_sources(parsed: Parsed, policy: Policy, words: Collection[str]) -> Sources:
    """Return the sources with their possible columns. `words` are the columns of known tables."""
    known = lists(parsed.dialect)
    is_postgres = parsed.dialect == "postgres"
    is_strict = is_postgres and policy.schema is not None
    joins = [node for node in parsed.nodes if isinstance(node, exp.Join)]
    shared = {key.name for join in joins for key in join.args.get("using") or ()}
    of_joins = {*words, *shared} if is_strict else None
    sources = {name: [Source(None, None, of_joins)] for name in parsed.joins}
    outputs: dict[int, Sequence[str]] = {}
    for node in parsed.nodes:
        name, found = node.alias_or_name, None
        if isinstance(node, exp.Table) and id(node) in parsed.tables:
            # A column of another table may be a function of this table's rows.
            is_known = is_strict and node.name.casefold() in policy.visible_tables
            found = _columns_of_table(node, policy) if is_known else None
        elif _is_query(node, parsed):
            found = {*words, *_output_names(node, parsed, outputs)} if is_strict else None
        elif isinstance(node, _FUNCTIONS):
            function = function_name(node).casefold()
            name = node.alias or function
            found = {"*", function, *known["columns of functions"]}
            found |= _columns_of_function(node, is_exact=is_postgres)
            found = None if parsed.dialect == "ansi" else found  # perhaps a structure
        else:
            continue
        source = Source(node.find_ancestor(exp.Select), node, found)
        sources.setdefault(name.casefold(), []).append(source)
    return sources


def _is_query(node: exp.Expr, parsed: Parsed) -> bool:
    """Return whether a source shows the rows of a query, also of a part of WITH."""
    is_part = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
    is_part &= id(node) not in parsed.tables
    is_lateral = isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery)
    return is_part or is_lateral or isinstance(node, _QUERIES)


def sources_at(column: exp.Column, sources: Sources, dialect: str) -> Sequence[Source]:
    """Return the sources that a column may name.

    The search ends at the first query with a source that PostgreSQL certainly finds. Which one it
    finds otherwise depends on quotes, LATERAL, WITH, ON and the aliases of joins.
    """
    named = sources.get(column.table.casefold(), ())
    found = [one for one in named if one.select is None]
    is_certain = dialect == "postgres" and not (found or column.db) and column.table.isascii()
    name = spelled(column.args["table"], dialect) if is_certain else None
    for select, visible in _enclosing(column):
        seen = {id(source) for source in visible if _spelled_name(source, dialect) == name}
        near = [one for one in named if one.select is select]
        found += near
        if any(id(one.node) in seen for one in near):
            break
    return found or named


def _enclosing(column: exp.Expr) -> Iterator[tuple[exp.Select, Sequence[exp.Expr]]]:
    """Yield each enclosing SELECT with the sources that the column certainly sees in it.

    In FROM, a subquery may see the sources before it or not. ON sees only the sources of its own
    chain of joins, which begins after the last comma. Within brackets, a join may have an alias
    that hides its sources.
    """
    node, is_on = column, False
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent, exp.Join):
            is_on = node.arg_key == "on"
        elif isinstance(parent, exp.Select):
            visible: Sequence[exp.Expr] = _direct_sources(parent)
            if is_on and node.arg_key == "joins":
                visible = _chain(parent.args["joins"], node, visible)
            elif node.arg_key in {"from_", "joins", "laterals", "with_"}:
                visible = []
            yield parent, visible
            is_on = False
        node = parent


def _chain(
    joins: Sequence[exp.Join], last: exp.Expr, sources: Sequence[exp.Expr]
) -> Sequence[exp.Expr]:
    """Return the sources from the last comma in FROM to the join `last`."""
    start = 0
    for number, join in enumerate(joins, start=1):
        if not (join.kind == "CROSS" or any(map(join.args.get, ("on", "using", "method")))):
            start = number
        if join is last:
            return sources[start : number + 1]
    return ()


def _direct_sources(query: exp.Expr) -> list[exp.Expr]:
    """Return the sources of a SELECT, or of a chain of joins, that are not in brackets."""
    first: exp.Expr | None = query
    if isinstance(query, exp.Select):
        first = query.args["from_"].this if query.args.get("from_") else None
    joins = [join.this for join in query.args.get("joins") or ()]
    return joins if first is None else [first, *joins]


def _spelled_name(source: exp.Expr, dialect: str) -> str:
    """Return the name of a source as the database spells it; empty if it is uncertain."""
    alias = source.args.get("alias")
    name = alias.this if isinstance(alias, exp.TableAlias) else source.this
    return spelled(name, dialect) if isinstance(name, exp.Identifier) else ""


def _columns_of_table(node: exp.Table, policy: Policy) -> set[str]:
    """Return the visible columns of a table and its alias, and the system columns."""
    name = node.name.casefold()
    tables = policy.schema.tables if policy.schema is not None else ()
    own = (table.columns for table in tables if table.name.casefold() == name)
    names = (column.name for column in chain.from_iterable(own))
    found = {one.casefold() for one in names if policy.allows_column(name, one)}
    return {"*", *SYSTEM_COLUMNS, *found, *map(str.casefold, node.alias_column_names)}


def _columns_of_function(function: exp.Expr, *, is_exact: bool) -> set[str]:
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


def _output_names(
    source: exp.Expr, parsed: Parsed, known: dict[int, Sequence[str]]
) -> Sequence[str]:
    """Return the columns of a query in FROM or WITH in their order, as the database spells them.

    A column without a certain name is an empty text. ``*`` follows the columns of a star, of which
    some may be missing. `known` contains the names of the sources that were read before.
    """
    if id(source) in known:
        return known[id(source)]
    known[id(source)] = ["*"]  # the source may contain itself
    query = source if isinstance(source, exp.Table | exp.Values | exp.Pivot) else source.this
    while isinstance(query, exp.SetOperation) or _is_bracket(query):
        query = query.this
    names: list[str] = []
    if query is source and isinstance(source, exp.Table):  # a part of WITH
        parts = [part for part in parsed.nodes if isinstance(part, exp.CTE)]
        parts = [part for part in parts if part.alias.casefold() == source.name.casefold()]
        names += _output_names(parts[0], parsed, known) if len(parts) == 1 else ["*"]
    elif isinstance(query, exp.Values):
        first = query.expressions[0]
        names += [f"column{number}" for number, _ in enumerate(first.expressions, start=1)]
    for item in query.expressions if isinstance(query, exp.Select) else ():
        names += _names_of_item(item, query, parsed, known)
    if query is not source and isinstance(query, exp.Table | exp.Subquery):  # a join with an alias
        names += _names_of_item(exp.Star(), query, parsed, known)
    alias = source.args.get("alias")
    own = [spelled(column, parsed.dialect) for column in alias.columns] if alias else []
    rest = [] if own and "*" in names else names[len(own) :]
    known[id(source)] = [*own, *rest]
    return known[id(source)]


def _is_bracket(query: exp.Expr) -> bool:
    has_name = any(map(query.args.get, ("alias", "joins")))
    return isinstance(query, exp.Subquery) and not has_name


def _names_of_item(
    item: exp.Expr, query: exp.Expr, parsed: Parsed, known: dict[int, Sequence[str]]
) -> list[str]:
    """Return the names of the columns that an item of SELECT adds; see `_output_names`."""
    if item.is_star:
        found: list[str] = []
        is_all, owner = isinstance(item, exp.Star), item.args.get("table")
        exact = spelled(owner, parsed.dialect) if owner and owner.name.isascii() else ""
        for source in _direct_sources(query):
            is_named = exact and _spelled_name(source, parsed.dialect) == exact
            if (is_all or is_named) and _is_query(source, parsed):
                found += _output_names(source, parsed, known)
        return [*found, "*"]
    name = item.args.get("alias")
    while isinstance(item, _WRAPPERS):
        item = item.this
    if isinstance(item, exp.Column | exp.Dot):
        name = name or (item.this if isinstance(item, exp.Column) else item.expression)
    # PostgreSQL names the result of f(x) "f".
    return [spelled(name, parsed.dialect) if isinstance(name, exp.Identifier) else called(item)]
