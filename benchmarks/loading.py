"""How long loading and a small query take on each database, against its driver alone.

Run ``python -m benchmarks.loading`` (``--databases NAMES``, ``--rounds N``). One Locating world of
2,384 rows is loaded by us and by a loader that runs one statement a row, each its own commit; then
both run the same small query, ours with guard, limits and worker process. Servers take part where
DQA_TEST_POSTGRES_URL, DQA_TEST_MYSQL_URL and DQA_TEST_NEO4J_URL are set.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from sqlalchemy import make_url

import dqa
from benchmarks.measuring import in_turn, taken
from benchmarks.needs import SERVERS, find_need, require
from dqa import plugins
from dqa.core.situation import Cell, Situation
from dqa.databases.namespaces import namespace_for
from dqa_simulators.locating.generator import LocatingSize

NEEDS = ()
OPTIONAL = ("duckdb", "postgres", "mysql", "neo4j")
EMBEDDED = ("sqlite", "ladybug", "duckdb")
GRAPHS = ("ladybug", "neo4j")
SMALL_SQL = "SELECT country_name, development FROM country WHERE development > 90 LIMIT 10"
SMALL_CYPHER = "MATCH (c:Country) WHERE c.development > 90 RETURN c.name, c.development LIMIT 10"
TYPES = {
    "text": ("VARCHAR(255)", "STRING"),
    "float": ("DOUBLE PRECISION", "DOUBLE"),
    "integer": ("BIGINT", "INT64"),
    "boolean": ("BOOLEAN", "BOOL"),
}
PLAIN = "dqa_plain"
QUERIES = 300
Execute: TypeAlias = Callable[[str], Sequence[Any]]


@contextmanager
def open_plainly(name: str, file: Path) -> Iterator[Execute]:
    """Open a database by its driver; every statement is its own transaction."""
    url = make_url(os.environ.get(f"DQA_TEST_{name.upper()}_URL") or "none://")
    if name == "neo4j":
        import neo4j

        address = f"{url.drivername}://{url.host}:{url.port}"
        auth = (url.username or "", url.password or "")
        with neo4j.GraphDatabase.driver(address, auth=auth) as driver, driver.session() as session:
            yield lambda statement: session.run(statement).values()
            session.run(f"MATCH (n:{PLAIN}) DETACH DELETE n").consume()
        return
    if name == "ladybug":
        import ladybug

        with closing(ladybug.Database(str(file))) as made, closing(ladybug.Connection(made)) as to:
            yield lambda statement: list(to.execute(statement))
        return
    drop = f"DROP SCHEMA IF EXISTS {PLAIN}"
    with closing(_connect(name, url, file)) as connection:
        cursor = connection.cursor()

        def execute(statement: str) -> Sequence[Any]:
            cursor.execute(statement)
            rows: Sequence[Any] = cursor.fetchall() if cursor.description else ()
            return rows

        if name in SERVERS:
            drop += " CASCADE" if name == "postgres" else ""
            use = f"SET search_path TO {PLAIN}" if name == "postgres" else f"USE {PLAIN}"
            for statement in (drop, f"CREATE SCHEMA {PLAIN}", use):
                execute(statement)
        yield execute
        if name in SERVERS:
            execute(drop)


def _connect(name: str, url: Any, file: Path) -> Any:  # noqa: ANN401  (any driver's connection)
    if name == "sqlite":
        return sqlite3.connect(file, isolation_level=None)
    if name == "duckdb":
        import duckdb

        return duckdb.connect(str(file))
    if name == "mysql":
        import pymysql

        where = {"host": url.host, "port": url.port or 3306, "user": url.username}
        return pymysql.connect(**where, password=url.password or "", autocommit=True)
    import psycopg

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(address, autocommit=True)


def sql_lines(situation: Situation) -> Iterator[str]:
    """Yield a statement for each table and each row."""
    for table in situation.tables.values():
        columns = [f"{c.name} {TYPES[c.type][0]}" for c in table.schema.columns]
        yield f"CREATE TABLE {table.schema.name} ({', '.join(columns)})"
        for row in table.rows():
            yield f"INSERT INTO {table.schema.name} VALUES ({', '.join(map(_literal, row))})"  # noqa: S608


def cypher_lines(situation: Situation, *, declared: bool) -> Iterator[str]:
    """Yield a statement for each node and each edge, and before them what declares the tables."""
    schema = situation.schema
    more = "" if declared else f":{PLAIN}"
    for node in schema.nodes:
        table = schema.table(node.table)
        if declared:
            kinds = ", ".join(f"`{n}` {TYPES[table.column(c).type][1]}" for n, c in node.properties)
            yield f"CREATE NODE TABLE {node.label} ({kinds}, PRIMARY KEY (`{node.key}`))"
        columns = [situation[node.table][column].tolist() for _, column in node.properties]
        for row in zip(*columns, strict=True):
            yield f"CREATE (:{node.label}{more} {_map(node.properties, row)})"
    for edge in schema.edges:
        table, ends = schema.table(edge.table), (edge.source, edge.target)
        if declared:
            kinds = ", ".join(f"`{n}` {TYPES[table.column(c).type][1]}" for n, c in edge.properties)
            yield f"CREATE REL TABLE `{edge.label}` (FROM {ends[0][0]} TO {ends[1][0]}, {kinds})"
        named = [column for _, column in (*ends, *edge.properties)]
        keys = [schema.node(label).key for label, _ in ends]
        lists = [situation[edge.table][column].tolist() for column in named]
        for source, target, *own in zip(*lists, strict=True):
            yield (
                f"MATCH (a:{ends[0][0]}{more} {{`{keys[0]}`: {_literal(source)}}}), "
                f"(b:{ends[1][0]}{more} {{`{keys[1]}`: {_literal(target)}}}) "
                f"CREATE (a)-[:`{edge.label}` {_map(edge.properties, own)}]->(b)"
            )


def _map(names: Sequence[tuple[str, str]], values: Sequence[Cell]) -> str:
    pairs = zip((name for name, _ in names), values, strict=True)
    return f"{{{', '.join(f'`{name}`: {_literal(value)}' for name, value in pairs)}}}"


def _literal(cell: Cell) -> str:
    return repr(cell) if isinstance(cell, str) else str(cell)


def compare(name: str, situation: Situation, rounds: int, folder: Path) -> None:
    """Print what one database takes."""
    backend, url = plugins.backend(name), os.environ.get(f"DQA_TEST_{name.upper()}_URL")
    places = [url or str(folder / f"{name}-{number}.db") for number in range(rounds + 1)]
    if name == "neo4j":
        lines = list(cypher_lines(situation, declared=False))
    else:
        graph = name in GRAPHS
        lines = list(cypher_lines(situation, declared=True) if graph else sql_lines(situation))
    remaining = iter(places)

    def load() -> None:
        place = next(remaining)
        backend.load(situation, place).close()
        if url:
            backend.unload(place, namespace_for(situation))

    ours = in_turn({"load": load}, rounds)["load"].wall
    with open_plainly(name, folder / f"{name}-plain.db") as execute:
        plain = taken(lambda: [execute(line) for line in lines]).wall
        small = SMALL_CYPHER if name in GRAPHS else SMALL_SQL
        with closing(backend.load(situation, places[0])) as database:
            assert len(database.query(small).rows) == len(execute(small)) > 0
            queried = in_turn(
                {"ours": lambda: database.query(small), "driver": lambda: execute(small)}, QUERIES
            )
        if url:
            backend.unload(url, namespace_for(situation))
    query, bare = (1e6 * side.wall for side in queried.values())
    print(
        f"{name:9} load {1e3 * ours:8.1f} ms, row by row {1e3 * plain:9.1f} ms, "
        f"{plain / ours:7.1f} times; small query {query:7.1f} us, driver {bare:7.1f} us, "
        f"{query / bare:5.2f} times",
        flush=True,
    )


def main() -> None:
    """Print a line for each database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--databases", default="", help="names, separated by commas")
    parser.add_argument("--rounds", type=int, default=9, help="times each load is repeated")
    given = parser.parse_args()
    wanted = [name for name in given.databases.split(",") if name]
    require(*(name for name in wanted if name in OPTIONAL))
    size = LocatingSize(80, 159, 665, 1_480)
    (situation,) = dqa.generate(("locating",), 1, sizes=[size]).situations.values()
    print(f"one Locating database of {situation.row_count:,} rows, medians of {given.rounds}")
    with TemporaryDirectory() as folder:
        for name in wanted or (*EMBEDDED, *SERVERS):
            if name in OPTIONAL and not find_need(name).is_met:
                print(f"{name:9} left out: {find_need(name).remedy}")
            else:
                compare(name, situation, given.rounds, Path(folder))


if __name__ == "__main__":
    main()
