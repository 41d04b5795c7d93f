"""Writes the example's warehouse into a database, each by the way that it takes rows fastest."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.csv
from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, inspect, make_url, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import (
    CreateIndex,
    CreateTable,
    ExecutableDDLElement,
    SetColumnComment,
    SetTableComment,
)

from examples.warehouse_shape import Rows
from examples.warehouse_tables import (
    METADATA,
    NODES,
    RELATIONSHIPS,
    node_columns,
    relationship_columns,
)

_BATCH = 10_000
"""Rows that a server is sent at once."""

Writer: TypeAlias = Callable[[Rows, str], None]


class NotEmptyError(Exception):
    """Something is there already, which is not ours to replace."""


def writer_for(target: str) -> Writer:
    """Return what writes into a database: a URL, or a file that is called after its engine."""
    if "://" in target:
        scheme = target.partition("://")[0].partition("+")[0]
        if scheme not in _BY_SCHEME:
            raise ValueError(f"no warehouse can be made in {scheme}: take {', '.join(_BY_SCHEME)}")
        return _BY_SCHEME[scheme]
    return _BY_SUFFIX.get(Path(target).suffix, write_sqlite)


def _new_file(target: str) -> Path:
    file = Path(target)
    if file.exists():
        raise NotEmptyError(f"{file} is there already: name another file, or remove it.")
    return file


def _values(rows: pa.Table, convert: Mapping[pa.DataType, Callable[[Any], Any]]) -> Iterator[Any]:
    """Yield a table's rows as tuples."""
    columns = []
    for column in rows.columns:
        values = column.to_pylist()
        change = next((f for kind, f in convert.items() if _is(column.type, kind)), None)
        if change is not None:
            values = [None if value is None else change(value) for value in values]
        columns.append(values)
    yield from zip(*columns, strict=True)


def _in_order(rows: Rows, table: Table) -> pa.Table:
    return rows[table.name].select([column.name for column in table.columns])


def _is(kind: pa.DataType, wanted: pa.DataType) -> bool:
    both_decimal = pa.types.is_decimal(kind) and pa.types.is_decimal(wanted)
    return bool(both_decimal or kind.equals(wanted))


_DECIMAL = pa.decimal128(10, 2)
_DATE = pa.date32()


# --- relational ---


def write_sqlite(rows: Rows, target: str) -> None:
    """Write a SQLite file. It has no decimals and no dates: they are numbers and ISO texts."""
    engine = create_engine(f"sqlite:///{_new_file(target)}")
    METADATA.create_all(engine)
    convert = {_DECIMAL: float, _DATE: str}
    with engine.begin() as connection:
        for table in METADATA.sorted_tables:
            marks = ", ".join("?" for _ in table.columns)
            statement = f"INSERT INTO {table.name} VALUES ({marks})"  # noqa: S608  (our own names)
            cursor = connection.connection.cursor()
            cursor.executemany(statement, list(_values(_in_order(rows, table), convert)))
        connection.execute(text("ANALYZE"))
    engine.dispose()


def write_duckdb(rows: Rows, target: str) -> None:
    """Write a DuckDB file."""
    import duckdb

    with duckdb.connect(str(_new_file(target))) as connection:
        for element in _definitions():
            written = str(element.compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
            connection.execute(written.replace("JSONB", "JSON"))
        for table in METADATA.sorted_tables:
            connection.register("given", _in_order(rows, table))
            connection.execute(f"INSERT INTO {table.name} SELECT * FROM given")  # noqa: S608
            connection.unregister("given")


def _definitions() -> Iterator[ExecutableDDLElement]:
    for table in METADATA.sorted_tables:
        yield CreateTable(table)
        yield SetTableComment(table)
        for column in table.columns:
            if column.comment:
                yield SetColumnComment(column)
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield CreateIndex(index)


def write_postgres(rows: Rows, target: str) -> None:
    """Write into a schema of PostgreSQL, which ``?schema=`` names, by COPY."""
    url = make_url(target).set(drivername="postgresql+psycopg")
    schema = url.query.get("schema")
    engine = create_engine(url.difference_update_query(["schema"]))
    if schema is not None:
        _use_schema(engine, str(schema))
    _create(engine)
    with engine.begin() as connection:
        for table in METADATA.sorted_tables:
            cursor = connection.connection.cursor()
            with cursor.copy(f"COPY {table.name} FROM STDIN (FORMAT csv)") as copy:
                copy.write(_csv(_in_order(rows, table)))
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("ANALYZE"))
    engine.dispose()


def _use_schema(engine: Engine, schema: str) -> None:
    quoted = '"' + schema.replace('"', '""') + '"'

    @event.listens_for(engine, "connect")
    def use(connection: Any, _record: object) -> None:  # noqa: ANN401  (the driver's)
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted}")
            cursor.execute(f"SET search_path TO {quoted}")
        connection.commit()


def _csv(rows: pa.Table) -> bytes:
    written = io.BytesIO()
    pyarrow.csv.write_csv(rows, written, pyarrow.csv.WriteOptions(include_header=False))
    return written.getvalue()


def write_mysql(rows: Rows, target: str) -> None:
    """Write into a database of MariaDB or MySQL, by INSERTs of many rows."""
    engine = create_engine(make_url(target).set(drivername="mysql+pymysql"))
    _create(engine)
    with engine.begin() as connection:
        connection.execute(text("SET foreign_key_checks = 0, unique_checks = 0"))
        for table in METADATA.sorted_tables:
            marks = ", ".join("%s" for _ in table.columns)
            statement = f"INSERT INTO {table.name} VALUES ({marks})"  # noqa: S608  (our own names)
            values = list(_values(_in_order(rows, table), {}))
            cursor = connection.connection.cursor()
            for batch in _batches(values):
                cursor.executemany(statement, batch)
        _analyse_tables(connection)
    engine.dispose()


def _analyse_tables(connection: Connection) -> None:
    named = ", ".join(table.name for table in METADATA.sorted_tables)
    connection.execute(text(f"ANALYZE TABLE {named}"))


def _create(engine: Engine) -> None:
    there = {*inspect(engine).get_table_names()} & {*METADATA.tables}
    if there:
        raise NotEmptyError(
            f"{_shown(engine.url)} has a table '{min(there)}' already: name another schema or "
            "database, or drop it."
        )
    METADATA.create_all(engine)


def _shown(url: URL) -> str:
    return url.render_as_string(hide_password=True)


def _batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]


# --- graphs ---


def write_ladybug(rows: Rows, target: str) -> None:
    """Write a LadybugDB file: each label and each type of relationship by one COPY."""
    import ladybug

    database = ladybug.Database(str(_new_file(target)))
    with ladybug.Connection(database) as connection:
        for label, table in NODES.items():
            columns = node_columns(label)
            given = _plain(rows[table].select(columns))
            declared = ", ".join([*_declared(given), f"PRIMARY KEY ({columns[0]})"])
            connection.execute(f"CREATE NODE TABLE {label} ({declared})")
            connection.execute(f"COPY {label} FROM $given", {"given": given})
        for each in RELATIONSHIPS:
            properties = relationship_columns(each)
            given = _plain(rows[each.table].select([each.source[1], each.target[1], *properties]))
            ends = f"FROM {each.source[0]} TO {each.target[0]}"
            declared = ", ".join([ends, *_declared(given)[2:]])
            connection.execute(f"CREATE REL TABLE {each.label} ({declared})")
            connection.execute(f"COPY {each.label} FROM $given", {"given": given})
    database.close()


def _plain(rows: pa.Table) -> pa.Table:
    """Return rows with floats for decimals, which not every graph has."""
    kinds = [pa.float64() if pa.types.is_decimal(f.type) else f.type for f in rows.schema]
    return rows.cast(pa.schema(zip(rows.schema.names, kinds, strict=True)))


def _declared(rows: pa.Table) -> list[str]:
    return [f"{field.name} {_LADYBUG[field.type]}" for field in rows.schema]


_LADYBUG: Mapping[pa.DataType, str] = {
    pa.int64(): "INT64",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.string(): "STRING",
    pa.date32(): "DATE",
}


def write_neo4j(rows: Rows, target: str) -> None:
    """Write into the database of a Neo4j server, whose nodes have none of the labels yet."""
    from neo4j import GraphDatabase

    url = make_url(target)
    where = URL.create(url.drivername, host=url.host, port=url.port).render_as_string()
    with (
        GraphDatabase.driver(
            where,
            auth=(url.username or "", url.password or ""),
            notifications_min_severity="OFF",  # labels that are not there yet are what is meant
        ) as driver,
        driver.session() as session,
    ):
        for label in NODES:
            if session.run(f"MATCH (n:{label}) RETURN n LIMIT 1").single() is not None:
                raise NotEmptyError(f"{_shown(url)} has nodes labelled {label} already.")
        for label in NODES:
            key = node_columns(label)[0]
            session.run(
                f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{label}) REQUIRE n.{key} IS UNIQUE"
            )
        session.run("CREATE INDEX IF NOT EXISTS FOR (n:CustomerOrder) ON (n.quarter)")
        session.run("CREATE INDEX IF NOT EXISTS FOR (n:Shipment) ON (n.quarter)")
        session.run("CALL db.awaitIndexes()")
        for label, table in NODES.items():
            given = _plain(rows[table].select(node_columns(label))).to_pylist()
            for batch in _batches(given):
                session.run(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row", rows=batch)
        for each in RELATIONSHIPS:
            table = _plain(rows[each.table])
            sources, targets = table[each.source[1]], table[each.target[1]]
            properties = relationship_columns(each)
            held = table.select(properties).to_pylist() if properties else [{}] * len(table)
            given = list(zip(sources.to_pylist(), targets.to_pylist(), held, strict=True))
            statement = (
                f"UNWIND $rows AS row "
                f"MATCH (a:{each.source[0]} {{{each.source[1]}: row[0]}}) "
                f"MATCH (b:{each.target[0]} {{{each.target[1]}: row[1]}}) "
                f"CREATE (a)-[r:{each.label}]->(b) SET r = row[2]"
            )
            for batch in _batches(given):
                session.run(statement, rows=batch)


_BY_SCHEME: Mapping[str, Writer] = {
    "bolt": write_neo4j,
    "neo4j": write_neo4j,
    "mariadb": write_mysql,
    "mysql": write_mysql,
    "postgres": write_postgres,
    "postgresql": write_postgres,
}
_BY_SUFFIX: Mapping[str, Writer] = {
    ".duckdb": write_duckdb,
    ".lbug": write_ladybug,
    ".ladybug": write_ladybug,
}
