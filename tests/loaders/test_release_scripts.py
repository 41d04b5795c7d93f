"""The readers and writers of SQL and Cypher scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.errors import DataError, ParseError
from dqa.core.situation import Situation
from dqa.loaders.release_rendering import render_sql
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


def _locating(text: str) -> Situation:
    parsed = parse_sql(text, LOCATING, FILE)
    assert parsed.defects == ()
    return parsed.situation


def test_values_are_read_in_their_columns_types() -> None:
    """Text, floats of every notation and truth values arrive as the schema's types."""
    situation = _locating(SQL)
    assert situation.name == "q1"
    assert list(situation["trade_node"].rows()) == [
        ("baltic", 1.5, False, 10.0, 0.0, 0.0),
        ("krakow", 2.5, True, 10.0, -0.002, 0.0),
    ]
    assert list(situation["flow"].rows()) == [("krakow", "baltic", 0.25)]


@pytest.mark.parametrize(
    "text",
    [
        SQL.replace("\n", "\r\n"),
        SQL.replace('"', "'"),
        SQL.replace(");\nINSERT", "); INSERT"),
        SQL.replace(" VALUES ", "\n  values\n "),
        SQL.replace("TRUE", "1").replace("FALSE", "0"),
        SQL.replace("INTO country(", "INTO `country`(").replace("0.25", "+0.25"),
        "-- a comment; with 'quotes'\n# another\n/* INSERT\nINSERT INTO */\n\n" + SQL,
        "SET NAMES utf8mb4;\nDROP TABLE IF EXISTS flow;\nSTART TRANSACTION;\n" + SQL + "COMMIT;\n",
        SQL_TABLES.replace("TABLE", "TABLE IF NOT EXISTS") + SQL_ROWS.rstrip(";\n"),
        SQL.replace("INSERT INTO flow(source, dest, flow)", "INSERT INTO flow"),
        SQL.replace('(source, dest, flow) VALUES ("krakow", "baltic", 0.25)',
                    '(flow, dest, source) VALUES (0.25, "baltic", "krakow")'),
        SQL.replace("INSERT INTO country", "  INSERT INTO country"),
        SQL.replace(");\n", ");  \n"),
    ],
    ids=["crlf", "quotes", "one-line", "split", "0/1", "backticks", "comments", "session",
         "no-last-semicolon", "no-columns", "column-order", "row-among-tables", "blank-ends"],
)  # fmt: skip
def test_other_spellings_of_a_script_are_the_same_situation(text: str) -> None:
    """Line ends, quotes, comments and statements over lines do not change what is read."""
    assert _locating(text) == _locating(SQL)


def test_rows_of_one_insert_are_all_read() -> None:
    """VALUES may list several rows, and rows may stand before the last CREATE TABLE."""
    rows = '("baltic", 1.5, FALSE, 10, 0.0, 0), ("krakow", 2.5, TRUE, 1e1, -2E-3, 0)'
    start = SQL.index("INSERT INTO trade_node")
    end = SQL.index("INSERT INTO flow")
    text = f"{SQL[:start]}INSERT INTO trade_node VALUES\n{rows};\n{SQL[end:]}"
    assert _locating(text) == _locating(SQL)


@pytest.mark.parametrize(
    ("literal", "meant"),
    [
        (r"'it''s'", "it's"),
        (r'"it\'s"', "it's"),
        (r'"say ""so"""', 'say "so"'),
        (r"'a\\b\nc'", "a\\b\nc"),
        ("'two\nlines'", "two\nlines"),
        ("'; INSERT INTO flow VALUES (1);'", "; INSERT INTO flow VALUES (1);"),
        ("'-- no comment'", "-- no comment"),
    ],
)
def test_strings_mean_what_mysql_takes_them_for(literal: str, meant: str) -> None:
    """Escapes, doubled quotes, line breaks and what looks like SQL stay inside their string."""
    text = SQL.replace('("SWE", "baltic"', f'({literal}, "baltic"')
    situation = _locating(text.replace('"baltic", "SWE"', f'"baltic", {literal}'))
    assert situation["country"]["country_name"].tolist() == [meant]


@pytest.mark.parametrize("spelling", ["has_has_merchant", "hasmerchant", "has_merchants"])
@pytest.mark.parametrize("separator", ["\n", " "], ids=["fast", "tolerant"])
def test_a_misspelt_column_is_taken_as_the_one_it_resembles(spelling: str, separator: str) -> None:
    """The rows are kept, and the defect says which column was meant and where."""
    text = SQL_TABLES + SQL_ROWS.replace("has_merchant", spelling).replace("\n", separator)
    parsed = parse_sql(text, LOCATING, FILE)
    assert parsed.situation == _locating(SQL)
    (defect,) = parsed.defects
    assert "'has_merchant'" in defect.problem
    assert f"'{spelling}'" in defect.problem
    assert defect.line == (13 if separator == "\n" else 9)


def test_a_missing_float_is_nan() -> None:
    """NULL stands for a missing number, and writing it keeps it so."""
    situation = _locating(SQL.replace("0.25", "NULL"))
    assert situation["flow"]["flow"].tolist() != situation["flow"]["flow"].tolist()
    assert _locating(render_sql(situation)) == situation


def test_rows_that_no_database_can_hold_are_left_out_and_reported() -> None:
    """A second row of a key, an edge to a missing node; text in place of a number is read."""
    again = 'INSERT INTO country(country_name,home_node,development) VALUES ("SWE", "x", 1);\n'
    lost = 'INSERT INTO flow(source, dest, flow) VALUES ("krakow", "atlantis", 1);\n'
    parsed = parse_sql(SQL.replace("0.25", '"0.25"') + again + lost, LOCATING, FILE)
    assert parsed.situation == _locating(SQL)
    assert sorted((d.line, d.problem) for d in parsed.defects) == [
        (12, "'flow' holds text instead of float values"),
        (14, "'country' repeats the key country_name"),
        (15, "'flow' refers to a trade_node that is not there"),
    ]


def test_a_table_of_nodes_without_rows_is_reported() -> None:
    """A Building database without buildings is read, empty as it is."""
    parsed = parse_sql(BUILDING_SQL, BUILDING, Path("X.sql"))
    assert len(parsed.situation["building"]) == 0
    assert [d.problem for d in parsed.defects] == ["'building' has no rows"]


def test_unknown_tables_and_columns_are_passed_over_and_reported() -> None:
    """What the scenario has no place for does not stand in the way."""
    text = SQL.replace("(source, dest, flow) VALUES (", "(xyz, source, dest, flow) VALUES (1, ")
    parsed = parse_sql(text + "INSERT INTO notes(a) VALUES (1);", LOCATING, FILE)
    assert parsed.situation == _locating(SQL)
    assert [d.action for d in parsed.defects] == ["ignored", "ignored"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SQL.replace("0.25)", "0.25"), 12, "expected (...) of quoted strings"),
        (SQL.replace('"krakow", "baltic", 0.25', '"krakow", 0.25'), 12, "has 2 values; expected 3"),
        (SQL.replace("0.25", "lots"), 12, "expected (...) of quoted strings, numbers"),
        (SQL.replace("0.25", "nan"), 12, "expected (...) of quoted strings, numbers"),
        (SQL.replace("0.25", "'much'"), 12, "holds 'much'; expected float"),
        (SQL.replace('("krakow", "baltic", 0.25', '("krakow", 3, 0.25'), 12, "expected text"),
        (
            SQL.replace('"krakow", "baltic", 0.25', '"krakow, baltic, 0.25'),
            12,
            "expected (...) of quoted strings",
        ),
        (SQL + "DELETE FROM flow;", 14, "found 'DELETE FROM flow'; expected CREATE TABLE"),
        (SQL.replace("(source, dest, flow) VALUES", "(source, flow) VALUES"), 12, "lacks ['dest']"),
        ("", None, "table 'country' is missing; expected CREATE TABLE country("),
    ],
)
def test_faults_name_the_line_and_what_was_expected(
    text: str, line: int | None, message: str
) -> None:
    """The error carries file and line, and says what should have stood there."""
    with pytest.raises(ParseError) as caught:
        parse_sql(text, LOCATING, FILE)
    assert message in caught.value.problem
    assert caught.value.line == line
    assert str(caught.value).startswith("q1.sql")


def test_an_infinity_or_a_text_too_long_cannot_be_written() -> None:
    """MySQL would refuse or cut them, so the writer does not let them pass."""
    situation = _locating(SQL)
    with pytest.raises(DataError, match="cannot store"):
        render_sql(situation.replace(flow=situation["flow"].replace(flow=[float("inf")])))
    long = situation["country"].replace(country_name=["x" * 256])
    with pytest.raises(DataError, match="256 characters"):
        render_sql(situation.replace(country=long))


def test_a_long_text_outside_of_a_key_has_a_column_with_room() -> None:
    """A report does not fit where names do; it is read back whole."""
    situation = _locating(SQL)
    long = situation.replace(country=situation["country"].replace(home_node=["x'y" * 500]))
    script = render_sql(long)
    assert "home_node LONGTEXT" in script
    assert "country_name VARCHAR(255)" in script
    assert parse_sql(script, LOCATING, FILE).situation["country"] == long["country"]


def _graph(text: str) -> Situation:
    parsed = parse_cypher(text, LOCATING, GRAPH_FILE)
    assert parsed.defects == ()
    return parsed.situation


def test_the_graph_form_is_the_same_situation_as_the_relational_form() -> None:
    """Nodes and edges fill the very tables that INSERT does."""
    assert _graph(CYPHER) == parse_sql(SQL, LOCATING, Path("q1.sql")).situation


@pytest.mark.parametrize(
    "text",
    [
        CYPHER.replace("\n", "\r\n"),
        CYPHER.replace('"', "'"),
        CYPHER.replace(";\n", "; "),
        CYPHER.replace("CREATE", "\ncreate\n").replace("TRUE", "true"),
        CYPHER.replace("[r:", "[:").replace("(SWE:Country {n", "(`the one`:Country {n")
        .replace("(SWE)", "(`the one`)"),
        CYPHER.replace("(krakow)-[r:source{flow:0.25}]->(baltic)",
                       "(baltic)<-[r:source{flow:0.25}]-(krakow)"),
        "// a comment; with 'quotes'\n/* and\nmore */\n\n" + CYPHER,
        "CREATE CONSTRAINT c FOR (n:Country) REQUIRE n.name IS UNIQUE;\n" + CYPHER.rstrip(";\n"),
    ],
    ids=["crlf", "quotes", "one-line", "split", "names", "backwards", "comments", "constraint"],
)  # fmt: skip
def test_other_spellings_of_a_cypher_script_are_the_same_situation(text: str) -> None:
    """Line ends, quotes, directions and variables do not change what is read."""
    assert _graph(text) == _graph(CYPHER)


@pytest.mark.parametrize(
    ("literal", "meant"),
    [
        (r"'it\'s'", "it's"),
        (r'"it\'s"', "it's"),
        (r"'\u0041\\\u0075'", "A\\u"),
        (r"'a\tb'", "a\tb"),
        ("'two\nlines'", "two\nlines"),
        ("'});\nCREATE (x)'", "});\nCREATE (x)"),
        ("'// no comment'", "// no comment"),
    ],
)
def test_strings_mean_what_neo4j_takes_them_for(literal: str, meant: str) -> None:
    """Escapes, line breaks and what looks like Cypher stay inside their string."""
    situation = _graph(CYPHER.replace('"SWE"', literal))
    assert situation["country"]["country_name"].tolist() == [meant]


@pytest.mark.parametrize("separator", ["\n", " "], ids=["fast", "tolerant"])
def test_truth_values_as_text_and_misspelt_properties_are_survived(separator: str) -> None:
    """Both known defects of the release are read as meant and reported with their line."""
    text = CYPHER_NODES + CYPHER_EDGES.replace(
        "has_merchant: false", 'has_has_merchant:  "False"'
    ).replace("\n", separator)
    parsed = parse_cypher(text, LOCATING, GRAPH_FILE)
    assert parsed.situation == _graph(CYPHER)
    assert {d.problem.split(" ", 1)[1] for d in parsed.defects} == {
        "misspells 'has_merchant' as 'has_has_merchant'",
        "holds text instead of boolean values",
    }
    assert {d.line for d in parsed.defects} == {5 if separator == "\n" else 4}


def test_edges_that_match_no_node_do_not_come_to_be() -> None:
    """MATCH finds nothing, neither a node that is never made nor one that is made later."""
    atlantis = CYPHER_EDGES.splitlines()[0].replace('"baltic"', '"atlantis"') + "\n"
    parsed = parse_cypher(CYPHER + atlantis, LOCATING, GRAPH_FILE)
    assert parsed.situation == _graph(CYPHER)
    assert [d.line for d in parsed.defects] == [6]
    early = parse_cypher(CYPHER_EDGES + CYPHER_NODES, LOCATING, GRAPH_FILE)
    assert len(early.situation["flow"]) == len(early.situation["node_country"]) == 0
    assert [d.line for d in early.defects] == [1, 2]


def test_a_node_made_twice_is_kept_once() -> None:
    """A key identifies one node."""
    again = CYPHER_NODES.splitlines()[2] + "\n"
    parsed = parse_cypher(CYPHER_NODES + again + CYPHER_EDGES, LOCATING, GRAPH_FILE)
    assert parsed.situation == _graph(CYPHER)
    assert [(d.line, d.action) for d in parsed.defects] == [(4, "the first row is used")]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no CREATE of a Trade_node"),
        (CYPHER + "RETURN 1", 6, "found 'RETURN 1'; expected CREATE (:Label"),
        (CYPHER.replace(":Country {name:", ":Realm {name:", 1), 3, "found label 'Realm'"),
        (CYPHER.replace("0.25}]->", "0.25}]-"), 4, "expected an arrow in one direction"),
        (CYPHER.replace("r:source", "r:flows"), 4, "found (:Trade_node)-[:flows]->(:Trade_node)"),
        (CYPHER.replace("(krakow)-", "(cracow)-"), 4, "'cracow' is not bound"),
        (CYPHER.replace('(SWE:Country {name:"SWE"})', '(SWE:Country {home_node:"baltic"})'), 5,
         "expected its key 'name'"),
        (CYPHER.replace("development:107.373", "development:true"), 3, "expected float"),
        (CYPHER.replace('home_node:"baltic", ', ""), 3, "'home_node' holds NULL; expected text"),
        (CYPHER.replace("0.25", "{}"), 4, "or MATCH ... CREATE (a)-[:TYPE"),
    ],
)  # fmt: skip
def test_cypher_faults_name_the_line_and_what_was_expected(
    text: str, line: int | None, message: str
) -> None:
    """The error carries file and line, and says what should have stood there."""
    with pytest.raises(ParseError) as caught:
        parse_cypher(text, LOCATING, GRAPH_FILE)
    assert message in caught.value.problem
    assert caught.value.line == line
