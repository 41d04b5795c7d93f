"""Refuse names after a dot that a database could run as functions, sequences or packages.

PostgreSQL reads ``x.f`` as f(x) if x has no column f.
"""

from __future__ import annotations

from sqlglot import exp

from dqa.guard.check import Refusal
from dqa.guard.lists import lists
from dqa.guard.parsing import Parsed, function_name, spelled
from dqa.guard.policy import Policy

_SYSTEM_COLUMNS = frozenset({"ctid", "tableoid", "cmin", "cmax", "xmin", "xmax"})
"""The system columns of every PostgreSQL table."""
_QUERIES = exp.CTE | exp.Pivot | exp.Subquery | exp.Values
_SOURCES = _QUERIES | exp.Lateral | exp.Table | exp.TableFromRows | exp.Unnest


def require_columns(parsed: Parsed, policy: Policy) -> None:
    """Refuse ``x.f`` if it could be a call of f(x), or if x could be a sequence or package."""
    dialect, known = parsed.dialect, lists(parsed.dialect)
    callables = policy.callables or dict.fromkeys(known["names that call"], True)
    # System columns reveal the number of transactions and objects of the whole server.
    is_hiding = policy.restricts and dialect == "postgres"
    hidden = _SYSTEM_COLUMNS - policy.column_names if is_hiding else frozenset[str]()
    sources = _columns_of_sources(parsed, policy)
    # In other databases, x may also be a column with fields.
    in_from = sources.keys() | (policy.column_words if dialect == "ansi" else set[str]())
    # In a join with USING or NATURAL, a wrong database name before a column stops a MariaDB server.
    joins = [node for node in parsed.nodes if isinstance(node, exp.Join)]
    is_shared = any(node.method or node.args.get("using") for node in joins)
    is_shared &= dialect == "mariadb"
    for node in parsed.nodes:
        owner = ""
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
            part, is_field = node.expression, not _is_type(node)
        elif isinstance(node, exp.Column) and not _is_collation(node):
            owner, part, is_field = node.table, node.this, bool(node.table)
            if not isinstance(part, exp.Identifier | exp.Star):
                raise Refusal(f"{owner}.{part.sql()} is not the name of a column")
            if node.db and is_shared:
                raise Refusal(f"write {owner}.{part.name} without the name of a database")
        else:
            continue
        name = part.name
        if name.casefold() in hidden:
            raise Refusal(
                f"the system column {name} is hidden by the policy; if it is a column of your "
                "own, give it another name"
            )
        if owner and owner.casefold() not in in_from:
            raise Refusal(
                f"{owner}.{name} names {owner}, which is not in FROM; correct the name, or add it "
                "to FROM"
            )
        takes_row = callables.get(name.casefold())
        if not is_field or takes_row is None or name.casefold() in policy.functions:
            continue
        # The name of a subquery without an alias is "". Without an owner, x may be any value.
        found = sources.get(owner.casefold(), [None]) if owner else [None]
        exact = spelled(part, dialect)
        if any(one is None or (takes_row and exact not in one) for one in found):
            raise Refusal(
                f"{owner or '(...)'}.{name} could call the function {name}; give the column "
                "another name"
            )


def _columns_of_sources(parsed: Parsed, policy: Policy) -> dict[str, list[frozenset[str] | None]]:
    """Return the known columns of each table, query, function and join in FROM, by its name.

    Used as a value, the name of a table, query or join stands for a whole row. The name of a
    function can stand for any value, so None replaces its columns.
    """
    rows = frozenset[str]()
    sources: dict[str, list[frozenset[str] | None]] = {name: [rows] for name in parsed.joins}
    parts = {node.alias.casefold() for node in parsed.nodes if isinstance(node, exp.CTE)}
    has_unnamed = False
    for node in parsed.nodes:
        if not isinstance(node, _SOURCES):
            continue
        name = node.alias_or_name
        columns: frozenset[str] | None = rows
        if (table := parsed.tables.get(id(node))) is not None:
            is_part = table.name.casefold() in parts
            columns = rows if is_part else _columns_of_table(table, parsed.dialect, policy)
        elif not (isinstance(node, _QUERIES) or isinstance(node.this, _QUERIES | exp.Identifier)):
            own = "unnest" if isinstance(node, exp.Unnest) else function_name(node)
            name, columns = node.alias or own, None
            has_unnamed |= not node.alias
        sources.setdefault(name.casefold(), []).append(columns)
    if has_unnamed:  # the database may give the function another name: trim is btrim
        return {name: [None] for name in sources}
    return sources


def _columns_of_table(table: exp.Table, dialect: str, policy: Policy) -> frozenset[str]:
    """Return the columns that a table certainly has; empty if the table is uncertain."""
    shown = policy.visible_tables.get(table.name.casefold())
    is_exact = shown is not None and shown.name == spelled(table.this, dialect)
    if shown is None or not is_exact or table.db or table.alias_column_names:
        return frozenset()
    return frozenset(column.name for column in shown.columns)


def _is_type(node: exp.Expr) -> bool:
    while isinstance(node.parent, exp.Dot):
        node = node.parent
    return isinstance(node.parent, exp.DataType) or node.arg_key == "to"


def _is_collation(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Collate) and node.arg_key == "expression"
