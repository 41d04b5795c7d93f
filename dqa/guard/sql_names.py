"""Refuse names after a dot that a database could run as functions, sequences or packages.

PostgreSQL reads ``x.f`` as f(x) if x has no column f.
"""

from __future__ import annotations

from sqlglot import exp

from dqa.guard.check import Refusal
from dqa.guard.lists import lists
from dqa.guard.parsing import Parsed, function_name
from dqa.guard.policy import Policy

_SYSTEM_COLUMNS = frozenset({"ctid", "tableoid", "cmin", "cmax", "xmin", "xmax"})
"""The system columns of every PostgreSQL table."""
_SOURCES = (
    *(exp.CTE, exp.Lateral, exp.Pivot, exp.Subquery, exp.Table, exp.TableFromRows, exp.Unnest),
    exp.Values,
)


def require_columns(parsed: Parsed, policy: Policy) -> None:
    """Refuse ``x.f`` if it could be a call of f(x), or if x could be a sequence or package."""
    dialect, known = parsed.dialect, lists(parsed.dialect)
    callables = known["names that call"] if policy.callables is None else policy.callables
    callables = callables - policy.functions - policy.column_names
    # System columns reveal the number of transactions and objects of the whole server.
    is_hiding = policy.restricts and dialect == "postgres"
    hidden = _SYSTEM_COLUMNS - policy.column_names if is_hiding else frozenset[str]()
    in_from = _names_in_from(parsed)
    if dialect == "ansi":  # a column may be a structure
        in_from |= policy.column_words
    # A wrong name of a database before a column of such a join stops a MariaDB server.
    joins = [node for node in parsed.nodes if isinstance(node, exp.Join)]
    is_shared = any(node.method or node.args.get("using") for node in joins)
    is_shared &= dialect == "mariadb"
    for node in parsed.nodes:
        owner, name, is_field = "", "", False
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
            name, is_field = node.expression.name, not _is_type(node)
        elif isinstance(node, exp.Column) and not _is_collation(node):
            owner, name, is_field = node.table, node.name, bool(node.table)
            if node.db and is_shared:
                raise Refusal(f"write {owner}.{name} without the name of a database")
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
        if is_field and name.casefold() in callables:
            raise Refusal(
                f"{owner}.{name} could call the function {name}; give the column another name"
            )


def _names_in_from(parsed: Parsed) -> set[str]:
    """Return the names in FROM and WITH, and of joins, in lower case."""
    names = set(parsed.joins)
    for node in parsed.nodes:
        if isinstance(node, _SOURCES):
            is_function = not (isinstance(node, exp.Table) and id(node) in parsed.tables)
            name = node.alias_or_name or (function_name(node) if is_function else "")
            names.add(name.casefold())
    return names


def _is_type(node: exp.Expr) -> bool:
    while isinstance(node.parent, exp.Dot):
        node = node.parent
    return isinstance(node.parent, exp.DataType) or node.arg_key == "to"


def _is_collation(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Collate) and node.arg_key == "expression"
