"""What a statement reads under which name: tables, and the results that it names itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from dqa.core.schema import DatabaseSchema
from dqa.guard.reading import read
from dqa.guard.sql import parsing, text
from dqa.guard.sql.scope import real_tables
from dqa.guard.verdict import Refusal


@dataclass(frozen=True, slots=True)
class Source:
    """Something that a statement reads.

    Attributes
    ----------
    called
        What the statement calls it.
    table
        The table that it is, as the schema spells it; None where it is a result.
    columns
        What it has; nothing where that is not known.
    """

    called: str
    table: str | None
    columns: tuple[str, ...]

    @property
    def told(self) -> str:
        """What the statement calls it, and the table where that is another name."""
        has_alias = self.table is not None and self.table.casefold() != self.called.casefold()
        return f"{self.called} ({self.table})" if has_alias else self.called


def named(statement: str, dialect: str, schema: DatabaseSchema) -> tuple[Source, ...]:
    """Return the sources of a statement, in order; nothing where it cannot be read."""
    try:
        return read(partial(_named, statement, dialect, schema))
    except Refusal:
        return ()


def _named(statement: str, dialect: str, schema: DatabaseSchema) -> tuple[Source, ...]:
    tree = parsing.parse(text.read(statement, dialect), dialect).tree
    tables = tuple(_tables(tree, schema))
    return (*tables, *_results(tree, {source.called.casefold(): source for source in tables}))


def _tables(tree: exp.Expr, schema: DatabaseSchema) -> Iterator[Source]:
    known = {table.name.casefold(): table for table in schema.tables}
    for node in real_tables(tree):
        table = known.get(node.name.casefold())
        if table is not None:
            columns = tuple(column.name for column in table.columns)
            yield Source(node.alias or node.name, table.name, columns)


def _results(tree: exp.Expr, tables: Mapping[str, Source]) -> Iterator[Source]:
    """Yield parts of WITH and subqueries of FROM."""
    parts: dict[str, tuple[str, ...]] = {}
    for node in tree.find_all(exp.CTE, exp.Subquery):
        query = node.this
        if not node.alias or not isinstance(query, exp.Query):
            continue
        columns = tuple(node.alias_column_names) or tuple(_shown(query, tables))
        parts[node.alias.casefold()] = columns
        yield Source(node.alias, None, columns)
    for table in tree.find_all(exp.Table):
        if table.alias and table.name.casefold() in parts:
            yield Source(table.alias, None, parts[table.name.casefold()])


def _shown(query: exp.Query, tables: Mapping[str, Source]) -> Sequence[str]:
    """Return the columns of a query; of ``SELECT *`` only those of one table."""
    if not query.is_star:
        return query.named_selects
    from_ = query.args.get("from_")
    is_whole = isinstance(query, exp.Select) and len(query.expressions) == 1
    if not is_whole or from_ is None or query.args.get("joins"):
        return ()
    source = tables.get(from_.this.alias_or_name.casefold())
    return source.columns if source is not None else ()
