"""The second line: what the attacks do to real databases when no guard judges them.

Every attack of ``tests/guard/guard_cases`` runs below the guard. Whatever it does, the data
must be as they were and the database usable. What is let through beyond that is known by name:
``second_line.json`` lists it by dialect and reason, and what is not run because it would end the
process or the server, or reach the network.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dqa.core.database import Database, Limits
from dqa.core.errors import DatabaseUnavailableError, DqaError
from dqa.core.situation import Situation
from dqa.loaders.generator.generate import generate
from dqa.loaders.readback import read_situation
from dqa_simulators.locating.generator import LocatingSize
from tests.databases.conftest import BACKENDS
from tests.integration.conftest import OwnServer

CASES = Path(__file__).parents[1] / "guard" / "guard_cases"
KNOWN: dict[str, dict[str, dict[str, list[str]]]] = json.loads(
    (CASES / "second_line.json").read_text("ascii")
)
FILES = {"mariadb": ("mariadb", "mysql")}
"""Whose attacks a database gets, where it is not one file of its own name."""
LIMITS = Limits(seconds=0.2)
"""Many attacks sleep; it only matters that they are stopped."""
NO_ROWS = "The statement is not a query that returns rows"

TABLES = (
    "CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, d VARCHAR(9))",
    "CREATE TABLE u (a INTEGER, b INTEGER)",
    "INSERT INTO t VALUES (1, 2, 3, 'x'), (2, 3, 4, 'y')",
    "INSERT INTO u VALUES (1, 2)",
)
SEQUENCE = "CREATE SEQUENCE s"
GRAPH = (
    "CREATE NODE TABLE City(name STRING PRIMARY KEY, population INT64, area DOUBLE)",
    "CREATE NODE TABLE Person(name STRING PRIMARY KEY)",
    "CREATE REL TABLE Road(FROM City TO City, km INT64)",
    SEQUENCE,
    "CREATE (:City {name: 'a', population: 1}), (:City {name: 'b', population: 2})",
    "MATCH (a:City {name: 'a'}), (b:City {name: 'b'}) CREATE (a)-[:Road {km: 3}]->(b)",
)


def attacks(dialect: str) -> list[str]:
    """Return the attacks of a dialect, each once."""
    lines = [
        line
        for name in FILES.get(dialect, (dialect,))
        for line in (CASES / f"{name}.jsonl").read_text("utf-8").split("\n")
        if line
    ]
    cases = [json.loads(line) for line in lines]
    return list(dict.fromkeys(case["statement"] for case in cases if not case["allowed"]))


def known(dialect: str, what: str) -> set[str]:
    """Return the statements that the data file lists: ``"through"`` or ``"not run"``."""
    return {statement for listed in KNOWN[dialect][what].values() for statement in listed}


@dataclass
class Attacked:
    """A loaded situation, the attacks' own targets beside it, and what must not change."""

    dialect: str
    database: Any  # reached below its public methods
    situation: Situation
    content: Callable[[], object]
    folder: Path

    def through(self) -> set[str]:
        """Run the attacks and return those that the database does not stop."""
        before = self.content()
        left = known(self.dialect, "not run")
        run = [statement for statement in attacks(self.dialect) if statement not in left]
        passed = {statement for statement in run if self._passes(statement)}
        database: Database = self.database
        situation = self.situation
        assert read_situation(database, situation.schema, situation.name) == situation
        assert self.content() == before
        return passed

    def _passes(self, statement: str) -> bool:
        for left in self.folder.iterdir():  # a file may be written once only
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        statement = statement.replace("/tmp/", f"{self.folder}/")  # noqa: S108  (theirs)
        try:
            self.database._session.run(statement, LIMITS)
        except DqaError as error:
            return NO_ROWS in str(error)  # it ran, and there was nothing to show
        return True


@contextmanager
def folder() -> Iterator[Path]:
    """Give a folder for files that attacks write, which a server's account may write to too."""
    made, here = Path(tempfile.mkdtemp(prefix="dqa-attacked-")), Path.cwd()
    made.chmod(0o777)
    os.chdir(made)
    try:
        yield made
    finally:
        os.chdir(here)
        shutil.rmtree(made)


def small_world() -> Situation:
    """Return a small generated situation."""
    size = LocatingSize(nodes=8, edges=9, countries=5, node_countries=9)
    (situation,) = generate(["locating"], 1, 5, sizes=[size]).situations.values()
    return situation


def contents(database: Any) -> Callable[[], object]:
    """Return what reads everything beside the situation, and what tables there are."""
    statements = ["SELECT * FROM t ORDER BY a", "SELECT * FROM u"]
    if database.kind == "graph":
        statements = [
            "MATCH (n:City) RETURN n ORDER BY n.name",
            "MATCH ()-[r:Road]->() RETURN r.km",
        ]

    def read() -> object:
        database._schema = None
        return database.schema(), [database.query(statement).rows for statement in statements]

    return read


def prepare(database: Any) -> None:
    """Write the attacks' targets into an embedded database."""
    match database.dialect:
        case "sqlite":
            keeper = database._session._on_close.__self__
            for statement in TABLES:
                keeper.execute(statement)
            keeper.commit()
        case "duckdb":
            with closing(database._session.connect()) as cursor:
                cursor.execute(f'USE "{database._session.namespace}"')
                for statement in (*TABLES, SEQUENCE):
                    cursor.execute(statement)
        case "ladybug":
            with closing(database._session.connect()) as connection:
                for statement in GRAPH:
                    connection.execute(statement)


def attack_embedded(dialect: str) -> set[str]:
    """Attack an embedded database; return what is let through and is not known."""
    world = small_world()
    with folder() as here, closing(BACKENDS[dialect].load(world, isolation="none")) as database:
        prepare(database)
        attacked = Attacked(dialect, database, world, contents(database), here)
        return attacked.through() - known(dialect, "through")


def attack(own: OwnServer) -> set[str]:
    """Attack a server, whose user may do everything, as `attack_embedded` does."""
    world, backend = small_world(), own.backend
    with folder() as here, closing(backend.load(world, own.url, isolation="none")) as database:
        if own.name == "neo4j":
            with closing(backend.open(own.url, isolation="none")) as whole:
                attacked = Attacked("neo4j", database, world, partial(_everything, whole), here)
                found = attacked.through()
        else:
            found = _attack_relational(own, database, world, here)
    for each in backend.loaded(own.url):
        with suppress(DatabaseUnavailableError):  # an attack may have left a file in its folder
            backend.unload(own.url, each.namespace)
    return found - known(own.name, "through")


def _attack_relational(own: OwnServer, database: Any, world: Situation, here: Path) -> set[str]:
    with closing(database._session.connect()) as connection:
        cursor = connection.cursor()
        if own.name == "postgres":
            cursor.execute("SET default_transaction_read_only = off")
            cursor.execute(f'SET search_path TO "{database.namespace}"')
        for statement in (*TABLES, SEQUENCE):
            cursor.execute(statement)
    return Attacked(own.name, database, world, contents(database), here).through()


def _everything(whole: Any) -> object:
    """Read what there is in the whole database."""
    statements = (
        "MATCH (n) RETURN count(n), count(DISTINCT labels(n))",
        "MATCH ()-[r]->() RETURN count(r)",
        "SHOW INDEXES YIELD name RETURN name ORDER BY name",
        "SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name",
        "CALL db.labels() YIELD label RETURN label ORDER BY label",
        "SHOW USERS YIELD user RETURN user ORDER BY user",
    )
    with closing(whole._session.connect()) as server:
        return [server.rows(statement) for statement in statements]
