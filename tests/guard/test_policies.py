"""Policy files, and the reasons for refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.errors import RefusedStatementError, UsageError
from dqa.guard import Policy, check, require


def test_a_policy_is_read_from_a_file(tmp_path: Path) -> None:
    """JSON lists of names; an error names the mistake."""
    path = tmp_path / "policy.json"
    path.write_text('{"tables": ["Emp"], "functions": ["f"]}', "utf-8")
    assert Policy.read(path) == Policy(tables=frozenset({"emp"}), functions=frozenset({"f"}))
    for wrong, problem in [
        ("[]", "JSON object"),
        ("{", "is not JSON"),
        ('{"tabels": []}', "'tabels'"),
        ('{"tables": "emp"}', "must be a list"),
        ('{"columns": ["salary"]}', "write 'table.salary'"),
    ]:
        path.write_text(wrong, "utf-8")
        with pytest.raises(UsageError, match=problem):
            Policy.read(path)


def test_a_refusal_names_the_alternative() -> None:
    reasons = {
        ("sqlite", "DELETE FROM t"): "only a query may run",
        ("sqlite", "SELECT 1; SELECT 2"): "one statement at a time",
        ("postgres", "SELECT strpod(a, 'x') FROM t"): "Did you mean 'strpos'",
        ("neo4j", "MATCH (n) SET n.x = 1"): "it contains SET, but only reading is allowed",
        ("neo4j", "CALL db.label()"): "Did you mean 'db.labels'",
        ("neo4j", "MATCH (n)"): "add RETURN at the end",
    }
    for (dialect, statement), reason in reasons.items():
        assert reason in check(statement, dialect).reason
    with pytest.raises(RefusedStatementError, match=r"only a query may run.*SELECT"):
        require("DELETE FROM t", "sqlite")
