"""Refuse names after a dot that a database could run as functions, sequences or packages.

PostgreSQL reads ``x.f`` as f(x) if x has no column f.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce

from sqlglot import exp

from dqa.guard.check import Refusal
from dqa.guard.hints import closest
from dqa.guard.lists import lists
from dqa.guard.parsing import Parsed, spelled
from dqa.guard.policy import Policy
from dqa.guard.sql_sources import SYSTEM_COLUMNS, find_sources, sources_at


def require_columns(parsed: Parsed, policy: Policy) -> None:
    """Refuse ``x.f`` if it could be a call of f(x), or if x could be a sequence or package."""
    known, dialect = policy.column_words, parsed.dialect
    # System columns reveal the number of transactions and objects of the whole server.
    is_hiding = policy.restricts and dialect == "postgres"
    hidden = SYSTEM_COLUMNS - known if is_hiding else frozenset[str]()
    system = frozenset[str]() if policy.restricts else SYSTEM_COLUMNS
    words = {"*", *lists(dialect)["columns of functions"], *known, *system}
    of_values = words if policy.schema is not None else ()
    callables = (policy.callables or frozenset()) - policy.functions - policy.column_names
    sources = find_sources(parsed, policy, words)
    in_from = {"", *sources}
    if dialect == "ansi":  # a column may be a structure
        in_from |= known
    # A wrong name of a database before a column of such a join stops a MariaDB server.
    joins = [node for node in parsed.nodes if isinstance(node, exp.Join)]
    is_shared = any(node.method or node.args.get("using") for node in joins)
    is_shared &= dialect == "mariadb"
    for node in parsed.nodes:
        columns: Collection[str] | None = None
        part, is_field = node, False
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
            part = node.expression
            columns = None if _is_type(node) else of_values
            is_field = not _is_type(node)
        elif isinstance(node, exp.Column) and not _is_collation(node):
            part, is_field = node.this, bool(node.table)
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
            found = sources_at(node, sources, dialect) if node.table else ()
            columns = reduce(_common, (one.columns for one in found), None)
        name, exact = part.name.casefold(), spelled(part, dialect)
        if is_field and name in callables:
            raise Refusal(
                f"{node.text('table')}.{part.name} could call the function {part.name}; give the "
                "column another name"
            )
        # PostgreSQL does not find the column total of a query by the name "TOTAL".
        is_found = exact == name or name in words or dialect != "postgres"
        if columns is not None and exact not in columns and not (is_found and name in columns):
            hint = closest(part.name, known.intersection(columns), schema=policy.schema)
            raise Refusal(
                f"{node.text('table')}.{part.name} is not a column that this query may read: it "
                f"does not exist, or a policy hides it.{hint}"
            )


def _is_type(node: exp.Expr) -> bool:
    while isinstance(node.parent, exp.Dot):
        node = node.parent
    return isinstance(node.parent, exp.DataType) or node.arg_key == "to"


def _is_collation(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Collate) and node.arg_key == "expression"


def _common(one: Collection[str] | None, other: Collection[str] | None) -> Collection[str] | None:
    return one if other is None else other if one is None else {*one} & {*other}
