"""What the SQL guard allows beyond the case files: functions, attributes and long texts."""

from __future__ import annotations

import pytest

from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import Policy, check
from dqa.guard.lists import lists


def test_functions_can_be_added_by_name() -> None:
    """A policy allows a function by exactly the name that it is called with."""
    policy = Policy(functions=frozenset({"shop.net_price", "score"}))
    for statement in (
        "SELECT score(a), Shop.Net_Price(b) FROM t",
        "SELECT * FROM score(1) AS s(x)",
    ):
        assert check(statement, "postgres", policy).allowed
        assert not check(statement, "postgres").allowed
    assert not check("SELECT other.score(a), net_price(b) FROM t", "postgres", policy).allowed


def test_no_listed_function_has_effects() -> None:
    """A word that may stand before a bracket must not be a function to call there."""
    suspicious = {"glob", "query", "query_table", "sleep", "benchmark", "getenv", "load_extension"}
    for dialect in ("mysql", "mariadb", "postgres", "duckdb", "ansi"):
        assert not lists(dialect).syntax & suspicious
        assert not lists(dialect)["functions"] & suspicious


_SHOP = DatabaseSchema(
    tables=(
        TableInfo("goods", (Field("id", "integer"), Field("name", "text"))),
        TableInfo("person", (Field("home", "address(street text, city text)"),)),
    )
)
ATTRIBUTES = {
    "SELECT (home).city FROM person": True,
    "SELECT (g).name, g.ctid, g.* FROM goods g": True,
    "SELECT x.total FROM (SELECT sum(id) AS total FROM goods) x": True,
    "SELECT e.key, e.value FROM goods, json_each('{}') AS e": True,
    "SELECT r.n FROM generate_series(1, 2) AS r(n)": True,
    "SELECT set_limit FROM goods": True,
    "SELECT (0.5).set_limit FROM goods": False,
    "SELECT (g.id).set_limit FROM goods g": False,
    "SELECT g.hash_record FROM goods g": False,
    "SELECT x.pg_sleep FROM generate_series(5, 5) AS x": False,
    "SELECT (x.n).pg_sleep FROM (SELECT 5 AS n) x, (SELECT 1 AS pg_sleep) y": False,
    "SELECT (id).pg_sleep FROM goods, (SELECT 1) id": False,
    "SELECT CAST((0.5).set_limit AS text)": False,
    "SELECT ((0.5).set_limit).id FROM goods": False,
    "SELECT (0.5).set_limit.id FROM goods": False,
    "SELECT NULL::pg_catalog.int4 FROM goods": True,
    "SELECT (x).to_regclass FROM (SELECT 'a'::text AS x) x, (SELECT 1 AS to_regclass) y": False,
    "SELECT ('goods'::text).to_regclass": False,
}


def test_only_known_columns_stand_behind_a_dot() -> None:
    """PostgreSQL would call any other name as a function of what stands before the dot."""
    policy = Policy(schema=_SHOP)
    for statement, allowed in ATTRIBUTES.items():
        verdict = check(statement, "postgres", policy)
        assert verdict.allowed is allowed, f"{statement}: {verdict.reason}"
        assert allowed or not check(statement, "postgres").allowed or ".hash_" in statement


LONG = {
    "SELECT repeat('ab', 1000), lpad(name, 20, '0'), rpad('a', 10)": True,
    "SELECT repeat('ab', 1000) || repeat('c', 100000) FROM goods": True,
    "SELECT replace(replace(replace(name, 'street', 'st'), 'avenue', 'av'), 'road', 'rd')": True,
    "SELECT lpad(lpad(name, 1000, 'x'), 2000, 'y')": True,
    "SELECT replace(replace(repeat('a', 1000), 'a', repeat('b', 1000)), 'b', 'cccc')": False,
    "SELECT repeat(repeat('a', 100000), 100000)": False,
    "SELECT length(repeat('a', 1000 * 1000 * 10))": False,
    "SELECT lpad('a', 10000, lpad('b', 100000000))": False,
    "SELECT ltrim(repeat('a', 100000), repeat('b', 100000))": False,
    "SELECT translate(repeat('a', 900000), repeat('b', 900000), '')": False,
    "SELECT repeat((SELECT repeat('a', 100000)), 100000)": False,
    "SELECT repeat('a', CAST(power(10, 9) AS INT))": False,
    "SELECT repeat('a', 1 << 30)": False,
    "SELECT lpad(name, CAST(power(2, 4) AS INT), '0'), power(id, 2) FROM goods": True,
}


@pytest.mark.parametrize("dialect", ["postgres", "mariadb"])
def test_texts_are_bounded_by_the_product_of_their_lengths(dialect: str) -> None:
    """No limit on time stops an engine inside one function."""
    for statement, allowed in LONG.items():
        assert check(statement, dialect).allowed is allowed, statement


def test_a_format_is_as_long_as_the_widths_in_it() -> None:
    """DuckDB does not end such a text before it is complete."""
    for statement, allowed in {
        "SELECT format('{:10} of 20240101: {}', name, 20240101), printf('%05.2f', id)": True,
        "SELECT format('{:999999999}', id) FROM goods": False,
        "SELECT format('{:>{}}', name, 999999999) FROM goods": False,
        "SELECT printf('%.999999999f', 1.5)": False,
        "SELECT printf('%*d', 999999999, id) FROM goods": False,
    }.items():
        assert check(statement, "duckdb").allowed is allowed, statement


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT array_fill(1, array[10000, 10000])",
        "SELECT array_length(array_fill(1, array[9999, 999]), 1)",
    ],
)
def test_an_array_is_as_large_as_the_product_of_its_dimensions(statement: str) -> None:
    """PostgreSQL takes gigabytes for it, and answers nothing else meanwhile."""
    assert not check(statement, "postgres").allowed
    assert check("SELECT array_fill(1, array[100, 100])", "postgres").allowed
