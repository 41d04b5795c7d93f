"""The conditions of row filters: plain comparisons of a table's own columns, and nothing else.

They are narrower than a query's. What can fail on a value would tell the value in its error, so
there are no conversions but of what is written, no sums and no functions but the plainest.
"""

from __future__ import annotations

from sqlglot import exp

from dqa.core.errors import UsageError
from dqa.core.schema import TableInfo, quoted
from dqa.guard.names import closest
from dqa.guard.policy import Policy
from dqa.guard.sql import coverage, parsing, text
from dqa.guard.verdict import Refusal

_PARTS = (
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.In, exp.Between, exp.Is, exp.Like, exp.Null, exp.Boolean, exp.Literal, exp.Neg),
    *(exp.Identifier, exp.Lower, exp.Upper, exp.Coalesce, exp.Date, exp.DataType),
    *(exp.CurrentDate, exp.CurrentTimestamp, exp.Tuple, exp.Var),
)
_WRITE = (
    "write comparisons, IN, BETWEEN, LIKE and IS NULL of its columns with plain values, joined by "
    "AND, OR and NOT"
)


def require_condition(table: TableInfo, condition: str, dialect: str, policy: Policy) -> None:
    """Raise `UsageError` unless a row filter is a condition over a table's own columns.

    Parameters
    ----------
    table
        Whose rows it is about.
    condition, dialect
        What was written, and in what.
    policy
        What it is of, with the database's schema.
    """
    try:
        _refuse_unless_plain(table, condition, dialect, policy)
    except Refusal as refusal:
        raise UsageError(
            f"The policy's row filter of {table.name} cannot be used: {refusal}. It is: {condition}"
        ) from refusal


def _refuse_unless_plain(table: TableInfo, condition: str, dialect: str, policy: Policy) -> None:
    quote = policy.schema.quote if policy.schema is not None else '"'
    statement = f"SELECT 1 FROM {quoted(table.name, quote)} WHERE ({condition})"  # noqa: S608
    read = text.read(statement, dialect)
    if read.sql != statement:
        raise Refusal("it has a comment or a semicolon; leave that out")
    parsed = parsing.parse(read, dialect)
    coverage.refuse_left_out(parsed, read, dialect, policy)
    tree = parsed.tree
    where = tree.args.get("where")
    held = [place for place, part in tree.args.items() if part]
    if where is None or not isinstance(where.this, exp.Paren) or len(held) > len(_SELECT):
        raise Refusal(f"it is no single condition; {_WRITE}")
    columns = {column.name for column in table.columns}
    folded = {name.casefold() for name in columns}
    for node in where.this.walk():
        if isinstance(node, exp.Column):
            if len(node.parts) > 1 or node.name.casefold() not in folded:
                hint = closest(node.name, columns)
                raise Refusal(
                    f"'{node.sql()}' is no column of it, written alone.{hint}".rstrip(".")
                )
        elif isinstance(node, exp.Cast):
            if not isinstance(node.this, exp.Literal):
                raise Refusal(f"it converts a column, which may fail on a value; {_WRITE}")
        elif type(node) not in _PARTS:
            raise Refusal(f"it may not have {type(node).__name__.upper()}; {_WRITE}")
        if isinstance(node, exp.In) and (node.args.get("query") or node.args.get("field")):
            raise Refusal(f"IN needs a list of values; {_WRITE}")


_SELECT = ("expressions", "from_", "where")
"""What the query around a condition has."""
