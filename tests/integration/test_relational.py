"""Relational servers: what is loaded is what was meant, once, whole, and apart from all else."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.errors import (
    DataError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
    UsageError,
)
from dqa.core.situation import Column, Schema, Situation, Table, TableSchema
from dqa.databases.namespaces import TAG_TABLE, namespace_for, tag_of
from dqa.loaders.readback import read_situation
from tests.integration.conftest import EVERY, Target

CROSS = (
    "SELECT count(*) FROM goods a, goods b, goods c, goods d, goods e, goods f "
    "WHERE a.base_price < b.base_price AND c.base_price < d.base_price"
)
WRITES = (
    "INSERT INTO goods (goods_name, code) VALUES ('x', 99)",
    "DELETE FROM goods",
    "UPDATE goods SET code = 1",
    "CREATE TABLE other (a INT)",
    "CREATE TEMPORARY TABLE other (a INT)",
    "DROP TABLE goods",
    "SELECT 1; DELETE FROM goods",
)


def world(name: str = "world", goods: int = 60) -> Situation:
    """A Building world in a random order with texts and numbers that get lost easily."""
    schema, draw = plugins.scenario("building").schema, np.random.default_rng(goods)
    texts = ["A", "a", "a ", "é", "e", "'", '"', "\\", "`", "\t", "\n", "%s", "{}", "😀", "\\N", ""]
    names = [texts[i] if i < len(texts) else f"good {i}" for i in range(goods)]
    order = draw.permutation(goods)
    columns: dict[str, dict[str, Any]] = {
        "goods": {
            "goods_name": [names[i] for i in order],
            "code": order,
            "base_price": draw.random(goods),
            "current_price": np.where(draw.random(goods) < 0.5, np.nan, 0.1 + 0.2),
            "pop_demand": draw.random(goods) * 10.0 ** draw.integers(-300, 300, goods),
        },
        "building": {
            "id": order,
            "name": [names[i] for i in order],
            "level": order * (2**62 // max(goods, 1)),
        },
        "supply": {
            # Codes without goods, as in the released data.
            "goods_id": order + 1,
            "building_id": order,
            "max_supply": draw.random(goods) * 1e-5,
            "current_output": -draw.random(goods) * 1e17,
            "level": -order,
        },
        "demand": {
            "goods_id": order,
            "building_id": order[::-1],
            "max_demand": draw.random(goods),
            "current_input": np.zeros(goods),
            "level": order,
        },
    }
    return Situation(schema, name, {t.name: Table(t, columns[t.name]) for t in schema.tables})


def read_back(database: Database, situation: Situation) -> Situation:
    """Read everything."""
    return read_situation(database, situation.schema, situation.name)


@EVERY
def test_released_databases_come_back_equal(
    server: Target, situations: list[Situation], every: int
) -> None:
    """All values of all rows, in order; a second load writes nothing, and they do not mix."""
    assert len(situations) > 30
    situations = situations[::every]
    databases = [server.load(situation) for situation in situations]
    before = server.backend.loaded(server.url)
    for situation, database in zip(situations, databases, strict=True):
        assert read_back(database, situation) == situation
        assert database.schema().to_text().count("\n") == len(situation.tables) - 1
        server.load(situation)
    assert server.backend.loaded(server.url) == before
    assert {s.content_hash for s in situations} <= {each.content_hash for each in before}


@pytest.mark.parametrize("goods", [0, 60, 5_000])
def test_any_size_order_and_text_comes_back_equal(target: Target, goods: int) -> None:
    """Empty tables, shuffled keys, texts that differ in case, accents or spaces, tiny numbers."""
    situation = world(goods=goods)
    assert read_back(target.load(situation), situation) == situation


def test_odd_names_and_long_texts_come_back_equal(target: Target) -> None:
    """Columns and tables with quotes, percent signs and spaces, and the largest numbers."""
    columns = (Column("a %s", "integer"), Column("`\"'\\", "text"), Column("select", "float"))
    table = TableSchema("it's `100 %`", columns, ("a %s",))
    values: list[list[Any]] = [
        [-(2**63), 2**63 - 1],
        ["x" * 300_000, "\\'"],
        [-0.0, 1.7976931348623157e308],
    ]
    rows = Table(table, dict(zip(table.column_names, values, strict=True)))
    situation = Situation(Schema("odd", (table,)), "odd", {table.name: rows})
    assert read_back(target.load(situation), situation) == situation


def test_texts_differ_as_python_says(target: Target) -> None:
    """No collation takes one text for another."""
    database = target.load(world())
    for text in ("A", "a", "a ", "é", "e", ""):
        rows = database.query(f"SELECT goods_name FROM goods WHERE goods_name = '{text}'").rows
        assert rows == ((text,),)


def test_many_load_at_once(server: Target) -> None:
    """The same world by four, and four others: each is there once and whole."""
    same = world()
    others = [world(f"world {number}", 10 + number) for number in range(4)]
    with ThreadPoolExecutor(8) as threads:
        databases = list(threads.map(server.load, [same, *others] * 2))
    for situation, database in zip([same, *others] * 2, databases, strict=True):
        assert read_back(database, situation) == situation
    namespaces = [each.namespace for each in server.backend.loaded(server.url)]
    assert all(namespaces.count(namespace_for(situation)) == 1 for situation in [same, *others])


def test_what_unload_drops_is_gone_and_nothing_else(server: Target) -> None:
    """Unloading says what was there; a second time there is nothing to drop."""
    one, other = world("one", 5), world("other", 6)
    server.load(one)
    kept = server.load(other)
    dropped = server.backend.unload(server.url, namespace_for(one))
    assert (dropped.name, dropped.content_hash) == ("one", one.content_hash)
    assert not server.holds(one)
    assert read_back(kept, other) == other
    with pytest.raises(UsageError, match="does not contain a situation"):
        server.backend.unload(server.url, namespace_for(one))


@pytest.fixture
def occupied(server: Target) -> Iterator[tuple[Target, Situation, sa.Engine]]:
    """Put a table of somebody else where a situation is to go."""
    situation = world("occupied", 4)
    namespace = namespace_for(situation)
    scheme = "mysql+pymysql" if server.backend.name == "mysql" else "postgresql+psycopg"
    engine = sa.create_engine(sa.make_url(server.url).set(drivername=scheme))
    with engine.begin() as connection:
        connection.execute(sa.text(f"CREATE SCHEMA {namespace}"))
        connection.execute(sa.text(f"CREATE TABLE {namespace}.precious (a INT)"))
        connection.execute(sa.text(f"INSERT INTO {namespace}.precious VALUES (7)"))
    yield server, situation, engine
    with engine.begin() as connection:
        cascade = " CASCADE" if server.backend.name == "postgres" else ""
        connection.execute(sa.text(f"DROP SCHEMA IF EXISTS {namespace}{cascade}"))
    engine.dispose()


def test_nothing_of_others_is_touched(occupied: tuple[Target, Situation, sa.Engine]) -> None:
    """What is in the way is named, and stays until the namespace itself is named."""
    server, situation, engine = occupied
    namespace = namespace_for(situation)
    for replace in (None, "dqa_another"):
        with pytest.raises(UsageError, match=f"dqa did not create.*--replace {namespace}"):
            server.load(situation, replace)
    with pytest.raises(UsageError, match="does not contain a situation"):
        server.backend.unload(server.url, namespace)
    with engine.connect() as connection:
        assert connection.execute(sa.text(f"SELECT a FROM {namespace}.precious")).scalar() == 7
    assert read_back(server.load(situation, namespace), situation) == situation


def test_an_unfinished_load_is_dropped_only_without_tables_of_others(
    occupied: tuple[Target, Situation, sa.Engine],
) -> None:
    """An empty tag table alone gives no right to the tables beside it."""
    server, situation, engine = occupied
    namespace = namespace_for(situation)
    with engine.begin() as connection:
        connection.execute(sa.text(f"CREATE TABLE {namespace}.{TAG_TABLE} (scenario TEXT)"))
    with pytest.raises(UsageError, match=f"--replace {namespace}"):
        server.load(situation)
    with engine.begin() as connection:
        assert connection.execute(sa.text(f"SELECT a FROM {namespace}.precious")).scalar() == 7
        connection.execute(sa.text(f"DROP TABLE {namespace}.precious"))
    assert read_back(server.load(situation), situation) == situation


def test_a_namespace_with_a_view_and_a_trigger_is_replaced(
    occupied: tuple[Target, Situation, sa.Engine],
) -> None:
    """MySQL moves neither to another database, so all is dropped first."""
    server, situation, engine = occupied
    namespace = namespace_for(situation)
    with engine.begin() as connection:
        connection.execute(sa.text(f"CREATE VIEW {namespace}.seen AS SELECT 1 AS a"))
        if server.backend.name == "mysql":
            trial = f"dqa_trial_{namespace[-12:]}"  # as a killed replacement leaves it
            connection.execute(sa.text(f"CREATE DATABASE {trial}"))
            connection.execute(sa.text(f"CREATE TABLE {trial}.{TAG_TABLE} (scenario TEXT)"))
            connection.execute(
                sa.text(
                    f"CREATE TRIGGER {namespace}.seven BEFORE INSERT ON {namespace}.precious "
                    "FOR EACH ROW SET NEW.a = 7"
                )
            )
    assert read_back(server.load(situation, namespace), situation) == situation
    assert "seen" not in sa.inspect(engine).get_view_names(namespace)
    assert not [name for name in sa.inspect(engine).get_schema_names() if "dqa_trial" in name]


def test_a_schema_that_appears_during_a_load_is_left_alone(
    occupied: tuple[Target, Situation, sa.Engine],
) -> None:
    """A load that finds it when it creates its namespace fails and drops nothing."""
    server, situation, engine = occupied
    namespace, kind = namespace_for(situation), resolve_name(server.backend.namespaces)
    with pytest.raises(UsageError), kind.connect(server.url) as namespaces:
        namespaces.create(situation, tag_of(situation, namespace))
    with engine.connect() as connection:
        assert connection.execute(sa.text(f"SELECT a FROM {namespace}.precious")).scalar() == 7


def test_a_replacement_that_fails_loses_nothing(
    occupied: tuple[Target, Situation, sa.Engine],
) -> None:
    """The old content stays until the new one is complete."""
    server, situation, engine = occupied
    namespace, kind = namespace_for(situation), resolve_name(server.backend.namespaces)
    good = world(goods=3)
    broken = good.replace(building=good["building"].replace(id=[1, 1, 2]))
    with pytest.raises(DataError), kind.connect(server.url) as namespaces:
        namespaces.replace(broken, tag_of(broken, namespace))
    with engine.connect() as connection:
        assert connection.execute(sa.text(f"SELECT a FROM {namespace}.precious")).scalar() == 7
    assert not [name for name in sa.inspect(engine).get_schema_names() if "dqa_trial" in name]


def test_a_world_that_breaks_its_keys_leaves_nothing(target: Target) -> None:
    """The error names it, and the namespace is as it was."""
    good = world(goods=3)
    broken = good.replace(building=good["building"].replace(id=[1, 1, 2]))
    with pytest.raises(DataError, match="'world'"):
        target.load(broken)
    if target.backend.name == "duckdb":
        assert not Path(target.url).exists()
    else:
        assert namespace_for(broken) not in {e.namespace for e in target.backend.loaded(target.url)}


def test_results_are_streamed_and_cut(target: Target) -> None:
    """The limits hold, whatever the statement says, and the next statement is not disturbed."""
    database = target.load(world())
    many = "SELECT a.goods_name, b.goods_name FROM goods a, goods b, goods c LIMIT 200000"
    for _ in range(3):
        assert len(database.query(many, Limits(rows=7)).rows) == 7
        assert database.query(many, Limits(rows=7)).cut == "rows"
        assert database.query(many, Limits(bytes=500, rows=10_000)).cut == "bytes"
        assert database.query("SELECT count(*) FROM goods").rows == ((60,),)
    empty = database.query("SELECT goods_name, code FROM goods WHERE code < 0")
    assert (empty.columns, empty.rows, empty.cut) == (("goods_name", "code"), (), None)


def test_a_long_statement_is_stopped_and_the_connection_goes_on(target: Target) -> None:
    """Where it runs, by the server or from outside; after it everything is as before."""
    database = target.load(world())
    for _ in range(2):
        with pytest.raises(StatementTimeoutError, match=r"after 0\.2 seconds"):
            database.query(CROSS, Limits(seconds=0.2))
        assert database.query("SELECT count(*) FROM goods").rows == ((60,),)


def test_nothing_is_written_even_without_the_guard(server: Target) -> None:
    """The second line holds by itself, also after a statement that tried to move it."""
    situation = world()
    database: Any = server.load(situation)
    for opening in ("BEGIN", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
                    "SET SESSION TRANSACTION READ WRITE"):  # fmt: skip
        with pytest.raises((StatementError, RefusedStatementError)):
            database._session.run(opening, Limits())
        for statement in WRITES:
            with pytest.raises((StatementError, RefusedStatementError)):
                database._session.run(statement, Limits())
    assert read_back(database, situation) == situation
