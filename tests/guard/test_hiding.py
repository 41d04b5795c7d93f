"""No answer reveals hidden data: rows, errors, audits, samples and schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dqa
from dqa.core.database import Database
from dqa.core.errors import QueryError, RefusedStatementError, UsageError
from dqa.deciders.parts import sampled_schema
from dqa.guard import GuardedDatabase, Policy
from dqa.guard.tables import revealing_views
from tests.guard import hiding_attacks as attacks
from tests.guard.hiding_sql import CASES
from tests.sqlite_files import run_script

SQL = Policy(masks=attacks.MASKS, row_filters=attacks.FILTERS)


@pytest.mark.parametrize("kind", attacks.KINDS)
@pytest.mark.parametrize("backend", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    "most",
    [
        pytest.param(attacks.COUNT, marks=pytest.mark.slow),
        pytest.param(attacks.DEEP_COUNT, marks=pytest.mark.deep),
    ],
)
def test_no_attack_reveals_hidden_data(backend: str, kind: str, most: int) -> None:
    """Two databases that differ only in hidden data give the same answers as their twin."""
    count = most if kind == "masks and rows" else most // 3
    answered, leaks = attacks.attack(backend, kind, count)
    assert not leaks, "\n".join(leaks[:5])
    assert answered > count // 3 or kind != "masks and rows"


@pytest.mark.slow
def test_the_attacks_reveal_data_without_a_policy() -> None:
    """The comparison can fail."""
    _, leaks = attacks.attack("sqlite", "masks and rows", 30, policy=Policy())
    assert len(leaks) > 10


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def hiding(request: pytest.FixtureRequest) -> Iterator[Database]:
    """Open tables with hidden columns and rows."""
    with dqa.temporary_database(attacks.FIRST, request.param, policy=SQL) as database:
        yield database


def test_a_view_of_hidden_data_is_neither_shown_nor_read(hiding: Database) -> None:
    """Nor is a view of such a view."""
    assert [table.name for table in hiding.schema().tables] == ["customer", "orders", "totals"]
    for view in ("contacts", "deep", "CONTACTS", '"deep"'):
        with pytest.raises(RefusedStatementError, match=f"there is no table {view.strip(chr(34))}"):
            hiding.query(f"SELECT count(*) FROM {view}")
    assert hiding.query("SELECT total FROM totals ORDER BY 1").rows == ((5,), (30,), (30,))


@pytest.mark.parametrize("backend", ["sqlite", "duckdb"])
def test_a_policy_may_allow_a_view(backend: str) -> None:
    """Unmasked, or with its own masks."""
    masks = attacks.MASKS | {"deep.email": "?"}
    policy = replace(SQL, unmasked=frozenset({"contacts"}), masks=masks)
    with dqa.temporary_database(attacks.FIRST, backend, policy=policy) as database:
        assert database.query("SELECT email FROM contacts WHERE name = 'ann'").rows == (
            ("kq7ann@x",),
        )
        assert database.query("SELECT DISTINCT email FROM deep").rows == (("?",),)


@pytest.mark.parametrize("denied", [{"ssn"}, {"person.ssn", "staff.ssn"}])
@pytest.mark.parametrize("tables", [None, {"main.person", "main.taxed", "older", "other.crew"}])
@pytest.mark.parametrize("query", ["", "?schema=main,other"])
def test_no_schema_before_a_name_reveals_a_denied_column(
    query: str, tables: set[str] | None, denied: set[str], tmp_path: Path
) -> None:
    """Neither of its own table, nor of another schema's, nor through a view or its plan."""
    with closing(duckdb.connect(str(tmp_path / "several.duckdb"))) as connection:
        connection.execute("\n".join(CASES["schemas"]["script"]))
    policy = Policy(
        schemas=frozenset({"other"}),
        tables=None if tables is None else frozenset(tables),
        denied_columns=frozenset(denied),
        unmasked=frozenset({"older"}),
    )
    location = f"duckdb:///{tmp_path / 'several.duckdb'}{query}"
    with closing(dqa.open_database(location, policy=policy, isolation="none")) as database:
        for statement in CASES["schemas"]["refused"]:
            with pytest.raises(QueryError) as raised:
                database.query(statement)
            assert "kq" not in str(raised.value)
        assert database.query("SELECT name FROM older").rows == (("ann",),)


def test_samples_and_hints_hold_visible_data_only(hiding: Database) -> None:
    text = sampled_schema(hiding, 5).to_text()
    assert "ann" in text
    assert text.count(" masked") == len(attacks.MASKS)
    assert "***" in text
    with pytest.raises(QueryError) as raised:
        hiding.query("SELECT emial FROM customer WHERE region = 'EU'")
    shown = text + str(raised.value)
    assert "'email'" in str(raised.value)
    assert not any(secret in shown for secret in attacks.SECRETS)


def test_columns_have_the_names_of_the_written_statement(hiding: Database) -> None:
    """The rewriting is invisible in the result."""
    rows = hiding.query("SELECT *, (SELECT max(email) FROM customer) FROM customer c LIMIT 1")
    assert rows.columns[:6] == ("id", "name", "email", "note", "region", "salary")
    assert "CASE" not in rows.columns[6]
    assert rows.rows == ((1, "ann", "***", "plain", "EU", None, "***"),)


def test_an_error_without_values_is_shown(hiding: Database) -> None:
    """Messages about types and arguments help; a value in a message could be hidden."""
    with pytest.raises(QueryError, match=r"(?i)argument|match"):
        hiding.query("SELECT substr(email) FROM customer")
    if hiding.dialect == "duckdb":
        with pytest.raises(QueryError, match="message of the database is not shown") as raised:
            hiding.query("SELECT CAST(note AS INTEGER) FROM customer")
        assert raised.value.__cause__ is None


def test_a_policy_that_cannot_hide_is_an_error_when_a_database_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    for fields, problem in CASES["wrong policies"]:
        path.write_text(json.dumps(fields), "utf-8")
        with (
            pytest.raises(UsageError, match=problem),
            dqa.temporary_database(attacks.FIRST, "duckdb", policy=path, isolation="none"),
        ):
            pass


def test_untested_dialects_show_only_listed_views(tmp_path: Path) -> None:
    """A policy that hides columns lists the views; masks are not supported."""
    location = f"sqlite+pysqlite:///{tmp_path / 'a.db'}"
    script = "CREATE TABLE a (b TEXT, c TEXT); CREATE VIEW v AS SELECT b FROM a;"
    run_script(tmp_path / "a.db", f"{script} CREATE TABLE one (x TEXT)")
    denied = Policy(denied_columns=frozenset({"a.b"}))
    for policy in (Policy(masks={"a.b": None}), denied):
        with pytest.raises(UsageError, match=r"not supported for|cannot find"):
            dqa.open_database(location, policy=policy)
    listed = replace(denied, tables=frozenset({"a"}))
    with closing(dqa.open_database(location, policy=listed)) as database:
        assert database.query("SELECT * FROM a").columns == ("c",)
        for statement in ("SELECT * FROM v", "SELECT 1 WHERE 'x' NOT IN one"):
            with pytest.raises(RefusedStatementError):
                database.query(statement)


def test_a_view_whose_definition_is_not_shown_could_read_anything() -> None:
    """MariaDB hides definitions from some roles. A name is found as a whole word."""
    rows = [("unseen", ""), ("other", "select `temp` from `t`"), ("v", "select * from `db`.`emp`")]
    found = revealing_views(rows, {"emp"})
    assert found == {"unseen", "v"}


def test_row_filters_can_be_replaced() -> None:
    """Row filters of other tables and invalid conditions are refused."""
    with dqa.temporary_database(attacks.FIRST, "sqlite", policy=SQL, isolation="none") as one:
        assert isinstance(one, GuardedDatabase)
        table = next(iter(attacks.FILTERS))
        with pytest.raises(UsageError, match="Row filters must be given for"):
            one.with_rows({})
        with pytest.raises(UsageError, match="cannot be used"):
            one.with_rows({**attacks.FILTERS, table: "1 = 1 UNION SELECT 2"})
        none = one.with_rows({**attacks.FILTERS, table: "1 = 0"})
        assert not none.query(f"SELECT * FROM {table}").rows
        none.close()
        assert one.query(f"SELECT * FROM {table}").rows
