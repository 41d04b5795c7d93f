"""The contract of all engines: loading, bounds, errors and policies. Each engine runs all tests."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dqa.core.database import Database, Limits
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    QueryError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
    UsageError,
)
from dqa.core.question_set import QuestionSet
from dqa.core.schema import describe
from dqa.core.situation import Situation
from dqa.guard import Audit, AuditEntry, Policy
from tests.databases.engines import ENDLESS, NODES, Target, read_back, small_situation, world

COUNT = {
    "relational": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000) "
    "SELECT n FROM r",
    "graph": "UNWIND range(1, 3000) AS n RETURN n",
}
WRITES = {
    "relational": (
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
        "SET SESSION TRANSACTION READ WRITE",
        "BEGIN",
        "PRAGMA query_only = OFF",
        "INSERT INTO country VALUES ('X', 'kiev', 1.0)",
        "DELETE FROM flow",
        "CREATE TABLE other (a INT)",
        "CREATE TEMPORARY TABLE other (a INT)",
        "SELECT 1; DELETE FROM flow",
    ),
    "graph": (
        "BEGIN TRANSACTION",
        "COMMIT; CREATE (:Country {name: 'X'})",
        "CREATE (:Country {name: 'X'})",
        "MATCH (n:Country) SET n.development = 1.0",
        "MATCH (n) DETACH DELETE n",
        "CREATE INDEX x FOR (n:Country) ON (n.a)",
    ),
}
COLUMNS = Policy(
    tables=frozenset({"country", "node_country"}), denied_columns=frozenset({"country.development"})
)
LABELS = Policy(
    labels=frozenset({"Country"}),
    relationship_types=frozenset({"NodeCountry"}),
    denied_properties=frozenset({"Country.development"}),
)
ALLOWED = {
    "relational": "SELECT home_node FROM country ORDER BY home_node",
    "graph": "MATCH (c:Country) RETURN c.home_node ORDER BY c.home_node",
}
HIDDEN = {
    "relational": (
        "SELECT flow FROM flow",
        "SELECT development FROM country",
        "SELECT max(c.development) FROM country c",
        "SELECT country_name FROM country ORDER BY development",
    ),
    "graph": (
        "MATCH (t:Trade_node) RETURN t.name",
        "MATCH (:Country)-[r:source]->(:Country) RETURN r.flow",
        "MATCH (c:Country) RETURN c.development",
        "MATCH (c:Country) RETURN c",
    ),
}
MISSPELT = {
    "relational": (
        ("SELECT hom_node FROM country", "hom_node.* Did you mean 'home_node'"),
        ("SELECT * FROM contry", r"Did you mean 'country'.*flow\(source, dest, flow\)"),
    ),
    "graph": (
        ("MATCH (c:Country) RETURN c.hom_node", "Did you mean 'home_node'"),
        ("MATCH (c:Contry) RETURN c", "Did you mean 'Country'"),
    ),
}
MANY = {
    "relational": "SELECT a.source FROM flow a, flow b, flow c, flow d, flow e, flow f, flow g",
    "graph": "UNWIND range(1, 20001) AS x RETURN x",
}


SHARED = small_situation(1)
"""What tests read that load nothing themselves."""


class EngineContract:
    """Subclasses define the fixture `lasting`, a place for all tests of an engine."""

    @pytest.fixture
    def target(self, lasting: Target, tmp_path: Path) -> Iterator[Target]:
        """Return the engine for one test: the same server, or a new folder."""
        backend = lasting.backend
        target = Target(backend, str(tmp_path) if backend.embedded else lasting.url)
        yield target
        target.clean()

    @pytest.fixture(scope="module")
    @classmethod
    def small(cls, lasting: Target) -> Database:
        """Return the small situation in each engine."""
        return lasting.load(SHARED)

    @pytest.mark.parametrize(
        "every", [pytest.param(20, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.deep)]
    )
    def test_released_databases_come_back_equal(
        self, target: Target, release: QuestionSet, every: int
    ) -> None:
        """All values of all rows, in order. A second load writes nothing."""
        released = release.situations.values()
        situations = list({one.content_hash: one for one in released}.values())
        assert len(situations) > 30
        databases = [target.load(one) for one in situations[::every]]
        for situation, database in zip(situations[::every], databases, strict=True):
            assert read_back(database, situation) == situation
            before = target.loaded(situation)
            assert len(before) == 1
            target.load(situation).close()
            assert target.loaded(situation) == before

    @pytest.mark.parametrize("size", [0, 60, 2_000])
    def test_any_size_order_and_text_comes_back_equal(self, target: Target, size: int) -> None:
        """Empty tables, shuffled keys, texts that differ in case or spaces, extreme numbers."""
        situation = world(size)
        assert read_back(target.load(situation), situation) == situation

    def test_the_schema_is_that_of_the_situation(self, lasting: Target, small: Database) -> None:
        """Names, keys and links; nothing of the loader."""
        found, wanted = small.schema(), describe(SHARED.schema)
        parts = wanted.tables if small.kind == "relational" else (*wanted.nodes, *wanted.edges)
        assert {(one.name, *(f.name for f in one.fields)) for one in found.parts} == {
            (one.name, *(f.name for f in one.fields)) for one in parts
        }
        assert "dqa" not in found.to_text()
        if small.kind == "graph":
            assert [one.key for one in found.nodes] == ["name", "name"]
            assert {(one.source, one.target) for one in found.edges} == {
                ("Trade_node", "Trade_node"),
                ("Country", "Trade_node"),
            }
            return
        (flow,) = (table for table in found.tables if table.name == "flow")
        assert flow.key == ("source", "dest")
        assert set(flow.references) == {
            ("source", "trade_node", "trade_node"),
            ("dest", "trade_node", "trade_node"),
        }
        with closing(lasting.open(SHARED)) as opened:
            assert opened.schema() == found

    def test_many_load_at_once(self, target: Target) -> None:
        """The same situation twice, and others: each is there once and complete."""
        worlds = [small_situation(), *(world(size) for size in (3, 4, 5))]
        with ThreadPoolExecutor(8) as threads:
            databases = list(threads.map(target.load, worlds * 2))
        for situation, database in zip(worlds * 2, databases, strict=True):
            assert read_back(database, situation) == situation
            assert len(target.loaded(situation)) == 1

    def test_unload_drops_one_situation(self, target: Target) -> None:
        """It returns the situation. The second time there is nothing to drop."""
        first, second = world(3), world(4)
        target.load(first).close()
        other = target.load(second)
        location, namespace = target.location(first), target.namespace(first)
        with pytest.raises(UsageError):
            target.backend.unload(location, "dqa_other")
        dropped = target.backend.unload(location, namespace)
        assert (dropped.name, dropped.content_hash) == ("world", first.content_hash)
        assert target.loaded(first) == []
        assert read_back(other, second) == second
        with pytest.raises(UsageError):
            target.backend.unload(location, namespace)

    def test_content_of_others_is_never_changed(self, target: Target) -> None:
        """It is neither listed nor unloaded; the error names its namespace."""
        situation = world(4, "occupied")
        target.occupy(situation)
        with pytest.raises(UsageError, match="does not overwrite"):
            target.load(situation)
        assert target.loaded(situation) == []
        with pytest.raises(UsageError, match="does not contain a situation"):
            target.backend.unload(target.location(situation), target.namespace(situation))
        assert target.is_occupied(situation)

    def test_a_failed_load_leaves_nothing(self, target: Target) -> None:
        """The error names the situation."""
        good = world(3)
        broken = good.replace(building=good["building"].replace(id=[1, 1, 2]))
        with pytest.raises(DataError, match="'world'"):
            target.load(broken)
        assert target.loaded(broken) == []
        target.occupy(broken)  # fails if the namespace exists

    def test_a_query_returns_columns_and_rows(self, small: Database) -> None:
        """Values and missing values are those that were loaded."""
        rows = small.query(NODES[small.kind])
        assert len(rows.columns) == 2
        assert rows.to_text().splitlines()[1:] == [
            *('["basra", null]', '["kiev", 2.0]', '["lubeck", 1.25]'),
            "(3 rows)",
        ]
        for cut, limits in (("rows", Limits(rows=2)), ("bytes", Limits(bytes=180))):
            found = small.query(NODES[small.kind], limits)
            assert found.cut == cut
            assert cut == "rows" or len(found.to_text().encode()) <= 180

    def test_results_are_streamed_and_cut(self, small: Database) -> None:
        """The next statement is not disturbed."""
        for limits, cut in ((Limits(rows=7), "rows"), (Limits(bytes=300), "bytes")):
            assert small.query(MANY[small.kind], limits).cut == cut
            assert len(small.query(NODES[small.kind]).rows) == 3
        for most in (2500, 3000):
            found = small.query(COUNT[small.kind], Limits(rows=most, bytes=1_000_000))
            assert found.rows == tuple((n,) for n in range(1, most + 1))
            assert found.cut == (None if most == 3000 else "rows")

    @pytest.mark.usefixtures("busy_machine")
    def test_an_endless_statement_is_stopped(self, small: Database) -> None:
        """Afterwards the database answers again."""
        for _ in range(2):
            with pytest.raises(StatementTimeoutError, match=r"after 0\.2 seconds"):
                small.query(ENDLESS[small.dialect], Limits(seconds=0.2))
        assert len(small.query(NODES[small.kind]).rows) == 3

    def test_writing_fails_without_the_guard(self, small: Any) -> None:
        """The session refuses to write, also after a statement that should make it writable."""
        for statement in WRITES[small.kind]:
            with pytest.raises(QueryError):
                small._session.run(statement, Limits())
        assert read_back(small, SHARED) == SHARED

    def test_many_threads_share_one_database(self, small: Database) -> None:
        """Answers are right while other statements fail or time out."""

        def work(number: int) -> int:
            if number % 8 == 0:
                with pytest.raises(StatementTimeoutError):
                    small.query(ENDLESS[small.dialect], Limits(seconds=1.0))
            if number % 5 == 0:
                with pytest.raises(RefusedStatementError):
                    small.query("nonsense")
            return len(small.query(NODES[small.kind], Limits(seconds=60.0)).rows)

        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(work, range(16))) == [3] * 16

    def test_errors_suggest_names(self, small: Database) -> None:
        """With the closest name; the next statement works."""
        for statement, message in MISSPELT[small.kind]:
            with pytest.raises(StatementError, match=message) as caught:
                small.query(statement)
            assert small.kind == "relational" or "dqa_" not in str(caught.value)
        assert len(small.query(NODES[small.kind]).rows) == 3

    def test_a_closed_database_says_so(self, target: Target) -> None:
        """It is an infrastructure error."""
        database = target.load(small_situation())
        database.close()
        with pytest.raises(DatabaseUnavailableError, match="is closed"):
            database.query(NODES[database.kind])

    def test_a_policy_and_an_audit_hold(self, target: Target) -> None:
        """Hidden parts are neither read nor described, after a load and after an opening."""
        told: list[AuditEntry] = []
        situation: Situation = small_situation()
        policy = COLUMNS if target.backend.kind == "relational" else LABELS
        access: dict[str, Any] = {"policy": policy, "audit": Audit(told.append)}
        for database in (target.load(situation, **access), target.open(situation, **access)):
            kind = database.kind
            told.clear()
            assert database.query(ALLOWED[kind]).rows == (("kiev",), ("lubeck",))
            for statement in HIDDEN[kind]:
                with pytest.raises(QueryError):
                    database.query(statement)
            assert next(entry.statement for entry in told if entry.allowed) == ALLOWED[kind]
            if kind == "relational":
                assert "development" not in database.query("SELECT * FROM country").columns
            else:
                assert database.query("MATCH (n) RETURN count(*)").rows == ((2,),)
            schema = database.schema().to_text()
            assert "development" not in schema
            assert "flow" not in schema
            assert "home_node" in schema
