"""The syntax tree: every part must be known to only read, and every table to be one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dqa.guard.names import closest
from dqa.guard.policy import Policy
from dqa.guard.sql.calls import ColumnList
from dqa.guard.sql.lists import AllowLists
from dqa.guard.sql.text import StatementText
from dqa.guard.verdict import Refusal

QUERIES = (exp.Query, exp.Values, exp.Pivot, exp.Summarize)
"""What a statement may be as a whole."""

_PLAIN_NAME = re.compile(r"[\w $#-]+")
_SEQUENCES = frozenset({"nextval", "currval", "lastval"})
"""What Oracle, and MariaDB in its mode, take as attributes of a sequence."""
_SYSTEM_FUNCTIONS = ("pg_", "pgp_", "lo_", "loread", "lowrite", "lastval", "dblink", "txid_")
"""How PostgreSQL's own functions that touch the server begin."""
_LONGEST_TEXT = 1_000_000
_STATEMENTS = frozenset(
    {
        *("alter", "analyze", "attach", "begin", "call", "checkpoint", "commit", "copy", "create"),
        *("deallocate", "delete", "detach", "do", "drop", "execute", "explain"),
        *("export", "flush", "grant", "handler", "import", "insert", "install", "kill", "load"),
        *("lock", "merge", "optimize", "pivot", "pragma", "prepare", "refresh", "reindex"),
        *("replace", "reset", "revoke", "rollback", "set", "truncate"),
        *("unpivot", "update", "upsert", "use", "vacuum"),
    }
)
"""Words that begin a statement, which sqlglot takes for names where it knows of no statement.
Those that DuckDB has in brackets, as in ``FROM (SHOW TABLES)``, only read."""


@dataclass(frozen=True, slots=True)
class _NodeContext:
    """What the checks of single nodes need to know."""

    dialect: str
    known: AllowLists
    policy: Policy
    attributes: frozenset[str]
    code: str


def refuse_unless_reading(
    nodes: Sequence[exp.Expr],
    text: StatementText,
    dialect: str,
    known: AllowLists,
    policy: Policy,
) -> None:
    """Refuse the nodes of a tree with one, or a place in one, that is not known to only read.

    Whatever sqlglot learns to read, and wherever it puts what it has read, is refused until it is
    on the list.
    """
    attributes = known.attributes or _SEQUENCES
    context = _NodeContext(dialect, known, policy, attributes, text.code)
    for node in nodes:
        kind = type(node)
        check = _CHECKS.get(kind)
        if check is not None:
            check(node, context)
        places = known.parts.get(kind.__name__)
        if places is None:
            _refuse_unless_function(node, known)
            places = frozenset(kind.arg_types)
        for place, held in node.args.items():
            if place not in places and held is not None and held is not False and held != []:
                _refuse_place(node, place, held, known)


def _refuse_unless_function(node: exp.Expr, known: AllowLists) -> None:
    if type(node).__name__ not in known.function_classes:
        _refuse_clause(node)


def _refuse_place(node: exp.Expr, place: str, held: object, known: AllowLists) -> None:
    """Refuse what stands in an unknown place: for itself, if that says more."""
    for part in held if isinstance(held, list) else [held]:
        if isinstance(part, exp.Expr) and type(part).__name__ not in known.parts:
            _refuse_unless_function(part, known)
    name = place.strip("_").upper()
    raise Refusal(
        f"{type(node).__name__.upper()} may not have {name} here, which is not known to only read; "
        "leave it out"
    )


def _refuse_clause(node: exp.Expr) -> None:
    name = type(node).__name__
    if isinstance(node, exp.Lock):
        raise Refusal("it locks what it reads; leave out FOR UPDATE, FOR SHARE and LOCK")
    if isinstance(node, (exp.Parameter, exp.PropertyEQ)):
        raise Refusal("it uses a session's variable (@name); write the value itself, or a WITH")
    if isinstance(node, exp.Into):
        raise Refusal("it writes its result with INTO; leave that out, the rows are returned")
    if isinstance(node, exp.Func):
        raise Refusal(f"the function {name} is not known to only read")
    raise Refusal(f"it contains {name.upper()}, and only reading is allowed")


def _check_variable(node: exp.SessionParameter, context: _NodeContext) -> None:
    name = node.name.lower()
    if name not in context.known.variables:
        raise Refusal(f"the system variable {name} is not one that may be read")


def _check_parameter(node: exp.Parameter, context: _NodeContext) -> None:
    if context.dialect != "postgres":  # where @ is an operator
        _refuse_clause(node)


def _check_anonymous(_node: exp.Anonymous, _context: _NodeContext) -> None:
    """Do nothing: the function has been looked up by the name it was written with."""


def _check_part(node: exp.CTE, _context: _NodeContext) -> None:
    if not isinstance(node.this, QUERIES):
        raise Refusal(f"the WITH part '{node.alias}' is no query")


def _check_operator(node: exp.Operator, _context: _NodeContext) -> None:
    if not node.args["operator"].startswith("pg_catalog."):
        raise Refusal("OPERATOR(...) may only name an operator of pg_catalog")


def _check_applied(node: exp.Expr, _context: _NodeContext) -> None:
    """Refuse what DuckDB applies to a table where a text would name a file."""
    if node.this is not None and not isinstance(node.this, (exp.Table, exp.Query, exp.Values)):
        raise Refusal(f"{type(node).__name__.upper()} needs a table or a query, not text")


def _check_attribute(node: exp.Column | exp.Dot, context: _NodeContext) -> None:
    """Refuse ``x.f`` where PostgreSQL would call f(x), or MariaDB would use a sequence."""
    if not context.attributes:
        return
    parts = node.parts[1:] if isinstance(node, exp.Column) else [node.expression]
    # A call behind a dot has been looked up by its own name; a bare name behind one has not.
    bare = bool(parts) and isinstance(parts[-1], exp.Identifier)
    last = parts[-1].name.lower() if bare else ""
    if context.dialect == "postgres" and last.startswith(_SYSTEM_FUNCTIONS):
        raise Refusal(f".{last} would call the function {last}, which is not known to only read")
    for part in parts:
        if part.name.lower() in context.attributes:
            raise Refusal(f".{part.name} calls a function that is not known to only read")


def _check_in(node: exp.In, context: _NodeContext) -> None:
    """Refuse ``x IN name``, which SQLite reads as a table that nothing else here would see."""
    if context.dialect == "sqlite" and node.args.get("field") is not None:
        raise Refusal("IN needs a list or a query: write IN (SELECT column FROM table)")


def _check_length(node: exp.Func, _context: _NodeContext) -> None:
    """Refuse a text of millions of signs, which no limit on rows or seconds stops in time."""
    for literal in node.find_all(exp.Literal):
        if literal.is_number and float(literal.this) > _LONGEST_TEXT:
            raise Refusal(f"a text of {literal.this} signs is too long; stay below {_LONGEST_TEXT}")


def _check_table(node: exp.Table, context: _NodeContext) -> None:
    """Refuse system tables that are not on the list, and what would be read from a file."""
    known, dialect = context.known, context.dialect
    if not isinstance(node.this, exp.Identifier):
        if isinstance(node.this, exp.Func | exp.Dot) or node.args.get("rows_from"):
            _check_source(node.this, context)
            return
        raise Refusal("a table's name must be a name, not a variable or a parameter")
    name, schema = node.name.lower(), node.db.lower()
    if not schema and name in _STATEMENTS and _begins_bracket(node.this, context):
        raise Refusal(f"({name.upper()} ...) is no query; quote {name} if it is a table's name")
    if dialect == "duckdb":
        _refuse_file(node, context)
    full = f"{schema}.{name}" if schema else name
    if full in known.tables or (not schema and f"pg_catalog.{name}" in known.tables):
        return
    if schema in {"main", "temp"} and name in known.tables and dialect in {"sqlite", "duckdb"}:
        return
    is_system = schema in known.system_schemas or schema.startswith("pg_toast")
    is_system |= name.startswith(("sqlite_", *known.system_prefixes))
    if (is_system or name in known.refused_tables) and context.policy.columns_of(name) is None:
        hint = closest(full, known.tables, cutoff=0.7)
        raise Refusal(f"the system table {full} is not one that may be read.{hint}".rstrip(".?"))


def _begins_bracket(name: exp.Identifier, context: _NodeContext) -> bool:
    """Whether a name stands first in brackets, unquoted, where a statement might."""
    start = name.meta.get("start", 0)
    return not name.quoted and context.code[:start].rstrip().endswith("(")


def _check_source(function: exp.Expr | None, context: _NodeContext) -> None:
    """Refuse a function that may not stand in FROM; elsewhere its name has been looked up."""
    known = context.known.table_functions
    name = function.name if isinstance(function, exp.Anonymous) else type(function).__name__
    name = name.lower()
    if known and name not in known | context.policy.functions:
        raise Refusal(f"the function {name} may not stand in FROM")


def _refuse_file(node: exp.Table, context: _NodeContext) -> None:
    """Refuse a name that DuckDB would take for a file, where no table of it is known."""
    if context.policy.columns_of(node.name) is not None:
        return
    is_plain = all(_PLAIN_NAME.fullmatch(part.name) for part in node.parts)
    if not is_plain or (node.db and node.name.lower() in context.known.file_endings):
        raise Refusal(f"'{'.'.join(p.name for p in node.parts)}' would be read as a file")


_CHECKS: Mapping[type[exp.Expr], Callable[[Any, _NodeContext], None]] = {
    exp.Anonymous: _check_anonymous,
    exp.CTE: _check_part,
    exp.Column: _check_attribute,
    exp.Dot: _check_attribute,
    exp.In: _check_in,
    exp.Pad: _check_length,
    exp.Repeat: _check_length,
    exp.Space: _check_length,
    exp.Operator: _check_operator,
    exp.Parameter: _check_parameter,
    exp.Pivot: _check_applied,
    exp.SessionParameter: _check_variable,
    exp.Summarize: _check_applied,
    exp.Table: _check_table,
}
"""Nodes that are allowed under a condition; all others are, or are not, on the list of clauses."""


def column_lists(nodes: Sequence[exp.Expr]) -> Mapping[int, ColumnList]:
    """Return what has a list of columns, ``WITH t(a, b)`` or ``AS t(a, b)``, by where it starts."""
    found = {}
    for alias in nodes:
        columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
        if columns:
            named = alias.parent.this if isinstance(alias.parent, exp.Table) else None
            behind = named.meta.get("end", -2) + 1 if isinstance(named, exp.Identifier) else -1
            # PostgreSQL has lists without a name, too: AS (a int, b text).
            first = alias.this or next(columns[0].find_all(exp.Identifier), alias)
            found[first.meta.get("start", -1)] = ColumnList(
                isinstance(alias.parent, exp.CTE), alias.this is not None, behind
            )
    return found
