"""The guard for SQL: sqlglot parses the statement, and every part of it must be known to read.

Seven questions, cheapest first: is the text one statement that every lexer reads alike (`text`); is
every name that is called known to only read (`calls`); is every part of the tree (`tree`); is all
that was written in the tree (`coverage`); does it stay within the database's own schemas (`walls`);
may what it reads be read (`scope`); can it be rewritten without what is hidden (`hiding`).
Statements that are no queries but describe things are in `describing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.script import Span
from dqa.guard.sql import (
    calls,
    coverage,
    describing,
    hiding,
    parsing,
    scope,
    text,
    tree,
    walls,
)
from dqa.guard.sql.lists import lists
from dqa.guard.verdict import Refusal

__all__ = ["refuse_unless_reading", "spans"]


def refuse_unless_reading(statement: str, dialect: str, policy: Policy = DEFAULT) -> None:
    """Raise `Refusal` unless `statement` is one query of `dialect` with no effect."""
    read = text.read(statement, dialect)
    if policy.closed is not None:
        walls.refuse_outside_listing(read, dialect, policy, policy.closed)
    query = describing.query_of(read, dialect, policy)
    if query is not None:
        _check_query(query, dialect, policy)
    if policy.hides:
        hiding.refuse_unless_certain(statement, dialect, policy)


def spans(script: str, dialect: str) -> Iterator[Span]:
    """Yield where the statements of a script stand, as long as sqlglot ends them there, too."""
    read = text.read_script(script, dialect)
    begin = 0
    for end in (*read.ends, len(script)):
        statement = read.sql[begin:end]
        start = end - len(statement.lstrip())
        if begin == end or not statement.strip():
            pass
        elif end == len(script) and read.problem:
            yield Span(start, end, read.problem, read.place)
        elif not parsing.is_one(statement, dialect):
            problem = "from here on quotes and comments can be read in two ways; write plain ones"
            yield Span(start, len(script), problem, start)
            return
        else:
            yield Span(start, end)
        begin = end + 1


def _check_query(read: text.StatementText, dialect: str, policy: Policy) -> None:
    known = lists(dialect)
    found = calls.unknown(read, dialect, known, policy)
    parsed = parsing.parse(read, dialect)
    columns = tree.column_lists(parsed.nodes)
    calls.refuse_unless_known(found, columns, read, known, dialect)
    if not isinstance(parsed.tree, tree.QUERIES):
        raise Refusal("only a query may run: SELECT, WITH ... SELECT, or VALUES")
    tree.refuse_unless_reading(parsed.nodes, read, dialect, known, policy)
    coverage.refuse_left_out(parsed, read, dialect, policy)
    if policy.closed is not None:
        walls.refuse_outside(parsed.tree, read, dialect, policy, policy.closed)
    if policy.limits_tables or policy.limits_columns:
        scope.refuse_unless_in_scope(parsed.tree, read, dialect, policy)
