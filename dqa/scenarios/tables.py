"""Statements over one table of a scenario, in the language of the live database that holds it.

A table is a table of a relational database; of a graph, the nodes or edges that its rows read as.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dqa.core.cypher import quote_name
from dqa.core.database import Database, Kind
from dqa.core.errors import DataError
from dqa.core.schema import sql_name
from dqa.core.situation import Cell, ColumnType, Schema, TableSchema
from dqa.databases.tables import quote
from dqa.scenarios.parameters import Scalar, read_value, text_of, type_of_column
from dqa.scenarios.statements import cypher_literal, sql_literal


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table of a scenario as statements of one database have to spell it. Made by `live_table`.

    Attributes
    ----------
    table
        As the scenario describes it.
    is_graph, dialect
        Of the database.
    source
        What the rows are read from: ``FROM branch``, ``MATCH (n:Branch)``.
    spelled
        By column, the expression of its value in a row.
    element
        What a graph's statement calls the node or edge that is a row.
    """

    table: TableSchema
    is_graph: bool
    dialect: str
    source: str
    spelled: Mapping[str, str]
    element: str = ""

    def column(self, name: str) -> str:
        """Return the expression of a column's value; `DataError` where the graph lacks it."""
        if name not in self.spelled:
            raise DataError(
                f"The graph's reading of table '{self.table.name}' has no property for its column "
                f"'{name}': name one under [[nodes]] or [[edges]] of scenario.toml."
            )
        return self.spelled[name]

    def type_of(self, name: str) -> ColumnType:
        """Return what a column holds."""
        return self.table.column(name).type

    def literal(self, name: str, text: str) -> str | None:
        """Return a value of a column as a literal; None where no value of it reads so."""
        kind = type_of_column(self.type_of(name))
        try:
            value = read_value(name, text, kind)
        except DataError:
            return None
        if not self.is_graph:
            return sql_literal(value)
        return _CYPHER.get((self.dialect, self.type_of(name)), _plain)(value)

    def equals(self, name: str, text: str) -> str | None:
        """Return the condition that a column has a value; None where none can be that."""
        literal = self.literal(name, text)
        if literal is None:
            return None
        value = self.column(name)
        if self.is_graph and self.dialect == "neo4j" and self.type_of(name) in _TEXT_IN_NEO4J:
            value = f"toString({value})"
        return f"{value} = {literal}"

    def begins(self, name: str, start: str) -> str:
        """Return the condition that a column's text begins so."""
        if self.is_graph:
            return f"{self.column(name)} STARTS WITH {cypher_literal(start)}"
        return f"{self.column(name)} LIKE {sql_literal(start + '%')}"

    def listing(self, name: str, conditions: Sequence[str], most: int | None = None) -> str:
        """Return the statement that lists a column's values, each once and NULL never.

        Parameters
        ----------
        name
            The column.
        conditions
            What the rows have to fulfil.
        most
            Most values; None for all.
        """
        value = self.column(name)
        kept = " AND ".join((f"{value} IS NOT NULL", *conditions))
        # Where nothing says it in every dialect, the limits of the query do.
        limit = "" if most is None or self.dialect == "ansi" else f" LIMIT {most}"
        if self.is_graph:
            return (
                f"{self.source} WHERE {kept} RETURN DISTINCT {value} AS listed ORDER BY listed"
                f"{limit}"
            )
        rows = f"{self.source} WHERE {kept}"
        return f"SELECT DISTINCT {value} AS listed {rows} ORDER BY listed{limit}"

    def number(self, name: str) -> str:
        """Return the expression of a column's value as a double."""
        value = self.column(name)
        if self.type_of(name) == "boolean":
            one, nothing = self.constant(1.0), self.constant(0.0)
            return f"CASE WHEN {value} THEN {one} WHEN NOT {value} THEN {nothing} END"
        return self._double(value)

    def constant(self, value: float) -> str:
        """Return a number as a double."""
        return self._double(repr(value))

    def divided(self, dividend: str, divisor: str) -> str:
        """Return a quotient, which is NULL where the divisor is 0."""
        if self.is_graph:
            return f"(CASE WHEN {divisor} = 0 THEN NULL ELSE {dividend} / {divisor} END)"
        return f"({dividend} / NULLIF({divisor}, 0))"

    def _double(self, value: str) -> str:
        if self.dialect == "neo4j":
            return f"toFloat({value})"
        return f"CAST({value} AS {_DOUBLES.get(self.dialect, 'DOUBLE PRECISION')})"


_DOUBLES: Mapping[str, str] = {
    "duckdb": "DOUBLE",
    "ladybug": "DOUBLE",
    "mariadb": "DOUBLE",
    "mysql": "DOUBLE",
    "sqlite": "REAL",
}
_TEXT_IN_NEO4J = frozenset({"timestamp", "time", "interval"})
"""Types of which Neo4j has several, whose texts are alike."""


def _plain(value: Scalar) -> str:
    return cypher_literal(value)


def _called(function: str) -> Callable[[Scalar], str]:
    return lambda value: f"{function}({cypher_literal(text_of(value))})"


_CYPHER: Mapping[tuple[str, ColumnType], Callable[[Scalar], str]] = {
    ("neo4j", "date"): _called("date"),
    ("ladybug", "date"): _called("date"),
    ("ladybug", "timestamp"): _called("timestamp"),
    ("ladybug", "uuid"): _called("uuid"),
    ("ladybug", "interval"): _called("interval"),
}
"""By dialect and type, what a text has to be made before a value is compared with it."""


def live_table(schema: Schema, name: str, database: Database) -> LiveTable:
    """Return how statements on a live database spell a scenario's table.

    Raises
    ------
    DataError
        The database is a graph, of which the table is neither nodes nor edges.
    """
    return table_in(schema, name, database.kind, database.dialect)


def table_in(schema: Schema, name: str, kind: Kind, dialect: str) -> LiveTable:
    """Return how statements in a dialect spell a scenario's table; `DataError` as `live_table`.

    The dialect ``ansi`` quotes a name only where it has to.
    """
    table = schema.table(name)
    if kind == "relational":
        # With the table's name: alone, a quoted column that is not there is a text in SQLite.
        source = _name(dialect, name)
        spelled = {column: f"{source}.{_name(dialect, column)}" for column in table.column_names}
        return LiveTable(table, False, dialect, f"FROM {source}", spelled)
    for node in schema.nodes:
        if node.table == name:
            spelled = {column: f"n.{quote_name(prop)}" for prop, column in node.properties}
            return LiveTable(
                table, True, dialect, f"MATCH (n:{quote_name(node.label)})", spelled, "n"
            )
    for edge in schema.edges:
        if edge.table == name:
            (source, from_column), (target, to_column) = edge.source, edge.target
            # In the order in which a writer tells that of the rows.
            spelled = {
                from_column: f"a.{quote_name(schema.node(source).key)}",
                to_column: f"b.{quote_name(schema.node(target).key)}",
                **{column: f"r.{quote_name(prop)}" for prop, column in edge.properties},
            }
            pattern = (
                f"MATCH (a:{quote_name(source)})-[r:{quote_name(edge.label)}]->"
                f"(b:{quote_name(target)})"
            )
            return LiveTable(table, True, dialect, pattern, spelled, "r")
    raise DataError(
        f"Table '{name}' is neither nodes nor edges of the graph: say under [[nodes]] or [[edges]] "
        "of scenario.toml how its rows read."
    )


def quoted_for(database: Database, name: str) -> str:
    """Return the name of a table or column as statements of a relational database spell it."""
    return _name(database.dialect, name)


def graph_columns(schema: Schema, name: str) -> frozenset[str]:
    """Return the columns of a table that a graph's reading has; none where it has no such table."""
    for node in schema.nodes:
        if node.table == name:
            return frozenset(column for _, column in node.properties)
    for edge in schema.edges:
        if edge.table == name:
            return frozenset(
                (edge.source[1], edge.target[1], *(column for _, column in edge.properties))
            )
    return frozenset()


def order_of(cell: Cell) -> tuple[bool, float, str]:
    """Return what puts numbers in the order of their size, and texts in that of their characters.

    A server's own order of texts hangs on its locale.
    """
    if isinstance(cell, int | float):
        return False, cell, ""
    return True, 0.0, "" if cell is None else cell


def _name(dialect: str, name: str) -> str:
    # Databases of other dialects may fold names that stand between no quotes to capitals.
    return sql_name(name) if dialect == "ansi" else quote(dialect, name)
