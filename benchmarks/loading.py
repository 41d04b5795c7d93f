"""How long loading and small queries take, beside the plainest way to do the same.

Run ``python -m benchmarks.loading`` (``--rounds N``). Both sides of every ratio are measured in
the same run, alternately, and medians are compared, so that a busy machine slows both alike. The
world is about as large as the paper's Locating databases and made here from a seed.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import ladybug
import numpy as np

from dqa import guard, plugins
from dqa.core.situation import Cell, Situation, Table
from dqa.databases.base import Backend
from dqa.databases.ladybug.backend import BACKEND as LADYBUG
from dqa.databases.sqlite.backend import BACKEND as SQLITE
from dqa.guard.check import _cached

SMALL_SQL = "SELECT country_name, development FROM country WHERE home_node = 'node 7' LIMIT 10"
SMALL_CYPHER = (
    "MATCH (c:Country) WHERE c.home_node = 'node 7' RETURN c.name, c.development LIMIT 10"
)


def main() -> None:
    """Measure and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="times each load is repeated")
    rounds: int = parser.parse_args().rounds
    situation = make_situation()
    print(f"one Locating database, {situation.row_count} rows, medians of {rounds}")
    for backend, autocommit in ((SQLITE, sqlite_autocommit), (LADYBUG, ladybug_autocommit)):
        for place in ("memory", "disk"):
            compare_loading(backend, autocommit, situation, place, rounds)
    compare_queries(situation)


def make_situation(seed: int = 0) -> Situation:
    """Return a Locating world of 2,384 rows."""
    draw = np.random.default_rng(seed)
    nodes, countries, flows, stakes = 80, 665, 159, 1_480
    node = [f"node {number}" for number in range(nodes)]
    country = [f"C{number:03d}" for number in range(countries)]
    pairs = draw.choice(nodes * (nodes - 1) // 2, flows, replace=False)
    upper = np.triu_indices(nodes, 1)
    held = draw.choice(nodes * countries, stakes, replace=False)
    home = draw.integers(nodes, size=countries)
    columns: dict[str, dict[str, list[Cell]]] = {
        "country": {
            "country_name": [*country],
            "home_node": [node[h] for h in home],
            "development": draw.gamma(2.0, 20.0, countries).tolist(),
        },
        "trade_node": {
            "trade_node": [*node],
            "is_inland": (draw.random(nodes) < 0.3).tolist(),
            **{
                name: draw.gamma(2.0, 5.0, nodes).tolist()
                for name in ("local_value", "total_power", "outgoing", "ingoing")
            },
        },
        "flow": {
            "source": [node[i] for i in upper[0][pairs]],
            "dest": [node[i] for i in upper[1][pairs]],
            "flow": draw.random(flows).tolist(),
        },
        "node_country": {
            "trade_node": [node[i] for i in held % nodes],
            "country_name": [country[i] for i in held // nodes],
            "is_home": (home[held // nodes] == held % nodes).tolist(),
            "has_merchant": (draw.random(stakes) < 0.3).tolist(),
            "base_trading_power": draw.gamma(2.0, 5.0, stakes).tolist(),
            "calculated_trading_power": draw.gamma(2.0, 6.0, stakes).tolist(),
        },
    }
    schema = plugins.scenario("locating").schema
    tables = {table.name: Table(table, columns[table.name]) for table in schema.tables}
    return Situation(schema, "benchmark", tables)


def compare_loading(
    backend: Backend,
    autocommit: Callable[[Situation, str], None],
    situation: Situation,
    place: str,
    rounds: int,
) -> None:
    """Print our loading time beside a loader that sends one statement after another."""
    ours: list[float] = []
    theirs: list[float] = []
    with TemporaryDirectory() as folder:
        for number in range(rounds):
            file = str(Path(folder, f"ours{number}.db")) if place == "disk" else None
            started = perf_counter()
            database = backend.load(situation, file)
            ours.append(perf_counter() - started)
            database.close()
            if number < max(1, rounds // 5):  # it is slow enough to be measured by fewer
                location = str(Path(folder, f"theirs{number}.db")) if file else ":memory:"
                started = perf_counter()
                autocommit(situation, location)
                theirs.append(perf_counter() - started)
    one, other = statistics.median(ours) * 1e3, statistics.median(theirs) * 1e3
    print(
        f"load {backend.name:8}{place:7}{one:8.2f} ms; "
        f"statement by statement {other:8.1f} ms, {other / one:6.1f} times"
    )


def sqlite_autocommit(situation: Situation, location: str) -> None:
    """Load a statement at a time, each its own transaction."""
    with closing(sqlite3.connect(location, isolation_level=None)) as connection:
        for table in situation.tables.values():
            names = ", ".join(f'"{name}"' for name in table.schema.column_names)
            connection.execute(f'CREATE TABLE "{table.schema.name}" ({names})')
            for row in table.rows():
                values = ", ".join(literal(cell) for cell in row)
                connection.execute(f'INSERT INTO "{table.schema.name}" VALUES ({values})')  # noqa: S608


def ladybug_autocommit(situation: Situation, location: str) -> None:
    """Load a statement at a time, each its own transaction."""
    database = ladybug.Database(location, buffer_pool_size=64 << 20, max_db_size=1 << 32)
    with closing(database), closing(ladybug.Connection(database)) as connection:
        for statement in cypher_lines(situation):
            connection.execute(statement)


def cypher_lines(situation: Situation) -> Iterator[str]:
    """Yield the statements of a line-by-line loader, tables first."""
    types = {"text": "STRING", "float": "DOUBLE", "integer": "INT64", "boolean": "BOOLEAN"}
    schema = situation.schema
    for node in schema.nodes:
        table = schema.table(node.table)
        kinds = ", ".join(f"`{n}` {types[table.column(c).type]}" for n, c in node.properties)
        yield f"CREATE NODE TABLE `{node.label}` ({kinds}, PRIMARY KEY (`{node.key}`))"
        lists = [situation[node.table][column].tolist() for _, column in node.properties]
        for values in zip(*lists, strict=True):
            yield f"CREATE (:`{node.label}` {{{properties(node.properties, values)}}})"
    for edge in schema.edges:
        table = schema.table(edge.table)
        kinds = ", ".join(f"`{n}` {types[table.column(c).type]}" for n, c in edge.properties)
        (source, source_column), (target, target_column) = edge.source, edge.target
        yield f"CREATE REL TABLE `{edge.label}` (FROM `{source}` TO `{target}`, {kinds})"
        columns = (source_column, target_column, *(column for _, column in edge.properties))
        lists = [situation[edge.table][column].tolist() for column in columns]
        for start, end, *rest in zip(*lists, strict=True):
            inside = properties(edge.properties, tuple(rest))
            yield (
                f"MATCH (a:`{source}` {{`{schema.node(source).key}`: {literal(start)}}}), "
                f"(b:`{target}` {{`{schema.node(target).key}`: {literal(end)}}}) "
                f"CREATE (a)-[:`{edge.label}` {{{inside}}}]->(b)"
            )


def properties(names: tuple[tuple[str, str], ...], values: tuple[Cell, ...]) -> str:
    """Return the inside of a Cypher map."""
    pairs = zip(names, values, strict=True)
    return ", ".join(f"`{name}`: {literal(value)}" for (name, _), value in pairs)


def literal(cell: Cell) -> str:
    """Return a literal that SQL and Cypher both read."""
    return repr(cell) if isinstance(cell, str) else str(cell)


def compare_queries(situation: Situation) -> None:
    """Print what a small query costs here and on the bare driver, and what the guard adds."""
    with closing(SQLITE.load(situation)) as database:
        raw = database._session._engine.raw_connection().driver_connection  # type: ignore[attr-defined]  # noqa: SLF001
        report_query(
            "sqlite",
            SMALL_SQL,
            lambda: database.query(SMALL_SQL),
            lambda: raw.execute(SMALL_SQL).fetchall(),
        )
    with closing(LADYBUG.load(situation)) as graph:
        connection = ladybug.Connection(graph._session._database)  # type: ignore[attr-defined]  # noqa: SLF001

        def bare() -> object:
            result = connection.execute(SMALL_CYPHER)
            return list(result)

        report_query("ladybug", SMALL_CYPHER, lambda: graph.query(SMALL_CYPHER), bare)
        connection.close()


def report_query(
    dialect: str, statement: str, ours: Callable[[], object], bare: Callable[[], object]
) -> None:
    """Print medians in microseconds over alternating calls."""

    def first_check() -> object:
        _cached.cache_clear()
        return guard.check(statement, dialect)

    timed: dict[str, Callable[[], object]] = {
        "query": ours,
        "bare driver": bare,
        "guard, first time": first_check,
        "guard, again": lambda: guard.check(statement, dialect),
    }
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(500):
        for name, call in timed.items():
            started = perf_counter()
            call()
            taken[name].append(perf_counter() - started)
    figures = ", ".join(f"{n} {statistics.median(t) * 1e6:.1f} us" for n, t in taken.items())
    print(f"small query, {dialect}: {figures}")


if __name__ == "__main__":
    main()
