"""A person can be asked before a statement runs, and everything is written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dqa.core.database import Database
from dqa.core.errors import RefusedStatementError, StatementError, UsageError
from dqa.guard import GuardVerdict
from dqa.guard.audit import AuditedDatabase, AuditEntry, JsonLines


def test_every_statement_is_told_with_its_verdict(relational: Database) -> None:
    """What ran, what failed and what was refused, in order."""
    told: list[AuditEntry] = []
    database = AuditedDatabase(relational, told.append)
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
    assert all(entry.seconds > 0 and entry.database == relational.name for entry in told)


def test_whoever_is_asked_can_refuse(relational: Database) -> None:
    """Only statements that the guard allows are worth asking about."""
    asked: list[tuple[str, GuardVerdict, str]] = []

    def approve(statement: str, verdict: GuardVerdict, name: str) -> bool:
        asked.append((statement, verdict, name))
        return "flow" not in statement

    database = AuditedDatabase(relational, approve=approve)
    assert len(database.query("SELECT trade_node FROM trade_node").rows) == 3
    with pytest.raises(RefusedStatementError, match="did not approve"):
        database.query("SELECT * FROM flow")
    with pytest.raises(RefusedStatementError):
        database.query("DROP TABLE flow")
    assert [statement for statement, _, _ in asked] == [
        "SELECT trade_node FROM trade_node",
        "SELECT * FROM flow",
    ]


def test_it_is_a_database_like_any_other(relational: Database) -> None:
    """Deciders need not know that they are watched."""
    database = AuditedDatabase(relational)
    assert isinstance(database, Database)
    assert database.schema() == relational.schema()


def test_the_file_has_a_line_a_statement_without_secrets(
    relational: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password in a statement does not reach the file."""
    monkeypatch.setenv("SHOP_PASSWORD", "hunter2hunter2")
    sink = JsonLines(tmp_path / "audit.jsonl")
    database = AuditedDatabase(relational, sink)
    database.query("SELECT 'hunter2hunter2'\n, 'mysql://u:pw@host/db'")
    sink.close()
    (line,) = (tmp_path / "audit.jsonl").read_text("utf-8").splitlines()
    entry = json.loads(line)
    assert entry["rows"] == 1
    assert "hunter2" not in line
    assert ":pw@" not in line


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Before any statement runs."""
    with pytest.raises(UsageError, match="cannot be written"):
        JsonLines(tmp_path)
