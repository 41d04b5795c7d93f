"""Walls: what lies outside of a database's own schemas is named in no way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import Policy, check
from dqa.guard.walls import Walls

WAYS = json.loads(Path(__file__).with_name("walls.json").read_text("utf-8"))
"""By dialect: what ``reads`` another schema, what ``tells`` of one without a row, what goes
``unread`` by this guard whatever the walls, and what is ``inside``. tests/integration/test_walls.py
runs them on the servers."""
NAMES = {"own": "dqa_own_1", "other": "dqa_other_2", "database": "worlds"}
NAMES |= {"OWN": NAMES["own"].upper(), "OTHER": NAMES["other"].upper()}
TABLES = ("goods", "building", "own_view")
OWN = Walls.around([NAMES["own"]])
POLICIES = {
    "postgres": Policy(walls=OWN),
    "mysql": Policy(walls=OWN),
    "mariadb": Policy(walls=OWN),
    "duckdb": Policy(
        walls=Walls.around([NAMES["own"]], [NAMES["own"], "main"]),
        schema=DatabaseSchema(
            tables=tuple(TableInfo(name, (Field("code", "bigint"),)) for name in TABLES)
        ),
    ),
}


def ways(dialect: str, kind: str) -> list[str]:
    """Return the statements of a kind; MariaDB's are MySQL's."""
    listed = WAYS["mysql" if dialect == "mariadb" else dialect][kind]
    return [statement.format(**NAMES) for statement in listed]


def allowed(statement: str, dialect: str, policy: Policy) -> bool:
    """Return the guard's verdict."""
    return check(statement, dialect, policy).allowed


@pytest.mark.parametrize("dialect", POLICIES)
def test_nothing_outside_is_named_and_everything_inside_is_read(dialect: str) -> None:
    """Without the scope, or where the policy opens every schema, the statements are allowed."""
    policy = POLICIES[dialect]
    opened = replace(policy, schemas=frozenset({"*"}))
    outside = [*ways(dialect, "reads"), *ways(dialect, "tells")]
    refused = [*outside, *ways(dialect, "unread")]
    assert [one for one in refused if allowed(one, dialect, policy)] == []
    assert [one for one in outside if not allowed(one, dialect, Policy())] == []
    assert [one for one in outside if not allowed(one, dialect, opened)] == []
    assert [one for one in ways(dialect, "inside") if not allowed(one, dialect, policy)] == []


@pytest.mark.parametrize("dialect", POLICIES)
def test_a_policy_opens_schemas_and_single_tables(dialect: str) -> None:
    """What it names may be read beside the own schema, and nothing else."""
    walls = POLICIES[dialect].walls
    schema = POLICIES[dialect].schema
    sales = Policy(schemas=frozenset({"sales"}), walls=walls, schema=schema)
    catalogue = Policy(schemas=frozenset({"information_schema"}), walls=walls, schema=schema)
    table = Policy(tables=frozenset({"goods", "sales.orders"}), walls=walls, schema=schema)
    orders = "SELECT * FROM sales.orders"
    columns = "SELECT column_name FROM information_schema.columns"
    for policy in (sales, catalogue, table):
        assert allowed("SELECT * FROM goods", dialect, policy)
        assert not allowed("SELECT * FROM costs.orders", dialect, policy)
    assert allowed(orders, dialect, sales)
    assert allowed(orders, dialect, table)
    assert not allowed("SELECT * FROM sales.goods", dialect, table)
    assert not allowed("SELECT * FROM building", dialect, table)
    assert not allowed("SELECT * FROM orders", dialect, table)
    assert not allowed(orders, dialect, catalogue)
    assert allowed(columns, dialect, catalogue)
    assert not allowed(columns, dialect, sales)


@pytest.mark.parametrize(
    ("dialect", "own", "inside", "outside"),
    [
        ("postgres", "shop", ["shop.t", "SHOP.t", '"shop".t'], ['"Shop".t', '"SHOP".t']),
        ("postgres", "Shop", ['"Shop".t'], ["Shop.t", "shop.t", '"shop".t']),
        ("postgres", "k", ["k.t", "K.t"], ["\u212a.t", '"\u212a".t']),
        ("mysql", "Shop", ["Shop.t", "`Shop`.t"], ["shop.t", "SHOP.t", "`shop`.t"]),
        ("duckdb", "Shop", ["shop.t", '"SHOP".t'], ["shops.t", "worlds.shop.t", "temp.shop.t"]),
        ("duckdb", "stra\u00dfe", ["stra\u00dfe.t"], ["strasse.t"]),
        ("ansi", "SHOP", ["shop.t", '"SHOP".t'], ['"Shop".t', "db.shop.t", "all_tables"]),
    ],
)  # fmt: skip
def test_names_are_compared_as_the_server_would_fold_them(
    dialect: str, own: str, inside: list[str], outside: list[str]
) -> None:
    """What could be another schema's name is one."""
    policy = Policy(walls=Walls.around([own]))
    for table in inside:
        assert allowed(f"SELECT * FROM {table}", dialect, policy), table
    for table in outside:
        assert not allowed(f"SELECT * FROM {table}", dialect, policy), table


def test_a_search_path_of_several_schemas_is_inside() -> None:
    """PostgreSQL finds names in the user's schema and in public."""
    policy = Policy(walls=Walls.around(["alice", "public"]))
    assert allowed("SELECT * FROM t, public.t AS p, alice.t AS a", "postgres", policy)
    assert not allowed("SELECT * FROM bob.t", "postgres", policy)
    assert not allowed("SELECT * FROM pg_temp.t", "postgres", policy)


def test_a_name_that_leads_outside_needs_its_schema() -> None:
    """Where the server looks for names elsewhere, the table must be known or be qualified."""
    policy = Policy(walls=Walls.around(["sales"], ["public"]))
    assert "write sales.orders" in check("SELECT * FROM orders", "ansi", policy).reason
    assert allowed("SELECT * FROM sales.orders", "ansi", policy)


def test_a_policy_may_name_a_function_that_reads_the_catalogue() -> None:
    """The user who names it knows it."""
    policy = Policy(functions=frozenset({"duckdb_tables"}), walls=OWN)
    assert allowed("SELECT * FROM duckdb_tables()", "duckdb", policy)


def test_duckdb_catalogue_lies_in_the_own_schema_of_a_file() -> None:
    """A file's own schema is ``main``, in which the engine has views of every schema."""
    policy = Policy(walls=Walls.around(["main"]))
    for table in ("main.sqlite_master", "MAIN.sqlite_master", "main.duckdb_tables"):
        assert not allowed(f"SELECT * FROM {table}", "duckdb", policy)
    assert allowed("SELECT * FROM main.goods", "duckdb", policy)
