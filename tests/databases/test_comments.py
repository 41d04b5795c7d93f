"""Comments on tables and columns are read where a database keeps them, and shown as comments."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import duckdb
import ladybug
import pytest

from dqa import plugins
from dqa.core.schema import Field
from dqa.guard import Policy
from tests.sqlite_files import run_script

HIDING = Policy(denied_columns=frozenset({"orders.salary"}))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file of DuckDB with comments on everything."""
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE orders(id INT, total INT, salary INT);"
            "COMMENT ON TABLE orders IS 'What customers buy; see salary';"
            "COMMENT ON COLUMN orders.total IS 'in euros */ DROP\nTABLE';"
            "COMMENT ON COLUMN orders.salary IS 'of the clerk';"
            "CREATE VIEW seen AS SELECT id FROM orders; COMMENT ON VIEW seen IS 'ids alone';"
        )
    return file


def test_comments_are_read_and_shown_on_their_line(shop: Path) -> None:
    """Nothing in a comment ends it."""
    with closing(plugins.backend("duckdb").open(str(shop))) as database:
        schema = database.schema()
    orders, seen = schema.tables
    assert (orders.comment, seen.comment) == ("What customers buy; see salary", "ids alone")
    assert orders.columns[2] == Field("salary", "INTEGER", comment="of the clerk")
    text = schema.to_text()
    assert "total: INTEGER /* in euros * / DROP TABLE */," in text
    assert text.count("\n") == 1
    assert text.splitlines()[0].endswith(") /* What customers buy; see salary */")


def test_a_comment_that_names_a_hidden_column_is_hidden(shop: Path) -> None:
    """As the column is, with its own comment."""
    with closing(plugins.backend("duckdb").open(str(shop), policy=HIDING)) as opened:
        text = opened.schema().to_text()
    assert "salary" not in text
    assert "clerk" not in text
    assert "in euros" in text


def test_a_graph_has_comments_too(tmp_path: Path) -> None:
    """LadybugDB keeps them on labels and relationship types."""
    file = tmp_path / "shop.lbug"
    with closing(ladybug.Database(str(file))) as made, closing(ladybug.Connection(made)) as to:
        to.execute("CREATE NODE TABLE Shop(id INT64 PRIMARY KEY)")
        to.execute("CREATE REL TABLE NEAR(FROM Shop TO Shop)")
        to.execute("COMMENT ON TABLE Shop IS 'Where people buy'")
    with closing(plugins.backend("ladybug").open(str(file))) as opened:
        schema = opened.schema()
    assert [node.comment for node in schema.nodes] == ["Where people buy"]
    assert [edge.comment for edge in schema.edges] == [""]
    assert "(:Shop {id: INT64 key}) /* Where people buy */" in schema.to_text()


def test_sqlite_tells_what_its_foreign_keys_imply(tmp_path: Path) -> None:
    """One that names no columns refers to the primary key; several stay in order."""
    file = run_script(
        tmp_path / "keys.db",
        "CREATE TABLE one(b INT, a INT, PRIMARY KEY (a, b));"
        "CREATE TABLE two(x INT, y INT, z INT REFERENCES three(id), g INT AS (x + 1),"
        " FOREIGN KEY (x, y) REFERENCES One); CREATE TABLE three(id INTEGER PRIMARY KEY);"
        "CREATE TABLE wrong(x INT, y INT, FOREIGN KEY (x, y) REFERENCES three)",
    )
    links = (("z", "three", "id"), ("x", "one", "a"), ("y", "one", "b"))
    for location in (str(file), f"sqlite+pysqlite:///{file}"):
        with closing(plugins.backend_for(location).open(location)) as opened:
            one, _, two, wrong = opened.schema().tables
        assert one.key == ("a", "b")
        assert [column.name for column in two.columns] == ["x", "y", "z", "g"]
        assert sorted(two.references) == sorted(links)
        assert wrong.references == (("x", "three", "id"),)  # the key has one column too few
