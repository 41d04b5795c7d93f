"""How long one situation takes into Neo4j, beside one statement a row.

Run ``python -m benchmarks.neo4j_loading`` (``--rounds N``) with ``DQA_TEST_NEO4J_URL`` set. What is
compared is what people do with a file of Cypher: each line, with its values in it, is a statement
and a transaction of its own. Both sides are measured in the same run, alternately, and medians are
compared. Small queries are measured too: bare on the driver, and through the query layer.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter

import neo4j

from benchmarks.loading import make_situation
from dqa.core.database import Limits
from dqa.core.situation import Situation
from dqa.databases.namespaces import namespace_for
from dqa.databases.neo4j.backend import BACKEND
from dqa.databases.neo4j.server import Address, Server
from dqa.guard import Policy
from dqa.guard.cypher import judge

_QUERIES = 300
_SMALL = "MATCH (c:Country) WHERE c.home_node = 'node 7' RETURN c.name, c.development LIMIT 10"


def main() -> None:
    """Measure and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="times each load is repeated")
    rounds: int = parser.parse_args().rounds
    url = os.environ["DQA_TEST_NEO4J_URL"]
    ours, lines = [], []
    for number in range(rounds):
        situation = make_situation(seed=number)
        ours.append(load(situation, url))
        lines.append(line_by_line(situation, url))
    print(f"one Locating database, {situation.row_count} rows, medians of {rounds}")
    fast, slow = statistics.median(ours), statistics.median(lines)
    print(f"load: {fast * 1e3:.0f} ms; line by line: {slow * 1e3:.0f} ms; {slow / fast:.0f} times")
    again = statistics.median(load(situation, url) for _ in ours)
    print(f"load again what is there: {again * 1e3:.0f} ms")
    compare_queries(situation, url)
    for number in range(rounds):
        BACKEND.unload(url, namespace_for(make_situation(seed=number)))


def load(situation: Situation, url: str) -> float:
    """Load and close; return the seconds."""
    return timed(lambda: BACKEND.load(situation, url).close())


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


def line_by_line(situation: Situation, url: str) -> float:
    """Load with one statement and one transaction a row; return the seconds, and clean up."""
    server = Server(Address.parse(url))
    lines = list(statements(situation))
    try:
        with server.writing() as session:
            session.run("RETURN 1").consume()
            started = perf_counter()
            for line in lines:
                session.run(line).consume()
            seconds = perf_counter() - started
            session.run("MATCH (n:Line_by_line) DETACH DELETE n").consume()
    finally:
        server.close()
    return seconds


def statements(situation: Situation) -> Iterator[str]:
    """Yield a statement a row, as the release's files do; one label more, to clean up."""
    for node in situation.schema.nodes:
        table = situation[node.table]
        columns = [table[column].tolist() for _, column in node.properties]
        for row in zip(*columns, strict=True):
            yield f"CREATE (:{node.label}:Line_by_line {literals(node.properties, row)})"
    for edge in situation.schema.edges:
        table = situation[edge.table]
        keys = [situation.schema.node(label).key for label, _ in (edge.source, edge.target)]
        ends = [table[column].tolist() for _, column in (edge.source, edge.target)]
        columns = [table[column].tolist() for _, column in edge.properties]
        for source, target, *values in zip(*ends, *columns, strict=True):
            yield (
                f"MATCH (a:{edge.source[0]}:Line_by_line {{{keys[0]}: {json.dumps(source)}}}), "
                f"(b:{edge.target[0]}:Line_by_line {{{keys[1]}: {json.dumps(target)}}}) "
                f"CREATE (a)-[:{edge.label} {literals(edge.properties, values)}]->(b)"
            )


def literals(properties: tuple[tuple[str, str], ...], values: Iterable[object]) -> str:
    """Return a map of properties as Cypher spells it."""
    pairs = zip((name for name, _ in properties), values, strict=True)
    return "{" + ", ".join(f"{name}: {json.dumps(value)}" for name, value in pairs) + "}"


def compare_queries(situation: Situation, url: str) -> None:
    """Compare a small query bare on the driver with the same through the query layer."""
    database = BACKEND.load(situation, url)
    server = Server(Address.parse(url))
    ready = judge(_SMALL, "neo4j", Policy(inside=namespace_for(situation)))

    def bare() -> None:
        with (
            server.driver.session(default_access_mode=neo4j.READ_ACCESS) as session,
            session.begin_transaction(timeout=10) as transaction,
        ):
            assert len([record.values() for record in transaction.run(ready)]) > 0

    def layer() -> None:
        assert database.query(_SMALL, Limits()).rows

    bare()
    layer()
    pairs = [(timed(bare), timed(layer)) for _ in range(_QUERIES)]
    plain, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(
        f"small query: {plain * 1e6:.0f} us bare driver, {ours * 1e6:.0f} us query layer, "
        f"{ours / plain:.2f} times"
    )
    database.close()
    server.close()


if __name__ == "__main__":
    main()
