"""Comments, keys and types as PostgreSQL and MariaDB keep them, read for all tables at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from uuid import uuid4

import pytest
from sqlalchemy import create_engine as engine_for
from sqlalchemy import make_url, text

import dqa
from dqa.core.schema import DatabaseSchema, Field

_TABLES = (
    "CREATE TABLE {place}.supplier(b INT, a INT, PRIMARY KEY (a, b))",
    (
        "CREATE TABLE {place}.orders(id INT PRIMARY KEY, x INT, y INT, kind {kind},"
        " FOREIGN KEY (x, y) REFERENCES {place}.supplier(a, b))"
    ),
    "CREATE VIEW {place}.seen AS SELECT id FROM {place}.orders",
)


@pytest.fixture(params=["mysql", "postgres"])
def shop(request: pytest.FixtureRequest) -> Iterator[tuple[str, Callable[[], DatabaseSchema]]]:
    """Two tables and a view with comments, and what reads their schema."""
    name = str(request.param)
    url = make_url(request.getfixturevalue(f"{name}_url"))
    place = f"dqa_comments_{uuid4().hex[:8]}"
    is_mysql = name == "mysql"
    what, kind = ("DATABASE", "ENUM('Big','small')") if is_mysql else ("SCHEMA", "VARCHAR(9)")
    there = url.set(database=place) if is_mysql else url.update_query_dict({"schema": place})
    said = (
        "ALTER TABLE {place}.orders COMMENT 'What customers buy', "
        "MODIFY y INT COMMENT 'number of units'"
        if is_mysql
        else "COMMENT ON TABLE {place}.orders IS 'What customers buy'; "
        "COMMENT ON COLUMN {place}.orders.y IS 'number of units'"
    )
    engine = engine_for(url)
    try:
        with engine.begin() as connection:
            connection.execute(text(f"CREATE {what} {place}"))
            for statement in (*_TABLES, said):
                connection.execute(text(statement.format(place=place, kind=kind)))

        def read() -> DatabaseSchema:
            opened = dqa.open_database(there.render_as_string(hide_password=False))
            with closing(opened):
                return opened.schema()

        yield name, read
    finally:
        with engine.begin() as connection:
            cascade = "" if is_mysql else " CASCADE"
            connection.execute(text(f"DROP {what} IF EXISTS {place}{cascade}"))
        engine.dispose()


def test_tables_are_described_with_their_comments(
    shop: tuple[str, Callable[[], DatabaseSchema]],
) -> None:
    """Keys in their own order, values of types as they are written, no comment for a view."""
    name, read = shop
    orders, seen, supplier = read().tables
    assert (orders.name, orders.comment, orders.key) == ("orders", "What customers buy", ("id",))
    assert orders.columns[2].comment == "number of units"
    kind = "ENUM('Big','small')" if name == "mysql" else "VARCHAR(9)"
    assert orders.columns[3] == Field("kind", kind)
    assert orders.references == (("x", "supplier", "a"), ("y", "supplier", "b"))
    assert (seen.name, seen.comment, seen.key) == ("seen", "", ())
    assert supplier.key == ("a", "b")
    assert "y: INTEGER" in read().to_text()
    assert "/* number of units */" in read().to_text()
