"""Comments and quoted parts end where the servers end them, on every supported Python.

Python 3.11.2, the oldest, misreads some repetitions in regular expressions. The verdicts are in
``guard_cases/policies.json``.
"""

from __future__ import annotations

import dqa


def test_statements_with_comments_run() -> None:
    """On embedded engines; DuckDB reads the beginning of a statement a second time."""
    comments = "/* a * b */ -- it's\n ( /* ' */ SELECT count(*) AS n FROM shop)"
    shop = {"shop": {"name": ["north", "south"]}}
    for engine in ("sqlite", "duckdb"):
        statement = comments if engine == "duckdb" else comments.replace("(", "", 1)[:-1]
        with dqa.temporary_database(shop, engine=engine) as database:
            assert database.query(statement).rows == ((2,),), engine
    graph = "CREATE NODE TABLE Shop(name STRING, PRIMARY KEY(name)); CREATE (:Shop {name: 'x'});"
    with dqa.temporary_database(graph, engine="ladybug") as database:
        assert database.query("/* a * b */ MATCH (s:Shop) // '\nRETURN s.name").rows == (("x",),)
