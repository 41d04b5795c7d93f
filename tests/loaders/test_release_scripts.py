"""Readers of SQL and Cypher scripts: other spellings, strings, defects and errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dqa.core.errors import ParseError
from dqa.core.situation import Situation
from dqa.loaders.release_rendering import render_cypher, render_sql
from dqa.loaders.release_scripts import parse_cypher, parse_sql
from tests.loaders.scripts import (
    BUILDING,
    BUILDING_SQL,
    CYPHER,
    CYPHER_EDGES,
    CYPHER_NODES,
    LOCATING,
    SQL,
    SQL_ROWS,
    SQL_TABLES,
)

FILE = Path("q1.sql")
GRAPH_FILE = Path("q1.cql")
NOTE = "INSERT INTO notes(a) VALUES (1);"


def _locating(text: str) -> Situation:
    parsed = parse_sql(text, LOCATING, FILE)
    assert parsed.defects == ()
    return parsed.situation


def _graph(text: str) -> Situation:
    parsed = parse_cypher(text, LOCATING, GRAPH_FILE)
    assert parsed.defects == ()
    return parsed.situation


def test_both_languages_fill_the_same_typed_rows() -> None:
    """Texts, floats of every notation and truth values have the types of the schema."""
    situation = _locating(SQL)
    assert list(situation["trade_node"].rows()) == [
        ("baltic", 1.5, False, 10.0, 0.0, 0.0),
        ("krakow", 2.5, True, 10.0, -0.002, 0.0),
    ]
    assert list(situation["flow"].rows()) == [("krakow", "baltic", 0.25)]
    assert _graph(CYPHER) == situation


_NODE_ROWS = '("baltic", 1.5, FALSE, 10, 0.0, 0), ("krakow", 2.5, TRUE, 1e1, -2E-3, 0)'
_NODE_HEAD = SQL_ROWS.splitlines()[1].partition(" (")[0]
_FIRST, _LAST = SQL.index("INSERT INTO trade_node"), SQL.index("INSERT INTO flow")


@pytest.mark.parametrize(
    "text",
    [
        SQL.replace("\n", "\r\n").replace('"', "'").replace("TRUE", "1").replace("FALSE", "0"),
        SQL.replace(");\nINSERT", "); INSERT").replace(" VALUES ", "\n  values\n ")
        .replace("INTO country(", "INTO `country`(").replace("0.25", "+0.25"),
        "-- a comment; with 'quotes'\n# another\n/* INSERT\nINSERT INTO */\n\n" + SQL,
        "SET NAMES utf8mb4;\nDROP TABLE IF EXISTS flow;\nSTART TRANSACTION;\n" + SQL + "COMMIT;\n",
        SQL_TABLES.replace("TABLE", "TABLE IF NOT EXISTS") + SQL_ROWS.rstrip(";\n"),
        SQL.replace('(source, dest, flow) VALUES ("krakow", "baltic", 0.25)',
                    '(flow, dest, source) VALUES (0.25, "baltic", "krakow")'),
        f"{SQL[:_FIRST]}{_NODE_HEAD}\n{_NODE_ROWS};\n{SQL[_LAST:]}",
        SQL.replace("source VARCHAR(30)", "source ENUM('krakow', 'a)b') DEFAULT '`'")
        .replace("flow FLOAT, PRIMARY", "flow FLOAT AS (randomblob(1e9)) COMMENT '`', CHECK (1), "
                 "FOREIGN KEY (source) REFERENCES trade_node(trade_node), INDEX (dest), PRIMARY")
        .replace(";\nINSERT", " ENGINE=InnoDB COMMENT='a)b';\nINSERT", 1),
    ],
    ids=["crlf", "lines", "comments", "session", "end", "column-order", "rows-of-one-insert",
         "definitions"],
)  # fmt: skip
def test_other_spellings_of_an_sql_script_give_the_same_situation(text: str) -> None:
    """Line ends, quotes, comments, the order of columns and their definitions do not matter."""
    assert _locating(text) == _locating(SQL)


@pytest.mark.parametrize(
    "text",
    [
        CYPHER.replace("\n", "\r\n").replace('"', "'"),
        CYPHER.replace(";\n", "; ").replace("CREATE", "\ncreate\n"),
        CYPHER.replace("[r:", "[:").replace("(SWE:Country {n", "(`the one`:Country {n")
        .replace("(SWE)", "(`the one`)"),
        "// a comment; with 'quotes'\n/* and\nmore */\n\n" + CYPHER,
        "CREATE CONSTRAINT c FOR (n:Country) REQUIRE n.name IS UNIQUE;\n" + CYPHER.rstrip(";\n"),
    ],
    ids=["crlf", "lines", "names", "comments", "constraint"],
)  # fmt: skip
def test_other_spellings_of_a_cypher_script_give_the_same_situation(text: str) -> None:
    """Line ends, quotes and variables do not matter."""
    assert _graph(text) == _graph(CYPHER)


def test_strings_have_the_values_that_mysql_reads() -> None:
    """Escapes, doubled quotes, line breaks and text that looks like SQL stay in their string."""
    for literal, value in (
        (r"'it''s'", "it's"),
        (r'"it\'s"', "it's"),
        (r'"say ""so"""', 'say "so"'),
        (r"'a\\b\nc'", "a\\b\nc"),
        ("'two\nlines; INSERT INTO flow VALUES (1);'", "two\nlines; INSERT INTO flow VALUES (1);"),
        ("'-- no comment'", "-- no comment"),
    ):
        text = SQL.replace('("SWE", "baltic"', f'({literal}, "baltic"')
        situation = _locating(text.replace('"baltic", "SWE"', f'"baltic", {literal}'))
        assert situation["country"]["country_name"].tolist() == [value]


def test_strings_have_the_values_that_neo4j_reads() -> None:
    """Escapes, line breaks and text that looks like Cypher stay in their string."""
    for literal, value in (
        (r"'it\'s'", "it's"),
        (r'"it\'s"', "it's"),
        (r"'\u0041\\\u0075'", "A\\u"),
        (r"'a\tb'", "a\tb"),
        ("'two\n});\nCREATE (x)'", "two\n});\nCREATE (x)"),
        ("'// no comment'", "// no comment"),
    ):
        situation = _graph(CYPHER.replace('"SWE"', literal))
        assert situation["country"]["country_name"].tolist() == [value]


def test_a_missing_float_is_nan() -> None:
    """NULL is a missing number, also after it is written and read again."""
    situation = _locating(SQL.replace("0.25", "NULL"))
    assert np.isnan(situation["flow"]["flow"]).tolist() == [True]
    assert _locating(render_sql(situation)) == situation


@pytest.mark.parametrize("spelling", ["has_has_merchant", "hasmerchant", "has_merchants"])
def test_a_misspelt_column_is_read_as_the_similar_one(spelling: str) -> None:
    """The rows are read, and the defect has the right name."""
    parsed = parse_sql(SQL.replace("has_merchant", spelling), LOCATING, FILE)
    assert parsed.situation == _locating(SQL)
    (defect,) = parsed.defects
    assert defect.problem.endswith(f"misspells 'has_merchant' as '{spelling}'")


def test_rows_that_no_database_can_hold_are_left_out_and_reported() -> None:
    """A second row of a key, an edge to a missing node; text in place of a number is read."""
    again = 'INSERT INTO country(country_name,home_node,development) VALUES ("SWE", "x", 1);\n'
    lost = 'INSERT INTO flow(source, dest, flow) VALUES ("krakow", "atlantis", 1);\n'
    parsed = parse_sql(SQL.replace("0.25", '"0.25"') + again + lost, LOCATING, FILE)
    assert parsed.situation == _locating(SQL)
    assert sorted((d.statement[:19], d.problem) for d in parsed.defects) == [
        ("INSERT INTO country", "'country' repeats the key country_name"),
        ("INSERT INTO flow(so", "'flow' refers to a trade_node that does not exist"),
        ("INSERT INTO flow(so", "column 'flow' contains text instead of float values"),
    ]


def test_unknown_tables_and_columns_and_empty_tables_are_reported() -> None:
    """The rest of the script is read."""
    text = SQL.replace("(source, dest, flow) VALUES (", "(xyz, source, dest, flow) VALUES (1, ")
    text = text.replace("flow(source", "flow(xyz INT, source", 1)
    for notes in (NOTE, "CREATE TABLE notes(a INT);" + NOTE):
        parsed = parse_sql(text + notes, LOCATING, FILE)
        assert parsed.situation == _locating(SQL)
        assert [d.action for d in parsed.defects] == ["ignored", "ignored"]
        assert "unknown table 'notes'" in parsed.defects[0].problem
        assert parsed.defects[0].statement == notes.split(";")[0]
    parsed = parse_sql(BUILDING_SQL, BUILDING, Path("X.sql"))
    assert len(parsed.situation["building"]) == 0
    assert [d.problem for d in parsed.defects] == ["table 'building' has no rows"]


def test_defects_of_the_graph_form_are_read_as_meant() -> None:
    """A truth value as text, a misspelt property and a repeated node are reported."""
    edges = CYPHER_EDGES.replace("has_merchant: false", 'has_has_merchant:  "False"')
    again = CYPHER_NODES.splitlines()[2] + "\n"
    parsed = parse_cypher(CYPHER_NODES + again + edges, LOCATING, GRAPH_FILE)
    assert parsed.situation == _graph(CYPHER)
    assert sorted((d.statement[:12], d.action) for d in parsed.defects) == [
        ("CREATE (SWE:", "the first row is used"),
        ("MATCH (balti", "read as boolean"),
        ("MATCH (balti", "read as meant"),
    ]


def test_an_edge_needs_nodes_that_exist_before_it() -> None:
    """MATCH finds neither a missing node nor one that is created later."""
    atlantis = CYPHER_EDGES.splitlines()[0].replace('"baltic"', '"atlantis"') + "\n"
    parsed = parse_cypher(CYPHER + atlantis, LOCATING, GRAPH_FILE)
    assert parsed.situation == _graph(CYPHER)
    assert [d.statement[:7] for d in parsed.defects] == ["MATCH ("]
    early = parse_cypher(CYPHER_EDGES + CYPHER_NODES, LOCATING, GRAPH_FILE)
    assert len(early.situation["flow"]) == len(early.situation["node_country"]) == 0
    assert [d.statement[:7] for d in early.defects] == ["MATCH (", "MATCH ("]


_FLOW, _TABLE = "INSERT INTO flow", "expected CREATE TABLE"


@pytest.mark.parametrize(
    ("text", "statement", "message"),
    [
        (SQL.replace('"krakow", "baltic", 0.25', '"krakow", 0.25'), _FLOW, "2 values for 3"),
        *((SQL.replace("0.25", bad), _FLOW, "expected rows (...) of quoted strings, numbers")
          for bad in ("nan", '"open', "1 + 1", "(SELECT 1)", "hex(1)")),
        (SQL.replace("0.25", "'much'"), _FLOW, "contains 'much'; expected float"),
        *((SQL + bad, bad[:9], _TABLE) for bad in (
            "DELETE FROM flow;", "ATTACH 'a.db' AS a;", "PRAGMA user_version = 1;",
            "CREATE VIRTUAL TABLE v USING fts5(a);", "CREATE TABLE v AS SELECT 1;",
            "CREATE TABLE v(a TEXT DEFAULT (hex(1);")),
        pytest.param(SQL + "-- c\n" + "/* " * 100_000, "/* /* ", _TABLE, id="open-comments"),
        pytest.param(SQL + "-- c\n" + "'\\" * 100_000, "'", _TABLE, id="open-quotes"),
        pytest.param(SQL + NOTE.replace("1", "1" * 20_000 + "a"), NOTE[:20], "rows", id="digits"),
        (SQL.replace("SWE", "\ud800"), "INSERT INTO country", "surrogates not allowed"),
        (SQL.replace(', dest, flow) VALUES ("krakow", "baltic"', ', flow) VALUES ("krakow"'), _FLOW,
         "lacks ['dest']; its columns are ['source', 'flow']"),
        (SQL.replace(" flow(", " fow("), "flow", "flow; there is an unknown table 'fow'"),
        (SQL.replace(", dest, flow) VALUES", ", flow) VALUES"), _FLOW, "3 values for 2 columns"),
        (SQL_TABLES.replace("dest VARCHAR(30),", ""), "SELECT * FROM", "lacks ['dest']"),
        ("", "country", "no such table: country"),
    ],
)  # fmt: skip
def test_sql_errors_have_the_statement_and_the_expected_text(
    text: str, statement: str, message: str
) -> None:
    """They begin with the file. SQLite only creates, fills and reads tables."""
    with pytest.raises(ParseError, match=r"^q1\.sql: ") as caught:
        parse_sql(text, LOCATING, FILE)
    assert message in caught.value.problem
    assert statement in caught.value.problem


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected CREATE of a Trade_node"),
        (f"CREATE (:Country {{{', '.join(f'k{i}: 12345' for i in range(200))};", "in 'CREATE (:Co"),
        pytest.param(f"CREATE ({' ' * 100_000}x", "in 'CREATE ( x'", id="spaces"),
        (CYPHER.replace('"SWE"', r'"\ud800"'), "expected text"),
        (CYPHER + "RETURN 1", "TYPE]->(), in 'RETURN 1'"),
        (CYPHER.replace(":Country {name:", ":Realm {name:", 1), "Realm is unknown"),
        (CYPHER.replace("0.25}]->", "0.25}]-"), "or MATCH ... CREATE ()-[:TYPE]"),
        (CYPHER.replace("r:source", "r:flows"), "(:Trade_node)-[:flows]->(:Trade_node) is unknown"),
        (CYPHER.replace("(krakow)-", "(cracow)-"), "cracow is unknown"),
        (CYPHER.replace('(SWE:Country {name:"SWE"})', '(SWE:Country {home_node:"baltic"})'),
         "by its key 'name', in 'MATCH (baltic"),
        (CYPHER.replace('home_node:"baltic", ', ""), "'home_node' contains NULL; expected text"),
    ],
)  # fmt: skip
def test_cypher_errors_have_the_statement_and_the_expected_text(text: str, message: str) -> None:
    """The same as for SQL."""
    with pytest.raises(ParseError) as caught:
        parse_cypher(text, LOCATING, GRAPH_FILE)
    assert message in caught.value.problem


def test_the_writer_refuses_or_widens_what_mysql_would_cut() -> None:
    """An infinity and a long key are errors; another long text gets a wider column."""
    situation = _locating(SQL)
    infinite = situation.replace(flow=situation["flow"].replace(flow=[float("inf")]))
    for render in (render_sql, render_cypher):
        with pytest.raises(ValueError, match="Out of range"):
            render(infinite)
    key = situation["country"].replace(country_name=["x" * 256])
    with pytest.raises(ValueError, match="more than 255 characters"):
        render_sql(situation.replace(country=key))
    long = situation.replace(country=situation["country"].replace(home_node=["x'y" * 500]))
    script = render_sql(long)
    assert "home_node LONGTEXT" in script
    assert "country_name VARCHAR(255)" in script
    assert parse_sql(script, LOCATING, FILE).situation["country"] == long["country"]
