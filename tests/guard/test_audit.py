"""A person can be asked before a statement runs, and everything is written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dqa.core.database import Database, Limits
from dqa.core.errors import (
    InfrastructureError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
    UsageError,
)
from dqa.core.situation import Situation
from dqa.databases.base import Backend
from dqa.guard import Audit, AuditEntry, GuardVerdict
from dqa.guard.audit import JsonLines
from tests.databases.conftest import BACKENDS
from tests.databases.test_query import ENDLESS, NODES

Watch = Callable[[Audit], Database]


@pytest.fixture
def watch(situation: Situation) -> Iterator[Watch]:
    """Load the small world into SQLite under an audit."""
    opened: list[Database] = []

    def load(audit: Audit) -> Database:
        opened.append(BACKENDS["sqlite"].load(situation, audit=audit))
        return opened[-1]

    yield load
    for database in opened:
        database.close()


def test_every_statement_is_told_with_its_verdict(watch: Watch) -> None:
    """What ran, what failed and what was refused, in order."""
    told: list[AuditEntry] = []
    database = watch(Audit(told.append))
    database.query("SELECT trade_node FROM trade_node")
    with pytest.raises(StatementError):
        database.query("SELECT nothing FROM trade_node")
    with pytest.raises(RefusedStatementError):
        database.query("DELETE FROM trade_node")
    assert [(entry.allowed, entry.rows) for entry in told] == [
        (True, 3),
        (True, None),
        (False, None),
    ]
    assert "nothing" in (told[1].error or "")
    assert "only a query may run" in told[2].reason
    assert all(entry.seconds > 0 and entry.database == database.name for entry in told)


def test_every_backend_is_watched(backend: Backend, situation: Situation) -> None:
    """Also what ends at a limit, and with the number of rows that came."""
    told: list[AuditEntry] = []
    database = backend.load(situation, audit=Audit(told.append))
    assert database.query(NODES[database.dialect], Limits(rows=2)).cut == "rows"
    with pytest.raises(StatementTimeoutError):
        database.query(ENDLESS[database.dialect], Limits(seconds=0.05))
    database.close()
    assert [(entry.dialect, entry.rows, entry.cut) for entry in told] == [
        (backend.dialect, 2, "rows"),
        (backend.dialect, None, None),
    ]
    assert "stopped after" in (told[1].error or "")


def test_what_ran_in_translation_is_told_as_written_and_as_run(watch: Watch) -> None:
    """And the one who is asked sees what is to run."""
    told: list[AuditEntry] = []
    asked: list[str] = []

    def approve(statement: str, verdict: GuardVerdict, _: str) -> bool:
        asked.append(statement)
        return verdict.allowed

    written = "SELECT DATE_FORMAT('2024-02-03', '%Y') AS y"
    rows = watch(Audit(told.append, approve)).query(written)
    assert rows.translated is not None
    assert [(entry.statement, entry.translated) for entry in told] == [(written, rows.translated)]
    assert asked[-1] == rows.translated


def test_whoever_is_asked_can_refuse(watch: Watch) -> None:
    """Only statements that the guard allows are worth asking about."""
    asked: list[tuple[str, GuardVerdict, str]] = []
    told: list[AuditEntry] = []

    def approve(statement: str, verdict: GuardVerdict, name: str) -> bool:
        asked.append((statement, verdict, name))
        return "flow" not in statement

    database = watch(Audit(told.append, approve))
    assert len(database.query("SELECT trade_node FROM trade_node").rows) == 3
    with pytest.raises(RefusedStatementError, match="not approved"):
        database.query("SELECT * FROM flow")
    with pytest.raises(RefusedStatementError):
        database.query("DROP TABLE flow")
    assert asked == [
        ("SELECT trade_node FROM trade_node", GuardVerdict(True), database.name),
        ("SELECT * FROM flow", GuardVerdict(True), database.name),
    ]
    assert [entry.allowed for entry in told] == [True, False, False]


def test_a_statement_that_cannot_be_written_down_gives_no_rows(watch: Watch) -> None:
    """The sink's error reaches the caller."""

    def full(_: AuditEntry) -> None:
        raise InfrastructureError("The disk is full.")

    with pytest.raises(InfrastructureError, match="disk is full"):
        watch(Audit(full)).query("SELECT trade_node FROM trade_node")


def test_the_file_has_a_line_a_statement_without_secrets(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password in a statement does not reach the file."""
    monkeypatch.setenv("SHOP_PASSWORD", "hunter2hunter2")
    file = tmp_path / "audit.jsonl"
    watch(Audit.to_file(file)).query("SELECT 'hunter2hunter2'\n, 'mysql://u:pw@host/db'")
    (line,) = file.read_text("utf-8").splitlines()
    entry = json.loads(line)
    assert entry["rows"] == 1
    assert "hunter2" not in line
    assert ":pw@" not in line


def test_many_threads_and_databases_share_a_file(watch: Watch, tmp_path: Path) -> None:
    """Every line is whole, and what was there before stays."""
    file = tmp_path / "audit.jsonl"
    file.write_text('{"earlier": true}\n', "utf-8")
    databases = [watch(Audit.to_file(file)) for _ in range(2)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: databases[n % 2].query(f"SELECT {n}"), range(40)))
    first, *entries = map(json.loads, file.read_text("utf-8").splitlines())
    assert first == {"earlier": True}
    assert sorted(entry["statement"] for entry in entries) == sorted(
        f"SELECT {n}" for n in range(40)
    )


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Before any statement runs; and later, where it is taken away."""
    with pytest.raises(UsageError, match="cannot be written"):
        JsonLines(tmp_path)
    folder = tmp_path / "gone"
    folder.mkdir()
    sink = JsonLines(folder / "audit.jsonl")
    (folder / "audit.jsonl").unlink()
    folder.rmdir()
    with pytest.raises(UsageError, match="no statement is answered"):
        sink(AuditEntry("x", "sqlite", "SELECT 1", allowed=True))
