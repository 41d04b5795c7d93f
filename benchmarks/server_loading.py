"""How long loading into servers and DuckDB takes, beside a loader of single statements.

Run ``python -m benchmarks.server_loading`` (``--rounds N``) with DQA_TEST_MYSQL_URL and
DQA_TEST_POSTGRES_URL set; what is not set is left out. Both sides of a ratio are measured in the
same run, alternately, and medians are compared. "Beyond DDL" is the whole of `load`, connection and
all, less what its definitions took. The other loader is what comes with the released databases: its
script, an INSERT a row with its columns named, run a statement at a time, each its own commit. What
a commit costs is up to the server, so whether it syncs each to the disk is printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from sqlalchemy import create_engine, make_url

from benchmarks.loading import make_situation
from dqa import plugins
from dqa.core.situation import Cell, Situation, Table
from dqa.databases.mysql import writer as mysql_writer
from dqa.databases.namespaces import namespace_for

_SCHEMES = {"mysql": "mysql+pymysql", "postgres": "postgresql+psycopg"}
_TYPES = {
    "text": "VARCHAR(255)",
    "float": "DOUBLE PRECISION",
    "integer": "BIGINT",
    "boolean": "BOOLEAN",
}


def main() -> None:
    """Measure and print one line a database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="times each load is repeated")
    rounds: int = parser.parse_args().rounds
    situation = as_released(make_situation())
    print(f"one Locating database, {situation.row_count} rows, medians of {rounds}")
    for name in ("mysql", "postgres"):
        url = os.environ.get(f"DQA_TEST_{name.upper()}_URL")
        if url is None:
            print(f"{name:9} left out: DQA_TEST_{name.upper()}_URL is not set")
        else:
            compare(name, url, situation, rounds)
            print(f"{'':9} {durability(url, _SCHEMES[name])}")
    with TemporaryDirectory() as folder:
        compare("duckdb", str(Path(folder, "worlds.duckdb")), situation, rounds)


def compare(name: str, url: str, situation: Situation, rounds: int) -> None:
    """Print our loading time beside that of a loader that sends one statement after another."""
    backend = plugins.backend(name)
    ours: list[float] = []
    defining: list[float] = []
    theirs: list[float] = []
    backend.load(situation, url).close()  # so that nothing is left of another run
    backend.unload(url, namespace_for(situation))
    for number in range(rounds):
        with timed_definitions(defining):
            ours.append(taken(lambda: backend.load(situation, url).close()))
        backend.unload(url, namespace_for(situation))
        if name in _SCHEMES and number < 3:  # it is slow enough to be measured by fewer
            theirs.append(autocommit(url, _SCHEMES[name], situation))
    whole = statistics.median(ours) * 1e3
    line = f"{name:9} load {whole:7.1f} ms"
    if defining:
        beyond = statistics.median(o - d for o, d in zip(ours, defining, strict=True)) * 1e3
        line += (
            f", {beyond:6.1f} ms beyond DDL (fastest {(min(ours) - min(defining)) * 1e3:.1f} ms)"
        )
        whole = beyond
    if theirs:
        other = statistics.median(theirs) * 1e3
        line += f"; statement by statement {other:8.1f} ms beyond DDL, {other / whole:6.1f} times"
    print(line)


class timed_definitions:  # noqa: N801  (used as a function)
    """Adds to a list how long MySQL's writer takes to define tables while the context lasts."""

    def __init__(self, times: list[float]) -> None:
        self._times = times
        self._create = mysql_writer.create

    def __enter__(self) -> None:
        def create(*arguments: Any) -> None:  # noqa: ANN401
            started = perf_counter()
            self._create(*arguments)
            self._times.append(perf_counter() - started)

        mysql_writer.create = create  # type: ignore[assignment]

    def __exit__(self, *_: object) -> None:
        mysql_writer.create = self._create


def as_released(situation: Situation) -> Situation:
    """Return a situation with its numbers to three decimals, as those of the release are."""
    tables = {
        name: Table(
            table.schema,
            {
                column.name: (
                    np.round(table[column.name], 3)
                    if column.type == "float"
                    else table[column.name]
                ).tolist()
                for column in table.schema.columns
            },
        )
        for name, table in situation.tables.items()
    }
    return Situation(situation.schema, situation.name, tables)


def durability(url: str, scheme: str) -> str:
    """Return what the server says of syncing its commits."""
    setting = "fsync" if scheme.startswith("postgres") else "@@innodb_flush_log_at_trx_commit"
    statement = f"SHOW {setting}" if scheme.startswith("postgres") else f"SELECT {setting}"
    engine = create_engine(make_url(url).set(drivername=scheme))
    with engine.connect() as connection:
        value = connection.exec_driver_sql(statement).scalar_one()
    engine.dispose()
    return f"{setting.removeprefix('@@')} = {value}"


def taken(act: Callable[[], object]) -> float:
    """Return how many seconds something takes."""
    started = perf_counter()
    act()
    return perf_counter() - started


def autocommit(url: str, scheme: str, situation: Situation) -> float:
    """Load a statement at a time, each its own transaction; return the seconds of the rows."""
    engine = create_engine(make_url(url).set(drivername=scheme), isolation_level="AUTOCOMMIT")
    namespace = f"{namespace_for(situation)}_slow"
    cascade = " CASCADE" if scheme.startswith("postgres") else ""
    with engine.connect() as connection:
        run = connection.exec_driver_sql
        run(f"DROP SCHEMA IF EXISTS {namespace}{cascade}")
        run(f"CREATE SCHEMA {namespace}")
        for table in situation.tables.values():
            columns = ", ".join(f"{c.name} {_TYPES[c.type]}" for c in table.schema.columns)
            key = ", ".join(table.schema.key)
            run(f"CREATE TABLE {namespace}.{table.schema.name} ({columns}, PRIMARY KEY ({key}))")
        seconds = taken(lambda: [run(statement) for statement in inserts(namespace, situation)])
        run(f"DROP SCHEMA {namespace}{cascade}")
    engine.dispose()
    return seconds


def inserts(namespace: str, situation: Situation) -> Iterator[str]:
    """Yield a statement a row."""
    for name, table in situation.tables.items():
        columns = ", ".join(table.schema.column_names)
        for row in table.rows():
            values = ", ".join(map(literal, row))
            yield f"INSERT INTO {namespace}.{name} ({columns}) VALUES ({values})"  # noqa: S608


def literal(cell: Cell) -> str:
    """Return a literal that both servers read."""
    return f"'{cell}'" if isinstance(cell, str) else str(cell)


if __name__ == "__main__":
    main()
