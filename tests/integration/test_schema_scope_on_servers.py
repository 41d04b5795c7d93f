"""The schema scope on servers: statements on one of two situations never read the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError, RefusedStatementError
from dqa.core.situation import Situation
from dqa.databases.namespaces import namespace_for
from dqa.guard import Policy
from tests.databases.engines import Target, world
from tests.guard.case_files import read_cases
from tests.integration.conftest import targeted

WAYS = read_cases("schema_scope")
OPEN = Policy(schemas=frozenset({"*"}))
ALL = Limits(rows=100_000, bytes=100_000_000)
HIDDEN = "hidden"
"""Is in every text of the other situation, and in the names of what else its schema has."""
_HIDDEN = re.compile(r"hidden\w*")
_NO_QUERY = "it is not a single query"
"""DuckDB's session runs what its engine calls a SELECT, whatever the guard lets through."""
MORE = {
    "mysql": (
        "CREATE TABLE {other}.hidden_names (hidden_name VARCHAR(40))",
        "INSERT INTO {other}.hidden_names VALUES ('hidden value')",
        "CREATE VIEW {other}.hidden_view AS SELECT * FROM {other}.hidden_names",
        "CREATE VIEW {own}.own_view AS SELECT hidden_name AS kept FROM {other}.hidden_names",
    ),
    "postgres": (
        "CREATE TABLE {other}.hidden_names (hidden_name TEXT)",
        "INSERT INTO {other}.hidden_names VALUES ('hidden value')",
        "CREATE VIEW {other}.hidden_view AS SELECT * FROM {other}.hidden_names",
        "CREATE VIEW {own}.own_view AS SELECT hidden_name AS kept FROM {other}.hidden_names",
        'CREATE COLLATION {other}.c FROM "C"',
    ),
    "duckdb": (
        "CREATE TABLE {other}.hidden_names (hidden_name TEXT PRIMARY KEY)",
        "INSERT INTO {other}.hidden_names VALUES ('hidden value')",
        "CREATE VIEW {other}.hidden_view AS SELECT * FROM {other}.hidden_names",
        "CREATE VIEW {own}.own_view AS SELECT hidden_name AS kept FROM {other}.hidden_names",
        "CREATE TYPE {other}.mood AS ENUM ('hidden mood')",
        "CREATE TYPE main.mood AS ENUM ('hidden mood')",
        "CREATE TABLE main.hidden_table (hidden TEXT)",
        "INSERT INTO main.hidden_table VALUES ('hidden value')",
    ),
}


class TwoSituations:
    """One's own situation, and another one in the same server."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.dialect = target.backend.name
        self.own = world(20, "own")
        other = world(12, "other")
        hidden = [f"hidden {number}" for number in range(12)]
        self.other = other.replace(goods=other["goods"].replace(goods_name=hidden))
        for situation in (self.own, self.other):
            if self.dialect == "duckdb":
                self._add_schema(situation)
            else:
                target.load(situation).close()
        self.names = {
            "own": namespace_for(self.own),
            "other": namespace_for(self.other),
            "database": self._database(),
        }
        self.names |= {name.upper(): self.names[name].upper() for name in ("own", "other")}
        for statement in MORE[self.dialect]:
            self._execute(statement.format(**self.names))

    def _database(self) -> str:
        if self.dialect == "duckdb":
            return Path(self.target.url).stem
        return sa.make_url(self.target.url).database or ""

    def _execute(self, statement: str) -> None:
        if self.dialect == "duckdb":
            with closing(duckdb.connect(self.target.url)) as connection:
                connection.execute(statement)
            return
        drivers = {"mysql": "mysql+pymysql", "postgres": "postgresql+psycopg"}
        engine = sa.create_engine(
            sa.make_url(self.target.url).set(drivername=drivers[self.dialect])
        )
        with engine.begin() as connection:
            connection.execute(sa.text(statement))
        engine.dispose()

    def _add_schema(self, situation: Situation) -> None:
        """Copy a situation from a DuckDB file of its own into a schema."""
        file, name = f"{self.target.url}.{situation.name}", namespace_for(situation)
        self.target.backend.load(situation, file).close()
        with closing(duckdb.connect(self.target.url)) as connection:
            connection.execute(f"ATTACH '{file}' AS loaded; CREATE SCHEMA {name}")
            for table in situation.tables:
                connection.execute(f"CREATE TABLE {name}.{table} AS FROM loaded.{table}")

    def open(self, situation: Situation, policy: Policy | None = None) -> Database:
        """Open a situation as `eval` does."""
        if self.dialect != "duckdb":
            return self.target.load(situation, policy=policy)
        location = f"duckdb:///{self.target.url}?schema={namespace_for(situation)}"
        return self.target.backend.open(location, policy=policy)

    def ways(self, kind: str) -> list[str]:
        """Return the statements of a kind."""
        return [statement.format(**self.names) for statement in WAYS[self.dialect][kind]]


def _is_run(database: Database, statement: str) -> bool:
    """Whether a statement comes to its engine, which may not have it."""
    try:
        database.query(statement, ALL)
    except RefusedStatementError as error:
        return _NO_QUERY in str(error)
    except QueryError:
        pass
    return True


@pytest.fixture(params=["mysql", "postgres", "duckdb"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TwoSituations]:
    """Give each kind of server that holds both, in turn."""
    for target in targeted(request.param, request, tmp_path):
        if request.param == "duckdb":
            target.url = str(tmp_path / "worlds.duckdb")
        yield TwoSituations(target)


def test_a_situation_sees_nothing_of_another(two: TwoSituations) -> None:
    """Not by a name with its schema, nor a catalogue, a cast, a listing or a description."""
    own = two.open(two.own)
    for statement in (*two.ways("reads"), *two.ways("tells")):
        with pytest.raises(QueryError) as refused:
            own.query(statement, ALL)
        assert set(_HIDDEN.findall(str(refused.value))) <= set(_HIDDEN.findall(statement))
    for statement in two.ways("unread"):
        with pytest.raises(QueryError):
            own.query(statement, ALL)
    for statement in two.ways("inside"):
        assert _is_run(own, statement), statement


def test_without_a_scope_the_same_statements_read_it(two: TwoSituations) -> None:
    """The scope separates the situations; a policy can extend it."""
    own = two.open(two.own, OPEN)
    for statement in two.ways("reads"):
        rows = own.query(statement, ALL)
        told = " ".join(map(str, (*rows.columns, *rows.rows)))
        assert HIDDEN in told or two.names["other"] in told, statement
    for statement in two.ways("tells"):
        assert _is_run(own, statement), statement


def test_a_search_path_of_a_role_is_its_own_place(postgres_url: str) -> None:
    """What psql finds without a schema is shown and read; a key to elsewhere is not shown."""
    made = (
        "CREATE SCHEMA dqa_test_sales",
        "CREATE SCHEMA dqa_test_costs",
        "CREATE TABLE dqa_test_costs.orders (id INT PRIMARY KEY)",
        "CREATE TABLE dqa_test_sales.orders (id INT PRIMARY KEY)",
        "CREATE TABLE dqa_test_sales.item (id INT REFERENCES dqa_test_sales.orders)",
        "ALTER TABLE dqa_test_sales.item ADD COLUMN cost INT REFERENCES dqa_test_costs.orders",
        "INSERT INTO dqa_test_sales.orders VALUES (7)",
    )
    dropped = [f"DROP SCHEMA IF EXISTS dqa_test_{name} CASCADE" for name in ("sales", "costs")]
    url = sa.make_url(postgres_url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url)
    paths = {"options": "-c search_path=dqa_test_sales"}
    place = url.set(drivername="postgresql").update_query_dict(paths)
    location = place.render_as_string(hide_password=False)
    generic = url.update_query_dict({"schema": "dqa_test_sales"})
    try:
        with engine.begin() as connection:
            for statement in (*dropped, *made):
                connection.execute(sa.text(statement))
        with closing(plugins.backend("postgres").open(location)) as opened:
            assert opened.query("SELECT id FROM orders").rows == ((7,),)
            assert opened.query("SELECT id FROM dqa_test_sales.orders").rows == ((7,),)
            for schema in ("public", "dqa_test_costs"):
                with pytest.raises(RefusedStatementError, match="outside of dqa_test_sales"):
                    opened.query(f"SELECT id FROM {schema}.orders")
            tables = {table.name: table for table in opened.schema().tables}
            assert sorted(tables) == ["item", "orders"]
            assert tables["item"].references == (("id", "orders", "id"),)
        known_as = generic.render_as_string(hide_password=False)
        with closing(plugins.backend("sqlalchemy").open(known_as)) as opened:
            assert opened.query("SELECT id FROM dqa_test_sales.orders").rows == ((7,),)
            with pytest.raises(RefusedStatementError, match=r"write dqa_test_sales\.orders"):
                opened.query("SELECT id FROM orders")  # the server looks in public
            for outside in ("public.orders", "dqa_test_costs.orders", "pg_catalog.pg_class"):
                with pytest.raises(RefusedStatementError):
                    opened.query(f"SELECT * FROM {outside}")
    finally:
        with engine.begin() as connection:
            for statement in dropped:
                connection.execute(sa.text(statement))
        engine.dispose()


def test_a_database_opened_by_its_url_has_the_same_scope(two: TwoSituations) -> None:
    """`ask`, `dqa query` and questions of one's own open databases so."""
    name = two.names["own"]
    if two.dialect == "duckdb":
        place = f"duckdb:///{two.target.url}?schema={name}"
    else:
        url = sa.make_url(two.target.url)
        is_mysql = two.dialect == "mysql"
        url = url.set(database=name) if is_mysql else url.update_query_dict({"schema": name})
        place = url.render_as_string(hide_password=False)
    backend = plugins.backend_for(place)
    with closing(backend.open(place)) as opened:
        assert opened.query("SELECT count(*) FROM goods").rows == ((20,),)
        assert HIDDEN not in opened.schema().to_text()
        for statement in two.ways("reads"):
            with pytest.raises(QueryError):
                opened.query(statement)
    with closing(backend.open(place, policy=OPEN)) as opened:
        rows: Any = opened.query(two.ways("reads")[0]).rows
        assert HIDDEN in rows[0][0]
