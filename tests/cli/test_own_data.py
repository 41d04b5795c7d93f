"""A user's own data: `dqa schema`, `dqa query`, and what `dqa ask` takes, shows and says."""

from __future__ import annotations

import io
import json
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

import dqa as api
from tests.cli.conftest import Command
from tests.models.model_server import answering
from tests.sqlite_files import run_script

RETRIEVE = "Thought: look\nAction: query_database\nAction Input: SELECT name FROM supplier"
ANSWER = "Thought: done\nFinal Answer: Süd"


def test_schema_prints_what_a_model_is_shown_and_what_it_is_not(dqa: Command, shop: Path) -> None:
    """Three hundred tables were cut in alphabetical order, without a word."""
    plain = dqa("schema", shop)
    assert plain.code == 0
    assert "archive_299(... 13 columns)" in plain.out
    assert "302 tables" in plain.err
    assert "--tables" in plain.err
    asked = dqa("schema", shop, "--question", "Which supplier is cheapest?")
    assert "supplier(id: INTEGER, name: TEXT, cost: REAL) key (id)" in asked.out
    tight = dqa("schema", shop, "--schema-tokens", 2_000)
    assert "of the 302 tables are not described for lack of room" in tight.out
    assert len(tight.out.encode()) <= 3 * 2_000
    record = json.loads(dqa("schema", shop, "--schema-tokens", 2_000, "--json").out)
    described = [table["name"] for table in record["described"]["tables"]]
    assert len(described) + len(record["left_out"]) == 302


def test_query_prints_rows_in_three_forms(
    dqa: Command, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From an argument, a file or standard input."""
    statement = "SELECT id, name FROM supplier ORDER BY id"
    table = dqa("query", shop, statement)
    assert "│  1 │ Nord, West │" in table.out.replace("│ 1  │", "│  1 │")
    assert table.out.endswith("2 rows\n")
    (tmp_path / "s.sql").write_text(f"{statement};\n", "utf-8")
    listed = dqa("query", shop, "--file", tmp_path / "s.sql", "--csv")
    assert listed.out == 'id,name\n1,"Nord, West"\n2,Süd\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(statement.encode())))
    record = json.loads(dqa("query", shop, "-", "--json").out)
    assert record["rows"] == [[1, "Nord, West"], [2, "Süd"]]
    assert record["columns"] == ["id", "name"]


def test_query_is_guarded_bounded_and_audited(dqa: Command, shop: Path, tmp_path: Path) -> None:
    """As an agent's statements are."""
    audit = tmp_path / "audit.jsonl"
    refused = dqa("query", shop, "DELETE FROM supplier", "--audit", audit)
    assert (refused.code, refused.out) == (1, "")
    assert "was not run" in refused.err
    cut = dqa("query", shop, "SELECT * FROM supplier", "--row-limit", 1, "--csv", "--audit", audit)
    assert cut.code == 0
    assert "warning: the limit on rows allows only the first 1 rows" in cut.err
    assert "raise --row-limit" in cut.err
    long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
    long += "SELECT format('%09000d', i) FROM n"
    wide = dqa("query", shop, long, "--row-limit", 900, "--csv")
    assert "the limit on bytes" in wide.err
    entries = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert [entry["allowed"] for entry in entries] == [False, True]
    hidden = dqa("query", shop, "SELECT * FROM salary", "--tables", "supplier")
    assert (hidden.code, "salary" in hidden.err) == (1, True)
    for arguments in ((), ("SELECT 1", "--file", tmp_path / "x"), ("SELECT 1", "--csv", "--json")):
        assert dqa("query", shop, *arguments).code == 2


def test_named_tables_are_a_policy_within_the_policy(shop: Path) -> None:
    """What is not named is refused, not merely hidden; what the policy hides cannot be named."""
    with closing(api.open_database(shop, tables=["supplier"])) as database:
        assert [table.name for table in database.schema().tables] == ["supplier"]
        for statement in (
            "SELECT pay FROM salary",
            "SELECT (SELECT max(pay) FROM salary) FROM supplier",
            "SELECT name FROM sqlite_master",
        ):
            with pytest.raises(api.QueryError):
                database.query(statement)
    policy = api.Policy(tables=["supplier"], denied_columns=["supplier.cost"])  # type: ignore[arg-type]
    with pytest.raises(api.UsageError, match="no table 'salary'"):
        api.open_database(shop, policy=policy, tables=["salary"])
    with closing(api.open_database(shop, policy=policy, tables=["supplier"])) as database:
        assert database.schema().to_text() == "supplier(id: INTEGER, name: TEXT) key (id)"


def test_candidates_and_rules_are_options_and_reach_the_model(
    dqa: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names may hold commas; the model sees the candidates, and nothing that a policy hides."""
    policy = shop.with_name("policy.json")
    policy.write_text('{"denied_columns": ["supplier.cost"]}', "utf-8")
    base = (
        *("ask", "--database", shop, "--tables", "supplier", "--policy", policy),
        *("--model", "openai:test", "--decider", "iterrag", "--allow-no-evidence"),
        *("--rule-set", "paper", "--question", "Which supplier do we keep?"),
    )
    with answering(RETRIEVE, ANSWER) as server:
        ran = dqa(
            *(*base, "--base-url", server.url, "--json"),
            *(
                "--candidate-name",
                "Nord, West",
                "--candidate-name",
                "Süd",
                "--rules-text",
                "Less is more.",
            ),
        )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["choice"] == "Süd"
    task = server.requests[0]["messages"][-1]["content"]
    assert "Choose one of these 2, with exactly this spelling:\n- Nord, West\n- Süd\n" in task
    assert "Less is more." in task
    assert "archive" not in task
    assert "cost" not in task
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"More is more.")))
    with answering(ANSWER) as server:
        assert (
            dqa(*base, "--base-url", server.url, "--rules", "-", "--candidate-name", "Süd").code
            == 0
        )
    assert "More is more." in server.requests[0]["messages"][-1]["content"]
    ran = dqa(*base, "--rules", policy, "--rules-text", "More is more.")
    assert "--rules and --rules-text exclude each other: give one." in ran.err
    ran = dqa(*base, "--candidates", "Nord", "--candidate-name", "Süd")
    assert "--candidates and --candidate-name exclude each other: give one." in ran.err


def test_the_documented_calls_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/asking.md as it is written."""
    monkeypatch.chdir(tmp_path)
    run_script(
        "sales.db",
        "CREATE TABLE warehouse (name TEXT, cost REAL);"
        "INSERT INTO warehouse VALUES ('Nord', 1.0), ('West', 2.0);",
    )
    text = (Path(__file__).parents[2] / "docs" / "asking.md").read_text("utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "asking.md", "exec", dont_inherit=True), {})  # noqa: S102
    assert capsys.readouterr().out.splitlines() == [
        "['approve', 'refuse', 'approve']",
        "warehouse(name: TEXT, cost: REAL)",
        "(('Nord',), ('West',))",
        "Nord () None",
        "['Nord', 'West']",
    ]
    assert "<h1>Nord</h1>" in Path("decision.html").read_text("utf-8")
