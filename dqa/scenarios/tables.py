"""Write statements about one table of a scenario, in the language of a live database.

In a graph, the statements read the nodes or edges that represent the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dqa.core.database import Kind
from dqa.core.errors import DataError
from dqa.core.schema import quote_name, sql_name
from dqa.core.situation import Cell, ColumnType, Schema, TableSchema
from dqa.databases.tables import quote
from dqa.scenarios.parameters import read_value, text_of, type_of_column
from dqa.scenarios.statements import cypher_literal, sql_literal


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table of a scenario, spelled for one database. `table_in` creates it.

    Attributes
    ----------
    table
        The schema of the table in the scenario.
    is_graph, dialect
        Whether the database is a graph, and the dialect of the database.
    source
        The clause that reads the rows: ``FROM branch``, ``MATCH (n:Branch)``.
    spelled
        For each column, the expression that reads its value.
    element
        The variable of a row's node or edge in a graph's statement.
    """

    table: TableSchema
    is_graph: bool
    dialect: str
    source: str
    spelled: Mapping[str, str]
    element: str = ""

    def column(self, name: str) -> str:
        """Return the expression of a column. Raise `DataError` if the graph lacks the column."""
        if name not in self.spelled:
            raise DataError(
                f"The column '{name}' of table '{self.table.name}' is not mapped to a property of "
                "the graph: add the property under [[nodes]] or [[edges]] of scenario.toml."
            )
        return self.spelled[name]

    def literal(self, name: str, text: str) -> str | None:
        """Convert a text to a literal of a column's type; None if this is impossible."""
        kind = self.table.column(name).type
        try:
            value = read_value(name, text, type_of_column(kind))
        except DataError:
            return None
        if not self.is_graph:
            return sql_literal(value)
        if kind in _CONVERTED.get(self.dialect, ()):
            return f"{kind}({cypher_literal(text_of(value))})"
        return cypher_literal(value)

    def equals(self, name: str, text: str) -> str | None:
        """Return the condition that a column has a value; None if the column cannot have it."""
        literal = self.literal(name, text)
        if literal is None:
            return None
        value = self.column(name)
        if self.dialect == "neo4j" and self.table.column(name).type in _TEXT_IN_NEO4J:
            value = f"toString({value})"
        return f"{value} = {literal}"

    def listing(self, name: str, conditions: Sequence[str], most: int | None = None) -> str:
        """Return the statement that lists a column's distinct values, without NULL.

        Parameters
        ----------
        name
            The column.
        conditions
            Conditions for the rows.
        most
            The maximum number of values; None for all.
        """
        value = self.column(name)
        condition = " AND ".join((f"{value} IS NOT NULL", *conditions))
        # An unknown dialect may spell LIMIT differently. The limits of the query apply anyway.
        limit = "" if most is None or self.dialect == "ansi" else f" LIMIT {most}"
        if self.is_graph:
            return (
                f"{self.source} WHERE {condition} RETURN DISTINCT {value} AS listed ORDER BY listed"
                f"{limit}"
            )
        rows = f"{self.source} WHERE {condition}"
        return f"SELECT DISTINCT {value} AS listed {rows} ORDER BY listed{limit}"


_TEXT_IN_NEO4J = frozenset({"timestamp", "time", "interval"})
"""Types that Neo4j divides into several types, so their values are compared as texts."""


_CONVERTED: Mapping[str, frozenset[ColumnType]] = {
    "neo4j": frozenset({"date"}),
    "ladybug": frozenset({"date", "timestamp", "uuid", "interval"}),
}
"""The types whose name is also a function that converts texts, by dialect."""


def table_in(schema: Schema, name: str, kind: Kind, dialect: str) -> LiveTable:
    """Return a scenario's table in the spelling of a database's kind and dialect.

    In the dialect ``ansi``, a name is quoted only if it needs quotes.

    Raises
    ------
    DataError
        The database is a graph, and the table is neither nodes nor edges of it.
    """
    table = schema.table(name)
    if kind == "relational":
        # SQLite reads an unknown quoted name as a text, unless a table's name precedes it.
        source = name_in(dialect, name)
        spelled = {column: f"{source}.{name_in(dialect, column)}" for column in table.column_names}
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
        f"Table '{name}' is not mapped to nodes or edges of the graph: add it under [[nodes]] or "
        "[[edges]] of scenario.toml."
    )


def order_of(cell: Cell) -> tuple[bool, float, str]:
    """Return a sort key.

    Numbers come first, sorted by size. Texts follow, sorted by their characters.

    This order replaces the server's order of texts, which depends on the server's locale.
    """
    if isinstance(cell, int | float):
        return False, cell, ""
    return True, 0.0, "" if cell is None else cell


def name_in(dialect: str, name: str) -> str:
    """Return the name of a table or column in the spelling of a relational dialect."""
    # Databases of other dialects may fold unquoted names to capitals.
    if dialect == "ansi":
        return sql_name(name)
    return quote(dialect, name)
