"""Comments, keys and types as PostgreSQL and MariaDB store them, read for all tables at once."""

from __future__ import annotations

import pytest

import dqa
from dqa.core.schema import Field

TABLES = """
CREATE TABLE supplier(b INT, a INT, PRIMARY KEY (a, b));
CREATE TABLE orders(id INT PRIMARY KEY, x INT, y INT, kind {kind},
    FOREIGN KEY (x, y) REFERENCES supplier(a, b));
CREATE VIEW seen AS SELECT id FROM orders;
"""
KINDS = {"mysql": "ENUM('Big','small')", "postgres": "VARCHAR(9)"}
COMMENTS = {
    "mysql": "ALTER TABLE orders COMMENT 'What customers buy', "
    "MODIFY y INT COMMENT 'number of units'",
    "postgres": "COMMENT ON TABLE orders IS 'What customers buy'; "
    "COMMENT ON COLUMN orders.y IS 'number of units'",
}


@pytest.mark.parametrize("engine", ["mysql", "postgres"])
def test_tables_are_described_with_their_comments(
    engine: str, request: pytest.FixtureRequest
) -> None:
    """Keys keep their order, values of types are unchanged, and a view has no comment."""
    script = TABLES.format(kind=KINDS[engine]) + COMMENTS[engine]
    url = request.getfixturevalue(f"{engine}_url")
    with dqa.temporary_database(script, engine, url) as database:
        schema = database.schema()
    orders, seen, supplier = schema.tables
    assert (orders.name, orders.comment, orders.key) == ("orders", "What customers buy", ("id",))
    assert orders.columns[2].comment == "number of units"
    assert orders.columns[3] == Field("kind", KINDS[engine])
    assert orders.references == (("x", "supplier", "a"), ("y", "supplier", "b"))
    assert (seen.name, seen.comment, seen.key) == ("seen", "", ())
    assert supplier.key == ("a", "b")
    assert "y: INTEGER" in schema.to_text()
    assert "/* number of units */" in schema.to_text()
