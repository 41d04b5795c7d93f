"""Read the tables that a scenario is likely to need, with keys, joins and samples."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dqa.core.database import Database, Limits, Rows
from dqa.core.display import Value
from dqa.core.errors import QueryError, UsageError
from dqa.core.fitting import rank_parts, words_in
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo, Part, TableInfo
from dqa.core.situation import ColumnType
from dqa.core.text import visible
from dqa.loaders.proposal.guesses import is_personal
from dqa.scenarios.column_types import column_type

MOST_TABLES = 12
"""The maximum number of proposed tables or labels, unless the user names them."""
_SAMPLES, _LOOKED_AT, _LONGEST = 3, 50, 40
_TRIED = 8
"""The number of columns to try as the key if a table has no declared key."""
_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SurveyedColumn:
    """A column or property.

    Attributes
    ----------
    type
        The type of the column in a scenario. It is derived from the column's type in the database,
        or, if that type is unknown, from the sample values.
    samples
        Sample values of the column.
    """

    name: str
    described: str
    type: ColumnType
    comment: str = ""
    samples: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Join:
    """A reference to another table.

    Each pair contains a referring column, and the referenced column of the other table.
    """

    table: str
    pairs: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The referring columns."""
        return tuple(column for column, _ in self.pairs)


@dataclass(frozen=True, slots=True)
class SurveyedTable:
    """A table, or in a graph the nodes of a label or the relationships of a type.

    Attributes
    ----------
    key_guessed
        Whether the key is a guess, because the database declares no key.
    rows
        The number of rows; None if counting takes too long.
    ends
        For relationships of a graph: the labels that they join.
    """

    name: str
    columns: tuple[SurveyedColumn, ...]
    key: tuple[str, ...] = ()
    key_guessed: bool = False
    joins: tuple[Join, ...] = ()
    rows: int | None = None
    comment: str = ""
    ends: tuple[str, str] | None = None

    def column(self, name: str) -> SurveyedColumn:
        """Return a column of the table."""
        return next(column for column in self.columns if column.name == name)


class Survey:
    """Reads the tables of a database for a proposal. Each statement has limits.

    Parameters
    ----------
    database
        The database. Its policy limits what the survey reads.
    about
        The words of a question; may be empty.
    every
        Whether to survey all tables; otherwise, only the most likely tables are surveyed.

    Attributes
    ----------
    tables
        The tables of the proposal, the most likely first.
    left_out
        The names of the tables that the proposal does not describe.

    Raises
    ------
    UsageError
        No table can be described.
    """

    def __init__(self, database: Database, about: str, *, every: bool) -> None:
        self.database, self.is_graph = database, database.kind == "graph"
        schema = self.database.schema()
        parts: list[TableInfo | NodeInfo] = [*schema.tables, *schema.nodes]
        infos = [info for info in parts if _is_plain(info.name) and _plain_columns(info)]
        if not infos:
            raise UsageError(f"'{self.database.name}' has no table or label that can be read.")
        chosen = self._ranked(schema, infos, about)[: None if every else MOST_TABLES]
        tables = [self._table(info) for info in chosen]
        labels = {table.name for table in tables}
        first: dict[str, EdgeInfo] = {}  # the first edge of each relationship type
        for edge in schema.edges:
            first.setdefault(edge.label, edge)
        tables += [
            self._edge(edge)
            for edge in first.values()
            if {edge.source, edge.target} <= labels and _is_plain(edge.label)
        ]
        names = {table.name for table in tables}
        self.tables = tuple(tables)
        self.left_out = tuple(info.name for info in parts if info.name not in names)

    def table(self, name: str) -> SurveyedTable | None:
        """Return a table or label by its name; None if it was not surveyed."""
        return next((one for one in self.tables if one.name == name and one.ends is None), None)

    def _ranked(
        self, schema: DatabaseSchema, infos: Sequence[TableInfo | NodeInfo], about: str
    ) -> list[TableInfo | NodeInfo]:
        """Return the tables, the most likely first.

        The tables are ranked by the words of the question. Without a question, they are ranked by
        their number of joins.
        """
        if about:
            usable = {info.name: info for info in infos}
            return [
                usable[part.name]
                for part in rank_parts(schema, about)[0]
                if not isinstance(part, EdgeInfo) and part.name in usable
            ]
        degree: Counter[str] = Counter()
        for table in schema.tables:
            for _, other, _ in table.references:
                degree.update([other, other, table.name])
        for edge in schema.edges:
            degree.update([edge.source, edge.target])
        return sorted(infos, key=lambda info: (-degree[info.name], info.name))

    # --- one table ---

    def _table(self, info: TableInfo | NodeInfo) -> SurveyedTable:
        columns, rows = _plain_columns(info), self.count(info.name)
        names = {column.name for column in columns}
        joins: list[Join] = []
        declared = (info.key,) if isinstance(info.key, str) else info.key or ()
        if isinstance(info, TableInfo):
            joins = [join for join in self._joins(info) if names.issuperset(join.columns)]
        key = declared if names.issuperset(declared) else ()
        table = SurveyedTable(info.name, columns, key, not key, tuple(joins), rows, info.comment)
        return self._sampled(replace(table, key=key or self._key(table)))

    def _edge(self, info: EdgeInfo) -> SurveyedTable:
        ends, columns = (info.source, info.target), _plain_columns(info)
        return self._sampled(SurveyedTable(info.label, columns, comment=info.comment, ends=ends))

    def _joins(self, info: TableInfo) -> Iterator[Join]:
        """Yield the declared joins of a table.

        Consecutive references to the same table become one join with several columns. A repeated
        column starts a new join, and so does a reference to a key of one column.
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

    def _key(self, table: SurveyedTable) -> tuple[str, ...]:
        """Return the first column whose values are unique; if there is none, all columns."""
        fit = [c.name for c in table.columns if c.type in ("integer", "text", "uuid")][:_TRIED]
        counts = self.distinct(table.name, fit) if table.rows else {}
        for column in fit:
            if counts.get(column) == (table.rows, table.rows):
                return (column,)
        whole = tuple(c.name for c in table.columns if c.type not in ("json", "array"))
        return whole if whole and not self.is_graph else (table.columns[0].name,)

    def _sampled(self, table: SurveyedTable) -> SurveyedTable:
        """Return a table with samples of each column."""
        if not table.columns:
            return table
        values = [self.value(column.name) for column in table.columns]
        by = ", ".join(map(self.value, table.key or (table.columns[0].name,)))
        # A type may have no order. A view that takes long to count also takes long to sort.
        orders = [""] if table.key_guessed and table.rows is None else [f" ORDER BY {by}", ""]
        limit = "" if self.database.dialect == "ansi" else f" LIMIT {_LOOKED_AT}"
        tried = (self.ask(f"{self.select(table, values)}{order}{limit}") for order in orders)
        rows = next(filter(None, tried), None)
        found: list[list[Value]] = [[] for _ in table.columns]
        for row in rows.rows if rows is not None else ():
            for seen, value in zip(found, row, strict=True):
                if value is not None and value not in seen:
                    seen.append(value)
        columns = (_with_samples(*one) for one in zip(table.columns, found, strict=True))
        return replace(table, columns=tuple(columns))

    # --- statements ---

    def spelled(self, name: str) -> str:
        """Return a name with quotes only if this database needs them."""
        return self.database.schema().spell(name)

    def value(self, column: str) -> str:
        """Return the SQL expression of a column, for a statement that `select` creates."""
        return f"e.{self.spelled(column)}"

    def select(self, table: SurveyedTable, values: Sequence[str]) -> str:
        """Return the statement that reads values of a table, with the alias `e` for the table."""
        listed, name = ", ".join(values), self.spelled(table.name)
        if not self.is_graph:
            return f"SELECT {listed} FROM {name} e"  # noqa: S608
        if table.ends is None:
            return f"MATCH (e:{name}) RETURN {listed}"
        source, target = map(self.spelled, table.ends)
        return f"MATCH (:{source})-[e:{name}]->(:{target}) RETURN {listed}"

    def count(self, name: str) -> int | None:
        """Return the number of rows or nodes; None if counting takes too long."""
        rows = self.ask(self.select(SurveyedTable(name, ()), ["COUNT(*)"]))
        return None if rows is None else int(str(rows.rows[0][0]))

    def distinct(self, name: str, columns: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Return, for each column, the number of values (without NULL) and of distinct values.

        The result is empty if counting takes too long.
        """
        values = [self.value(column) for column in columns]
        counts = [f"COUNT({value}), COUNT(DISTINCT {value})" for value in values]
        rows = self.ask(self.select(SurveyedTable(name, ()), counts)) if columns else None
        if rows is None:
            return {}
        cells = [int(str(cell)) for cell in rows.rows[0]]
        return dict(zip(columns, zip(cells[::2], cells[1::2], strict=True), strict=True))

    def summed(self, table: SurveyedTable, column: str, value: str) -> str:
        """Return the expression for the sum of a column.

        `value` is the expression of the column.
        """
        if self.database.dialect == "ladybug" and table.column(column).type == "decimal":
            value = f"CAST({value} AS DOUBLE)"  # LadybugDB cannot add decimals
        return f"SUM({value})"

    def ask(self, statement: str) -> Rows | None:
        """Run a statement. Return None if it takes too long, or the policy refuses it."""
        limits = Limits(rows=_LOOKED_AT, seconds=_SECONDS, cell=_LONGEST)
        try:
            return self.database.query(statement, limits)
        except QueryError:
            return None


def _with_samples(column: SurveyedColumn, values: Sequence[Value]) -> SurveyedColumn:
    """Return a column with sample values, which determine its type if the type is unknown.

    A column with personal data has no samples.
    """
    samples = () if is_personal(column.name) else tuple(values[:_SAMPLES])
    kinds = {type(value) for value in values}
    if column_type(column.described) is not None or not kinds or not kinds <= {int, float}:
        return replace(column, samples=samples)
    kind: ColumnType = "integer" if kinds == {int} else "float"
    return replace(column, samples=samples, type=kind)


def _plain_columns(info: Part) -> tuple[SurveyedColumn, ...]:
    return tuple(
        SurveyedColumn(field.name, field.type, column_type(field.type) or "text", field.comment)
        for field in info.fields
        if _is_plain(field.name)
    )


def _is_plain(name: str) -> bool:
    """Return whether a name has no control characters, so that people can edit it."""
    return bool(name.strip()) and not any(unicodedata.category(sign)[0] == "C" for sign in name)


def words_of(name: str) -> str:
    """Return a name as words: ``customer_order`` becomes ``customer order``."""
    if name.isascii():
        return " ".join(words_in(name)) or visible(name)
    return visible(" ".join(name.replace("_", " ").split()))
