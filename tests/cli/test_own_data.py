"""A user's own data: `dqa schema`, `dqa query`, and what `dqa ask` takes, shows and says."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import ladybug
import pytest

import dqa as api
from tests.models.model_server import answering

Command = Callable[..., Any]

RETRIEVE = "Thought: look\nAction: query_database\nAction Input: SELECT name FROM supplier"
ANSWER = "Thought: done\nFinal Answer: Süd"


def test_schema_prints_what_a_model_is_shown_and_what_it_is_not(dqa: Command, shop: Path) -> None:
    """Three hundred tables were cut in alphabetical order, without a word."""
    plain = dqa("schema", shop)
    assert plain.code == 0
    assert "archive_299(... 13 columns)" in plain.out
    assert "warning: The schema is too long" in plain.err
    assert "--tables" in plain.err
    asked = dqa("schema", shop, "--question", "Which supplier is cheapest?")
    assert "supplier(id: INTEGER, name: TEXT, cost: REAL) key (id)" in asked.out
    tight = dqa("schema", shop, "--schema-tokens", 2_000)
    assert "of all 302 tables are not described, for want of room" in tight.out
    assert len(tight.out.encode()) <= 3 * 2_000
    record = json.loads(dqa("schema", shop, "--schema-tokens", 2_000, "--json").out)
    described = [table["name"] for table in record["described"]["tables"]]
    assert len(described) + len(record["left_out"]) == 302


def test_schema_of_named_tables_has_samples(dqa: Command, shop: Path) -> None:
    """The rest is neither shown nor said to be there."""
    ran = dqa("schema", shop, "--tables", "Supplier", "--samples", 2)
    assert ran.out == (
        'supplier(id: INTEGER, name: TEXT e.g. ["Nord, West", "Süd"], cost: REAL) key (id)\n'
    )
    assert ran.err == ""
    unknown = dqa("schema", shop, "--tables", "suplier")
    assert (unknown.code, "Did you mean 'supplier'?" in unknown.err) == (2, True)


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
    assert "warning: only the first 1 of 2 rows are here, by the limit on rows" in cut.err
    assert "raise --row-limit" in cut.err
    long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
    long += "SELECT format('%09000d', i) FROM n"
    wide = dqa("query", shop, long, "--row-limit", 900, "--csv")
    assert "by the limit on bytes: aggregate, filter, or select less" in wide.err
    entries = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert [entry["allowed"] for entry in entries] == [False, True]
    hidden = dqa("query", shop, "SELECT * FROM salary", "--tables", "supplier")
    assert (hidden.code, "salary may not be read" in hidden.err) == (1, True)
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
            with pytest.raises(api.QueryError, match="may not be read"):
                database.query(statement)
    policy = api.Policy(tables=["supplier"], denied_columns=["supplier.cost"])  # type: ignore[arg-type]
    with pytest.raises(api.UsageError, match="no table 'salary'"):
        api.open_database(shop, policy=policy, tables=["salary"])
    with closing(api.open_database(shop, policy=policy, tables=["supplier"])) as database:
        assert database.schema().to_text() == "supplier(id: INTEGER, name: TEXT) key (id)"


def test_a_named_table_is_the_one_that_is_shown(shop: Path, tmp_path: Path) -> None:
    """Not one of the same name in another schema, and none of the catalogue's."""
    path = tmp_path / "two.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE supplier (id INTEGER); CREATE TABLE tables (id INTEGER)")
        connection.execute("CREATE SCHEMA hidden; CREATE TABLE hidden.supplier (pay INTEGER)")
    with closing(api.open_database(path, tables=["Supplier", "tables"])) as database:
        assert database.query("SELECT * FROM main.supplier").columns == ("id",)
        for statement in (
            "SELECT pay FROM hidden.supplier",
            "SELECT pay FROM two.hidden.supplier",
            "SELECT * FROM information_schema.tables",
        ):
            with pytest.raises(api.QueryError, match=r"(hidden|_schema)\.\w+ (lies outside|is of)"):
                database.query(statement)
    with closing(api.open_database(shop, tables=["supplier"])) as database:
        assert len(database.query("SELECT name FROM main.supplier").rows) == 2


def test_another_schema_is_read_where_a_policy_names_it(dqa: Command, tmp_path: Path) -> None:
    """And refused else, with how to go on; the own schema is read as ever."""
    path = tmp_path / "two.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE shop (id INTEGER); CREATE SCHEMA sales")
        connection.execute("CREATE TABLE sales.orders AS SELECT 7 AS id")
    statement = "SELECT id FROM sales.orders"
    refused = dqa("query", path, statement)
    assert refused.code == 1
    assert "sales.orders lies outside of main" in refused.err
    assert "policy's schemas name 'sales'" in refused.err
    policy = tmp_path / "policy.json"
    for schemas, code in ((["Sales"], 0), (["*"], 0), (["costs"], 1), ([], 1)):
        policy.write_text(json.dumps({"schemas": schemas}), "utf-8")
        assert dqa("query", path, statement, "--policy", policy).code == code
        assert dqa("query", path, "SELECT id FROM shop", "--policy", policy).code == 0
    assert "orders" not in dqa("schema", path, "--policy", policy).out


def test_labels_are_chosen_as_tables_are(tmp_path: Path) -> None:
    """In a graph."""
    from dqa import plugins

    world = api.generate(("building",), count=1, seed=1)
    path = tmp_path / "graph.lbug"
    plugins.backend("ladybug").load(next(iter(world.situations.values())), str(path)).close()
    with closing(api.open_database(path)) as whole:
        edge = whole.schema().edges[0]
        other = next(n.label for n in whole.schema().nodes if n.label != edge.source)
    with closing(api.open_database(path, tables=[edge.source])) as database:
        assert [node.label for node in database.schema().nodes] == [edge.source]
        with pytest.raises(api.QueryError, match="may not be read"):
            database.query(f"MATCH (n:{other}) RETURN n LIMIT 1")
        with pytest.raises(api.QueryError, match="no relationship type may be read"):
            database.query(f"MATCH (a:{edge.source})-[r]->(b:{edge.source}) RETURN count(*)")
    with pytest.raises(api.UsageError, match="no label or relationship type 'Nothing'"):
        api.open_database(path, tables=["Nothing"])


def test_relationships_of_other_labels_are_not_followed(tmp_path: Path) -> None:
    """A path between named labels does not go through what is not named."""
    path = tmp_path / "graph.lbug"
    with ladybug.Database(str(path)) as made, ladybug.Connection(made) as connection:
        for statement in (
            "CREATE NODE TABLE Person(name STRING PRIMARY KEY)",
            "CREATE NODE TABLE City(name STRING PRIMARY KEY)",
            "CREATE NODE TABLE Card(no STRING PRIMARY KEY)",
            "CREATE REL TABLE LIVES(FROM Person TO City)",
            "CREATE REL TABLE OWNS(FROM Person TO Card)",
            "CREATE REL TABLE SENT(FROM Card TO City)",
            "CREATE (:Person {name: 'A'})-[:OWNS]->(:Card {no: '1'})-[:SENT]->(:City {name: 'R'})",
        ):
            connection.execute(statement)
    with closing(api.open_database(path, tables=["person", "City"])) as database:
        assert [edge.label for edge in database.schema().edges] == ["LIVES"]
        assert database.query("MATCH (:Person)-[:LIVES]->(c:City) RETURN c.name").rows == ()
        for between in ("[*]", "[:OWNS|SENT*1..2]"):
            with pytest.raises(api.QueryError, match=r"may (not )?be read"):
                database.query(f"MATCH (:Person)-{between}->(:City) RETURN count(*)")
    with pytest.raises(api.UsageError, match="'OWNS' joins no labels that are named"):
        api.open_database(path, tables=["Person", "OWNS"])


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("c.txt", "Nord, West\n\nSüd\nSüd\n", None),
        ("c.csv", 'name,id\n"Nord, West",1\nSüd,2\n', None),
        ("c.csv", 'id,name\n1,"Nord, West"\n2,Süd\n', "name"),
        ("c.json", '["Nord, West", "Süd"]', None),
        ("c.json", '[{"name": "Nord, West"}, {"name": "Süd"}]', "name"),
    ],
)
def test_candidates_come_from_a_file(  # noqa: PLR0917  (the columns of a table)
    dqa: Command, shop: Path, tmp_path: Path, name: str, text: str, column: str | None
) -> None:
    """One a line, a column, or a list."""
    (tmp_path / name).write_text(text, "utf-8")
    assert api.read_candidates(tmp_path / name, column) == ("Nord, West", "Süd")
    given = () if column is None else ("--candidates-column", column)
    ran = dqa(
        *("ask", "--database", shop, "--question", "?", "--decider", "first", "--json"),
        *("--candidates-from", tmp_path / name, *given),
    )
    assert json.loads(ran.out)["choice"] == "Nord, West"


@pytest.mark.parametrize(
    ("name", "text", "column", "words"),
    [
        ("c.txt", "\n", None, "lists none"),
        ("c.txt", "a\n", "name", "no column 'name'"),
        ("c.csv", "name\na\n", "nam", "Did you mean 'name'"),
        ("c.json", '{"a": 1}', None, "expected a JSON list"),
        ("c.json", "[true]", None, "entry 1 of the list is not a name or an id"),
        ("c.json", '["a"', None, "no JSON"),
    ],
)
def test_a_file_that_lists_no_candidates_is_one_line(
    tmp_path: Path, name: str, text: str, column: str | None, words: str
) -> None:
    """With what to mend."""
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(api.DqaError, match=words):
        api.read_candidates(tmp_path / name, column)


def test_candidates_and_rules_are_options_and_reach_the_model(
    dqa: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names may hold commas; the model is told what can be chosen."""
    base: tuple[object, ...] = (
        "ask",
        "--database",
        shop,
        "--tables",
        "supplier",
        "--model",
        "openai:test",
    )
    base += ("--decider", "iterrag", "--question", "Which supplier do we keep?")
    with answering(RETRIEVE, ANSWER) as server:
        ran = dqa(
            *(*base, "--base-url", server.url, "--json"),
            *("--candidate", "Nord, West", "--candidate", "Süd", "--rules-text", "Less is more."),
        )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["choice"] == "Süd"
    task = server.requests[0]["messages"][-1]["content"]
    assert "One of these 2 is to be chosen, spelled as it is here:\n- Nord, West\n- Süd\n" in task
    assert "Less is more." in task
    assert "archive" not in task
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"More is more.")))
    with answering(ANSWER) as server:
        assert dqa(*base, "--base-url", server.url, "--rules", "-", "--candidate", "Süd").code == 0
    assert "More is more." in server.requests[0]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--candidate", "a", "--candidates", "SELECT 1"), "both say what can be chosen"),
        (("--candidates", "north, south"), "given one by one (--candidate NAME) or as a file"),
        (("--candidates-column", "a"), "--candidates-from"),
        (("--rules", "r.txt", "--rules-text", "x"), "give one"),
        (("--rules", "no-such-file"), "no-such-file does not exist"),
    ],
)
def test_what_contradicts_itself_is_refused(
    dqa: Command, shop: Path, arguments: tuple[str, ...], words: str
) -> None:
    """Before anything is asked."""
    ran = dqa("ask", "--database", shop, "--question", "?", *arguments)
    assert (ran.code, words in ran.err) == (2, True)


def test_many_candidates_are_told_by_their_statement_or_with_a_warning(shop: Path) -> None:
    """A prompt that names some of them says that there are more."""
    many = tuple(f"candidate {number}" for number in range(60_000))
    with answering("Thought: done\nFinal Answer: candidate 59999") as server:
        model = api.ModelSpec(name="openai:test", base_url=server.url)
        asked = api.AskedQuestion(question="Which?", candidates=many)
        told = api.ask(shop, asked, decider="iterrag", model=model, tables=["supplier"])
    assert told.choice == "candidate 59999"
    assert told.warnings[0].startswith("The model was shown 20 of 60,000 candidates by name")
    with answering(RETRIEVE, ANSWER) as server:
        model = api.ModelSpec(name="openai:test", base_url=server.url)
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
        listed = f"{numbers} SELECT 'Süd' UNION ALL SELECT 'x' || i FROM n"
        asked = api.AskedQuestion(question="Which?", candidates=listed)
        told = api.ask(shop, asked, decider="iterrag", model=model, tables=["supplier"])
    assert told.warnings == ()
    assert listed in server.requests[0]["messages"][-1]["content"]


def test_candidates_that_the_context_drops_are_said(dqa: Command, tmp_path: Path) -> None:
    """Of 60,000 candidates 59,990 vanished without a word."""
    path = tmp_path / "many.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE plot (name TEXT, yield REAL)")
        rows = ((f"plot {number}", number / 7) for number in range(60_000))
        connection.executemany("INSERT INTO plot VALUES (?, ?)", rows)
        connection.commit()
    with answering('{"decision": "plot 3", "explanation": "x"}') as server:
        ran = dqa(
            *("ask", "--database", path, "--decider", "zero-shot", "--question", "Which plot?"),
            *("--candidates", "SELECT name FROM plot", "--row-limit", 10, "--json"),
            *("--context", "SELECT name, yield FROM plot"),
            *("--model", "openai:test", "--base-url", server.url),
        )
    assert ran.code == 0, ran.err
    words = "Only 10 of 60,000 candidates were compared, as the rows of the context that name the"
    document = json.loads(ran.out)
    assert document["warnings"][0].startswith(words)
    assert f"warning: {words}" in ran.err
    event = next(event for event in document["trace"] if event["kind"] == "warning")
    assert (event["about"], event["considered"], event["total"]) == ("candidates", 10, 60_000)


def test_a_schema_that_is_cut_is_said_in_the_decision(dqa: Command, shop: Path) -> None:
    """In the record, its events and on the terminal."""
    with answering(RETRIEVE, ANSWER) as server:
        ran = dqa(
            *("ask", "--database", shop, "--question", "Which supplier?", "--decider", "iterrag"),
            *("--model", "openai:test", "--base-url", server.url, "--json"),
        )
    assert "warning: The schema is too long for the prompt: of 302 tables" in ran.err
    document = json.loads(ran.out)
    event = next(event for event in document["trace"] if event["kind"] == "warning")
    assert event["considered"] + len(event["left_out"]) == event["total"] == 302
    task = server.requests[0]["messages"][-1]["content"]
    assert "\nsupplier(id: INTEGER" in task
    assert all(name in task for name in event["left_out"])


def test_a_run_says_once_that_a_schema_is_cut(dqa: Command, shop: Path, tmp_path: Path) -> None:
    """Every decision of it has the warning in its trace; the terminal has it once."""
    lines = [{"question": f"Which supplier is {word}?", "answer": "Süd"} for word in ("1st", "2nd")]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    with answering(ANSWER) as server:
        ran = dqa(
            *("eval", "--questions", questions, "--database", shop, "--out", tmp_path / "run"),
            *("--deciders", "iterrag", "--model", "openai:test", "--base-url", server.url),
        )
    assert ran.code == 0, ran.err
    assert ran.err.count("warning: The schema is too long for the prompt: of 302 tables") == 1
    traces = api.read_run(tmp_path / "run").traces
    assert [len(trace.warnings) for trace in traces] == [1, 1]


def test_the_documented_calls_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/asking.md as it is written."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("sales.db")) as connection:
        connection.execute("CREATE TABLE warehouse (name TEXT, cost REAL)")
        connection.execute("INSERT INTO warehouse VALUES ('Nord', 1.0), ('West', 2.0)")
        connection.commit()
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
