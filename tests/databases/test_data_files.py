"""CSV and Parquet files as a database: what is a table, and that nothing else can be read."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dqa
from dqa.core.errors import DatabaseUnavailableError, DataError, RefusedStatementError, UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of tables, beside a file that is none of them."""
    there = tmp_path / "shop"
    there.mkdir()
    (there / "sales.csv").write_text("id,day,amount\n1,2024-05-01,2.5\n2,2024-05-02,\n", "utf-8")
    (there / "stores.tsv").write_text("id\tname\n1\tNord, West\n", "utf-8")
    (there / "staff.csv.gz").write_bytes(gzip.compress(b"id,name\n7,Ada\n"))
    (there / "notes.txt").write_text("not a table", "utf-8")
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT range AS id, range * 2 AS units FROM range(50_000)) "
            f"TO '{there / 'stock.parquet'}'"
        )
    (tmp_path / "secret.csv").write_text("k\n42\n", "utf-8")
    return there


def test_each_file_of_a_folder_is_a_table(folder: Path) -> None:
    """Named like its file, in types that fit all of its rows."""
    with closing(dqa.open_database(folder)) as database:
        assert database.schema().to_text().splitlines() == [
            "sales(id: BIGINT, day: DATE, amount: DOUBLE)",
            "staff(id: BIGINT, name: VARCHAR)",
            "stock(id: BIGINT, units: BIGINT)",
            "stores(id: BIGINT, name: VARCHAR)",
        ]
        assert database.query("SELECT sum(units) FROM stock").rows == ((2_499_950_000,),)
        assert database.query("SELECT name FROM stores").rows == (("Nord, West",),)
        joined = "SELECT name FROM staff JOIN sales ON sales.id < staff.id ORDER BY sales.id"
        assert database.query(joined).rows == (("Ada",), ("Ada",))


def test_a_file_that_changes_is_told(folder: Path) -> None:
    """Else statements at once would read the file of before and that of now."""
    sales = folder / "sales.csv"
    with closing(dqa.open_database(folder)) as database:
        assert database.query("SELECT count(*) FROM sales").rows == ((2,),)
        sales.write_text("id,day,amount\n9,2024-05-09,9.0\n", "utf-8")
        for _ in range(2):
            with pytest.raises(DatabaseUnavailableError, match=r"sales\.csv' was changed"):
                database.query("SELECT count(*) FROM sales")
        sales.unlink()
        with pytest.raises(DatabaseUnavailableError, match="Open it again"):
            database.query("SELECT count(*) FROM stores")
        with pytest.raises(DatabaseUnavailableError, match="Open it again"):
            database.schema()


def test_a_location_is_a_file_or_a_pattern_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pattern has to reach the command unexpanded, in quotes."""
    monkeypatch.chdir(folder.parent)
    for location, table in (("shop/sales.csv", "sales"), ("shop/*.parquet", "stock")):
        with closing(dqa.open_database(location)) as database:
            assert [found.name for found in database.schema().tables] == [table]


def test_names_of_files_may_be_anything(tmp_path: Path) -> None:
    """Signs of patterns and of SQL are nothing but signs of a name."""
    there = tmp_path / "we[i]rd 'dir'"
    there.mkdir()
    (there / "b*'1.csv").write_text("id\n1\n", "utf-8")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 2 AS id")
        connection.execute(f"COPY t TO '{tmp_path / 'plain.parquet'}'")
    (tmp_path / "plain.parquet").rename(there / "x?[2].parquet")
    with closing(dqa.open_database(there)) as database:
        assert [table.name for table in database.schema().tables] == ["b__1", "x__2_"]
        assert database.query("SELECT b__1.id, x__2_.id FROM b__1, x__2_").rows == ((1, 2),)


OTHER_FILES = [
    "SELECT * FROM '{there}/secret.csv'",
    "SELECT * FROM read_csv('{there}/secret.csv')",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM glob('/etc/*')",
    "COPY sales TO '{there}/out.csv'",
    "ATTACH '{there}/other.db'",
    "SET enable_external_access = true",
    "CREATE TABLE t AS SELECT 1",
]


def test_no_other_file_can_be_read(folder: Path) -> None:
    """The guard refuses what would, and behind it the engine is locked."""
    with closing(dqa.open_database(folder, isolation="none")) as database:
        connect: Any = database._session.connect  # type: ignore[attr-defined]
        for statement in OTHER_FILES:
            text = statement.format(there=folder.parent)
            with pytest.raises(RefusedStatementError):
                database.query(text)
            with closing(connect()) as cursor:
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                with pytest.raises(duckdb.Error):
                    cursor.execute(text)


def test_large_csv_files_are_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file alone would fit, but not all of them."""
    monkeypatch.setattr("dqa.databases.data_files._LOADED_BYTES", 450)
    for name, rows in (("b", 30), ("a", 50), ("c", 50)):
        (tmp_path / f"{name}.csv").write_text("x\n" + "1234\n" * rows, "utf-8")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"x\n" + b"1234\n" * 5_000))
    with closing(dqa.open_database(tmp_path, isolation="none")) as database:
        views = database.query("SELECT view_name FROM duckdb_views WHERE NOT internal")
        assert [row[0] for row in views.rows] == ["a", "b", "c", "d"]
        assert database.query("SELECT sum(x) FROM d").rows == ((1234 * 5_000,),)


def test_what_is_no_database_of_files_is_one_line(tmp_path: Path) -> None:
    """Before anything is read."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "twice").mkdir()
    for name in ("a.csv", "A.tsv"):
        (tmp_path / "twice" / name).write_text("id\n1\n", "utf-8")
    for location, words in (
        ("nothing.csv", "There is no file"),
        ("empty", "does not contain a data file"),
        ("x*.parquet", "No data file matches"),
        ("twice", "would both become the table a"),
    ):
        with pytest.raises(UsageError, match=words):
            dqa.open_database(tmp_path / location)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    """With what the engine says of it."""
    (tmp_path / "broken.parquet").write_text("no parquet", "utf-8")
    with pytest.raises(DataError, match=r"broken\.parquet' cannot be read as PARQUET"):
        dqa.open_database(tmp_path)


def test_a_csv_file_of_another_encoding_says_so(tmp_path: Path) -> None:
    """The engine names only a line."""
    file = tmp_path / "latin.csv"
    file.write_bytes("name,n\nMüller,1\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        dqa.open_database(file)
