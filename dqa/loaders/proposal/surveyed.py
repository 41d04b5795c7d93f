"""What is known of a database that a scenario is proposed for: tables, keys, joins, samples."""

from __future__ import annotations

from dataclasses import dataclass

from dqa.core.display import Value
from dqa.core.situation import ColumnType


@dataclass(frozen=True, slots=True)
class SurveyedColumn:
    """A column or property.

    Attributes
    ----------
    name, described
        Its name, and its type in the database's words.
    type
        What it holds; a guess where the database's type is not known.
    comment, unit
        What the database says of it, and what its name says that it is measured in.
    samples
        Some of its values.
    """

    name: str
    described: str
    type: ColumnType
    comment: str = ""
    unit: str = ""
    samples: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Join:
    """Columns that refer to another table's.

    Attributes
    ----------
    table
        The other table.
    pairs
        Each column and the one that it refers to; several of a key of several columns, which tell
        the other's row together and not one by one.
    guessed
        By name and values, or declared.
    """

    table: str
    pairs: tuple[tuple[str, str], ...]
    guessed: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that refer."""
        return tuple(column for column, _ in self.pairs)


@dataclass(frozen=True, slots=True)
class SurveyedTable:
    """A table; of a graph, the nodes of a label or the relationships of a type.

    Attributes
    ----------
    name, columns, comment
        As the database has them.
    key, key_guessed
        What tells its rows apart, and whether that is declared.
    joins
        Of a table.
    rows
        How many; None where counting takes too long.
    ends
        Of relationships, the labels that they join.
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
        """Return one of its columns."""
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found of a database.

    Attributes
    ----------
    tables
        The likeliest first.
    left_out
        Names of tables that are not proposed.
    """

    tables: tuple[SurveyedTable, ...]
    left_out: tuple[str, ...] = ()

    def table(self, name: str) -> SurveyedTable | None:
        """Return a table, or label, by its name; None where it was not surveyed."""
        return next((one for one in self.tables if one.name == name and one.ends is None), None)
