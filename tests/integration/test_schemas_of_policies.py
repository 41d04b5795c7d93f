"""The schemas that a policy adds to a database are readable and described."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import duckdb
import pytest
import sqlalchemy as sa

import dqa
from dqa.core.errors import QueryError, RefusedStatementError
from dqa.guard import Policy

SALES = Policy(schemas=frozenset({"sales"}))
SCRIPT = (
    "CREATE TABLE shop (shop_name VARCHAR(20))",
    "INSERT INTO shop VALUES ('north')",
    "CREATE SCHEMA sales",
    "CREATE TABLE sales.sale (price INTEGER)",
    "INSERT INTO sales.sale VALUES (7)",
    "CREATE SCHEMA salaries",
    "CREATE TABLE salaries.salary (amount INTEGER)",
)


@contextmanager
def duckdb_file(folder: Path) -> Iterator[str]:
    """Give a DuckDB file with three schemas."""
    path = folder / "shop.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute(";".join(SCRIPT))
    yield str(path)


@contextmanager
def postgres_database(url: str) -> Iterator[str]:
    """Give a PostgreSQL database with three schemas."""
    name = f"dqa_policy_{uuid4().hex[:8]}"
    server = sa.make_url(url).set(drivername="postgresql+psycopg")
    own = server.set(database=name)
    first = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with first.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
        try:
            filled = sa.create_engine(own, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
            with filled.connect() as inside:
                for statement in SCRIPT:
                    inside.execute(sa.text(statement))
            yield own.set(drivername="postgresql").render_as_string(hide_password=False)
        finally:
            connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_schemas_of_a_policy_are_described_and_joined(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Other schemas stay hidden; without the policy its schemas are hidden, too."""
    if engine == "duckdb":
        opened = duckdb_file(tmp_path)
    else:
        opened = postgres_database(request.getfixturevalue("postgres_url"))
    joined = "SELECT shop_name, price FROM shop, {}sale"
    with opened as location:
        with closing(dqa.open_database(location, policy=SALES)) as database:
            names = {table.name for table in database.schema().tables}
            assert names == {"shop", "sale"}
            for written in ("", "sales."):
                assert database.query(joined.format(written)).rows == (("north", 7),)
            with pytest.raises(RefusedStatementError):
                database.query("SELECT * FROM salaries.salary")
        hiding = Policy(schemas=SALES.schemas, denied_columns=frozenset({"sale.price"}))
        with closing(dqa.open_database(location, policy=hiding)) as database:
            for statement in ("price FROM sales.sale", "price FROM sale", "* FROM sales.SALE"):
                with pytest.raises(QueryError):
                    database.query(f"SELECT {statement}")
        with closing(dqa.open_database(location)) as database:
            assert {table.name for table in database.schema().tables} == {"shop"}
            with pytest.raises(RefusedStatementError):
                database.query("SELECT * FROM sales.sale")
