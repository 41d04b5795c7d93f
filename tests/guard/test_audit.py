"""Statements can need a person's approval, and every statement is recorded."""

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
from tests.databases.engines import ENDLESS, NODES

Watch = Callable[[Audit], Database]


@pytest.fixture
def watch(situation: Situation) -> Iterator[Watch]:
    """Load the small world into SQLite with an audit."""
    opened: list[Database] = []

    def load(audit: Audit) -> Database:
        opened.append(BACKENDS["sqlite"].load(situation, audit=audit))
        return opened[-1]

    yield load
    for database in opened:
        database.close()


def test_every_statement_is_recorded_and_allowed_ones_are_approved(watch: Watch) -> None:
    """In order:

    statements that ran, that failed, that a person refused, and that the guard refused.
    """
    asked: list[tuple[str, GuardVerdict, str]] = []
    entries: list[AuditEntry] = []

    def approve(statement: str, verdict: GuardVerdict, name: str) -> bool:
        asked.append((statement, verdict, name))
        return "flow" not in statement

    database = watch(Audit(entries.append, approve))
    database.query("SELECT trade_node FROM trade_node")
    for statement, error in (
        ("SELECT nothing FROM trade_node", StatementError),
        ("SELECT * FROM flow", RefusedStatementError),
        ("DELETE FROM trade_node", RefusedStatementError),
    ):
        with pytest.raises(error):
            database.query(statement)
    assert [(entry.allowed, entry.rows) for entry in entries] == [
        *((True, 3), (True, None), (False, None), (False, None))
    ]
    assert "nothing" in (entries[1].error or "")
    assert "not approved" in entries[2].reason
    assert "only a query may run" in entries[3].reason
    assert all(entry.seconds > 0 and entry.database == database.name for entry in entries)
    assert asked == [(e.statement, GuardVerdict(True), database.name) for e in entries[:3]]


def test_every_backend_is_audited(backend: Backend, situation: Situation) -> None:
    """An entry has the limit that ended a statement, and the number of rows."""
    entries: list[AuditEntry] = []
    database = backend.load(situation, audit=Audit(entries.append))
    assert database.query(NODES[database.kind], Limits(rows=2)).cut == "rows"
    with pytest.raises(StatementTimeoutError):
        database.query(ENDLESS[database.dialect], Limits(seconds=0.05))
    database.close()
    assert [(entry.dialect, entry.rows, entry.cut) for entry in entries] == [
        (backend.dialect, 2, "rows"),
        (backend.dialect, None, None),
    ]
    assert "stopped after" in (entries[1].error or "")


def test_a_statement_that_cannot_be_recorded_returns_no_rows(watch: Watch, tmp_path: Path) -> None:
    """The caller gets the sink's error; a file that cannot be opened is an error at once."""

    def full(_: AuditEntry) -> None:
        raise InfrastructureError("The disk is full.")

    with pytest.raises(InfrastructureError, match="disk is full"):
        watch(Audit(full)).query("SELECT trade_node FROM trade_node")
    with pytest.raises(UsageError, match="cannot be written"):
        JsonLines(tmp_path)
    (tmp_path / "folder").mkdir()
    sink = JsonLines(tmp_path / "folder" / "audit.jsonl")
    (tmp_path / "folder").rename(tmp_path / "moved")
    with pytest.raises(UsageError, match="cannot be recorded return no rows"):
        sink(AuditEntry("x", "sqlite", "SELECT 1", allowed=True))


def test_threads_and_databases_share_a_file_without_secrets(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line is complete, and earlier lines stay."""
    monkeypatch.setenv("SHOP_PASSWORD", "hunter2hunter2")
    file = tmp_path / "audit.jsonl"
    file.write_text('{"earlier": true}\n', "utf-8")
    databases = [watch(Audit.to_file(file)) for _ in range(2)]
    secrets = "'hunter2hunter2'\n, 'mysql://u:pw@host/db'"
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: databases[n % 2].query(f"SELECT {n}, {secrets}"), range(20)))
    lines = file.read_text("utf-8").splitlines()
    first, *entries = map(json.loads, lines)
    assert first == {"earlier": True}
    numbers = sorted(int(entry["statement"].split(",")[0][7:]) for entry in entries)
    assert numbers == list(range(20))
    assert not any("hunter2" in line or ":pw@" in line for line in lines)
