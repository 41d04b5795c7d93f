"""The time to load data and to run a small query, compared with the driver of each database.

Run ``python -m benchmarks.loading`` (``--databases NAMES``, ``--rounds N``). The program loads a
Locating world of 2,384 rows. Then the driver alone and our guarded connection run the same small
query. On SQLite, loading is compared with ``executemany``. Servers are included if
DQA_TEST_POSTGRES_URL, DQA_TEST_MYSQL_URL and DQA_TEST_NEO4J_URL are set.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from sqlalchemy import create_engine, make_url

import dqa
from benchmarks.measuring import in_turn, taken
from benchmarks.needs import SERVERS, server_url
from dqa import plugins
from dqa.core.situation import Situation
from dqa.databases.namespaces import namespace_for
from dqa_simulators.locating.generator import LocatingSize

EMBEDDED = ("sqlite", "ladybug", "duckdb")
GRAPHS = ("ladybug", "neo4j")
DRIVERS = {"postgres": "postgresql+psycopg", "mysql": "mysql+pymysql"}
SMALL_SQL = "SELECT country_name, development FROM country WHERE development > 90 LIMIT 10"
SMALL_CYPHER = "MATCH (c:Country) WHERE c.development > 90 RETURN c.name, c.development LIMIT 10"
QUERIES = 300
Execute: TypeAlias = Callable[[str], Sequence[Any]]


@contextmanager
def open_plainly(name: str, location: str, namespace: str) -> Iterator[Execute]:
    """Open a loaded database by its driver."""
    if name == "neo4j":
        import neo4j

        url = make_url(location)
        address = f"{url.drivername}://{url.host}:{url.port}"
        auth = (url.username or "", url.password or "")
        with neo4j.GraphDatabase.driver(address, auth=auth) as driver, driver.session() as session:
            yield lambda statement: session.run(statement).values()
    elif name == "ladybug":
        import ladybug

        with (
            closing(ladybug.Database(location)) as opened,
            closing(ladybug.Connection(opened)) as to,
        ):
            yield lambda statement: list(to.execute(statement))
    elif name == "duckdb":
        import duckdb

        with closing(duckdb.connect(location)) as connection:
            yield lambda statement: connection.execute(statement).fetchall()
    elif name == "sqlite":
        with closing(sqlite3.connect(location)) as connection:
            yield lambda statement: connection.execute(statement).fetchall()
    else:
        engine = create_engine(make_url(location).set(drivername=DRIVERS[name]))
        use = "SET search_path TO" if name == "postgres" else "USE"
        with closing(engine.connect()) as connection:
            connection.exec_driver_sql(f"{use} {namespace}")
            yield lambda statement: connection.exec_driver_sql(statement).fetchall()
        engine.dispose()


def load_plainly(situation: Situation, file: Path) -> None:
    """Load a situation into SQLite with one ``executemany`` per table."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for name, table in situation.tables.items():
            columns = ", ".join(column.name for column in table.schema.columns)
            marks = ", ".join("?" * len(table.schema.columns))
            connection.execute(f"CREATE TABLE {name} ({columns})")
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", table.rows())  # noqa: S608


def compare(name: str, situation: Situation, rounds: int, folder: Path) -> None:
    """Print the times of one database."""
    backend, url = plugins.backend(name), server_url(name)
    locations = [url or str(folder / f"{name}-{number}.db") for number in range(rounds + 2)]
    remaining, namespace = iter(locations), namespace_for(situation)
    small = SMALL_CYPHER if name in GRAPHS else SMALL_SQL

    def load() -> None:
        location = next(remaining)
        backend.load(situation, location).close()
        if url:
            backend.unload(location, namespace)

    seconds = in_turn({"load": load}, rounds)["load"].wall
    line = f"{name:9} load {1e3 * seconds:8.1f} ms"
    if name == "sqlite":
        plain = taken(lambda: load_plainly(situation, folder / "plain.db")).wall
        line += f" ({seconds / plain:.1f} times executemany)"
    location = locations[-1]
    with closing(backend.load(situation, location)) as database:
        rows = len(database.query(small).rows)
        query = in_turn({"ours": lambda: database.query(small)}, QUERIES)["ours"].wall
    with open_plainly(name, location, namespace) as execute:
        assert rows == len(execute(small)) > 0
        bare = in_turn({"driver": lambda: execute(small)}, QUERIES)["driver"].wall
    if url:
        backend.unload(url, namespace)
    print(
        f"{line}; small query {1e6 * query:7.1f} us, driver {1e6 * bare:7.1f} us, "
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
    size = LocatingSize(80, 159, 665, 1_480)
    (situation,) = dqa.generate(("locating",), 1, sizes=[size]).situations.values()
    print(f"one Locating database of {situation.row_count:,} rows, medians of {given.rounds}")
    with TemporaryDirectory() as folder:
        for name in wanted or (*EMBEDDED, *SERVERS):
            if name in SERVERS and not server_url(name):
                print(f"{name:9} left out: DQA_TEST_{name.upper()}_URL is not set")
            else:
                compare(name, situation, given.rounds, Path(folder))


if __name__ == "__main__":
    main()
