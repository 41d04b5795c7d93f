"""Policy files, and the reasons for refusals."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import RefusedStatementError, UsageError
from dqa.core.journal import Journal, use_journal
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import Audit, Policy, check, require
from tests.sqlite_files import run_script


def test_a_policy_is_read_from_a_file(tmp_path: Path) -> None:
    """JSON lists of names; an error names the mistake."""
    path = tmp_path / "policy.json"
    path.write_text('{"tables": ["Emp"], "functions": ["f"]}', "utf-8")
    assert Policy.read(path) == Policy(tables=frozenset({"emp"}), functions=frozenset({"f"}))
    for wrong, problem in [
        ("[]", "JSON object"),
        ("{", "is not JSON"),
        ('{"tabels": []}', "'tabels'"),
        ('{"tables": "emp"}', "must be a list"),
        ('{"columns": ["salary"]}', "write 'table.salary'"),
    ]:
        path.write_text(wrong, "utf-8")
        with pytest.raises(UsageError, match=problem):
            Policy.read(path)


def test_a_refusal_names_the_alternative() -> None:
    reasons = {
        ("sqlite", "DELETE FROM t"): "only a query may run",
        ("sqlite", "SELECT 1; SELECT 2"): "one statement at a time",
        ("postgres", "SELECT strpod(a, 'x') FROM t"): "Did you mean 'strpos'",
        ("sqlite", "SELECT unnest(a) FROM t"): "not supported",
        ("postgres", "SELECT {'a': 1}"): "not supported",
        ("neo4j", "MATCH (n) SET n.x = 1"): "it contains SET, but only reading is allowed",
        ("neo4j", "CALL db.label()"): "Did you mean 'db.labels'",
        ("neo4j", "MATCH (n)"): "add RETURN at the end",
    }
    for (dialect, statement), reason in reasons.items():
        assert reason in check(statement, dialect).reason
    with pytest.raises(RefusedStatementError, match=r"only a query may run.*SELECT"):
        require("DELETE FROM t", "sqlite")


def test_a_refusal_contains_the_statement(tmp_path: Path) -> None:
    """The guard, a person and a replayed decision refuse statements."""
    with pytest.raises(RefusedStatementError) as refused:
        require("DELETE FROM t", "sqlite")
    assert refused.value.statement == "DELETE FROM t"
    file = tmp_path / "own.db"
    file.touch()
    with closing(dqa.open_database(file, audit=Audit(approve=lambda *_: False))) as database:
        for statement in ("DROP TABLE t", "SELECT 1"):
            with pytest.raises(RefusedStatementError) as refused:
                database.query(statement)
            assert refused.value.statement == statement
            with use_journal(Journal()), pytest.raises(RefusedStatementError) as refused:
                database.query(statement)
            assert refused.value.statement == statement


def test_visible_columns_have_their_names(tmp_path: Path) -> None:
    """Also if the policy writes a masked column into the statement."""
    file = run_script(
        tmp_path / "own.db",
        "CREATE TABLE customer (id INTEGER, customer_email_address TEXT, secret_number TEXT);"
        "INSERT INTO customer VALUES (1, 'a@b', '7');",
    )
    policy = Policy(
        masks={"customer.customer_email_address": "hidden"},
        denied_columns=frozenset({"secret_number"}),
        row_filters={"customer": "id < 9"},
    )
    with closing(dqa.open_database(file, policy=policy)) as database:
        for statement in ("SELECT * FROM customer", "SELECT c.* FROM customer AS c"):
            found = database.query(statement)
            assert found.columns == ("id", "customer_email_address")
            assert found.rows == ((1, "hidden"),)


def test_system_columns_are_not_visible_columns() -> None:
    """They count the transactions and the objects of the whole PostgreSQL server."""
    columns = (Field("id", "INTEGER"), Field("secret", "TEXT"))
    schema = DatabaseSchema((TableInfo("t", columns), TableInfo("u", columns)))
    limited = Policy(denied_columns=frozenset({"u.secret"}), schema=schema)
    for name in ("xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"):
        for statement in (
            f"SELECT {name} FROM t",
            f"SELECT id FROM t AS x WHERE x.{name}::text <> '1'",
            f"SELECT (x).{name} FROM t AS x",
            f"SELECT {name} AS {name} FROM t ORDER BY 1",
        ):
            assert not check(statement, "postgres", limited).allowed
        assert check(f"SELECT {name}, t.id FROM t", "postgres", Policy(schema=schema)).allowed
    assert check("SELECT id, secret FROM t", "postgres", limited).allowed
