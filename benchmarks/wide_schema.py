"""A schema of 5,000 tables: how long it takes to read, and whether the needed tables are shown.

Run ``python -m benchmarks.wide_schema`` (``--tables``, ``--questions``, ``--seed``, ``--tokens``,
``--no-engines``; ``--database URL`` for each server, PostgreSQL, MySQL or MariaDB, in which a
schema or database ``dqa_wide`` is made and dropped again). `benchmarks.wide_generator` says what is
generated, what of it is easy, and what is hard.

A question counts only where all its tables are described in the text that a model is shown: whole,
or by their keys, joins and comments ("whole" counts the former alone). "name", "comment" and "any"
are the questions by whose words they use.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from sqlalchemy import URL, make_url

import dqa
from benchmarks.wide_generator import WideSchema, make_wide_schema, statements
from dqa.core.display import MOST_TOKENS
from dqa.core.fitting import fit_schema
from dqa.core.relevance import DEFAULT_WEIGHTS, Weights
from dqa.core.schema import DatabaseSchema
from dqa.core.text import estimate_tokens

_NAMES = Weights(comment=0.0, fields=0.0, field_comments=0.0, joins=False, near=0.0)
WAYS: Mapping[str, Weights] = {
    "names of tables": _NAMES,
    "+ near words": replace(_NAMES, near=DEFAULT_WEIGHTS.near),
    "+ names of columns": replace(DEFAULT_WEIGHTS, comment=0.0, field_comments=0.0, joins=False),
    "+ comments": replace(DEFAULT_WEIGHTS, joins=False),
    "names and joins": replace(DEFAULT_WEIGHTS, comment=0.0, field_comments=0.0),
    "all": DEFAULT_WEIGHTS,
}
"""What tables are ranked by, one part more in each line."""
_PLACE = "dqa_wide"


@dataclass(frozen=True, slots=True)
class Recall:
    """How many questions had all their tables in the text.

    Attributes
    ----------
    shown
        The share, and the share by wording.
    whole
        The share whose tables are described whole.
    tokens
        Of the longest text.
    """

    shown: float
    by_wording: Mapping[str, float]
    whole: float
    tokens: int


def measure_recall(
    wide: WideSchema, weights: Weights = DEFAULT_WEIGHTS, tokens: int = MOST_TOKENS
) -> Recall:
    """Return how often the tables that a question needs are in its text."""
    shown: dict[str, list[bool]] = {}
    whole: list[bool] = []
    longest = 0
    for question in wide.questions:
        fitted = fit_schema(wide.schema, question.text, tokens, weights=weights)
        described = {table.name: not table.omitted for table in fitted.schema.tables}
        found = described.keys() >= set(question.needed)
        shown.setdefault(question.wording, []).append(found)
        whole.append(found and all(described[name] for name in question.needed))
        longest = max(longest, estimate_tokens(fitted.to_text()))
    every = [found for each in shown.values() for found in each]
    return Recall(
        _share(every), {name: _share(each) for name, each in shown.items()}, _share(whole), longest
    )


def _share(found: list[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


def main() -> None:
    """Measure and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=5_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=MOST_TOKENS, help="of the schema's text")
    parser.add_argument("--no-engines", action="store_true", help="do not make it anywhere")
    parser.add_argument("--database", action="append", default=[], help="URL of a server")
    given = parser.parse_args()
    wide = make_wide_schema(given.tables, given.questions, given.seed)
    if not given.no_engines:
        print(f"{'engine':12} {'opening':>8} {'reading':>8} {'again':>8}   tables")
        with TemporaryDirectory() as folder:
            for name, make in (("sqlite", make_sqlite), ("duckdb", make_duckdb)):
                file = Path(folder) / f"wide.{name}"
                make(file, wide.schema)
                measure_reading(name, str(file))
        for address in given.database:
            url = make_url(address)
            on_server(url, wide.schema)
    print(
        f"\n{'ranked by':20} {'shown':>6} {'whole':>6} {'name':>6} {'comment':>8} {'any':>6} tokens"
    )
    for label, weights in WAYS.items():
        found = measure_recall(wide, weights, given.tokens)
        by = found.by_wording
        print(
            f"{label:20} {found.shown:6.1%} {found.whole:6.1%} {by['name']:6.1%} "
            f"{by['comment']:8.1%} {by['any']:6.1%} {found.tokens:6,}",
            flush=True,
        )


def make_sqlite(file: Path, schema: DatabaseSchema) -> None:
    """Make the tables in a file of SQLite, which keeps no comments."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements(schema, "sqlite"):
            connection.execute(statement)


def make_duckdb(file: Path, schema: DatabaseSchema) -> None:
    """Make the tables in a file of DuckDB."""
    import duckdb

    with duckdb.connect(str(file)) as connection:
        connection.execute("BEGIN")
        for statement in statements(schema, "duckdb"):
            connection.execute(statement)
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT")


def on_server(url: URL, schema: DatabaseSchema) -> None:
    """Make the tables on a server, measure, and drop them."""
    made: Callable[[URL, Iterable[str]], URL]
    name = url.get_backend_name()
    made, dialect = (_on_postgres, "postgres") if name == "postgresql" else (_on_mysql, "mysql")
    try:
        there = made(url, statements(schema, dialect))
        measure_reading(name, there.render_as_string(hide_password=False))
    finally:
        made(url, ())


def _on_postgres(url: URL, wanted: Iterable[str]) -> URL:
    """Drop the schema, and make it anew where anything is wanted in it."""
    import psycopg

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", [_PLACE]
        ).fetchall()
        # All at once would take more locks than a server has by default.
        for (table,) in tables:
            connection.execute(f'DROP TABLE {_PLACE}."{table}" CASCADE'.encode())
        connection.execute(f"DROP SCHEMA IF EXISTS {_PLACE} CASCADE".encode())
        todo = list(wanted)
        if todo:
            connection.execute(f"CREATE SCHEMA {_PLACE}".encode())
            connection.execute(f"SET search_path TO {_PLACE}".encode())
        for statement in todo:
            connection.execute(statement.encode())
    return url.update_query_dict({"schema": _PLACE})


def _on_mysql(url: URL, wanted: Iterable[str]) -> URL:
    """Drop the database, and make it anew where anything is wanted in it."""
    import pymysql

    with (
        pymysql.connect(
            host=url.host,
            port=url.port or 3306,
            user=url.username,
            password=url.password or "",
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f"DROP DATABASE IF EXISTS {_PLACE}")
        todo = list(wanted)
        if todo:
            cursor.execute(f"CREATE DATABASE {_PLACE}")
            cursor.execute(f"USE {_PLACE}")
        for statement in todo:
            cursor.execute(statement)
    return url.set(database=_PLACE)


def measure_reading(name: str, location: str) -> None:
    """Print how long opening takes, reading the schema, and asking for it again."""
    started = perf_counter()
    database = dqa.open_database(location)
    opened = perf_counter()
    try:
        tables = len(database.schema().tables)
        read = perf_counter()
        database.schema()
        again = perf_counter()
    finally:
        database.close()
    print(
        f"{name:12} {opened - started:6.2f} s {read - opened:6.2f} s {again - read:6.4f} s "
        f"{tables:8,}",
        flush=True,
    )


if __name__ == "__main__":
    main()
