"""Statements over one table of a scenario, in the language of a live database.

In a relational database it is a table; in a graph it is the nodes or edges of its mapping.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dqa.core.database import Database, Kind
from dqa.core.errors import DataError
from dqa.core.schema import quote_name, sql_name
from dqa.core.situation import Cell, ColumnType, Schema, TableSchema
from dqa.scenarios.parameters import read_value, text_of, type_of_column
from dqa.scenarios.statements import cypher_literal, sql_literal


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table of a scenario in the spelling of one database; `live_table` creates it.

    Attributes
    ----------
    table
        Its schema in the scenario.
    is_graph, dialect
        Of the database.
    source
        The source of its rows: ``FROM branch``, ``MATCH (n:Branch)``.
    spelled
        By column, the expression of its value in a row.
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
        """Return the expression of a column's value; `DataError` if the graph lacks it."""
        if name not in self.spelled:
            raise DataError(
                f"The graph's reading of table '{self.table.name}' has no property for its column "
                f"'{name}': name one under [[nodes]] or [[edges]] of scenario.toml."
            )
        return self.spelled[name]

    def type_of(self, name: str) -> ColumnType:
        """Return the type of a column."""
        return self.table.column(name).type

    def literal(self, name: str, text: str) -> str | None:
        """Return a text as a literal of a column's type; None if it is not of the type."""
        kind = self.type_of(name)
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
        """Return the condition that a column has a value; None if it cannot have it."""
        literal = self.literal(name, text)
        if literal is None:
            return None
        value = self.column(name)
        if self.is_graph and self.dialect == "neo4j" and self.type_of(name) in _TEXT_IN_NEO4J:
            value = f"toString({value})"
        return f"{value} = {literal}"

    def listing(self, name: str, conditions: Sequence[str], most: int | None = None) -> str:
        """Return the statement that lists a column's different values, without NULL.

        Parameters
        ----------
        name
            The column.
        conditions
            Conditions for the rows.
        most
            Most values; None for all.
        """
        value = self.column(name)
        kept = " AND ".join((f"{value} IS NOT NULL", *conditions))
        # Dialects spell it differently; the limits of the query apply as well.
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
        """Return a quotient; NULL if the divisor is 0."""
        if self.is_graph:
            return f"(CASE WHEN {divisor} = 0 THEN NULL ELSE {dividend} / {divisor} END)"
        return f"({dividend} / NULLIF({divisor}, 0))"

    def _double(self, value: str) -> str:
        if self.dialect == "neo4j":
            return f"toFloat({value})"
        return f"CAST({value} AS {_DOUBLES.get(self.dialect, 'DOUBLE PRECISION')})"


_SIGNS: Mapping[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_UNARY: Mapping[type[ast.AST], str] = {ast.USub: "-", ast.UAdd: "+"}
_DOUBLES: Mapping[str, str] = {
    "duckdb": "DOUBLE",
    "ladybug": "DOUBLE",
    "mariadb": "DOUBLE",
    "mysql": "DOUBLE",
    "sqlite": "REAL",
}
_TEXT_IN_NEO4J = frozenset({"timestamp", "time", "interval"})
"""Types that are several types in Neo4j, with the same texts."""


_CONVERTED: Mapping[str, frozenset[ColumnType]] = {
    "neo4j": frozenset({"date"}),
    "ladybug": frozenset({"date", "timestamp", "uuid", "interval"}),
}
"""By dialect, the types whose function of the same name turns a text into a value."""


def live_table(schema: Schema, name: str, database: Database) -> LiveTable:
    """Return a scenario's table in the spelling of a live database.

    Raises
    ------
    DataError
        The database is a graph, and the table is neither nodes nor edges of it.
    """
    return table_in(schema, name, database.kind, database.dialect)


def table_in(schema: Schema, name: str, kind: Kind, dialect: str) -> LiveTable:
    """Return a scenario's table in the spelling of a dialect; errors are those of `live_table`.

    The dialect ``ansi`` quotes a name only if it has to.
    """
    table = schema.table(name)
    if kind == "relational":
        # With the table's name, because SQLite reads an unknown quoted name as a text.
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
        f"Table '{name}' is neither nodes nor edges of the graph: map its rows under [[nodes]] or "
        "[[edges]] of scenario.toml."
    )


def quoted_for(database: Database, name: str) -> str:
    """Return the name of a table or column in the spelling of a relational database."""
    return _name(database.dialect, name)


def graph_columns(schema: Schema, name: str) -> frozenset[str]:
    """Return the columns of a table in the graph mapping; none for an unmapped table."""
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
    """Return a sort key: numbers by size, then texts by their characters.

    A server's own order of texts depends on its locale.
    """
    if isinstance(cell, int | float):
        return False, cell, ""
    return True, 0.0, "" if cell is None else cell


def _name(dialect: str, name: str) -> str:
    # Databases of other dialects may fold unquoted names to capitals.
    if dialect == "ansi":
        return sql_name(name)
    from dqa.databases.tables import quote  # it imports SQLAlchemy

    return quote(dialect, name)


class Formula:
    """An outcome as a formula over a row's columns: names, numbers, ``+ - * /`` and brackets.

    It becomes part of a statement with double numbers, so every database returns the same values.

    Raises
    ------
    DataError
        The text is not a formula.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise DataError(f"'{text}' is not a formula; write e.g. 'revenue - cost'") from error
        self.columns = self._names(self._tree)
        """The different columns of the formula, in the order of the text."""

    def _names(self, tree: ast.AST) -> tuple[str, ...]:
        match tree:
            case ast.BinOp(left, op, right) if type(op) in _SIGNS:
                return tuple(dict.fromkeys((*self._names(left), *self._names(right))))
            case ast.UnaryOp(op, operand) if type(op) in _UNARY:
                return self._names(operand)
            case ast.Name(name):
                return (name,)
            case ast.Constant(value) if type(value) in (int, float):
                return ()
        raise DataError(
            f"the formula '{self.text}' has more than columns, numbers, + - * / and brackets; "
            'write the outcome as a query instead (source = "query")'
        )

    def expression(self, table: LiveTable) -> str:
        """Return the formula as an expression over a live table; NULL for a division by 0.

        Raises
        ------
        DataError
            A graph has no property for a column.
        """
        return self._spelled(self._tree, table)

    def _spelled(self, tree: ast.AST, table: LiveTable) -> str:
        match tree:
            case ast.BinOp(left, ast.Div(), right):
                return table.divided(self._spelled(left, table), self._spelled(right, table))
            case ast.BinOp(left, op, right):
                sides = self._spelled(left, table), self._spelled(right, table)
                return f"({f' {_SIGNS[type(op)]} '.join(sides)})"
            case ast.UnaryOp(op, operand):
                return f"({_UNARY[type(op)]} {self._spelled(operand, table)})"
            case ast.Name(name):
                return table.number(name)
            case ast.Constant(int() | float() as number):
                return table.constant(float(number))
        raise AssertionError(f"the constructor lets no {tree!r} through")
