"""What a small query costs here and in SQLAlchemy Core on an open connection, guard apart.

Run ``python -m benchmarks.server_latency`` (``--rounds N``) with DQA_TEST_MYSQL_URL and
DQA_TEST_POSTGRES_URL set; what is not set is left out. All sides are measured in the same run,
alternately. Core runs in the same kind of session: read-only, committing by itself.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

from sqlalchemy import create_engine, make_url, text

from benchmarks.loading import SMALL_SQL, make_situation
from dqa import guard, plugins
from dqa.core.database import DEFAULT_LIMITS
from dqa.databases.namespaces import namespace_for
from dqa.guard.check import _cached


def main() -> None:
    """Measure and print one line a database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="times each query is repeated")
    rounds: int = parser.parse_args().rounds
    for name in ("mysql", "postgres"):
        url = os.environ.get(f"DQA_TEST_{name.upper()}_URL")
        if url is None:
            print(f"{name:9} left out: DQA_TEST_{name.upper()}_URL is not set")
        else:
            compare(name, url, rounds)


def compare(name: str, url: str, rounds: int) -> None:
    """Print the medians of one server."""
    situation, backend = make_situation(), plugins.backend(name)
    namespace = namespace_for(situation)
    database: Any = backend.load(situation, url)
    where = make_url(url)
    if name == "mysql":
        where = where.set(drivername="mysql+pymysql", database=namespace)
        options: dict[str, Any] = {"ssl_disabled": True}
    else:
        where = where.set(drivername="postgresql+psycopg")
        options = {"options": f"-c search_path={namespace}"}
    engine = create_engine(where, isolation_level="AUTOCOMMIT", connect_args=options)
    statement = text(SMALL_SQL)
    with engine.connect() as connection:

        def first_check() -> object:
            _cached.cache_clear()
            return guard.check(SMALL_SQL, database.dialect)

        medians = measured(
            {
                "without guard": lambda: database._session.run(SMALL_SQL, DEFAULT_LIMITS),  # noqa: SLF001
                "Core": lambda: connection.execute(statement).fetchall(),
                "guard, first time": first_check,
                "guard, again": lambda: guard.check(SMALL_SQL, database.dialect),
            },
            rounds,
        )
    figures = ", ".join(f"{each} {seconds * 1e6:.0f} us" for each, seconds in medians.items())
    print(f"{name:9} {medians['without guard'] / medians['Core']:.2f} times Core: {figures}")
    database.close()
    engine.dispose()
    backend.unload(url, namespace)


def measured(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each call."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            started = perf_counter()
            call()
            taken[name].append(perf_counter() - started)
    return {name: statistics.median(times) for name, times in taken.items()}


if __name__ == "__main__":
    main()
