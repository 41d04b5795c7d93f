"""A database describes itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import RefusedStatementError, StatementError
from dqa.guard import GuardedDatabase, Policy
from dqa.scenarios.column_types import column_type
from tests.sqlite_files import run_script


def test_a_broken_view_is_left_out_with_a_note(tmp_path: Path) -> None:
    """It hides no other table."""
    file = run_script(
        tmp_path / "broken.db",
        "CREATE TABLE gone(x INT); CREATE VIEW seen AS SELECT x FROM gone;"
        "CREATE TABLE kept(y INT); PRAGMA legacy_alter_table = ON; DROP TABLE gone;",
    )
    database = plugins.backend("sqlite").open(str(file))
    schema = database.schema()
    assert [table.name for table in schema.tables] == ["kept"]
    assert ["seen" in note for note in schema.notes] == [True]
    database.restrict(Policy(tables=frozenset({"kept"})))
    assert database.schema().notes == ()
    database.close()


@pytest.mark.parametrize(
    "policy", [Policy(denied_columns=frozenset({"y"})), Policy(columns=frozenset({"seen.x"}))]
)
@pytest.mark.parametrize("statement", ["SELECT y FROM seen", "SELECT * FROM seen"])
def test_a_view_that_is_mended_later_shows_no_column_that_is_denied(
    tmp_path: Path, policy: Policy, statement: str
) -> None:
    """Its columns are not known, which is not to have none."""
    with sqlite3.connect(tmp_path / "broken.db") as connection:
        connection.execute("CREATE VIEW seen AS SELECT x, y FROM gone")
        database = plugins.backend("sqlite").open(str(tmp_path / "broken.db")).restrict(policy)
        connection.execute("CREATE TABLE gone(x INT, y INT)")
    connection.close()
    with pytest.raises(RefusedStatementError):
        database.query(statement)
    database.close()


@pytest.fixture
def indexed(tmp_path: Path) -> Iterator[GuardedDatabase]:
    """A database with indexes of texts and places, one of them of another table's texts."""
    file = run_script(
        tmp_path / "indexed.db",
        "CREATE TABLE kept(y INT, memo TEXT); INSERT INTO kept VALUES (7, 'a secret');"
        "CREATE TABLE kept_data(y INT);"
        "CREATE VIRTUAL TABLE sought USING fts5(title, body);"
        "CREATE VIRTUAL TABLE older USING fts4(title, body);"
        "CREATE VIRTUAL TABLE near USING rtree(id, low, high);"
        "CREATE VIRTUAL TABLE memos USING fts5(memo, content='kept', content_rowid='y');"
        "CREATE VIRTUAL TABLE words USING fts5vocab(sought, row);"
        "INSERT INTO sought VALUES ('one', 'hidden'); INSERT INTO older VALUES ('one', 'hidden');"
        "INSERT INTO near VALUES (1, 2, 3); INSERT INTO memos(memos) VALUES ('rebuild');",
    )
    database = plugins.backend("sqlite").open(str(file))
    yield database
    database.close()


def test_indexes_of_texts_and_places_are_described_and_read(indexed: Database) -> None:
    """They are tables like others, and can be searched."""
    told = indexed.schema().to_text().split("\n")
    wanted = {"sought(title, body)", "older(title, body)", "near(id: INT, low: REAL, high: REAL)"}
    assert wanted <= set(told)
    for table in ("sought", "older"):
        found = indexed.query(f"SELECT title FROM {table} WHERE {table} MATCH 'body:hid*'")
        assert found.rows == (("one",),)
    assert indexed.query("SELECT id FROM near WHERE low < 2.5").rows == ((1,),)
    shown = "SELECT memo, snippet(memos, 0, '', '', '', 3) FROM memos('secret')"
    with pytest.raises(RefusedStatementError):
        indexed.query(shown)
    assert indexed.query("SELECT memo FROM memos WHERE memos MATCH 'secret'").rows == (
        ("a secret",),
    )


def test_tables_behind_indexes_and_unknown_virtual_tables_are_left_out(indexed: Database) -> None:
    """Only what a statement can use is described; a table may have a similar name."""
    schema = indexed.schema()
    names = {table.name for table in schema.tables}
    assert names == {"kept", "kept_data", "sought", "older", "near", "memos"}
    assert ["words" in note for note in schema.notes] == [True]
    assert indexed.query("SELECT count(*) FROM kept").rows == ((1,),)


SEARCHES = [
    "SELECT title FROM {0} WHERE {0} MATCH 'body:hidden'",
    "SELECT title FROM {0} n WHERE n.{0} = 'body:hidden'",
    "SELECT title FROM {0} WHERE title MATCH 'body:hidden'",
    "SELECT title FROM {0} WHERE \"match\"('body:hidden', title)",
    "SELECT title FROM {0} JOIN (SELECT 'body:hidden' AS {0}) AS q USING ({0})",
    "SELECT snippet(n.{0}) FROM {0} n WHERE title LIKE '%'",
    "SELECT {0} FROM {0}",
    "SELECT body FROM {0}",
]


@pytest.mark.parametrize("table", ["sought", "older"])
def test_a_denied_column_is_not_searched_either(indexed: GuardedDatabase, table: str) -> None:
    """A search, or the whole row's name, could reveal it."""
    indexed.restrict(Policy(denied_columns=frozenset({f"{table}.body"})))
    for statement in SEARCHES:
        with pytest.raises((RefusedStatementError, StatementError)):
            indexed.query(statement.format(table))
    assert indexed.query(f"SELECT * FROM {table}").columns == ("title",)
    assert indexed.query(f"SELECT title FROM {table} n WHERE n.title = 'one'").rows == (("one",),)


def test_the_tables_behind_an_index_with_a_denied_column_are_not_read(
    indexed: GuardedDatabase,
) -> None:
    """They hold the same texts; a table that only has such a name is read."""
    for denied, statement in (
        ("sought.body", "SELECT c1 FROM sought_content"),
        ("body", "SELECT c1 FROM main.SOUGHT_CONTENT AS c"),
        ("older.body", "SELECT c1body FROM older_content"),
        ("older.body", "SELECT (SELECT block FROM older_segments)"),
        ("near.low", "SELECT data FROM near_node"),
    ):
        indexed.restrict(Policy(denied_columns=frozenset({denied})))
        with pytest.raises(RefusedStatementError, match="there is no table"):
            indexed.query(statement)
        table = statement.rpartition("FROM ")[2].split()[0].strip(")").lower()
        table = table.removeprefix("main.")
        assert table not in {known.name for known in indexed.schema().tables}
        assert indexed.query("SELECT count(*) FROM kept_data").rows == ((0,),)


def test_an_index_reveals_nothing_that_is_masked(indexed: GuardedDatabase) -> None:
    """It holds the same texts under another name."""
    for masked, statement in (
        ("kept.memo", "SELECT memo FROM memos"),
        ("kept.memo", "SELECT count(*) FROM memos WHERE memos MATCH 'secret'"),
        ("sought.body", "SELECT c1 FROM sought_content"),
        ("older.body", "SELECT c1body FROM older_content"),
        ("sought.body", "SELECT term FROM words"),
    ):
        indexed.restrict(Policy(masks={masked: None}))
        with pytest.raises(RefusedStatementError):
            indexed.query(statement)
        table, _, column = masked.partition(".")
        assert indexed.query(f"SELECT {column} FROM {table}").rows == ((None,),)


@pytest.mark.parametrize("is_mask", [True, False])
@pytest.mark.usefixtures("indexed")
def test_no_column_of_an_index_reveals_another(tmp_path: Path, is_mask: bool) -> None:
    """A search may name another column; a number may be that of a cursor, with the whole row."""
    run_script(
        tmp_path / "indexed.db",
        "CREATE VIRTUAL TABLE numbered USING fts5(title, body);"
        "CREATE VIRTUAL TABLE other USING fts5(title);"
        "INSERT INTO other VALUES ('1'), ('2'), ('3');"
        "INSERT INTO numbered VALUES ('1', 'hidden'), ('2', 'hidden'), ('3', 'hidden');",
    )
    database = plugins.backend("sqlite").open(str(tmp_path / "indexed.db"))
    hidden = frozenset({"numbered.body", "older.body"})
    masks = dict.fromkeys(hidden)
    database.restrict(Policy(masks=masks) if is_mask else Policy(denied_columns=hidden))
    for statement in (
        "SELECT title FROM older WHERE title MATCH 'body:hidden'",
        "SELECT highlight(a.title, 1, '', '') FROM numbered a, numbered b",
        "SELECT snippet(title, 1, '', '', '', 9) FROM numbered",
        "SELECT bm25(a.title) FROM other a, numbered b",
    ):
        with pytest.raises(RefusedStatementError, match="use LIKE"):
            database.query(statement)
    assert database.query("SELECT title FROM older WHERE title LIKE 'o%'").rows == (("one",),)
    database.close()


def test_a_bit_of_duckdb_is_a_string_of_bits(tmp_path: Path) -> None:
    """It is no truth value, whose name it has elsewhere."""
    file = tmp_path / "bits.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE t (mask BIT, masks BIT[], kind ENUM('a[1]', 'b'))")
        connection.execute("INSERT INTO t VALUES ('0101', ['1'], 'b')")
    database = plugins.backend("duckdb").open(str(file))
    assert database.query("SELECT mask FROM t").rows == (("0101",),)
    types = [column.type for column in database.schema().tables[0].columns]
    assert types == ["BITSTRING", "BIT[]", "ENUM('a[1]', 'b')"]
    assert list(map(column_type, types)) == ["text", "array", "text"]
    database.close()


def test_types_of_many_databases_are_known() -> None:
    """By their own words; the name of a user's own type says nothing."""
    kinds: dict[str | None, tuple[str, ...]] = {
        "boolean": ("BOOL", "bit(1)"),
        "interval": ("INTERVAL DAY TO SECOND",),
        "integer": ("year(4)", "bigserial", "serial8"),
        "decimal": ("NUMBER(10, 2)", "smallmoney", "Decimal64(2)"),
        "float": ("float8", "double precision", "Float64"),
        "timestamp": ("TIMESTAMP_NS",),
        "text": ("ENUM('x')",),
        "array": ("INTEGER[3]",),
        None: ("boolean_kind", "interval_kind", "yearly_plan", "numeric_code", "money_kind"),
    }
    for kind, described in kinds.items():
        assert {column_type(word) for word in described} == {kind}
