"""What tests of all engines share: situations, a database to load into, and statements."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import duckdb
import ladybug
import numpy as np
import sqlalchemy as sa

from dqa import plugins
from dqa.core.database import Database
from dqa.core.situation import Cell, Situation, Table
from dqa.databases.base import Backend
from dqa.databases.namespaces import LoadedSituation, namespace_for
from dqa.databases.neo4j.server import Address, Server
from dqa.loaders.readback import read_situation

NODES = {
    "relational": "SELECT trade_node, local_value FROM trade_node ORDER BY trade_node",
    "graph": "MATCH (n:Trade_node) RETURN n.name, n.local_value ORDER BY n.name",
}
_RECURSIVE = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900) "
    "SELECT count(*) FROM r a, r b, r c, r d WHERE a.n + b.n + c.n <> d.n"
)
ENDLESS = dict.fromkeys(("duckdb", "mariadb", "mysql", "postgres", "sqlite"), _RECURSIVE) | {
    "ladybug": (
        "MATCH (a)-[:source*1..30]-(b)-[:source*1..30]-(c)-[:source*1..30]-(d)-[:source*1..30]-(e)"
        "-[:source*1..30]-(f)-[:source*1..30]-(g)-[:source*1..30]-(h) RETURN count(*)"
    ),
    "neo4j": "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN count(x + y)",
}
_TABLE = (("CREATE TABLE precious (a INT)",), "SELECT count(*) FROM precious")
_SCHEMA = (
    ("CREATE SCHEMA {0}", "CREATE TABLE {0}.precious (a INT)"),
    "SELECT count(*) FROM {0}.precious",
)
_FOREIGN = {
    "duckdb": _TABLE,
    "sqlite": _TABLE,
    "mysql": _SCHEMA,
    "postgres": _SCHEMA,
    "ladybug": (
        ("CREATE NODE TABLE precious (a INT64 PRIMARY KEY)",),
        "MATCH (n:precious) RETURN count(n)",
    ),
    "neo4j": (("CREATE (:{0}:Precious)",), "MATCH (n:{0}:Precious) RETURN count(n) - 1"),
}
"""Statements that put content of another owner into a namespace, and a statement that returns 0
while it is there."""


def small_situation(number: int = 0) -> Situation:
    """Return three nodes in no alphabetical order, two flows and one missing number.

    Each process of the tests has its own content, and each number. Otherwise, they would share it
    on a server, and drop each other's tables.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    schema = plugins.scenario("locating").schema
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "country": [("SWE", "lubeck", 10.5), ("DAN", "kiev", 2.0)],
        "trade_node": [
            ("lubeck", 1.25, False, 30.0, 0.5, 0.0),
            ("kiev", 2.0, True, 20.0, 0.25, 0.1),
            ("basra", float("nan"), True, 10.0 + int(worker) + 100 * number, 0.0, 0.0),
        ],
        "flow": [("kiev", "lubeck", 0.3), ("basra", "kiev", 0.1)],
        "node_country": [
            ("lubeck", "SWE", True, False, 8.0, 8.0),
            ("kiev", "SWE", False, True, 1.0, 3.15),
            ("kiev", "DAN", True, False, 5.0, 5.0),
        ],
    }
    tables = {t.name: Table.from_rows(t, rows[t.name]) for t in schema.tables}
    return Situation(schema, "small", tables)


def world(size: int = 60, name: str = "world") -> Situation:
    """Return a Building situation in a random order with texts and numbers that get lost easily."""
    schema, draw = plugins.scenario("building").schema, np.random.default_rng(size)
    texts = ["A", "a", "a ", "é", "e", "'", '"', "\\", "`", "\t", "\n", "%s", "{}", "😀", "\\N", ""]
    names = [*texts, *(f"good {number} :x" for number in range(len(texts), size))]
    order = draw.permutation(size)
    columns: dict[str, dict[str, Any]] = {
        "goods": {
            "goods_name": [names[i] for i in order],
            "code": order,
            "base_price": draw.random(size) * 5e-324,
            "current_price": np.where(draw.random(size) < 0.5, np.nan, 0.1 + 0.2),
            "pop_demand": draw.random(size) * 10.0 ** draw.integers(-300, 300, size),
        },
        "building": {
            "id": order,
            "name": [names[i] for i in order],
            "level": order * (2**62 // max(size, 1)),
        },
        "supply": {
            "goods_id": order,
            "building_id": order,
            "max_supply": draw.random(size) * 1e-5,
            "current_output": -draw.random(size) * 1e17,
            "level": -order,
        },
        "demand": {
            "goods_id": order,
            "building_id": order[::-1],
            "max_demand": draw.random(size),
            "current_input": np.zeros(size),
            "level": order,
        },
    }
    return Situation(schema, name, {t.name: Table(t, columns[t.name]) for t in schema.tables})


def read_back(database: Database, situation: Situation) -> Situation:
    """Return the situation that a database contains."""
    return read_situation(database, situation.schema, situation.name)


@dataclass
class Target:
    """A server or a folder into which tests load situations. `clean` drops all of them.

    Attributes
    ----------
    backend
        The backend.
    url
        The URL of the server. For an embedded engine, the folder of a file for each situation.
    """

    backend: Backend
    url: str
    _opened: list[Database] = field(default_factory=list)
    _known: dict[str, Situation] = field(default_factory=dict)

    def location(self, situation: Situation) -> str:
        """Return the URL of the server, or the file of a situation."""
        if not self.backend.embedded:
            return self.url
        return str(Path(self.url) / f"it's {situation.content_hash[:9]}.db")

    def namespace(self, situation: Situation) -> str:
        """Return the namespace of a situation."""
        embedded = self.backend.embedded
        return self.location(situation) if embedded else namespace_for(situation)

    def load(self, situation: Situation, **access: Any) -> Database:
        """Load a situation and open it; see `Backend.load`."""
        self._known[situation.content_hash] = situation
        database = self.backend.load(situation, self.location(situation), **access)
        self._opened.append(database)
        return database

    def open(self, situation: Situation, **access: Any) -> Database:
        """Open the namespace of a loaded situation by its URL."""
        namespace, location = self.namespace(situation), self.location(situation)
        match self.backend.name:
            case "mysql":
                url = sa.make_url(location).set(database=namespace)
                location = url.render_as_string(hide_password=False)
            case "postgres":
                location += f"?schema={namespace}"
            case "neo4j":
                location += f"?namespace={namespace}"
        database = self.backend.open(location, **access)
        self._opened.append(database)
        return database

    def loaded(self, situation: Situation) -> list[LoadedSituation]:
        """Return the loaded situations with the content of a situation."""
        location = self.location(situation)
        if self.backend.embedded and not Path(location).exists():
            return []
        found = self.backend.loaded(location)
        return [one for one in found if one.content_hash == situation.content_hash]

    def run(self, situation: Situation, *statements: str) -> list[Any]:
        """Run statements that may write, and return the rows of the last statement."""
        location, rows = self.location(situation), []
        if self.backend.name == "neo4j":
            with closing(Server(Address.parse(location))) as server:
                for statement in statements:
                    rows = [tuple(row.values()) for row in server.write(statement)]
            return rows
        if self.backend.name == "ladybug":
            with ladybug.Database(location) as file, ladybug.Connection(file) as connection:
                for statement in statements:
                    rows = list(connection.execute(statement))  # type: ignore[arg-type]
            return rows
        driver: Any
        if self.backend.name == "sqlite":
            driver = sqlite3.connect(location, isolation_level=None)
        elif self.backend.name == "duckdb":
            driver = duckdb.connect(location)
        else:
            kind = resolve_name(self.backend.namespaces)
            url = sa.make_url(location).set(drivername=kind.drivername)
            driver = kind.open_driver(url, autocommit=True)
        with closing(driver), closing(driver.cursor()) as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def occupy(self, situation: Situation) -> None:
        """Put content of another owner into the namespace of a situation."""
        self._known[situation.content_hash] = situation
        statements = _FOREIGN[self.backend.name][0]
        self.run(situation, *(each.format(namespace_for(situation)) for each in statements))

    def is_occupied(self, situation: Situation) -> bool:
        """Return whether the content of the other owner is there."""
        statement = _FOREIGN[self.backend.name][1].format(namespace_for(situation))
        try:
            return [tuple(row) for row in self.run(situation, statement)] == [(0,)]
        except Exception:  # noqa: BLE001  (of any driver: there is no such table)
            return False

    def clean(self) -> None:
        """Close all databases, and drop all namespaces of a server."""
        for database in self._opened:
            database.close()
        if self.backend.embedded:
            return
        with resolve_name(self.backend.namespaces).connect(self.url) as namespaces:
            for namespace in map(namespace_for, self._known.values()):
                if namespaces.read(namespace) is not None:
                    namespaces.drop(namespace)
