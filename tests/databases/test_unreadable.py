"""What drivers of embedded engines cannot read is text, or the statement's error; never a bug."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.errors import StatementError
from tests.databases.conftest import BACKENDS
from tests.databases.engines import small_situation

UNREADABLE = {
    "duckdb": (
        "SELECT string_split_regex('a', '(', 'é')",
        "SELECT list_resize('a'::VARIANT, DATE '2020-01-01', array_value(1, 2))",
    ),
    "ladybug": (
        "RETURN CAST(7 AS UINT128)",
        "RETURN to_months(2147483647)",
        "RETURN map([[1]], ['a'])",
        "RETURN initcap('ß')",
    ),
    "sqlite": ("SELECT abs(-9223372036854775808)", "SELECT 'a' REGEXP '('"),
}
VALUES = {
    "duckdb": (
        ("SELECT INTERVAL '-26 hours'", "-26:00:00"),
        ("SELECT INTERVAL '2147483647 months'", "178956970 years 7 months"),
        ("SELECT INTERVAL '1 month 2 days'", "1 month 2 days"),
        ("SELECT to_days(-2147483648)", "-2147483648 days"),
        ("SELECT [INTERVAL '1 month']", ["1 month"]),
        (
            "SELECT {'date': DATE 'infinity', 'b': '\\x00'::BLOB, 'n': 1.5}",
            {"date": "infinity", "b": "0x00", "n": 1.5},
        ),
        ("SELECT {'a (DATE)': 7, 'b': DATE '2020-01-02'}", {"a (DATE)": 7, "b": "2020-01-02"}),
        (
            "SELECT {'c': CAST('x,DATE,y' AS ENUM('x,DATE,y', 'it''s')), 'd': INTERVAL 1 DAY}",
            {"c": "x,DATE,y", "d": "1 day"},
        ),
        ("SELECT TIMESTAMP 'infinity'", "infinity"),
        ("SELECT [DATE '-infinity', DATE '9999-12-31']", ["-infinity", "9999-12-31"]),
        ("SELECT TIMESTAMP_NS '2020-01-02 03:04:05.123456789'", "2020-01-02 03:04:05.123456789"),
        ("SELECT TIMESTAMP '2020-01-02 03:04:05.5'", "2020-01-02T03:04:05.500000"),
        ("SELECT [TIMESTAMP '2020-01-02 03:04:05']", ["2020-01-02T03:04:05"]),
        ("SELECT '2020-01-02 03:04:05'", "2020-01-02 03:04:05"),
        (
            'SELECT \'{"a": 1.10, "b": 1234567890.12345678901234567890, "c": 2.5}\'::JSON',
            {"a": "1.10", "b": "1234567890.12345678901234567890", "c": 2.5},
        ),
        ("SELECT 340282366920938463463374607431768211455::UHUGEINT", 2**128 - 1),
        ("SELECT DATE '5881580-07-10'", "5881580-07-10"),
        ("SELECT MAP {[1, 2]: 3}", {"key": [[1, 2]], "value": [3]}),
    ),
    "ladybug": (
        ("RETURN interval('3 days 4 hours')", "3 days 04:00:00"),
        ("RETURN map([1, 2], ['a', 'b'])", {"1": "a", "2": "b"}),
    ),
    "sqlite": (
        ("SELECT CAST(X'636166E9' AS TEXT)", "0x636166e9"),
        ("SELECT char(55296)", "0xeda080"),
        ("SELECT 'caf' || char(233)", "café"),
    ),
}


@pytest.fixture(params=sorted(BACKENDS))
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[str, Database]]:
    """Give each embedded database in turn, and what it is called."""
    database = BACKENDS[request.param].load(small_situation())
    yield request.param, database
    database.close()


def test_what_cannot_be_read_is_the_statements_error(opened: tuple[str, Database]) -> None:
    """Exceptions that were no error of ours aborted the whole run."""
    name, database = opened
    trivial = "RETURN 1" if database.kind == "graph" else "SELECT 1"
    for statement in UNREADABLE[name]:
        with pytest.raises(StatementError):
            database.query(statement)
        assert database.query(trivial).rows == ((1,),)


def test_values_without_a_python_form_are_text(opened: tuple[str, Database]) -> None:
    """And those that have one are what they are."""
    name, database = opened
    for statement, cell in VALUES[name]:
        assert database.query(statement).rows == ((cell,),), statement


def test_text_that_is_not_utf_8_repeats_the_whole_statement() -> None:
    """A part of a second run in another order would repeat rows and lose others."""
    script = """
        CREATE TABLE note AS WITH RECURSIVE n(id) AS (VALUES (1) UNION SELECT id + 1 FROM n
        LIMIT 200) SELECT id, CAST(iif(id = 150, X'ff41', X'41') AS TEXT) AS text FROM n;
    """
    with dqa.temporary_database(script, "sqlite") as database:
        rows = database.query("SELECT id, text FROM note ORDER BY random()").rows
    assert sorted(rows) == [(id_, "0xff41" if id_ == 150 else "A") for id_ in range(1, 201)]
