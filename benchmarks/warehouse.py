"""The time of the statements of `examples/warehouse`, and whether all databases agree.

Run ``python -m benchmarks.warehouse`` (``--lines N``). The warehouse is created in files of SQLite,
DuckDB and LadybugDB, and on the servers in DQA_TEST_POSTGRES_URL, DQA_TEST_MYSQL_URL and
DQA_TEST_NEO4J_URL (Neo4j must not contain the labels of the example). It is removed at the end.
Every statement of the folder runs for every question: lists, context, outcomes, heuristics. With
``--decide``, PlanRAG, PlanRAG with the simulator and DeLLMa also decide, with the scripted analyst.
The exit code is 1 if databases differ, or a statement takes 2 s or more.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from sqlalchemy import create_engine, make_url

import dqa
from benchmarks.needs import SERVERS, server_url
from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Rows
from dqa.core.files import parse_json
from dqa.core.question import Candidate, Question
from dqa.loaders.live_questions import LiveScenario, ask_scenario
from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import register
from dqa.scenarios.outcomes import ScenarioOutcomes
from examples.make_warehouse import make_warehouse
from examples.warehouse_shape import FULL
from examples.warehouse_tables import NODES, RELATIONSHIPS

FOLDER = Path(__file__).parents[1] / "examples" / "warehouse"
QUESTIONS = FOLDER / "questions.jsonl"
FILES = {"sqlite": "warehouse.db", "duckdb": "warehouse.duckdb", "ladybug": "warehouse.lbug"}
DECIDERS = ("planrag", "planrag-sim", "dellma-pairs")
BOUND = 2.0
_NAMESPACE = "dqa_example_warehouse"
_DRIVERS = {"postgres": "postgresql+psycopg", "mysql": "mysql+pymysql"}
_CENT = 0.011
"""Sums with a smaller difference are equal, because databases round half cents differently."""


@dataclass
class Measured:
    """The answers of one database.

    Attributes
    ----------
    outcomes
        By question, the outcome of each candidate.
    decisions
        By question, the best candidate, and the choice of each heuristic.
    context
        By question, the rows of each statement, with numbers rounded.
    seconds
        The time of each statement by its name.
    """

    outcomes: dict[str, dict[Candidate, float]] = field(default_factory=dict)
    decisions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    context: dict[str, list[list[tuple[object, ...]]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def differs(self, other: Measured) -> list[str]:
        """Return the questions with different answers on another database."""
        return [
            key
            for key, values in self.outcomes.items()
            if self.decisions[key] != other.decisions[key]
            or values.keys() != other.outcomes[key].keys()
            or not all(
                math.isclose(values[name], other.outcomes[key][name], rel_tol=1e-9, abs_tol=_CENT)
                for name in values
            )
            or self.context[key] != other.context[key]
        ]


@contextmanager
def made(name: str, lines: int, folder: Path, urls: Mapping[str, str]) -> Iterator[str]:
    """Create the warehouse in a database, yield its location, and remove it at the end."""
    if name in FILES:
        target = str(folder / FILES[name])
        make_warehouse(target, lines)
        yield target
        return
    if name == "neo4j":
        # If this call fails, do not delete anything: the data may belong to another user.
        make_warehouse(urls[name], lines)
        try:
            yield urls[name]
        finally:
            _empty_neo4j(urls[name])
        return
    with _namespace(name, urls[name]) as target:
        make_warehouse(target, lines)
        yield target


@contextmanager
def _namespace(name: str, url: str) -> Iterator[str]:
    """Create a namespace on an SQL server, yield its location, and drop it at the end."""
    is_postgres, parsed = name == "postgres", make_url(url)
    engine = create_engine(parsed.set(drivername=_DRIVERS[name]))
    drop = f"DROP SCHEMA IF EXISTS {_NAMESPACE}{' CASCADE' if is_postgres else ''}"
    first = [drop] if is_postgres else [drop, f"CREATE SCHEMA {_NAMESPACE}"]
    there = (
        parsed.update_query_dict({"schema": _NAMESPACE})
        if is_postgres
        else parsed.set(database=_NAMESPACE)
    )
    try:
        with engine.begin() as connection:
            for statement in first:
                connection.exec_driver_sql(statement)
        yield there.render_as_string(hide_password=False)
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql(drop)
        engine.dispose()


def _empty_neo4j(url: str) -> None:
    from neo4j import GraphDatabase

    where = make_url(url)
    auth = (where.username or "", where.password or "")
    with (
        GraphDatabase.driver(
            f"{where.drivername}://{where.host}:{where.port}",
            auth=auth,
            notifications_min_severity="OFF",
        ) as driver,
        driver.session() as session,
    ):
        # In batches, because one large transaction exceeds the server's memory.
        deleted = "DELETE x } IN TRANSACTIONS OF 10000 ROWS"
        for each in RELATIONSHIPS:
            pattern = f"(:{each.source[0]})-[x:{each.label}]->(:{each.target[0]})"
            session.run(f"MATCH {pattern} CALL (x) {{ {deleted}")
        for label in NODES:
            session.run(f"MATCH (x:{label}) CALL (x) {{ {deleted}")
        for row in list(session.run("SHOW CONSTRAINTS YIELD name, labelsOrTypes")):
            if {*row["labelsOrTypes"]} <= {*NODES}:
                session.run(f"DROP CONSTRAINT {row['name']} IF EXISTS")
        for row in list(session.run("SHOW INDEXES YIELD name, labelsOrTypes")):
            if row["labelsOrTypes"] and {*row["labelsOrTypes"]} <= {*NODES}:
                session.run(f"DROP INDEX {row['name']} IF EXISTS")


def measure(where: str, most: int | None = None) -> Measured:
    """Run the statements of at most `most` questions per scenario on a database."""
    for folder in sorted(FOLDER.iterdir()):
        if folder.is_dir():
            register(folder)
    found, counts = Measured(), Counter[str]()
    with closing(plugins.backend_for(where).open(where)) as database:
        for line in QUESTIONS.read_text("utf-8").splitlines():
            told = parse_json(line)
            scenario = plugins.scenario(told["scenario"])
            counts[scenario.name] += 1
            if most is not None and counts[scenario.name] > most:
                continue
            target = {key: str(value) for key, value in told["target"].items()}
            _measure_one(found, database, scenario, told["id"], target)
    return found


def _measure_one(
    found: Measured, database: Database, scenario: Scenario, key: str, target: Mapping[str, str]
) -> None:
    started = perf_counter()
    for parameter in target:
        LiveScenario(scenario, database).values(parameter, {})
    found.seconds[f"{key}: values of its parameters"] = perf_counter() - started
    started = perf_counter()
    question = ask_scenario(scenario, database, target)
    found.seconds[f"{key}: candidates"] = perf_counter() - started
    outcomes = plugins.simulator(scenario.name)
    assert isinstance(outcomes, ScenarioOutcomes)
    started = perf_counter()
    told = outcomes.outcomes_in(database, question)
    found.seconds[f"{key}: outcomes"] = perf_counter() - started
    found.outcomes[key] = dict(zip(told.candidates, told.values.tolist(), strict=True))
    chosen = [str(told.answer)]
    for heuristic in scenario.heuristics:
        statement = scenario.filled_for(
            question, database.kind, heuristic.statements[database.kind]
        )
        rows = _timed(found, f"{key}: {heuristic.name}", database, statement)
        chosen.append(str(rows.rows[0][0]))
    found.decisions[key] = tuple(chosen)
    found.context[key] = _context(found, database, scenario, question, key)


def _context(
    found: Measured, database: Database, scenario: Scenario, question: Question, key: str
) -> list[list[tuple[object, ...]]]:
    tables = []
    for number, statement in enumerate(scenario.context(question, database.kind), 1):
        rows = _timed(found, f"{key}: context {number}", database, statement)
        tables.append([tuple(map(_plain, row)) for row in rows.rows])
    return tables


def _plain(cell: Any) -> object:  # noqa: ANN401  (whatever a driver returns)
    """Return a cell with numbers rounded, because sums differ in their last digits."""
    try:
        return f"{float(cell):.8g}"
    except ValueError:
        return cell


def _timed(found: Measured, called: str, database: Database, statement: str) -> Rows:
    started = perf_counter()
    rows = database.query(statement, DEFAULT_LIMITS)
    found.seconds[called] = perf_counter() - started
    return rows


def decide(where: str) -> dict[str, dict[str, str]]:
    """Let the methods decide every question. Return choices and scores by decider."""
    questions = dqa.read_questions(QUESTIONS, {"warehouse": where})
    run = dqa.evaluate(questions, DECIDERS, model="scripted:analyst")
    found: dict[str, dict[str, str]] = {name: {} for name in DECIDERS}
    for result in run.results:
        found[result.decider][result.question] = f"{result.choice} ({result.outcome})"
    return found


def report(name: str, measured: Measured, first: Measured) -> bool:
    """Print the slowest statement. Return whether it is fast and all decisions are equal."""
    slowest = max(measured.seconds, key=measured.seconds.__getitem__)
    seconds, differs = measured.seconds[slowest], measured.differs(first)
    print(
        f"{name:9} slowest of {len(measured.seconds)} statements {seconds:.2f} s ({slowest}); "
        f"decisions {f'DIFFER: {differs}' if differs else 'alike'}",
        flush=True,
    )
    return seconds < BOUND and not differs


def main() -> int:
    """Create the warehouse, measure and compare. Print a line for each database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=FULL, help="order lines")
    parser.add_argument("--decide", action="store_true", help="run the methods as well")
    given = parser.parse_args()
    urls = {name: server_url(name) for name in SERVERS}
    first: Measured | None = None
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in (*FILES, *filter(urls.get, SERVERS)):
            with made(name, given.lines, Path(folder), urls) as where:
                measured = measure(where)
                first = first or measured
                good &= report(name, measured, first)
                if given.decide:
                    for decider, choices in decide(where).items():
                        print(f"          {decider}: {'; '.join(choices.values())}", flush=True)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
