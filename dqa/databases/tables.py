"""Write SQL that creates and fills tables, from situations or from Python values.

SQLAlchemy is not used, because it would take longer to generate these statements than the database
takes to run them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from math import isinf
from typing import Any, TypeAlias

from dqa.core.errors import DataError
from dqa.core.schema import quoted
from dqa.core.situation import Column, Schema, Situation, Table, TableSchema
from dqa.databases.errors import one_line
from dqa.databases.namespaces import REFERENCES, ROW_COLUMN, TAG_TABLE, LoadedSituation

_INTEGERS = 1 << 63
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_UNFIT = frozenset({"IntegrityError", "DataError", "ProgrammingError", "ValueError"})
"""The names of the exceptions that drivers raise for values that a table cannot store."""
_LONGEST = 250_000
"""The maximum number of characters of an INSERT with several rows. Servers limit the bytes."""

_ANSI = {
    "boolean": "BOOLEAN",
    "integer": "BIGINT",
    "float": "DOUBLE PRECISION",
    "decimal": "NUMERIC(38, 10)",
    "timestamp": "TIMESTAMP",
    "date": "DATE",
    "text": "TEXT",
    "key": "TEXT",
}
_TYPES: Mapping[str, Mapping[str, str]] = {
    "mysql": _ANSI
    | {
        "float": "DOUBLE",
        "timestamp": "DATETIME(6)",
        "text": "LONGTEXT",
        "key": "VARCHAR(255)",  # an index has at most 3,072 bytes
    },
    "sqlite": _ANSI | {"float": "DOUBLE", "decimal": "DOUBLE", "timestamp": "DATETIME"},
}
"""Types of columns by dialect. ``key`` is the type of a text in a primary or foreign key."""
_KINDS: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "float",
    Decimal: "decimal",
    datetime: "timestamp",
    date: "date",
    str: "text",
}
"""The kind of a column by the Python type of its values."""
_TAG = TableSchema(
    TAG_TABLE,
    (
        *(Column(name, "text") for name in ("scenario", "name", "content_hash")),
        Column("row_count", "integer"),
    ),
    key=(),
)


def quote(dialect: str, *names: str) -> str:
    """Return quoted names, separated by commas."""
    mark = "`" if dialect in {"mysql", "mariadb"} else '"'
    return ", ".join(quoted(name, mark) for name in names)


def table_name(dialect: str, namespace: str | None, table: str) -> str:
    """Return the quoted name of a table, with its schema if there is one."""
    name = quote(dialect, table)
    return f"{quote(dialect, namespace)}.{name}" if namespace else name


def text_literal(text: str, dialect: str) -> str:
    """Return a text as a literal."""
    literal = quoted(text, "'")
    if "\\" in text and dialect in {"mysql", "postgres"}:
        escaped = literal.replace("\\", "\\\\")
        return escaped if dialect == "mysql" else f" E{escaped}"
    return literal


def _float_literal(value: float) -> str:
    """Return a float with an exponent. MySQL would read a number without exponent as a decimal."""
    if isinf(value):
        raise DataError(f"The number {value} cannot be written in SQL.")
    literal = repr(float(value))
    return literal if "e" in literal else f"{literal}e0"


_LITERALS: Mapping[str, Callable[[Any], str]] = {
    "boolean": lambda value: "TRUE" if value else "FALSE",
    "integer": int.__repr__,
    "float": _float_literal,
    # DuckDB reads a number with an exponent, or with more than 38 digits, as a float.
    "decimal": "{:.10f}".format,
    "timestamp": lambda value: f"'{value.isoformat(sep=' ')}'",
    "date": lambda value: f"'{value.isoformat()}'",
}


def _literals(values: Sequence[Any], kind: str, dialect: str) -> list[str]:
    """Return the literals of a column; None and NaN become NULL."""
    if write := _LITERALS.get(kind):
        return ["NULL" if value is None or value != value else write(value) for value in values]  # noqa: PLR0124
    texts = {text: text_literal(text, dialect) for text in {*values} - {None}}
    return [texts.get(text, "NULL") for text in values]


def insert_statements(
    table: str, names: Sequence[str], columns: Sequence[tuple[Sequence[Any], str]], dialect: str
) -> Iterator[str]:
    """Yield INSERT statements with many rows each.

    Parameters
    ----------
    table, names
        The quoted name of the table, and the names of the columns.
    columns
        The values and the kind of each column.
    dialect
        The dialect.

    Raises
    ------
    DataError
        A number is infinite.
    """
    start = f"INSERT INTO {table} ({quote(dialect, *names)}) VALUES "  # noqa: S608
    rows: list[str] = []
    size = 0
    for row in zip(*(_literals(*column, dialect) for column in columns), strict=True):
        written = f"({', '.join(row)})"
        if rows and size + len(written) > _LONGEST:
            yield start + ", ".join(rows)
            rows, size = [], 0
        rows.append(written)
        size += len(written)
    if rows:
        yield start + ", ".join(rows)


def plain_rows(columns: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of some columns as Python values; NaN becomes None."""
    return zip(*map(_without_nan, columns), strict=True)


def _without_nan(values: Any) -> list[Any]:  # noqa: ANN401  (a sequence or an array)
    listed: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return [None if value != value else value for value in listed]  # noqa: PLR0124


# The tables of a situation


def definitions(schema: Schema, dialect: str, namespace: str | None = None) -> Iterator[str]:
    """Yield statements that create the tables of a schema.

    SQLite declares foreign keys, but does not enforce them. In other databases, comments describe
    the foreign keys, because real data may violate declared keys. In MySQL, an additional column
    stores the order of the rows; ``SELECT *`` does not return it.
    """
    links = {
        (edge.table, column): (node.table, node.key_column)
        for edge in schema.edges
        for label, column in (edge.source, edge.target)
        for node in (schema.node(label),)
    }
    indexed = {*links, *links.values()}
    for table in schema.tables:
        keys = {*table.key, *(column for name, column in indexed if name == table.name)}
        own = {column: other for (name, column), other in links.items() if name == table.name}
        yield from _definition(table, keys, own, dialect, namespace)


def _definition(
    table: TableSchema,
    keys: set[str],
    links: Mapping[str, tuple[str, str]],
    dialect: str,
    namespace: str | None = None,
) -> Iterator[str]:
    """Yield the statements that create a table and its comments."""
    types, name = _TYPES.get(dialect, _ANSI), table_name(dialect, namespace, table.name)
    parts: list[str] = []
    comments = {
        column: text_literal(f"{REFERENCES}{'.'.join(other)}", dialect)
        for column, other in links.items()
    }
    for column in table.columns:
        kind = "key" if column.stored == "text" and column.name in keys else column.stored
        parts.append(f"{quote(dialect, column.name)} {types[kind]}")
        if column.name in table.key:
            parts[-1] += " NOT NULL"
        if dialect == "mysql" and column.name in comments:
            parts[-1] += f" COMMENT {comments[column.name]}"
    if dialect == "mysql":
        parts.append(f"{ROW_COLUMN} INT NOT NULL DEFAULT 0 INVISIBLE")
    if table.key:
        parts.append(f"PRIMARY KEY ({quote(dialect, *table.key)})")
    if dialect == "sqlite":
        parts += [
            f"FOREIGN KEY ({quote(dialect, column)}) "
            f"REFERENCES {quote(dialect, other)} ({quote(dialect, key)})"
            for column, (other, key) in links.items()
        ]
    yield f"CREATE TABLE {name} ({', '.join(parts)})"
    if dialect not in {"mysql", "sqlite"}:
        for column_name, comment in comments.items():
            yield f"COMMENT ON COLUMN {name}.{quote(dialect, column_name)} IS {comment}"


def write_situation(  # noqa: PLR0913
    situation: Situation,
    tag: LoadedSituation | None,
    dialect: str,
    *,
    run: Callable[[str], object],
    fill: Callable[[str, Table], object],
    namespace: str | None = None,
) -> None:
    """Create the tables of a situation, fill them and write the tag.

    The tag table is created first and its row is written last. Without a transaction, an empty tag
    table therefore marks an unfinished load.

    Parameters
    ----------
    situation
        The situation.
    tag
        The row of the tag table; None to create no tag table.
    dialect
        The dialect of the database.
    run
        Runs a script.
    fill
        A function that inserts rows into a table. The arguments are the quoted name of the table,
        and at least one row.
    namespace
        The schema that will contain the tables.

    Raises
    ------
    DataError
        A key occurs twice, or the database cannot store a value.
    """
    script = [] if tag is None else [*_definition(_TAG, set(), {}, dialect, namespace)]
    script += definitions(situation.schema, dialect, namespace)
    if dialect == "mysql":  # each definition commits
        script.append("BEGIN")
    run("; ".join(script))
    try:
        for name, rows in situation.tables.items():
            if len(rows):
                fill(table_name(dialect, namespace, name), rows)
    except Exception as error:
        if _UNFIT.isdisjoint(kind.__name__ for kind in type(error).__mro__):
            raise
        raise DataError(
            f"The database cannot store the situation '{situation.name}': {one_line(error)}."
        ) from error
    if tag is not None:
        rows = Table.from_rows(_TAG, [(tag.scenario, tag.name, tag.content_hash, tag.rows)])
        fill(table_name(dialect, namespace, TAG_TABLE), rows)


# Small tables from Python values

Columns: TypeAlias = Mapping[str, Sequence[Any]]
"""A table as a dictionary of columns."""
RowsOfDicts: TypeAlias = Sequence[Mapping[str, Any]]
"""A table as a list of rows; a missing column is NULL."""


def table_script(tables: Mapping[str, Columns | RowsOfDicts], dialect: str) -> str:
    """Return a script that creates and fills tables.

    The values of a column determine its type: bool, int, float, Decimal, str, date or datetime. A
    column of ints and floats is a float column. None is NULL.

    Parameters
    ----------
    tables
        The tables by name; each is a dictionary of columns or a list of rows.
    dialect
        ``sqlite``, ``duckdb``, ``mysql`` or ``postgres``.

    Raises
    ------
    DataError
        Columns have different lengths, the values of a column have different types, a table has no
        column, or some engines cannot store a value exactly. Such values are numbers that are not
        finite, integers of more than 64 bits, Decimals that would be rounded, times with a time
        zone, and texts with NUL.
    """
    return "\n".join(
        f"{statement};"
        for name, content in tables.items()
        for statement in _statements(name, content, dialect)
    )


def _statements(name: str, content: Columns | RowsOfDicts, dialect: str) -> Iterator[str]:
    columns = _columns(name, content)
    for unfit in filter(_problem_of, (name, *columns)):
        raise DataError(f"The name {unfit!r} cannot be used: {_problem_of(unfit)}.")
    lengths = {column: len(values) for column, values in columns.items()}
    if not columns:
        raise DataError(f"Table '{name}' has no columns: give it one row or a dict of columns.")
    if len(set(lengths.values())) > 1:
        raise DataError(f"Table '{name}' has columns of unequal length: {lengths}.")
    kinds = [_kind_of(name, column, values) for column, values in columns.items()]
    types, table = _TYPES.get(dialect, _ANSI), quote(dialect, name)
    typed = (f"{quote(dialect, c)} {types[kind]}" for c, kind in zip(columns, kinds, strict=True))
    yield f"CREATE TABLE {table} ({', '.join(typed)})"
    filled = list(zip(columns.values(), kinds, strict=True))
    yield from insert_statements(table, list(columns), filled, dialect)


def _columns(name: str, content: object) -> Mapping[str, Sequence[Any]]:
    if isinstance(content, Mapping):
        return {column: list(values) for column, values in content.items()}
    if not isinstance(content, Sequence) or not all(isinstance(row, Mapping) for row in content):
        raise DataError(
            f"Table '{name}' must be a dict of columns, or a list of rows that are dicts."
        )
    names = dict.fromkeys(column for row in content for column in row)
    return {column: [row.get(column) for row in content] for column in names}


def _kind_of(table: str, column: str, values: Sequence[Any]) -> str:
    """Return the kind of a column; a column without values is a text column."""
    found: dict[type, int] = {}
    for row, value in enumerate(values, start=1):
        if value is not None:
            found.setdefault(type(value), row)
            if problem := _problem_of(value):
                where = f"Row {row} of column '{column}' of table '{table}'"
                raise DataError(f"{where} cannot be stored: {problem}.")
    if found.keys() == {int, float}:
        return "float"
    if len(found) > 1 or not found.keys() <= _KINDS.keys():
        named = " and ".join(sorted(f"{kind.__name__} (row {row})" for kind, row in found.items()))
        raise DataError(
            f"Column '{column}' of table '{table}' contains values of the types {named}. They "
            "must all have the same type: bool, int, float, Decimal, str, date or datetime."
        )
    return next((_KINDS[kind] for kind in found), "text")


def _problem_of(value: object) -> str:
    """Return the reason why an engine cannot store a value exactly; "" if all engines can."""
    match value:
        case int() if not -_INTEGERS <= value < _INTEGERS:
            return "the number has more than 64 bits"
        case float() | Decimal() if not Decimal(value).is_finite():
            return f"{value} is not a number in SQL"
        # A float, which SQLite uses, and NUMERIC(38, 10) must have exactly this value.
        case Decimal() if not (
            abs(value) < 1e28 and Decimal(repr(float(value))) == value == Decimal(f"{value:.10f}")
        ):
            return "some engines would round the number: round it, or give it as text"
        case datetime() if value.tzinfo is not None:
            return "the time has a time zone: convert it to UTC and remove the zone"
        case str() if _NO_TEXT.search(value):
            return "the text contains NUL or half of a surrogate pair"
    return ""
