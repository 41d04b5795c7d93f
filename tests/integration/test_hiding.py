"""What a policy hides is told in no way by real servers either."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import RefusedStatementError
from tests.guard import hiding_attacks as attacks
from tests.guard.test_hiding import SQL


@pytest.mark.parametrize("kind", attacks.KINDS)
@pytest.mark.parametrize("name", ["postgres", "mysql"])
def test_no_sql_attack_reveals_what_is_hidden(
    name: str, kind: str, request: pytest.FixtureRequest
) -> None:
    """Two databases that differ only in what is hidden give the same answers as their twin."""
    url = request.getfixturevalue(f"{name}_url")
    count = attacks.COUNT if kind == "masks and rows" else attacks.COUNT // 3
    answered, leaks = attacks.attack(name, kind, count, url)
    assert not leaks, "\n".join(leaks[:5])
    assert answered > count // 3 or kind != "masks and rows"


@pytest.mark.parametrize("name", ["postgres", "mysql"])
def test_a_view_of_what_is_hidden_is_read_where_the_policy_says_so(
    name: str, request: pytest.FixtureRequest
) -> None:
    """And is not shown elsewhere; a view of other tables is."""
    url = request.getfixturevalue(f"{name}_url")
    with dqa.temporary_database(attacks.FIRST, name, url, policy=SQL) as database:
        assert [t.name for t in database.schema().tables] == ["customer", "orders", "totals"]
        for view in ("contacts", "deep"):
            with pytest.raises(RefusedStatementError, match=f"there is no table {view}"):
                database.query(f"SELECT count(*) FROM {view}")
        assert len(database.query("SELECT * FROM totals").rows) == 3
    named = replace(SQL, unmasked=frozenset({"contacts"}))
    with dqa.temporary_database(attacks.FIRST, name, url, policy=named) as database:
        assert len(database.query("SELECT email FROM contacts WHERE email LIKE 'kq7%'").rows) == 5


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("duckdb", "AS (SELECT max(email) FROM customer)"),
        ("postgres", "RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer'"),
        ("postgres", "RETURNS text BEGIN ATOMIC SELECT max(email) FROM customer; END"),
        ("mysql", "RETURNS TEXT READS SQL DATA RETURN (SELECT max(email) FROM customer)"),
    ],
)
def test_a_function_that_reads_what_is_hidden_is_not_called(
    name: str, body: str, request: pytest.FixtureRequest
) -> None:
    """Neither by its name nor by a view."""
    url = request.getfixturevalue(f"{name}_url") if name != "duckdb" else None
    own = f"CREATE FUNCTION best() {body}; CREATE VIEW top AS SELECT best() x;"
    with dqa.temporary_database(attacks.FIRST + own, name, url, policy=SQL) as database:
        for statement, why in (("SELECT x FROM top", "table top"), ("SELECT best()", "best")):
            with pytest.raises(RefusedStatementError, match=why):
                database.query(statement)
        assert len(database.query("SELECT * FROM totals").rows) == 3


@pytest.mark.parametrize("policy", [None, SQL])
def test_a_name_after_a_dot_calls_no_function(policy: dqa.Policy | None, postgres_url: str) -> None:
    """Whatever PostgreSQL takes the name before the dot for."""
    script, _, statements = Path(__file__).with_name("name_calls.sql").read_text().partition("--")
    script = attacks.FIRST + script
    with dqa.temporary_database(script, "postgres", postgres_url, policy=policy) as database:
        for statement in statements.splitlines()[1:]:
            with pytest.raises(RefusedStatementError):
                database.query(statement)
        for names in ("name FROM customer AS x", "total FROM generate_series(1, 2) AS x(total)"):
            assert len(database.query(f"SELECT x.{names}").rows) > 1


def test_a_part_of_a_table_is_hidden_with_it(postgres_url: str) -> None:
    """A partition is read as its table alone, so a policy names the table."""
    script = """
        CREATE TABLE sale (id INT, email TEXT, year INT) PARTITION BY LIST (year);
        CREATE TABLE sale_2024 PARTITION OF sale FOR VALUES IN (2024);
        CREATE TABLE sale_2025 PARTITION OF sale FOR VALUES IN (2025);
        INSERT INTO sale VALUES (1, 'kq7a', 2024), (2, 'kq7b', 2025);
        CREATE MATERIALIZED VIEW kept AS SELECT * FROM sale_2024;
    """
    whole = dqa.Policy(masks={"sale.email": "*"})
    with dqa.temporary_database(script, "postgres", postgres_url, policy=whole) as database:
        assert database.query("SELECT email FROM sale").rows == (("*",), ("*",))
        for part in ("sale_2024", "sale_2025", "kept"):
            with pytest.raises(RefusedStatementError):
                database.query(f"SELECT email FROM {part}")
    denied = dqa.Policy(denied_columns=frozenset({"email"}))
    with dqa.temporary_database(script, "postgres", postgres_url, policy=denied) as database:
        assert database.query("SELECT id FROM sale ORDER BY 1").rows == ((1,), (2,))
        for read in ("email FROM sale", "id FROM sale_2024", "id FROM kept"):
            with pytest.raises(dqa.QueryError):
                database.query(f"SELECT {read}")
    one = dqa.Policy(masks={"sale_2024.email": "*"})
    with (
        pytest.raises(dqa.UsageError, match="sale_2024"),
        dqa.temporary_database(script, "postgres", postgres_url, policy=one),
    ):
        pass


CHILDREN = """
    CREATE TABLE sales (id INT, secret TEXT, note TEXT); CREATE TABLE sales_2024() INHERITS (sales);
    CREATE TABLE sales_may (extra TEXT) INHERITS (sales_2024);
    CREATE VIEW latest AS SELECT id, secret FROM sales_may;
    INSERT INTO sales_2024 VALUES (1, 'kq7', 'a'), (2, 'kq8', 'b');
"""
NOTE = frozenset({"note"})
FEW = {"sales": "id = 1"}


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        (dqa.Policy(denied_columns=frozenset({"sales.secret", "note"})), ["sales"]),
        (dqa.Policy(denied_columns=NOTE, masks={"sales.secret": "*"}), ["sales"]),
        (dqa.Policy(denied_columns=NOTE, row_filters=FEW), ["sales"]),
        (dqa.Policy(row_filters=FEW, masks={"sales_2024.note": "*"}), []),
        (dqa.Policy(row_filters=FEW | {"sales_2024": "id = 1"}), ["sales", "sales_2024"]),
        (dqa.Policy(denied_columns=NOTE), ["sales", "sales_2024", "sales_may"]),
        (dqa.Policy(denied_columns=NOTE | {"extra"}), ["sales", "sales_2024", "sales_may"]),
    ],
)
def test_a_child_table_hides_all_that_its_parent_hides(
    policy: dqa.Policy, shown: list[str], postgres_url: str
) -> None:
    """Else it cannot be read: one restriction of its own does not protect its other columns."""
    with dqa.temporary_database(CHILDREN, "postgres", postgres_url, policy=policy) as database:
        assert [table.name for table in database.schema().tables] == shown
        for table in ("sales", "sales_2024", "sales_may", "latest"):
            if table in shown:
                assert database.query(f"SELECT id FROM {table}").columns == ("id",)
            else:
                with pytest.raises(RefusedStatementError):
                    database.query(f"SELECT id FROM {table}")


def test_types_and_hints_name_nothing_hidden(postgres_url: str) -> None:
    """The row type of a restricted table has its hidden columns, and an enumeration its labels."""
    script = """
        CREATE TYPE grade AS ENUM ('low', 'top'); CREATE TYPE shift AS ENUM ('day', 'night');
        CREATE TABLE emp (id INT, works shift, wage INT, paid grade);
        CREATE TABLE plan (code TEXT); CREATE TABLE list (code TEXT); CREATE TABLE time (code TEXT);
        INSERT INTO emp VALUES (1, 'day', 990001, 'top');
    """
    policy = dqa.Policy(tables={"emp"}, denied_columns={"emp.wage", "emp.paid"})  # type: ignore[arg-type]
    with dqa.temporary_database(script, "postgres", postgres_url, policy=policy) as database:
        assert database.query("SELECT id FROM emp WHERE works = 'day'::shift").rows == ((1,),)
        ((schema, _),) = database.query("SELECT current_schema(), '12:00'::time").rows
        for statement in (
            "SELECT * FROM jsonb_populate_record(null::emp, '{}')",
            "SELECT * FROM jsonb_populate_record(null::plan, '{}')",
            "SELECT * FROM jsonb_populate_record(null::list, '{}')",
            f"SELECT * FROM jsonb_populate_record(null::{schema}.time, '{{}}')",
            "SELECT * FROM json_to_record('{}') AS x(y emp)",
            "SELECT enum_range(null::grade)",
            "SELECT e.waje FROM emp e",
        ):
            with pytest.raises(dqa.QueryError) as caught:
                database.query(statement)
            assert not {"wage", "code", "top"} & set(re.findall(r"\w+", str(caught.value)))
