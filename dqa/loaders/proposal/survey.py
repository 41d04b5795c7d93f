"""What of a database a scenario may stand on: its likeliest tables, with keys, joins, samples."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite

from dqa.core.cypher import quote_name
from dqa.core.database import Database, Limits, Rows
from dqa.core.display import Value
from dqa.core.errors import QueryError, StatementTimeoutError, UsageError
from dqa.core.fitting import rank_parts
from dqa.core.relevance import words_in
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, TableInfo, cypher_name
from dqa.core.situation import ColumnType
from dqa.core.text import visible
from dqa.databases.tables import quote_if_needed
from dqa.loaders.proposal.guesses import joins_by_name, key_columns, unit_of
from dqa.loaders.proposal.surveyed import Join, Survey, SurveyedColumn, SurveyedTable
from dqa.scenarios.column_types import column_type
from dqa.scenarios.tables import quoted_for

MOST_TABLES = 12
"""Tables, or labels, that are proposed where nobody names them."""
_COUNTED = 40
"""Tables whose rows are counted to choose among more."""
_SAMPLES, _LOOKED_AT, _LONGEST = 3, 50, 40
_SECONDS = 5.0


class Surveyor:
    """Asks a database, each time within bounds.

    Parameters
    ----------
    database
        An open one, behind its policy.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.is_graph = database.kind == "graph"

    def survey(self, about: str, *, every: bool) -> Survey:
        """Survey the likeliest tables.

        Parameters
        ----------
        about
            The words of a question, or nothing.
        every
            Whether all tables are wanted, however many there are.

        Raises
        ------
        UsageError
            There is no table that can be described.
        """
        schema = self.database.schema()
        there: list[TableInfo | NodeInfo] = [*schema.tables, *schema.nodes]
        infos = [info for info in there if _is_usable(info)]
        if not infos:
            raise UsageError(f"'{self.database.name}' has no table or label that can be read.")
        chosen = self._ranked(schema, infos, about)
        if not every:
            chosen = chosen[:MOST_TABLES]
        tables = [self._table(info) for info in chosen]
        edges = [self._edge(edge, tables) for edge in _unique(schema.edges)]
        tables += [edge for edge in edges if edge is not None]
        if not self.is_graph:
            tables = [self._joined(table, tables) for table in tables]
        names = {table.name for table in tables}
        left = [_name(info) for info in there]
        return Survey(tuple(tables), tuple(name for name in left if name not in names))

    # --- which tables ---

    def _ranked(
        self, schema: DatabaseSchema, infos: Sequence[TableInfo | NodeInfo], about: str
    ) -> list[TableInfo | NodeInfo]:
        if about:
            parts, _ = rank_parts(schema, about)
            usable = {_name(info) for info in infos}
            return [
                part
                for part in parts
                if isinstance(part, TableInfo | NodeInfo) and _name(part) in usable
            ]
        degree = {_name(info): 0 for info in infos}
        for table in schema.tables:
            for _, other, _ in table.references:
                degree[other] = degree.get(other, 0) + 2
                degree[table.name] = degree.get(table.name, 0) + 1
        for edge in schema.edges:
            for end in (edge.source, edge.target):
                degree[end] = degree.get(end, 0) + 1
        ranked = sorted(infos, key=lambda info: (-degree[_name(info)], _name(info)))
        if len(ranked) <= MOST_TABLES:
            return ranked
        near = ranked[:_COUNTED]
        rows = {_name(info): self.count(_name(info)) for info in near}
        near.sort(key=lambda info: (rows[_name(info)] == 0, -degree[_name(info)], _name(info)))
        return [*near, *ranked[_COUNTED:]]

    # --- one table ---

    def _table(self, info: TableInfo | NodeInfo) -> SurveyedTable:
        fields = info.columns if isinstance(info, TableInfo) else info.properties
        columns = tuple(_column(field) for field in fields if _is_plain(field.name))
        name, names = _name(info), {column.name for column in columns}
        key: tuple[str, ...] = ()
        if isinstance(info, TableInfo):
            key = info.key if names.issuperset(info.key) else ()
        elif info.key in names:
            key = (info.key or "",)
        rows = self.count(name)
        guessed = not key
        key = key or self._key(name, columns, rows)
        joins: tuple[Join, ...] = ()
        if isinstance(info, TableInfo):
            joins = tuple(join for join in self._joins(info) if names.issuperset(join.columns))
        table = SurveyedTable(name, columns, key, guessed, joins, rows, info.comment)
        return self._sampled(table)

    def _joins(self, info: TableInfo) -> Iterator[Join]:
        """Yield a table's declared joins: pairs that follow each other may be of one.

        They are not where one of them is the other's whole key, or where a column is there again.
        """
        keys = {table.name: table.key for table in self.database.schema().tables}
        found: list[tuple[str, list[tuple[str, str]]]] = []
        for column, other, target in info.references:
            if not target:
                continue
            held = found[-1][1] if found and found[-1][0] == other else []
            targets = [taken for _, taken in held]
            whole = any(keys.get(other) == (one,) for one in (*targets, target))
            if not held or whole or target in targets or column in (own for own, _ in held):
                found.append((other, [(column, target)]))
            else:
                held.append((column, target))
        for other, pairs in found:
            yield Join(other, tuple(pairs))

    def _edge(self, info: EdgeInfo, nodes: Sequence[SurveyedTable]) -> SurveyedTable | None:
        """Return relationships; None where the nodes that they join are not described."""
        there = {node.name for node in nodes}
        if not {info.source, info.target} <= there or not _is_plain(info.label):
            return None
        columns = tuple(_column(field) for field in info.properties if _is_plain(field.name))
        ends = info.source, info.target
        return self._sampled(SurveyedTable(info.label, columns, comment=info.comment, ends=ends))

    def _key(
        self, name: str, columns: Sequence[SurveyedColumn], rows: int | None
    ) -> tuple[str, ...]:
        """Return columns that tell the rows apart today; the likeliest where none is found to."""
        singles, pairs = key_columns(name, [(c.name, c.type) for c in columns])
        counts = self.distinct(name, singles)
        for column in singles:
            if rows and counts.get(column, (0, 0)) == (rows, rows):
                return (column,)
        for pair in () if self.is_graph else pairs:
            if rows and self._distinct_rows(name, pair) == rows:
                return pair
        whole = tuple(c.name for c in columns if c.type not in ("json", "array"))
        if self.is_graph or not whole:
            return (singles[0] if singles else columns[0].name,)
        return whole

    def _sampled(self, table: SurveyedTable) -> SurveyedTable:
        """Return a table with the first different values of each column."""
        names = [column.name for column in table.columns]
        if not names:
            return table
        rows = self._first_rows(table, names)
        found: dict[str, list[Value]] = {name: [] for name in names}
        for row in rows.rows if rows is not None else ():
            for name, value in zip(names, row, strict=True):
                if value is not None and value not in found[name]:
                    found[name].append(value)
        columns = (_seen(column, found[column.name]) for column in table.columns)
        return replace(table, columns=tuple(columns))

    def _first_rows(self, table: SurveyedTable, names: Sequence[str]) -> Rows | None:
        if self.is_graph:
            listed = ", ".join(f"e.{quote_name(name)}" for name in names)
            label = quote_name(table.name)
            if table.ends is None:
                order = f" ORDER BY e.{quote_name(table.key[0])}"
                return self.ask(f"MATCH (e:{label}) RETURN {listed}{order} LIMIT {_LOOKED_AT}")
            source, target = map(quote_name, table.ends)
            pattern = f"(:{source})-[e:{label}]->(:{target})"
            order = f" ORDER BY e.{quote_name(names[0])}"
            return self.ask(f"MATCH {pattern} RETURN {listed}{order} LIMIT {_LOOKED_AT}")
        listed = ", ".join(map(self.spelled, names))
        start = f"SELECT {listed} FROM {self.spelled(table.name)}"  # noqa: S608
        limit = "" if self.database.dialect == "ansi" else f" LIMIT {_LOOKED_AT}"
        order = f" ORDER BY {', '.join(map(self.spelled, table.key))}"
        # Whatever order there is then, some values are better than none.
        return self.ask(f"{start}{order}{limit}") or self.ask(f"{start}{limit}")

    def _joined(self, table: SurveyedTable, tables: Sequence[SurveyedTable]) -> SurveyedTable:
        """Return a table that declares no join with those that names and values suggest."""
        if table.joins:
            return table
        keys = {
            other.name: (other.key[0], other.column(other.key[0]).type)
            for other in tables
            if len(other.key) == 1 and other.name != table.name
        }
        columns = [(column.name, column.type) for column in table.columns]
        own = table.key if len(table.key) == 1 else ()
        found = tuple(
            Join(other, ((column, keys[other][0]),), guessed=True)
            for column, other in joins_by_name(columns, keys)
            if column not in own and self._is_held(table.name, column, other, keys[other][0])
        )
        return replace(table, joins=found)

    def _is_held(self, table: str, column: str, other: str, key: str) -> bool:
        """Whether every value of a column is one of another table's key, and there are some."""
        name, value = self.spelled(table), self.spelled(column)
        there, target = self.spelled(other), self.spelled(key)
        rows = self.ask(
            f"SELECT COUNT(t.{value}), SUM(CASE WHEN t.{value} IS NOT NULL AND o.{target} IS NULL "  # noqa: S608
            f"THEN 1 ELSE 0 END) FROM {name} t LEFT JOIN {there} o ON o.{target} = t.{value}"
        )
        if rows is None or not rows.rows:
            return False
        values, outside = (int(str(cell or 0)) for cell in rows.rows[0])
        return values > 0 and outside == 0

    # --- statements ---

    def spelled(self, name: str) -> str:
        """Return a table's or column's name as this database's statements spell it."""
        return quote_name(name) if self.is_graph else quoted_for(self.database, name)

    def written(self, name: str) -> str:
        """Return a name as somebody writes it: quoted only where this database needs that."""
        if self.is_graph:
            return cypher_name(name)
        return quote_if_needed(self.database.dialect, name)

    def count(self, name: str) -> int | None:
        """Return how many rows, or nodes, there are; None where counting takes too long."""
        if self.is_graph:
            rows = self.ask(f"MATCH (e:{quote_name(name)}) RETURN count(e)")
        else:
            rows = self.ask(f"SELECT COUNT(*) FROM {self.spelled(name)}")  # noqa: S608
        return None if rows is None else int(str(rows.rows[0][0]))

    def distinct(self, name: str, columns: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Return by column how many values it has and how many differ; none takes too long."""
        if not columns:
            return {}
        values = [f"e.{self.spelled(column)}" for column in columns]
        counted = ", ".join(f"COUNT({value}), COUNT(DISTINCT {value})" for value in values)
        if self.is_graph:
            rows = self.ask(f"MATCH (e:{quote_name(name)}) RETURN {counted}")
        else:
            rows = self.ask(f"SELECT {counted} FROM {self.spelled(name)} e")  # noqa: S608
        if rows is None:
            return {}
        cells = [int(str(cell)) for cell in rows.rows[0]]
        return dict(zip(columns, zip(cells[::2], cells[1::2], strict=True), strict=True))

    def summed(self, table: SurveyedTable, column: str, element: str) -> str:
        """Return the sum of a column of rows that a statement calls `element`."""
        value = f"{element}.{self.written(column)}"
        if self.database.dialect == "ladybug" and table.column(column).type == "decimal":
            value = f"CAST({value} AS DOUBLE)"  # it adds up no decimals
        return f"SUM({value})"

    def is_summable(self, table: SurveyedTable, column: str) -> bool:
        """Whether the values of a column add up to a number; it is taken where that takes too long.

        What the engine, or the policy, refuses to add up gives none.
        """
        if table.rows is None and table.ends is None:
            return True
        total = self.summed(table, column, "e")
        if not self.is_graph:
            statement = f"SELECT {total} FROM {self.spelled(table.name)} e"  # noqa: S608
        elif table.ends is None:
            statement = f"MATCH (e:{quote_name(table.name)}) RETURN {total}"
        else:
            source, target = map(quote_name, table.ends)
            pattern = f"(:{source})-[e:{quote_name(table.name)}]->(:{target})"
            statement = f"MATCH {pattern} RETURN {total}"
        try:
            rows = self._query(statement)
        except StatementTimeoutError:
            return True
        except QueryError:
            return False
        found = rows.rows[0][0] if rows.rows else None
        return isinstance(found, int | float) and isfinite(found)

    def _distinct_rows(self, name: str, columns: Sequence[str]) -> int | None:
        listed = ", ".join(map(self.spelled, columns))
        rows = self.ask(
            f"SELECT COUNT(*) FROM (SELECT DISTINCT {listed} FROM {self.spelled(name)}) d"  # noqa: S608
        )
        return None if rows is None else int(str(rows.rows[0][0]))

    def ask(self, statement: str) -> Rows | None:
        """Run a statement; None where it takes too long, or a policy lets nobody run it."""
        try:
            return self._query(statement)
        except QueryError:
            return None

    def _query(self, statement: str) -> Rows:
        return self.database.query(
            statement, Limits(rows=_LOOKED_AT, seconds=_SECONDS, cell=_LONGEST)
        )


def _column(field: Field) -> SurveyedColumn:
    kind = column_type(field.type)
    unit = unit_of(field.name) if kind in ("integer", "decimal", "float") else ""
    return SurveyedColumn(field.name, field.type, kind or "text", field.comment, unit)


def _seen(column: SurveyedColumn, values: Sequence[Value]) -> SurveyedColumn:
    """Return a column with some of its values, which tell its type where nothing else does."""
    samples = tuple(values[:_SAMPLES])
    if column_type(column.described) is not None or not values:
        return replace(column, samples=samples)
    kinds = {type(value) for value in values}
    kind: ColumnType = "text"
    if kinds <= {int, float}:
        kind = "integer" if kinds == {int} else "float"
    unit = unit_of(column.name) if kind != "text" else ""
    return replace(column, samples=samples, type=kind, unit=unit)


def _name(info: TableInfo | NodeInfo) -> str:
    return info.name if isinstance(info, TableInfo) else info.label


def _is_usable(info: TableInfo | NodeInfo) -> bool:
    fields = info.columns if isinstance(info, TableInfo) else info.properties
    return _is_plain(_name(info)) and any(_is_plain(field.name) for field in fields)


def _is_plain(name: str) -> bool:
    """Whether a name can be written into a file that people edit: nothing in it acts unseen."""
    return bool(name.strip()) and not any(unicodedata.category(sign)[0] == "C" for sign in name)


def _unique(edges: Sequence[EdgeInfo]) -> Iterator[EdgeInfo]:
    """Yield one of the relationships of each type: a scenario's tables have names of their own."""
    seen: set[str] = set()
    for edge in edges:
        if edge.label not in seen:
            seen.add(edge.label)
            yield edge


def words_of(name: str) -> str:
    """Return a name as words: ``customer_order`` is a customer order."""
    if name.isascii():
        return " ".join(words_in(name)) or visible(name)
    return visible(" ".join(name.replace("_", " ").split()))
