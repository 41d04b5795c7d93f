"""The schema scope: no statement reads or names anything outside a database's own schemas."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import Policy, check
from dqa.guard.scope import SchemaScope
from tests.guard.case_files import read_cases

WAYS = read_cases("schema_scope")
"""Statements by dialect: they ``reads`` another schema, ``tells`` its content without a row, are
``unread`` (always refused), are ``described`` from the own schema without the engine, or are
``inside``. tests/integration/test_schema_scope_on_servers.py runs them on the servers."""
NAMES = {"own": "dqa_own_1", "other": "dqa_other_2", "database": "worlds"}
NAMES |= {"OWN": NAMES["own"].upper(), "OTHER": NAMES["other"].upper()}
TABLES = ("goods", "building", "own_view")
SCHEMA = DatabaseSchema(
    tables=tuple(
        TableInfo(name, tuple(Field(column, "text") for column in ("code", "goods_name", "id")))
        for name in TABLES
    )
)
OWN = SchemaScope.of([NAMES["own"]])
POLICIES = {
    "postgres": Policy(schema_scope=OWN, schema=SCHEMA),
    "mysql": Policy(schema_scope=OWN),
    "mariadb": Policy(schema_scope=OWN),
    "duckdb": Policy(
        schema_scope=SchemaScope.of([NAMES["own"]], [NAMES["own"], "main"]), schema=SCHEMA
    ),
}


def ways(dialect: str, kind: str) -> list[str]:
    """Return the statements of a kind; MariaDB uses MySQL's."""
    listed = WAYS["mysql" if dialect == "mariadb" else dialect][kind]
    return [statement.format(**NAMES) for statement in listed]


def allowed(statement: str, dialect: str, policy: Policy) -> bool:
    """Return the guard's verdict."""
    return check(statement, dialect, policy).allowed


@pytest.mark.parametrize("dialect", POLICIES)
def test_nothing_outside_is_named_and_everything_inside_is_read(dialect: str) -> None:
    """Without the scope, or if the policy opens every schema, all are allowed."""
    policy = POLICIES[dialect]
    opened = replace(policy, schemas=frozenset({"*"}))
    unscoped = Policy(schema=policy.schema)
    outside = [*ways(dialect, "reads"), *ways(dialect, "tells")]
    inside = [*ways(dialect, "inside"), *ways(dialect, "described")]
    refused = [*outside, *ways(dialect, "unread")]
    assert [one for one in refused if allowed(one, dialect, policy)] == []
    assert [one for one in outside if not allowed(one, dialect, unscoped)] == []
    assert [one for one in outside if not allowed(one, dialect, opened)] == []
    assert [one for one in inside if not allowed(one, dialect, policy)] == []


@pytest.mark.parametrize("dialect", POLICIES)
def test_a_policy_opens_schemas_and_single_tables(dialect: str) -> None:
    """Its schemas and tables may be read in addition to the own schema, and nothing else."""
    scope = POLICIES[dialect].schema_scope
    schema = POLICIES[dialect].schema
    sales = Policy(schemas=frozenset({"sales"}), schema_scope=scope, schema=schema)
    catalogue = Policy(schemas=frozenset({"information_schema"}), schema_scope=scope, schema=schema)
    table = Policy(tables=frozenset({"goods", "sales.orders"}), schema_scope=scope, schema=schema)
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


def test_a_plain_name_means_no_hidden_table_or_type() -> None:
    """PostgreSQL finds the first schema's table, the catalogue's table, or a type of the user."""
    names = ("shop", "sale", "time", "pg_orders", "pg_class")
    schema = DatabaseSchema(
        tuple(TableInfo(name, (Field("code", "text"), Field("kind", "list"))) for name in names),
        repeated_names=("shop",),
    )
    tables = frozenset({"b.shop", "b.sale", "a.pg_orders", "a.pg_class"})
    policy = Policy(tables=tables, schema=schema, schema_scope=SchemaScope.of(["a", "b"]))
    for table in ("sale", "b.shop", "pg_orders", "a.pg_class"):
        assert allowed(f"SELECT code FROM {table}", "postgres", policy), table
    for kind in ("list", "b.shop", "time", "double precision", "int[]", "timestamptz", '"char"'):
        assert allowed(f"SELECT null::{kind}, ARRAY[1]", "postgres", policy), kind
    for table in ("shop", "a.shop", "time", "pg_class"):
        assert not allowed(f"SELECT code FROM {table}", "postgres", policy), table
    for kind in ("shop", "a.shop", "object", "map", '"object"', "datetime", "a.time"):
        assert not allowed(f"SELECT null::{kind}", "postgres", policy), kind
    assert not allowed("SELECT code FROM sale", "postgres", replace(policy, schema=SCHEMA))


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
    """A name that could be another schema's is refused."""
    policy = Policy(schema_scope=SchemaScope.of([own]))
    for table in inside:
        assert allowed(f"SELECT * FROM {table}", dialect, policy), table
    for table in outside:
        assert not allowed(f"SELECT * FROM {table}", dialect, policy), table


def test_a_search_path_of_several_schemas_is_inside() -> None:
    """PostgreSQL finds names in the user's schema and in public."""
    policy = Policy(schema_scope=SchemaScope.of(["alice", "public"]))
    assert allowed("SELECT * FROM t, public.t AS p, alice.t AS a", "postgres", policy)
    assert not allowed("SELECT * FROM bob.t", "postgres", policy)
    assert not allowed("SELECT * FROM pg_temp.t", "postgres", policy)


def test_a_name_outside_the_schema_must_be_qualified() -> None:
    """If the server searches other schemas, the table must be known or qualified."""
    policy = Policy(schema_scope=SchemaScope.of(["sales"], ["public"]))
    assert "write sales.orders" in check("SELECT * FROM orders", "ansi", policy).reason
    assert allowed("SELECT * FROM sales.orders", "ansi", policy)


def test_a_policy_may_name_a_function_that_reads_the_catalogue() -> None:
    policy = Policy(functions=frozenset({"duckdb_tables"}), schema_scope=OWN)
    assert allowed("SELECT * FROM duckdb_tables()", "duckdb", policy)


def test_duckdb_catalogue_lies_in_the_own_schema_of_a_file() -> None:
    """A file's own schema is ``main``, in which the engine has views of every schema."""
    policy = Policy(schema_scope=SchemaScope.of(["main"]))
    for table in ("main.sqlite_master", "MAIN.sqlite_master", "main.duckdb_tables"):
        assert not allowed(f"SELECT * FROM {table}", "duckdb", policy)
    assert allowed("SELECT * FROM main.goods", "duckdb", policy)
