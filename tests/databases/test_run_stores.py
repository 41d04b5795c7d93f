"""A store of runs that lies in a database which is asked: agents are shown none of its tables."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import RefusedStatementError, StatementError, UsageError
from dqa.guard import Policy
from tests.sqlite_files import run_script

SECRETIVE = (
    "SELECT * FROM dqa_results",
    'SELECT "name" FROM main."DQA_Runs"',
    "SELECT name FROM customers WHERE name IN (SELECT choice FROM dqa_results)",
    "WITH x AS (SELECT * FROM dqa_store_version) SELECT * FROM x",
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with a run, to which somebody has added a table since."""
    file = tmp_path_factory.mktemp("shared") / "team.db"
    asked = dqa.generate(("locating",), count=1)
    assert dqa.evaluate(asked, "first", databases="sqlite", out=f"{file}#one").made
    run_script(
        file,
        "CREATE TABLE customers (name TEXT, secret TEXT);"
        "INSERT INTO customers VALUES ('Ada', 'x');",
    )
    return file


def test_a_store_is_neither_shown_nor_read(shared: Path) -> None:
    """Neither by its tables' names, nor by a catalogue, whatever else a policy says."""
    hiding = Policy(denied_columns=frozenset({"customers.secret"}))
    for policy in (None, hiding, Policy(schemas=frozenset({"*"}))):
        with closing(dqa.open_database(str(shared), policy=policy)) as database:
            assert [table.name for table in database.schema().tables] == ["customers"]
            assert database.query("SELECT count(*) FROM customers").rows == ((1,),)
            for statement in SECRETIVE:
                with pytest.raises(RefusedStatementError):
                    database.query(statement)
            assert database.query("PRAGMA table_list").rows == (("customers",),)
            with pytest.raises(StatementError, match="no table dqa_runs"):
                database.query("PRAGMA table_info(dqa_runs)")


def test_a_policy_may_name_tables_of_a_store(shared: Path) -> None:
    """And then they alone may be read; the store itself is read as before."""
    policy = Policy(tables=frozenset({"customers", "dqa_runs"}))
    with closing(dqa.open_database(str(shared), policy=policy)) as database:
        assert {table.name for table in database.schema().tables} == {"customers", "dqa_runs"}
        assert database.query("SELECT name FROM dqa_runs").rows == (("one",),)
        with pytest.raises(RefusedStatementError):
            database.query("SELECT * FROM dqa_results")
    assert dqa.read_run(f"{shared}#one").results
    with pytest.raises(UsageError, match="no such table"):
        dqa.open_database(str(shared), policy=Policy(tables=frozenset({"dqa_rums"})))
