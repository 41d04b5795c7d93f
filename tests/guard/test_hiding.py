"""What a policy hides is told in no way: not in rows, errors, audits, samples or a schema."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.errors import QueryError, RefusedStatementError, UsageError
from dqa.deciders.samples import sampled_schema
from dqa.evaluation.spec import RunSpec
from dqa.guard import GuardedDatabase, Policy, check
from dqa.guard.sql.views import telling_views
from dqa.loaders.sources import GeneratedQuestions
from tests.guard import hiding_attacks as attacks
from tests.guard.hiding_sql import SqlAttacks

SQL = Policy(masks=attacks.MASKS, row_filters=attacks.FILTERS)
SCRIPTS = (attacks.tables("kq7", 77001, "zz8"), attacks.tables("qk9", 88002, "hh6"), attacks.TWIN)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["sqlite", "duckdb"])
def test_nothing_hidden_is_told_in_sql(backend: str) -> None:
    """Two databases that differ in what is hidden alone answer 500 attacks alike."""
    statements = list(SqlAttacks(backend, 15).statements(attacks.COUNT))
    with attacks.opened(backend, SCRIPTS, SQL) as (one, two, twin, entries):
        outcome = attacks.attack(one, two, twin, entries, statements)
    assert not outcome.leaks, "\n".join(outcome.leaks[:5])
    assert outcome.asked == attacks.COUNT
    assert outcome.answered > attacks.COUNT // 3


@pytest.mark.slow
def test_without_a_policy_the_same_attacks_get_at_it() -> None:
    """What is shown above could have been seen."""
    made = SqlAttacks("sqlite", 1)
    with attacks.opened("sqlite", SCRIPTS, Policy()) as (one, two, twin, entries):
        outcome = attacks.attack(one, two, twin, entries, list(made.statements(30)))
    assert len(outcome.leaks) > 10


@pytest.fixture(params=["sqlite", "duckdb"])
def hiding(request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give tables of which some is hidden."""
    with dqa.temporary_database(SCRIPTS[0], request.param, policy=SQL) as database:
        yield database


def test_a_view_of_what_is_hidden_is_neither_shown_nor_read(hiding: Database) -> None:
    """Nor one of such a view; one of other tables is."""
    assert [table.name for table in hiding.schema().tables] == ["customer", "orders", "totals"]
    for view in ("contacts", "deep", "CONTACTS", '"deep"'):
        with pytest.raises(RefusedStatementError, match="reads a table that hides some"):
            hiding.query(f"SELECT count(*) FROM {view}")
    assert hiding.query("SELECT total FROM totals ORDER BY 1").rows == ((5,), (30,), (30,))


@pytest.mark.parametrize("backend", ["sqlite", "duckdb"])
def test_a_policy_may_let_a_view_be_read(backend: str) -> None:
    """As it is, where it is named so; or with masks of its own."""
    masks = attacks.MASKS | {"deep.email": "?"}
    policy = replace(SQL, unmasked=frozenset({"contacts"}), masks=masks)
    with dqa.temporary_database(SCRIPTS[0], backend, policy=policy) as database:
        assert database.query("SELECT email FROM contacts WHERE name = 'ann'").rows == (
            ("kq7ann@x",),
        )
        assert database.query("SELECT DISTINCT email FROM deep").rows == (("?",),)


def test_samples_and_hints_hold_what_may_be_read(hiding: Database) -> None:
    """They are asked of the database like everything else."""
    text = sampled_schema(hiding, 5).to_text()
    assert "ann" in text
    assert "***" in text
    with pytest.raises(QueryError) as raised:
        hiding.query("SELECT emial FROM customer WHERE region = 'EU'")
    told = text + str(raised.value)
    assert "'email'" in str(raised.value)
    assert not any(secret in told for secret in attacks.SECRETS)


def test_columns_keep_the_names_that_were_written(hiding: Database) -> None:
    """What a statement became is not to be seen in its result."""
    rows = hiding.query("SELECT *, (SELECT max(email) FROM customer) FROM customer c LIMIT 1")
    assert rows.columns[:6] == ("id", "name", "email", "note", "region", "salary")
    assert "CASE" not in rows.columns[6]
    assert rows.rows == ((1, "ann", "***", "plain", "EU", None, "***"),)


def test_an_error_is_told_where_no_row_is_in_it(hiding: Database) -> None:
    """The engine's words on types and arguments help; a value in them could be a hidden one."""
    with pytest.raises(QueryError, match=r"(?i)argument|match"):
        hiding.query("SELECT substr(email) FROM customer")
    if hiding.dialect == "duckdb":
        with pytest.raises(QueryError, match="What the database says of it is not told") as raised:
            hiding.query("SELECT CAST(note AS INTEGER) FROM customer")
        assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"masks": {"customer.emial": None}}, "Did you mean 'customer.email'"),
        ({"masks": {"email": None}}, "write 'owner.email'"),
        ({"masks": {"customer.email": ["x"]}}, "must be null, a text, a number"),
        ({"masks": {"customer.email": "a\\b"}}, "has a backslash"),
        ({"masks": ["customer.email"]}, "must be an object by names"),
        ({"masks": {"customer.salary": "secret"}}, "use values of the columns' types"),
        ({"row_filters": {"custmer": "1 = 1"}}, "Did you mean 'customer'"),
        ({"row_filters": {"customer": ""}}, "must be a condition as text"),
        ({"row_filters": {"customer": "regio = 'EU'"}}, "no column of it.* Did you mean 'region'"),
        ({"row_filters": {"customer": "customer.region = 'EU'"}}, "no column of it, written alone"),
        ({"row_filters": {"customer": "id IN (SELECT id FROM orders)"}}, "it may not have|needs a"),
        ({"row_filters": {"customer": "1 = 1) OR (1 = 1"}}, "no single condition"),
        ({"row_filters": {"customer": "1 = 1) LIMIT (1"}}, "no single condition"),
        ({"row_filters": {"customer": "region = 'EU' -- all"}}, "a bracket is left open"),
        ({"row_filters": {"customer": "CAST(note AS INTEGER) > 1"}}, "converts a column"),
        ({"row_filters": {"customer": "id / 0 = 1"}}, "may not have DIV"),
        ({"row_filters": {"customer": "max(id) = 1"}}, "may not have MAX"),
        ({"unmasked": ["contatcs"]}, "Did you mean 'contacts'"),
    ],
)
def test_what_cannot_hide_is_found_when_a_database_is_opened(
    given: dict[str, object], problem: str, tmp_path: Path
) -> None:
    """Each with what to write instead."""
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(given), "utf-8")
    with (
        pytest.raises(UsageError, match=problem),
        dqa.temporary_database(SCRIPTS[0], "duckdb", policy=path),
    ):
        pass


def test_other_dialects_refuse_to_hide(tmp_path: Path) -> None:
    """What is not known to hold is not promised."""
    location = f"sqlite+pysqlite:///{tmp_path / 'a.db'}"
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE a (b TEXT)")
    with pytest.raises(UsageError, match="not known to hold in"):
        dqa.open_database(location, policy=Policy(masks={"a.b": None}))


def test_a_view_whose_definition_is_not_shown_could_read_anything() -> None:
    """As MariaDB answers a role that may not see it; and a name is found as a word alone."""
    rows = [("unseen", ""), ("other", "select `temp` from `t`"), ("V", "select * from `db`.`Emp`")]
    found = telling_views(rows, "mariadb", {"emp"})
    assert found == {"unseen", "v"}


def test_a_verdict_needs_no_database() -> None:
    """What could not be rewritten is refused by the guard alone."""
    assert check("SELECT * FROM customer", "postgres", SQL).allowed
    assert not check("TABLE customer", "postgres", SQL).allowed
    assert not check("EXPLAIN SELECT * FROM customer", "postgres", SQL).allowed


def test_a_run_keeps_its_masks_and_filters() -> None:
    """In what it is written down as."""
    spec = RunSpec(
        questions=GeneratedQuestions(count=1),
        deciders=("first",),
        policy={"masks": {"customer.email": "***"}, "row_filters": {"customer": "region = 'EU'"}},
    )
    again = RunSpec.model_validate_json(spec.model_dump_json())
    assert again.policy == {
        "masks": {"customer.email": "***"},
        "row_filters": {"customer": "region = 'EU'"},
    }


def test_another_reader_of_the_same_tables_is_looked_at() -> None:
    """Row filters for other tables, and what is no condition, are refused; others hold."""
    with attacks.opened("sqlite", SCRIPTS, SQL) as (one, *_):
        assert isinstance(one, GuardedDatabase)
        table = next(iter(attacks.FILTERS))
        with pytest.raises(UsageError, match="give others for these"):
            one.with_rows({})
        with pytest.raises(UsageError, match="cannot be used"):
            one.with_rows({**attacks.FILTERS, table: "1 = 1 UNION SELECT 2"})
        none = one.with_rows({**attacks.FILTERS, table: "1 = 0"})
        assert not none.query(f"SELECT * FROM {table}").rows
        none.close()
        assert one.query(f"SELECT * FROM {table}").rows
