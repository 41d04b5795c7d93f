"""The schema of a server, as a role sees it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
import sqlalchemy as sa

import dqa
from dqa.core.schema import DatabaseSchema

PARTS = """
CREATE SCHEMA {s};
CREATE TYPE {s}.mood AS ENUM ('low', 'high');
CREATE DOMAIN {s}.amount AS numeric(12, 2);
CREATE TYPE {s}.address AS (street text, "No" integer);
CREATE TABLE {s}.customer (id integer PRIMARY KEY, "regionCode" text, moods {s}.mood[],
    home {s}.address, credit {s}.amount);
CREATE TABLE {s}.payment (id integer, day date, customer integer REFERENCES {s}.customer)
    PARTITION BY RANGE (day);
CREATE TABLE {s}.payment_1 (customer integer, day date, id integer);
ALTER TABLE {s}.payment_1 ADD FOREIGN KEY (customer) REFERENCES {s}.customer;
ALTER TABLE {s}.payment ATTACH PARTITION {s}.payment_1 FOR VALUES FROM ('2020-01-01') TO
    ('2021-01-01');
CREATE TABLE {s}.payment_2 PARTITION OF {s}.payment DEFAULT;
CREATE MATERIALIZED VIEW {s}.empty AS SELECT 1 AS one WITH NO DATA;
"""


@contextmanager
def made(url: str, before: str, after: str) -> Iterator[str]:
    """Give the name of a schema while its objects exist."""
    name = f"cat_{secrets.token_hex(4)}"
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in before.format(s=name).split(";\n"):
            connection.exec_driver_sql(statement)
        try:
            yield name
        finally:
            for statement in after.format(s=name).split(";"):
                connection.exec_driver_sql(statement)
    engine.dispose()


def schema_at(url: str) -> DatabaseSchema:
    """Return the schema of a location."""
    with closing(dqa.open_database(url)) as database:
        return database.schema()


def columns(schema: DatabaseSchema) -> dict[str, list[tuple[str, str]]]:
    """Return names and types of columns by table."""
    return {t.name: [(c.name, c.type) for c in t.columns] for t in schema.tables}


def test_postgres_folds_partitions_and_explains_types(postgres_url: str) -> None:
    """A partition is part of its parent; a materialized view without data cannot be read."""
    with made(postgres_url, PARTS, "DROP SCHEMA {s} CASCADE") as name:
        schema = schema_at(f"{postgres_url}?schema={name}")
    assert columns(schema) == {
        "customer": [
            ("id", "INTEGER"),
            ("regionCode", "TEXT"),
            ("moods", "mood[] ENUM('low', 'high')"),
            ("home", 'address ROW(street text, "No" integer)'),
            ("credit", "NUMERIC(12, 2) (domain amount)"),
        ],
        "payment": [("id", "INTEGER"), ("day", "DATE"), ("customer", "INTEGER")],
    }
    assert schema.tables[1].references == (("customer", "customer", "id"),)
    assert ["empty" in note for note in schema.notes] == [True]
    assert '"regionCode": TEXT' in schema.to_text()


ROLE = (
    PARTS.partition("CREATE TYPE")[0]
    + """
CREATE TABLE {s}.open (a integer, b integer);
CREATE TABLE {s}.half (seen integer, hidden integer, PRIMARY KEY (seen, hidden));
CREATE TABLE {s}.shut (a integer);
CREATE ROLE r_{s} LOGIN PASSWORD 'correct-horse';
GRANT USAGE ON SCHEMA {s} TO r_{s};
GRANT SELECT ON {s}.open TO r_{s};
GRANT SELECT (seen) ON {s}.half TO r_{s};
CREATE VIEW {s}.watch AS SELECT a FROM {s}.open
"""
)


def test_postgres_describes_what_the_role_can_read(postgres_url: str) -> None:
    """Tables and columns without the right to read are not there; other schemas are named."""
    dropped = "DROP SCHEMA {s} CASCADE; DROP ROLE r_{s}"
    with made(postgres_url, ROLE, dropped) as name:
        url = sa.make_url(postgres_url).set(username=f"r_{name}", password="correct-horse")  # noqa: S106
        own = url.update_query_dict({"schema": name}).render_as_string(hide_password=False)
        schema = schema_at(own)
        with (
            closing(dqa.open_database(own)) as database,
            pytest.raises(dqa.QueryError, match=r"denied.* half\(seen\)"),
        ):
            database.query("SELECT * FROM half")
        elsewhere = schema_at(url.render_as_string(hide_password=False))
    assert columns(schema) == {
        "half": [("seen", "INTEGER")],
        "open": [("a", "INTEGER"), ("b", "INTEGER")],
    }
    assert schema.tables[0].key == ()
    assert not elsewhere.tables
    assert name in elsewhere.notes[0]


def test_several_schemas_are_joined(postgres_url: str) -> None:
    """Tables are found without a schema; a hidden one of the same name is named."""
    one = "CREATE SCHEMA {s};\nCREATE TABLE {s}.t (a integer);\nINSERT INTO {s}.t VALUES (1)"
    two = (
        "CREATE SCHEMA {s};\nCREATE TABLE {s}.t (b integer);\nCREATE TABLE {s}.u (a integer);\n"
        "INSERT INTO {s}.u VALUES (1)"
    )
    drop = "DROP SCHEMA {s} CASCADE"
    with made(postgres_url, one, drop) as first, made(postgres_url, two, drop) as second:
        url = f"{postgres_url}?schema={first},{second}"
        with closing(dqa.open_database(url)) as database:
            schema = database.schema()
            rows = database.query(f"SELECT * FROM t JOIN u USING (a) JOIN {second}.u x USING (a)")
    assert columns(schema) == {"t": [("a", "INTEGER")], "u": [("a", "INTEGER")]}
    assert f"{second}.t" in schema.notes[0]
    assert rows.rows == ((1,),)


MARIA = """
CREATE DATABASE {s};
CREATE TABLE {s}.orders (id integer PRIMARY KEY, `interval` integer, kind ENUM('a', 'B'));
CREATE TABLE {s}.gone (x integer);
CREATE VIEW {s}.broken AS SELECT x FROM {s}.gone;
CREATE VIEW {s}.whole AS SELECT id FROM {s}.orders;
CREATE SEQUENCE {s}.numbers;
DROP TABLE {s}.gone"""


def test_mariadb_leaves_out_sequences_and_broken_views(mysql_url: str) -> None:
    """What a statement cannot read is only a note."""
    with made(mysql_url, MARIA, "DROP DATABASE {s}") as name:
        url = sa.make_url(mysql_url).set(database=name).render_as_string(hide_password=False)
        schema = schema_at(url)
    assert columns(schema) == {
        "orders": [("id", "INTEGER(11)"), ("interval", "INTEGER(11)"), ("kind", "ENUM('a','B')")],
        "whole": [("id", "INTEGER(11)")],
    }
    notes = "\n".join(schema.notes)
    assert "numbers" in notes
    assert "broken" in notes


@pytest.mark.parametrize("name", ["postgres", "duckdb", "mysql"])
def test_a_missing_schema_is_named(
    name: str, request: pytest.FixtureRequest, tmp_path: object
) -> None:
    """One wrong name among several is enough."""
    if name == "duckdb":
        import duckdb

        file = f"{tmp_path}/s.duckdb"
        duckdb.connect(file).close()
        url = f"duckdb:///{file}"
    else:
        url = request.getfixturevalue(f"{name}_url")
    own = "main" if name == "duckdb" else "public"
    problem = "leave out" if name == "mysql" else "no schema 'nowhere'"
    with pytest.raises(dqa.UsageError, match=problem):
        dqa.open_database(f"{url}?schema={own},nowhere")
