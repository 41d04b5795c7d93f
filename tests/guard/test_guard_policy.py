"""Reading is scoped: what a policy does not allow is read in no way."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.errors import UsageError
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import Policy, check


def _table(name: str, *columns: str) -> TableInfo:
    return TableInfo(name, tuple(Field(column, "text") for column in columns))


SCHEMA = DatabaseSchema(
    tables=(_table("emp", "id", "name", "salary", "dept_id"), _table("dept", "id", "name"))
)
KNOWN = Policy(denied_columns=frozenset({"emp.salary"}), schema=SCHEMA)
UNKNOWN = Policy(denied_columns=frozenset({"salary"}))
LISTED = Policy(columns=frozenset({"emp.id", "emp.name"}))
TABLES = Policy(tables=frozenset({"emp", "dept"}))
POLICIES = {"known": KNOWN, "unknown": UNKNOWN, "listed": LISTED}
SQL = ("mysql", "mariadb", "postgres", "sqlite", "duckdb")

ANYWHERE = [
    "SELECT salary FROM emp",
    "SELECT SALARY FROM EMP",
    "SELECT * FROM emp",
    "SELECT e.* FROM emp e",
    "SELECT e.salary FROM emp e",
    "SELECT id FROM emp ORDER BY salary",
    "SELECT id FROM emp WHERE salary > 1",
    "SELECT x.s FROM (SELECT salary AS s FROM emp) x",
    "WITH x AS (SELECT * FROM emp) SELECT id FROM x",
    "SELECT id FROM emp GROUP BY id HAVING max(salary) > 1",
    "SELECT sum(salary) OVER () FROM emp",
    "SELECT id FROM emp WINDOW w AS (ORDER BY salary)",
    "SELECT d.name FROM dept d WHERE (SELECT salary FROM emp LIMIT 1) > 1",
    "SELECT * FROM dept NATURAL JOIN emp",
    "SELECT emp.id FROM emp JOIN emp b USING (salary)",
    "SELECT emp.id FROM emp UNION SELECT salary FROM emp",
    "SELECT public.emp.salary FROM public.emp",
]
BY_DIALECT = {
    "postgres": [
        'SELECT "salary" FROM emp',
        "SELECT emp FROM emp",
        "SELECT (e).salary FROM emp e",
        "SELECT (emp).* FROM emp",
        "SELECT row_to_json(e) FROM emp e",
        "SELECT e.row_to_json FROM emp e",
        "SELECT e.quote_literal FROM emp e",
        "SELECT jsonb_agg(to_jsonb(e.*)) FROM emp e",
        "SELECT x.c FROM emp AS x(a, b, c, d)",
        "SELECT (x.e).salary FROM (SELECT e FROM emp e) x",
        "TABLE emp",
        "SELECT e.id FROM emp e, LATERAL (SELECT e.salary) x",
    ],
    "duckdb": [
        "FROM emp",
        "FROM emp SELECT salary",
        "SELECT COLUMNS(*) FROM emp",
        "SELECT COLUMNS('sal.*') FROM emp",
        "SELECT * EXCLUDE (id) FROM emp",
        "SUMMARIZE emp",
        "PIVOT emp ON name USING count(*)",
        "UNPIVOT emp ON salary INTO NAME a VALUE b",
        "SELECT #3 FROM emp",
        "SELECT emp FROM emp",
        "SELECT emp['salary'] FROM emp",
        "FROM histogram(emp, salary)",
    ],
    "sqlite": ["SELECT rowid FROM emp", "SELECT [salary] FROM emp", "SELECT `salary` FROM emp"],
    "mysql": ['SELECT "salary" FROM emp', "TABLE emp"],
}
HARMLESS = [
    "SELECT id, name FROM emp",
    "SELECT e.id, d.name FROM emp e JOIN dept d ON e.id = d.id",
    "SELECT count(*) FROM emp",
    "SELECT name AS n FROM emp ORDER BY n",
    "SELECT x.n FROM (SELECT name AS n FROM emp) x",
]


@pytest.mark.parametrize("policy", ["known", "unknown", "listed"])
@pytest.mark.parametrize("dialect", SQL)
@pytest.mark.parametrize("statement", ANYWHERE)
def test_a_denied_column_is_read_in_no_way(policy: str, dialect: str, statement: str) -> None:
    """Not through a star, an alias, a subquery, an order, a join or a window."""
    assert not check(statement, dialect, POLICIES[policy]).allowed


@pytest.mark.parametrize(
    ("dialect", "statement"), [(d, s) for d, group in BY_DIALECT.items() for s in group]
)
def test_a_dialect_has_no_way_of_its_own(dialect: str, statement: str) -> None:
    """Whole rows, columns by pattern or by place, and row numbers are no way round."""
    assert not check(statement, dialect, KNOWN).allowed


@pytest.mark.parametrize("policy", ["known", "unknown"])
@pytest.mark.parametrize("dialect", SQL)
@pytest.mark.parametrize("statement", HARMLESS)
def test_other_columns_are_read_as_ever(policy: str, dialect: str, statement: str) -> None:
    """A limit on one column is no limit on the rest."""
    verdict = check(statement, dialect, POLICIES[policy])
    assert verdict.allowed, verdict.reason


def test_a_star_over_a_query_that_names_its_columns_is_harmless() -> None:
    """What is inside has been checked."""
    assert check("WITH x AS (SELECT id FROM emp) SELECT * FROM x", "postgres", KNOWN).allowed
    assert check("SELECT d.* FROM dept d, emp", "postgres", KNOWN).allowed


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM secret",
        "WITH secret AS (SELECT * FROM secret) SELECT * FROM secret",
        "SELECT * FROM (WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) a, secret",
        "SELECT (SELECT max(a) FROM secret) FROM emp",
        "WITH x AS (SELECT 1 AS y) SELECT * FROM other.x",
        "SELECT 1 UNION SELECT a FROM secret",
        "SELECT table_name FROM information_schema.tables",
    ],
)
@pytest.mark.parametrize("dialect", SQL)
def test_only_listed_tables_are_read(dialect: str, statement: str) -> None:
    """A WITH part of the same name opens nothing."""
    verdict = check(statement, dialect, TABLES)
    assert not verdict.allowed
    assert check("WITH x AS (SELECT * FROM emp) SELECT * FROM x", dialect, TABLES).allowed


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("mysql", "SHOW TABLES"),
        ("mysql", "SHOW COLUMNS FROM secret"),
        ("mysql", "DESCRIBE secret"),
        ("sqlite", "PRAGMA table_info(secret)"),
        ("sqlite", "SELECT * FROM pragma_table_info('secret')"),
        ("sqlite", "SELECT sql FROM sqlite_master"),
        ("duckdb", "SUMMARIZE secret"),
        ("duckdb", "DESCRIBE secret"),
        ("duckdb", "SELECT * FROM duckdb_tables()"),
    ],
)
def test_what_describes_is_scoped_too(dialect: str, statement: str) -> None:
    """Tables that may not be read are not listed either."""
    assert not check(statement, dialect, TABLES).allowed
    assert check("DESCRIBE emp", "mysql", TABLES).allowed


def test_schemas_limit_qualified_names() -> None:
    """A name without a schema is one of those that may be read."""
    policy = Policy(schemas=frozenset({"Public"}))
    assert check("SELECT * FROM public.t, u", "postgres", policy).allowed
    assert not check("SELECT * FROM private.t", "postgres", policy).allowed


def test_a_policy_is_read_from_a_file(tmp_path: Path) -> None:
    """JSON lists of names; anything else is said to be wrong."""
    path = tmp_path / "policy.json"
    path.write_text('{"tables": ["Emp"], "functions": ["f"]}', "utf-8")
    assert Policy.read(path) == Policy(tables=frozenset({"emp"}), functions=frozenset({"f"}))
    for wrong, problem in [
        ("[]", "JSON object"),
        ("{", "is no JSON"),
        ('{"tabels": []}', "'tabels'"),
        ('{"tables": "emp"}', "must be a list"),
        ('{"columns": ["salary"]}', "write 'owner.salary'"),
    ]:
        path.write_text(wrong, "utf-8")
        with pytest.raises(UsageError, match=problem):
            Policy.read(path)


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("postgres", "SELECT date_trunc({unit}, d) FROM t"),
        ("duckdb", "SELECT date_trunc({unit}, d) FROM t"),
        ("ansi", "SELECT last_day(d, {unit}) FROM t"),
    ],
)
def test_a_column_in_the_place_of_a_unit_of_time_is_read(dialect: str, statement: str) -> None:
    """The parser takes any word there for a unit, and a server may take it for a column."""
    policy = Policy(denied_columns=frozenset({"ssn"}))
    assert check(statement.format(unit="month"), dialect, policy).allowed
    assert check(statement.format(unit="ssn"), dialect).allowed
    assert not check(statement.format(unit="ssn"), dialect, policy).allowed
