"""The schemas that a policy adds to a database are readable and described."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dqa
from dqa.core.errors import QueryError, RefusedStatementError
from dqa.guard import Policy
from tests.integration.conftest import scratch

SALES = Policy(schemas=frozenset({"sales"}))
SCRIPT = (
    "CREATE TABLE shop (shop_name VARCHAR(20))",
    "INSERT INTO shop VALUES ('north')",
    "CREATE SCHEMA sales",
    "CREATE TABLE sales.sale (price INTEGER); CREATE TABLE sales.shop (shop_name VARCHAR(20))",
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


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_schemas_of_a_policy_are_described_and_joined(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Other schemas stay hidden; without the policy its schemas are hidden, too."""
    if engine == "duckdb":
        opened = duckdb_file(tmp_path)
    else:
        url = request.getfixturevalue("postgres_url")
        opened = scratch("postgres", url, ";".join(SCRIPT))
    joined = "SELECT shop_name, price FROM shop, {}sale"
    with opened as location:
        with closing(dqa.open_database(location, policy=SALES)) as database:
            names = {table.name for table in database.schema().tables}
            assert names == {"shop", "sale"}
            for written in ("", "sales."):
                assert database.query(joined.format(written)).rows == (("north", 7),)
            with pytest.raises(RefusedStatementError):
                database.query("SELECT * FROM salaries.salary")
        listed = Policy(schemas=SALES.schemas, tables=frozenset({"sales.sale", "sales.shop"}))
        denied = frozenset({"sale.price"})
        reads = ["price FROM sales.sale", "price FROM sale", "* FROM sales.SALE"]
        for policy, refused in (
            (replace(SALES, denied_columns=denied), reads),
            (replace(listed, denied_columns=denied), [*reads, "* FROM shop"]),
            (listed, ["* FROM shop"]),
        ):
            with closing(dqa.open_database(location, policy=policy)) as database:
                assert database.query("SELECT * FROM sales.shop").rows == ()
                for read in refused:
                    with pytest.raises(QueryError):
                        database.query(f"SELECT {read}")
                if policy is listed:
                    assert [table.name for table in database.schema().tables] == ["sale"]
                    assert database.query("SELECT price FROM sale").rows == ((7,),)
        with closing(dqa.open_database(location)) as database:
            assert {table.name for table in database.schema().tables} == {"shop"}
            with pytest.raises(RefusedStatementError):
                database.query("SELECT * FROM sales.sale")
